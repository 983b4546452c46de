"""Weaknesses 7 to 19: what comes out wrong."""

import asyncio
import json
from collections.abc import Iterable
from typing import Any, Final

import attrs
import pytest
from returns.result import Failure

from loopcore import (
    Abort,
    AssistantMessage,
    LoopConfig,
    ModelError,
    RunResult,
    RunTool,
    State,
    Tool,
    ToolCall,
    ToolOutput,
    project,
)
from loopcore.events import (
    Ended,
    TurnEnd,
)
from loopcore.hooks import (
    Block,
    Hooks,
    ToolResultUpdate,
)
from loopcore.policies import (
    nudge,
    retry,
    sliding_window,
    truncate_results,
)
from loopcore.testing import ScriptedModel, ScriptedTools
from loopcore_adapters.chat import encode
from tests.driving import MODEL, Run, begin, call, config, spec, words
from tests.hooked import raises
from tests.ways import every_way, output, play, scripted, together

Outcomes = dict[str, Iterable[object]]


async def late() -> str:
    """Never ends by itself."""
    await asyncio.Event().wait()
    return "never"


@every_way
@pytest.mark.parametrize(
    ("ends", "outcome"),
    [
        ("fine", "ok"),
        (Failure("no"), "error"),
        (OSError("full"), "raised"),
        (asyncio.CancelledError(), "cancelled"),
        (None, "timeout"),
    ],
)
def test_a_tool_that_started_always_ends_with_how_it_did(
    way: str, ends: object, outcome: str
) -> None:
    """Weakness 7: theirs has no end for one that throws, and text for every failure."""

    async def tool() -> object:
        if isinstance(ends, BaseException):
            raise ends
        return await late() if ends is None else ends

    made = Tool(spec("a", timeout=0.01), tool)
    model = ScriptedModel(call("a"), "ok", id=MODEL)
    played = play(way, config(tools=[made]), model, made)

    (end,) = [e for e in played.events(Ended) if isinstance(e.effect, RunTool)]
    assert isinstance(end.value, ToolOutput)
    assert (outcome, outcome) == (end.value.outcome, played.results[0].outcome)


@every_way
def test_a_call_that_never_started_has_an_outcome_too(way: str) -> None:
    """Weakness 7."""
    no = Hooks("no", before_tool_call=lambda _: Block("no")).for_tools("a")
    asked = [call("a"), call("x"), ToolCall.parse("b", "[1", "b")]
    played = scripted(way, config(no), asked, "ok")

    assert {
        "a": "blocked",
        "x": "unknown_tool",
        "b": "invalid_arguments",
    } == played.outcomes
    assert not any(isinstance(effect, RunTool) for effect in played.performed)


@every_way
@pytest.mark.parametrize("empty", ["", None, ToolOutput(())])
def test_no_output_is_an_output(way: str, empty: object) -> None:
    """Weakness 8."""
    played = scripted(way, config(), call("a"), "ok", tools={"a": [empty]})

    assert ("", "ok", "done") == (
        played.results[0].text,
        played.results[0].outcome,
        played.reason,
    )


@every_way
def test_an_empty_reply_is_a_turn_and_never_sent(way: str) -> None:
    """Weakness 9."""
    empty = AssistantMessage(())
    played = scripted(way, config(nudge("Well?")), empty, "ok")

    replies = [turn.message for turn in played.events(TurnEnd)]
    assert ["", "ok"] == [reply.text for reply in replies if reply]
    roles = [m["role"] for m in json.loads(encode(played.requests[1]).body)["messages"]]
    assert ["user", "user"] == roles


@every_way
def test_a_wish_for_another_plan_survives_a_typed_output(way: str) -> None:
    """Weakness 10: it is the stop; nothing empty is parsed."""

    def stop(view: Any) -> str | None:
        return "another plan" if any(r.details for r in view.results) else None

    cfg = config(Hooks("replan", should_stop_after_turn=stop), output=int)
    wish = ToolOutput("", details={"replan": True})
    played = scripted(way, cfg, call("a"), tools={"a": [wish]})

    assert ("hook", "another plan") == (played.reason, played.stop.detail)
    assert 0 == played.state.repairs


