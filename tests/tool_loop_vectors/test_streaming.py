"""Tool loop vectors about streaming: the same machine, and pieces besides."""

from typing import Any

from loopcore import (
    Event,
    Inspector,
    Interpreter,
    LoopConfig,
    RunResult,
    RunTool,
    Stream,
    stream,
)
from loopcore.events import Delta, Ended, Started
from loopcore.frozen import evolve
from loopcore.hooks import Hooks, ToolResultUpdate, ToolResultView
from loopcore.testing import ScriptedModel, ScriptedTools
from tests.driving import MODEL, Run, call, config, spec, words
from tests.leaks import alone
from tests.ways import Seen, every_way, output, scripted

TEXTS = ["Let me look.", call("a")], "It is A, as I thought."


def streamed(cfg: LoopConfig, *replies: Any, inspectors: Any = ()) -> list[Event]:
    """All events of a stream."""

    async def events() -> list[Event]:
        model = ScriptedModel(*replies, id=MODEL)
        tools = ScriptedTools(cfg, {"a": ["A"], "b": ["B"]})
        interpreter = Interpreter(model, *tools, inspectors=inspectors)
        async with stream(cfg, interpreter, "go", run_id="r") as live:
            return [event async for event in live]

    return alone(events())


def test_all_text_is_streamed_in_order_also_before_a_tool() -> None:
    """Vector 102: the second request has the result."""
    told = streamed(config(), *TEXTS)
    said = [e.text if isinstance(e, Delta) else "|" for e in told if is_of_text(e)]

    assert "Let me look.|It is A, as I thought." == "".join(said)
    requests = [e.effect for e in told if isinstance(e, Started)]
    assert "a ok: A" == words(getattr(requests[-1], "messages", ()))[-1]


def is_of_text(event: Event) -> bool:
    """A piece of text, or the end of a tool."""
    if isinstance(event, Delta):
        return bool(event.text)
    return isinstance(event, Ended) and isinstance(event.effect, RunTool)


def test_a_whole_reply_repeats_no_piece() -> None:
    """Vector 103: pieces add up to what the end has, once."""
    told = streamed(config(), *TEXTS)

    for end in (e for e in told if isinstance(e, Ended)):
        if not isinstance(end.effect, RunTool):
            said = "".join(pieces(told, end.effect.id))
            assert getattr(end.value, "text", None) == said


def pieces(told: list[Event], effect_id: str) -> list[str]:
    """The pieces of text of an effect."""
    deltas = (event for event in told if isinstance(event, Delta))
    return [delta.text for delta in deltas if delta.effect_id == effect_id]


@every_way
def test_a_tools_start_and_end_have_the_providers_call_id(way: str) -> None:
    """Vector 105: and the definition of the tool, which theirs promises only."""
    tools = {"a": ["A"]}
    played = scripted(way, config(), call("a", "call_7"), "ok", tools=tools)

    effects = [
        e.effect
        for e in played.told
        if isinstance(e, Started | Ended) and isinstance(e.effect, RunTool)
    ]
    assert ["call_7", "call_7"] == [effect.call.id for effect in effects]
    assert [spec("a"), spec("a")] == [effect.spec for effect in effects]
    (end,) = [e for e in played.events(Ended) if isinstance(e.effect, RunTool)]
    assert end.seconds is not None


def test_a_stream_runs_calls_as_the_configuration_says() -> None:
    """Vector 106: theirs always runs them one by one; results are in order either way."""
    asked = [call("a"), call("b")]
    one_by_one = streamed(config(parallel=False), asked, "ok")
    together = streamed(config(), asked, "ok")

    assert ["starts", "ends", "starts", "ends"] == moments(one_by_one)
    assert ["starts", "starts", "ends", "ends"] == moments(together)


def moments(told: list[Event]) -> list[str]:
    """The starts and ends of tools."""
    return [
        "starts" if isinstance(event, Started) else "ends"
        for event in told
        if isinstance(event, Started | Ended) and isinstance(event.effect, RunTool)
    ]


def test_two_streams_of_one_configuration_share_nothing() -> None:
    """Vector 108: each is a run of its own, one step of this and one of that."""
    cfg = config()

    def live(name: str) -> Stream:
        model = ScriptedModel(call("a"), f"I am {name}", id=MODEL)
        tools = ScriptedTools(cfg, {"a": [name]})
        return stream(cfg, Interpreter(model, *tools), name, run_id=name)

    async def both() -> list[RunResult]:
        one, other = live("r1"), live("r2")
        while not (one.state.stop and other.state.stop):
            for events in (one, other):
                await anext(events, None)
        return [RunResult.of(cfg, events.state) for events in (one, other)]

    for name, result in zip(("r1", "r2"), alone(both()), strict=True):
        assert f"I am {name}" == result.output
        assert [name, "", name, f"I am {name}"] == [m.text for m in result.messages]


def timeless(event: Event) -> Event:
    """An event, less how long it took and when."""
    event = evolve(event, at=None)
    return evolve(event, seconds=None) if isinstance(event, Ended) else event


def mark(view: ToolResultView) -> ToolResultUpdate:
    """Store a result in brackets."""
    return ToolResultUpdate(f"[{view.text}]")


def test_a_stream_has_all_rules_and_all_inspectors_of_a_run() -> None:
    """Vector 109: theirs drops both, with a warning."""
    cfg = config(Hooks("mark", after_tool_result=mark))
    seen = Seen()
    told = streamed(cfg, *TEXTS, inspectors=[seen])
    ran = scripted("run", cfg, *TEXTS, tools={"a": ["A"]})

    assert told == seen.events
    whole = [event for event in told if not isinstance(event, Delta)]
    assert list(map(timeless, ran.told)) == list(map(timeless, whole))
    assert "[A]" == ran.results[0].text


@every_way
def test_an_inspector_that_is_told_in_a_stream_is_told_in_every_mode(way: str) -> None:
    """Vector 109: the same events, deltas and times aside."""
    replies = [call("a"), call("x")], "ok"
    tools = {"a": ["A"]}
    played = scripted(way, config(), *replies, tools=tools, inspectors=[Inspector()])
    plain: Run = scripted("run", config(), *replies, tools=tools)

    assert list(map(timeless, plain.told)) == list(map(timeless, played.told))
    assert output(plain) == output(played)
