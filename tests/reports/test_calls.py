"""Reports about tool calls."""

import asyncio
import json

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    ModelError,
    State,
    SystemMessage,
    Text,
    Thinking,
    Tool,
    ToolCall,
    ToolContext,
    ToolOutput,
    ToolResultMessage,
    Usage,
    UserMessage,
    repair,
    tool,
)
from loopcore.events import Ended
from loopcore.hooks import Block, Hooks
from loopcore.policies import retry, truncate_results
from loopcore.testing import ScriptedModel
from loopcore_adapters.chat import encode
from tests.driving import MODEL, Run, begin, call, config, spec
from tests.ways import every_way, output, play, scripted, together

BROKEN = ToolCall.parse("a", '{"a": 1 "b"}', "c1")


@every_way
def test_arguments_that_are_no_json_are_answered_and_sent_as_an_object(
    way: str,
) -> None:
    """Report 84: on Chat Completions; what the model wrote stays in the history."""
    played = scripted(way, config(), BROKEN, "ok")

    assert ({"c1": "invalid_arguments"}, "ok") == (played.outcomes, output(played))
    sent = json.loads(encode(played.requests[1]).body)["messages"][1]["tool_calls"]
    assert {} == json.loads(sent[0]["function"]["arguments"])
    assert '{"a": 1 "b"}' == played.requests[1].messages[1].parts[0].raw  # type: ignore[union-attr]  # pyright: ignore[reportAttributeAccessIssue]  # a call


def test_a_log_that_ends_in_an_open_call_is_mended_once_and_the_tool_is_not_run() -> (
    None
):
    """Report 90: a history; what a driver does after a crash is D82, with its journal."""
    log: list[Message] = [
        UserMessage("go"),
        AssistantMessage(call("a"), finish="tools"),
    ]
    mended = tuple(repair(log))
    run = Run(config(), State.start(config(), run_id="r", transcript=mended)).give("on")

    assert ["a interrupted: No result of this call was recorded."] == run.script[2:3]
    assert (repair(mended), []) == (mended, run.started)


def test_a_vetoed_call_does_not_overtake_a_slow_one() -> None:
    """Report 92: results are in the order of the calls, whatever was ready first."""
    veto = Hooks("veto", before_tool_call=lambda _: Block("no")).for_tools("b")
    run = begin(config(veto)).says(call("a"), call("b")).ran("a", "A")

    assert ["a ok: A", "b blocked: no"] == run.script[2:]


def test_the_request_after_a_reload_is_the_live_one_byte_for_byte() -> None:
    """Report 93: results came in the order b, a."""
    run = begin(config()).says(call("a"), call("b")).ran("b", "B").ran("a", "A")
    (again,) = State.loads(run.state.dumps()).unwrap().waiting

    assert isinstance(again, CallModel)
    assert encode(run.one_request) == encode(again)


@together
def test_two_runs_of_one_batch_send_the_same_bytes_whoever_ends_first(way: str) -> None:
    """Report 91, too: a prompt cache holds."""

    def sent(first: str) -> bytes:
        done = {name: asyncio.Event() for name in "ab"}
        other = "b" if first == "a" else "a"

        async def a() -> str:
            return await ended("a")

        async def b() -> str:
            return await ended("b")

        async def ended(name: str) -> str:
            if name == other:
                await done[first].wait()
            done[name].set()
            return name

        model = ScriptedModel([call("a"), call("b")], "ok", id=MODEL)
        tools = Tool(spec("a"), a), Tool(spec("b"), b)
        return encode(play(way, config(), model, *tools).requests[1]).body

    assert sent("a") == sent("b")


@tool
def charge(cents: int, context: ToolContext) -> str:
    """Charge somebody."""
    return f"{cents} under {context.effect_id}"


