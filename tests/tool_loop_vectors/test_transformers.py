"""Tool loop vectors about transformers: what is shown to a model, and what is stored.

In the document both are one list. Here `transform_context` makes one request's view, which
is never stored; `after_model_call`, `after_tool_result` and
`prepare_next_turn(transcript=...)` rewrite what is stored.
"""

import pytest
from attrs import evolve

from loopcore import (
    AssistantMessage,
    CallModel,
    Event,
    Inspector,
    SystemMessage,
    repair,
)
from loopcore.events import Ended, Started
from loopcore.hooks import (
    ContextUpdate,
    ContextView,
    Hooks,
    ReplyView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from loopcore.policies import sliding_window
from loopcore.testing import ScriptedModel, ScriptedTools
from tests.driving import MODEL, Run, call, config, words
from tests.hooked import hooked, raises
from tests.ways import every_way, output, play, scripted


def prepend(view: ContextView) -> ContextUpdate:
    """Show a system message in front."""
    return ContextUpdate([SystemMessage("S"), *view.messages])


def shown(played: Run) -> list[list[str]]:
    """What each request showed."""
    return [words(request.messages) for request in played.requests]


@every_way
def test_what_is_put_in_front_of_a_request_is_shown_and_not_stored(way: str) -> None:
    """Vector 26: theirs is stored, so it is in the result."""
    played = scripted(way, config(Hooks("s", transform_context=prepend)), "hi")

    assert [["system: S", "user: go"]] == shown(played)
    assert ["user: go", "assistant: hi"] == played.script


@every_way
def test_a_rewritten_transcript_is_stored(way: str) -> None:
    """Vector 26: what theirs does, where it is wanted."""

    def stored(view: TurnView) -> TurnUpdate:
        return TurnUpdate(transcript=[SystemMessage("S"), *view.transcript])

    played = scripted(way, config(Hooks("s", prepare_next_turn=stored)), "hi")

    assert ["system: S", "user: go", "assistant: hi"] == played.script


@every_way
def test_what_is_put_in_front_of_every_request_is_there_once_in_each(way: str) -> None:
    """Vector 27: theirs grows by one at each request, unless it looks first."""
    cfg = config(Hooks("s", transform_context=prepend))
    asked = [call("a", f"c{n}") for n in range(2)]
    played = scripted(way, cfg, *asked, "ok", tools={"a": ["A", "A"]})

    assert [1, 1, 1] == [said.count("system: S") for said in shown(played)]
    assert "system: S" not in played.script


@every_way
def test_showing_the_same_messages_changes_nothing(way: str) -> None:
    """Vector 28."""
    same = Hooks("same", transform_context=lambda view: view.messages)
    played = scripted(way, config(same), "hi")

    assert [["user: go"]] == shown(played)
    assert ["user: go", "assistant: hi"] == played.script


class Sizes(Inspector):
    """Notes how many messages each request shows."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self.said: list[str] = []

    def on_event(self, event: Event) -> None:
        match event:
            case Started(effect=CallModel(messages=messages)):
                self.seen.append(len(messages))
            case Ended(value=AssistantMessage() as reply):
                self.said.append(reply.text)
            case _:
                pass


@every_way
def test_an_inspector_sees_what_is_sent_and_the_state_what_is_stored(way: str) -> None:
    """Vector 29: theirs sees the history from before the transformers of its moment."""
    sizes = Sizes()
    hook = Hooks("s", transform_context=prepend)
    played = scripted(way, config(hook), "hi", inspectors=[sizes])

    assert ([2], 2) == (sizes.seen, len(played.state.transcript))


def upper(view: ReplyView) -> AssistantMessage:
    """The reply in capitals."""
    return evolve(view.message, content=view.message.text.upper())


@every_way
def test_a_changed_reply_is_stored_and_is_the_output(way: str) -> None:
    """Vector 30: the inspector has the one that came."""
    sizes = Sizes()
    cfg = config(Hooks("upper", after_model_call=upper))
    played = scripted(way, cfg, "hi", inspectors=[sizes])

    assert (["hi"], "HI") == (sizes.said, output(played))
    assert "assistant: HI" == played.script[-1]


@every_way
def test_a_reply_that_lost_its_calls_is_an_answer(way: str) -> None:
    """Vector 31."""

    def strip(view: ReplyView) -> AssistantMessage:
        return evolve(view.message, content=view.message.text)

    cfg = config(Hooks("strip", after_model_call=strip))
    played = scripted(way, cfg, ["text", call("a")])

    assert ("text", []) == (output(played), played.started)


def wrap(name: str) -> Hooks:
    """A rule that stores a result in brackets."""

    def stored(view: ToolResultView) -> ToolResultUpdate:
        return ToolResultUpdate(f"[{name}:{view.text}]")

    return Hooks(name, after_tool_result=stored)


@every_way
def test_a_result_is_stored_as_it_was_shaped(way: str) -> None:
    """Vector 32: the rule saw the tool's own text."""
    cfg = config(wrap("T1"))
    played = scripted(way, cfg, call("a"), "ok", tools={"a": ["x"]})

    assert "[T1:x]" == played.results[0].text


@every_way
def test_rules_shape_a_result_one_after_the_other(way: str) -> None:
    """Vector 33."""
    cfg = config(wrap("T1"), wrap("T2"))
    played = scripted(way, cfg, call("a"), "ok", tools={"a": ["x"]})

    assert "[T2:[T1:x]]" == played.results[0].text


class Kept:
    """Keeps the last two of what is stored, and notes how many there were."""

    def __init__(self, *, mended: bool) -> None:
        self.seen: list[int] = []
        self.mended = mended

    def __call__(self, view: TurnView) -> TurnUpdate:
        self.seen.append(len(view.transcript))
        last = tuple(view.transcript)[-2:]
        return TurnUpdate(transcript=repair(last) if self.mended else last)


@every_way
def test_what_is_stored_can_be_cut_after_each_turn(way: str) -> None:
    """Vector 34: pairs stay whole, so of a parted one the result goes too."""
    keep = Kept(mended=True)
    cfg = config(Hooks("keep", prepare_next_turn=keep))
    played = scripted(way, cfg, call("a"), "ok", tools={"a": ["A"]})

    assert [3, 3] == keep.seen
    assert ["assistant: ok"] == played.script


@every_way
def test_a_cut_that_parts_a_pair_is_refused_and_nothing_is_lost(way: str) -> None:
    """Vector 34: theirs keeps the orphan; providers reject it (D47)."""
    cfg = config(Hooks("keep", prepare_next_turn=Kept(mended=False)))
    played = scripted(way, cfg, call("a"), "ok", tools={"a": ["A"]})

    assert ("hook_error", "keep") == (played.reason, played.stop.hook)
    assert ["assistant: →a", "a ok: A", "assistant: ok"] == played.script


@every_way
def test_a_window_bounds_requests_and_what_is_stored_stays_whole(way: str) -> None:
    """Vector 35: theirs loses the task and all but three for good."""
    cfg = config(sliding_window(3, pin=0))
    asked = [call("a", f"c{n}") for n in range(2)]
    played = scripted(way, cfg, *asked, "ok", tools={"a": ["A", "A"]})

    assert [1, 3, 2] == [len(said) for said in shown(played)]
    assert 6 == len(played.state.transcript)


POINTS = (
    "transform_context",
    "after_model_call",
    "after_tool_result",
    "prepare_next_turn",
)


@every_way
@pytest.mark.parametrize("point", POINTS)
def test_a_transformer_that_raises_ends_the_run_as_a_value(
    way: str, point: str
) -> None:
    """Vector 36: theirs leaves the loop as an exception, and the loop is started again."""
    model = ScriptedModel(call("a"), id=MODEL)
    cfg = config(hooked("bug", **{point: raises}))
    played = play(way, cfg, model, *ScriptedTools(cfg, {"a": ["A"]}))

    assert ("hook_error", "bug", point) == (
        played.reason,
        played.stop.hook,
        played.stop.point,
    )
    assert "user: go" == played.script[0]
    assert 1 >= len(model.requests)


@every_way
def test_history_that_is_emptied_at_the_end_leaves_the_output(way: str) -> None:
    """Vector 37: and the run's own messages (D46)."""
    empty = Hooks("empty", prepare_next_turn=lambda _: TurnUpdate(transcript=()))
    played = scripted(way, config(empty), "hi")

    assert ("hi", []) == (output(played), played.script)
    assert ["user: go", "assistant: hi"] == words(played.state.new)