@attrs.frozen
class Note:
    """What is read from a reply."""

    text: str
    tags: list[str]


def wants(kind: Any) -> LoopConfig[Any]:
    """A configuration whose runs come to this type."""
    made: LoopConfig[Any] = config(output=kind)
    return made


NOTE: Final = Note("a  b } c ``` {d}", ["[x]", "<think>"])


@pytest.mark.parametrize(
    "around",
    [
        " {0}",
        "{0}\n```",
        "```json\n{0}\n```",
        "<think>maybe {{}}</think>{0}",
        "Here: {0} -- and {{that}} is it.",
    ],
)
def test_a_value_is_found_and_never_mended(around: str) -> None:
    """Weakness 11: what stands inside it stays as it was, brackets, fences and spaces."""
    text = around.format(json.dumps(attrs.asdict(NOTE)))
    run = begin(wants(Note)).says(text)

    assert NOTE == output(run)


def test_a_list_keeps_its_brackets() -> None:
    """Weakness 11."""
    run = begin(wants(list[list[int]])).says("So: [[1], [2]].")

    assert [[1], [2]] == output(run)


@every_way
def test_a_repair_says_what_was_wrong_and_no_tool_runs_again(way: str) -> None:
    """Weakness 12."""
    replies = call("a"), '{"text": 1}', json.dumps(attrs.asdict(NOTE))
    played = scripted(way, config(output=Note), *replies, tools={"a": ["A"]})

    assert (NOTE, ["a"]) == (output(played), played.started)
    wish = played.requests[2].messages[-1]
    assert '"tags" is a required property' in wish.text


@every_way
def test_only_what_may_pass_is_tried_again_and_the_attempt_is_known(way: str) -> None:
    """Weakness 12: the same turn of the same run, not the loop from its start."""
    busy, wrong = ModelError("busy", "overloaded"), ModelError("no key", "auth")
    cfg = config(retry(3, delay=0))
    played = scripted(way, cfg, call("a"), busy, "ok", tools={"a": ["A"]})
    refused = scripted(way, cfg, wrong)

    ids = [request.id for request in played.requests]
    assert ["r.1.1.model.1", "r.1.2.model.1", "r.1.2.model.2"] == ids
    assert (["a"], "done") == (played.started, played.reason)
    assert ("model_error", 1) == (refused.reason, len(refused.requests))


@every_way
@pytest.mark.parametrize(
    ("unit", "most"), [("messages", 6), ("turns", 11), ("tokens", 6)]
)
def test_a_window_keeps_the_task_and_whole_rounds(
    way: str, unit: Any, most: int
) -> None:
    """Weakness 13: also where one round is larger than the window."""
    asked = [[call("a", f"{n}{m}") for m in range(4)] for n in range(3)]
    cfg = config(sliding_window(2, unit=unit), tools="a")
    played = scripted(way, cfg, *asked, "ok", tools={"a": ["A"] * 12})

    for request in played.requests:
        assert "user: go" == words(request.messages)[0]
        assert project(request.messages) == request.messages
    assert most == max(len(request.messages) for request in played.requests)


@every_way
def test_what_was_shown_and_what_is_stored_are_both_there(way: str) -> None:
    """Weakness 14."""
    cfg = config(sliding_window(1, pin=0))
    played = scripted(way, cfg, call("a"), "ok", tools={"a": ["A"]})

    assert [1, 2] == [len(request.messages) for request in played.requests]
    assert ["user: go", "assistant: →a", "a ok: A", "assistant: ok"] == played.script


@every_way
def test_a_long_result_keeps_both_ends_and_whoever_watches_has_it_whole(
    way: str,
) -> None:
    """Weakness 15."""
    long = f"head {'x' * 5_000} tail"
    cut = truncate_results(20, tail=5)
    played = scripted(way, config(cut), call("a"), "ok", tools={"a": [long]})

    stored = played.results[0].text
    assert (stored.startswith("head"), stored.endswith(" tail")) == (True, True)
    assert "4,990 of 5,010 characters" in stored
    (end,) = [e for e in played.events(Ended) if isinstance(e.effect, RunTool)]
    assert long == getattr(end.value, "text", "")