@every_way
def test_what_a_tool_is_given_besides_is_not_recorded(way: str) -> None:
    """Report 99: and no model can give it."""
    cfg = config(tools=[charge])
    model = ScriptedModel(call("charge", cents=5, context="mine"), "ok", id=MODEL)
    played = play(way, cfg, model, charge)

    assert ["cents"] == list(charge.spec.parameters["properties"])
    assert {"charge": "invalid_arguments"} == played.outcomes
    fine = play(
        way, cfg, ScriptedModel(call("charge", cents=5), "ok", id=MODEL), charge
    )
    assert "charge ok: 5 under r.1.1.run.0" == fine.script[2]
    assert b"context" not in fine.state.dumps()


EVERYTHING: list[Message] = [
    SystemMessage("s"),
    UserMessage([Text("u", signature="sig"), Image("AP8=", "image/png")]),
    AssistantMessage(
        [
            Thinking("", "b64+/=", redacted=True),
            Thinking("hm", "\x00é"),
            ToolCall.parse("a", '{"x": [1.0, null, "é"]}', "c1"),
            ToolCall.parse("b", "[1", "c2"),
        ],
        finish="tools",
        usage=Usage(1, 2, 3, 4, 5, cost=0.5),
    ),
    ToolResultMessage("c1", "a", [Image("AP8=", "image/png")], details={"n": [1]}),
    ToolResultMessage("c2", "b", "", "timeout"),
    AssistantMessage("", finish="error", error=ModelError("x", retry_after=1.5)),
]


def test_every_kind_of_part_and_message_can_be_saved() -> None:
    """Report 100."""
    state = State.start(config(), run_id="r", transcript=EVERYTHING)

    assert state == State.loads(state.dumps()).unwrap()
    assert isinstance(json.loads(state.dumps()), dict)


@every_way
def test_a_huge_result_is_cut_before_it_is_stored_and_told_whole(way: str) -> None:
    """Report 104: the notice says how large it was."""
    huge = "x" * 400_000
    cfg = config(truncate_results(1_000))
    played = scripted(way, cfg, call("a"), "ok", tools={"a": [huge]})

    assert "399,000 of 400,000 characters" in played.results[0].text
    assert len(encode(played.requests[1]).body) < 3_000
    whole = [getattr(end.value, "text", "") for end in played.events(Ended)]
    assert huge in whole


@every_way
def test_an_overflow_is_an_end_in_which_nothing_was_dropped(way: str) -> None:
    """Report 105: by itself; shrinking the largest result is a rule's affair."""
    overflow = ModelError("too long", "context_overflow")
    small, large = "s" * 10, "l" * 10_000
    asked = [call("a", "old"), call("a", "new")]
    cfg = config(retry())
    played = scripted(way, cfg, asked, overflow, tools={"a": [small, large]})

    assert ("model_error", 2) == (played.reason, len(played.requests))
    assert [small, large] == [result.text for result in played.results]


@every_way
def test_a_late_tool_is_said_to_be_perhaps_still_at_work(way: str) -> None:
    """Reports 101, 102: a timeout of its own, an error in all that see it."""
    seen: list[tuple[str, bool]] = []

    def note(view: ToolResultMessage) -> None:
        seen.append((view.outcome, view.is_error))

    async def hang() -> str:
        await asyncio.Event().wait()
        return "never"

    made = Tool(spec("a", timeout=0.01), hang)
    hook = Hooks("note", after_tool_call=note, after_tool_result=note)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # both have outcome and is_error
    model = ScriptedModel(call("a"), "ok", id=MODEL)
    played = play(way, config(hook, tools=[made]), model, made)

    assert [("timeout", True)] * 2 == seen
    assert played.results[0].is_error
    assert "may still be running" in played.results[0].text


@pytest.mark.parametrize("text", ["", "   "])
def test_a_tool_turn_without_text_keeps_its_call_and_its_result(text: str) -> None:
    """Report 117: on Chat Completions; a text that is blank is no reason to skip it."""
    reply = AssistantMessage([Text(text), call("a")], finish="tools")
    run = begin(config())
    run = run.give(run.one_request.reply(reply)).ran("a", ToolOutput("A"))
    roles = [m["role"] for m in json.loads(encode(run.one_request).body)["messages"]]

    assert ["user", "assistant", "tool"] == roles