@every_way
@pytest.mark.parametrize(("closed", "stored"), [(False, "[A]"), (True, "[withheld")])
def test_what_a_failing_rule_leaves_is_said_by_the_rule(
    way: str, stored: str, *, closed: bool
) -> None:
    """Weakness 16: as far as shaped, or withheld; the run ends, and is not begun again."""
    wrap = Hooks("wrap", after_tool_result=lambda v: ToolResultUpdate(f"[{v.text}]"))
    bug = Hooks("bug", after_tool_result=raises, fail_closed=closed)
    cfg = config(wrap, bug)
    model = ScriptedModel(call("a"), id=MODEL)
    played = play(way, cfg, model, *ScriptedTools(cfg, {"a": ["A"]}))

    assert ("hook_error", "bug") == (played.reason, played.stop.hook)
    assert played.results[0].text.startswith(stored)


OUTPUTS: Final[Outcomes] = {
    "a": [OSError("full"), ToolOutput("x", terminate=True)],
    "b": [Failure("no"), "B"],
}


@every_way
def test_together_and_one_by_one_come_to_the_same(way: str) -> None:
    """Weakness 17: errors, unknown tools, ends, rules and what comes next."""
    rule = Hooks("rule", after_tool_result=lambda v: ToolResultUpdate(f"[{v.text}]"))
    asked = (
        [call("a"), call("x"), call("b")],
        [call("b", "b2"), call("a", "a2")],
        "ok",
    )
    one, other = (
        scripted(way, config(rule, parallel=parallel), *asked, tools=OUTPUTS)
        for parallel in (True, False)
    )

    assert (one.script, str(one.stop)) == (other.script, str(other.stop))
    assert "a raised: [OSError: full]" == one.script[2]


@together
def test_what_came_too_late_does_not_go_on(way: str) -> None:
    """Weakness 17: its task has ended when the run has."""
    ended: list[str] = []

    async def work() -> str:
        try:
            return await late()
        finally:
            ended.append("a")

    made = Tool(spec("a", timeout=0.01), work)
    model = ScriptedModel(call("a"), "ok", id=MODEL)
    played = play(way, config(tools=[made]), model, made)

    assert ({"a": "timeout"}, ["a"]) == (played.outcomes, ended)


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("after", [0, 1])
def test_however_a_run_ends_each_call_has_its_result(
    after: int, *, parallel: bool
) -> None:
    """Weakness 18: what is returned can be sent again as it is."""
    run = begin(config(parallel=parallel)).says(call("a"), call("b"))
    run = run.ran("a", "A") if after else run
    run = run.give(Abort("another plan"))

    assert ["a", "b"] == [result.call_id for result in run.results]
    assert project(run.state.transcript) == run.state.transcript
    assert "done" == run.give("go on").says("ok").reason


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("wether", "get_weather"),
        ("weather", "get_weather"),
        ("HTTPFetch", "fetch"),
        ("Delete-File", "delete_file"),
    ],
)
def test_typos_and_parts_of_names_are_understood(wrong: str, meant: str) -> None:
    """Weakness 19."""
    cfg = config(tools=["get_weather", "fetch", "delete_file"])
    text = begin(cfg).says(call(wrong, "c")).results[0].text

    assert f"Did you mean {meant!r}?" in text


def test_a_loaded_state_is_a_result_like_any_other() -> None:
    """Weakness 12: a run that was saved after a failure goes on, it is not begun again."""
    cfg = config()
    run = begin(cfg).says(call("a")).ran("a", "A").fails("no line")
    loaded = Run(cfg, State.loads(run.state.dumps()).unwrap())
    again = loaded.give("go on").says("ok")

    assert "ok" == RunResult.of(cfg, again.state).output
    assert ["a ok: A"] == words(again.results)
