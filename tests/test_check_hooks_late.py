"""check_hooks: what hooks do late, and about what rarely happens."""

import math
import random
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from loopcore import LoopConfig, State, UserMessage, advance
from loopcore.hooks import ContextUpdate, Hooks, ReplyView, StopUpdate, ToolResultUpdate
from loopcore.hooks.points import POINTS
from loopcore.messages import FAULTS
from loopcore.testing import check_hooks
from loopcore.testing.check.course import Offer
from loopcore.testing.check.growing import ENOUGH
from loopcore.testing.check.talk import Talk
from loopcore.testing.strategies.tooling import ADD, LOOK, PAY

FEW: Final = 5


def failure(*hooks: Hooks) -> list[str]:
    """What is said of these hooks: the sentence, the law, the view, the program."""
    with pytest.raises(AssertionError) as caught:
        check_hooks(*hooks, examples=FEW)
    return str(caught.value).split("\n\n")


@pytest.fixture(scope="module")
def shown() -> list[tuple[str, Any]]:
    """All views that a long run shows at all points, under hooks that say nothing."""
    seen: list[tuple[str, Any]] = []

    def sees(point: str) -> Callable[[Any], None]:
        return lambda view: seen.append((point, view))

    hooks: dict[str, Any] = {str(point): sees(point) for point in POINTS}
    config = LoopConfig(
        model="test:model", tools=[LOOK, ADD, PAY], hooks=[Hooks("all", **hooks)]
    )
    talk, state, turns = (
        Talk(Offer(((LOOK, ADD, PAY),))),
        State.start(config, run_id="l"),
        0,
    )
    for n in range(1, 10_000):
        before = state.requests
        state = (
            advance(config, state, talk(state, n), at=n)
            .map(lambda m: m[0])
            .value_or(state)
        )
        turns += state.requests != before
        if turns == ENOUGH:
            break
    return seen


def of(shown: list[tuple[str, Any]], point: str, *path: str) -> set[object]:
    """What the views of a point say, at the end of this path."""
    found: list[Any] = [view for at, view in shown if at == point]
    for name in path:
        found = [getattr(one, name) for one in found]
    return set(found)


def test_a_long_run_has_replies_that_are_cut_and_refused(
    shown: list[tuple[str, Any]],
) -> None:
    """A reply that failed or was aborted is an error, which no `ReplyView` shows."""
    replies = [v.message for at, v in shown if at == "after_model_call"]

    assert {"end", "tools", "length", "refusal"} == {m.finish for m in replies}
    assert {True, False} == {bool(m.calls) for m in replies if m.finish == "length"}
    assert {True, False} == {bool(m.calls) for m in replies if m.finish == "refusal"}


def test_a_long_run_has_errors_of_every_kind(shown: list[tuple[str, Any]]) -> None:
    assert set(FAULTS) == of(shown, "on_model_error", "error", "kind")


def test_a_long_run_has_results_that_failed_in_many_ways(
    shown: list[tuple[str, Any]],
) -> None:
    """Calls that wait at an abort are answered, and no hook is asked about that."""
    outcomes = of(shown, "after_tool_result", "outcome")

    assert outcomes == {
        *("ok", "error", "timeout", "rejected", "unknown_tool", "truncated"),
    }


def test_a_long_run_has_a_run_of_many_turns(shown: list[tuple[str, Any]]) -> None:
    assert set(range(1, 48)) <= of(shown, "should_stop_after_turn", "turn")


def test_a_long_run_has_steers_and_aborts(shown: list[tuple[str, Any]]) -> None:
    last = shown[-1][1].state
    said = [m.text for m in last.transcript if isinstance(m, UserMessage)]

    assert {"prompt", "steer", "more"} == {text.split()[0] for text in said}


def test_the_same_is_never_said_twice(shown: list[tuple[str, Any]]) -> None:
    replies = [v.message for at, v in shown if at == "after_model_call"]
    ids = [call.id for reply in replies for call in reply.calls]

    assert len(ids) == len(set(ids))


def test_a_hook_without_a_memo_is_asked_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is nothing that could grow: how often is the same on every machine."""

    def asked(memo: object) -> int:
        seen: list[int] = []
        monkeypatch.setattr(pytest, "seen", seen, raising=False)
        hook = Hooks("counted", memo=memo, should_stop_after_turn=counted)
        check_hooks(hook, examples=FEW)
        return len(seen)

    def counted(view: Any) -> None:
        getattr(pytest, "seen", []).append(view.turn)

    assert asked(None) < min(300, asked("x"))


# Rare views.


def seventh(view: Any) -> None:
    """Fails on one turn."""
    if view.turn == 7:
        message = "seven"
        raise ValueError(message)


def clock_on_seven(view: Any) -> StopUpdate:
    """Reads the clock on one turn, and makes nothing of it."""
    if view.turn == 7:
        time.time()
    return StopUpdate(memo=view.turn)


def chance_on_thirty(view: Any) -> StopUpdate:
    """Draws a number on one turn, and makes nothing of it."""
    if view.turn == 30:
        random.random()  # noqa: S311  # what is wrong with it
    return StopUpdate(memo=view.turn)


def cut_with_calls(view: ReplyView) -> None:
    """Fails on a reply that was cut and has calls."""
    if view.message.finish == "length" and view.message.calls:
        message = "cut"
        raise ValueError(message)


def refused(view: ReplyView) -> None:
    """Fails on a refusal."""
    assert view.message.finish != "refusal"


@pytest.mark.parametrize("memo", [None, 0], ids=["no memo", "a memo"])
def test_a_hook_that_fails_on_one_turn_only(memo: int | None) -> None:
    """Its four parts are told, and the run that leads there is made short."""
    said, law, view, program = failure(
        Hooks("seven", memo=memo, should_stop_after_turn=seventh)
    )

    assert said.startswith(
        "Hook 'seven' raised ValueError: seven at should_stop_after_turn "
    )
    assert law == "The law: a hook answers every view, and never raises."
    assert view.startswith("The smallest view: TurnView(")
    assert 8 <= program.count("advance(config, state, ") <= 30


@pytest.mark.parametrize("name", ["it's", "say 'when'"])
def test_a_late_way_is_made_short_whatever_the_hook_is_called(name: str) -> None:
    """Who breaks the law is not read from the sentence about it."""
    *_, program = failure(Hooks(name, should_stop_after_turn=seventh))

    assert program.count("advance(config, state, ") <= 30


@pytest.mark.parametrize("function", [clock_on_seven, chance_on_thirty])
def test_a_hook_that_reaches_the_world_on_one_turn_only(function: Any) -> None:
    said, *_ = failure(Hooks("now_and_then", memo=0, should_stop_after_turn=function))

    assert " It calls " in said
    assert " It is seen in a long run, once " in said


@pytest.mark.parametrize("function", [cut_with_calls, refused])
def test_a_hook_that_fails_on_a_reply_that_is_cut_or_refused(function: Any) -> None:
    said, *_ = failure(Hooks(after_model_call=function))

    assert f"Hook {function.__name__!r} raised " in said


def test_what_is_told_of_a_long_run_leads_there() -> None:
    """The program is run, and the hook sees the view that is shown."""
    *_, program = failure(Hooks("seven", should_stop_after_turn=seventh))
    turns: list[int] = []

    def sees(view: Any) -> None:
        turns.append(view.turn)

    names: dict[str, Any] = {"seventh": sees}
    exec("\n".join(s.strip() for s in program.splitlines()[1:]), names)  # noqa: S102

    assert turns[-1] == 7


# Memos.


def appended(view: Any) -> StopUpdate:
    """A character a turn."""
    return StopUpdate(memo=view.memo + "x")


def every_tenth(view: Any) -> StopUpdate:
    """A number every ten turns."""
    n, kept = view.memo
    return StopUpdate(memo=[n + 1, (*kept, n) if n % 10 == 0 else kept])


def squares(view: Any) -> StopUpdate:
    """As many as the root of the turns."""
    n, kept = view.memo
    return StopUpdate(memo=[n + 1, (*kept, n) if math.isqrt(n) ** 2 == n else kept])


def failures(view: Any) -> ToolResultUpdate | None:
    """Each result that failed."""
    return ToolResultUpdate(memo=[*view.memo, view.turn]) if view.is_error else None


def rejections(view: Any) -> ToolResultUpdate | None:
    """Each call that a person rejected."""
    rejected = view.outcome == "rejected"
    return ToolResultUpdate(memo=[*view.memo, view.turn]) if rejected else None


def told_so_far(view: Any) -> StopUpdate:
    """A character for each message that is stored."""
    return StopUpdate(memo="x" * len(view.transcript))


NONE: Final[list[Any]] = [0, []]
GROWING: Final = {
    "a character a turn": Hooks("grows", memo="", should_stop_after_turn=appended),
    "every ten turns": Hooks("grows", memo=NONE, should_stop_after_turn=every_tenth),
    "the root of the turns": Hooks("grows", memo=NONE, should_stop_after_turn=squares),
    "each failed tool": Hooks("grows", memo=[], after_tool_result=failures),
    "each message": Hooks("grows", memo="", should_stop_after_turn=told_so_far),
}


@pytest.mark.parametrize("name", GROWING)
def test_a_memo_that_grows_without_end_is_found_out_however_slowly(name: str) -> None:
    said, law = failure(GROWING[name])

    assert said.startswith("The memo of hook 'grows' grows without end: ")
    assert law == "The law: a memo stays small, however long a run is."


def last(most: int) -> Hooks:
    """The last so many turns."""
    return Hooks(
        f"the last {most}",
        memo=[],
        should_stop_after_turn=lambda view: StopUpdate(
            memo=[*view.memo, view.turn][-most:]
        ),
    )


def noting(turn: int) -> Hooks:
    """A count, and one note that is made once."""

    def note(view: Any) -> StopUpdate:
        n = view.memo["n"] + 1
        noted = {"note": "x" * 90} if n > turn else {}
        return StopUpdate(memo={"n": n, **noted})

    return Hooks(f"a note after {turn}", memo={"n": 0}, should_stop_after_turn=note)


def counting() -> Hooks:
    """How often each tool was called."""

    def count(view: Any) -> ToolResultUpdate:
        seen = view.memo.get(view.tool, 0)
        return ToolResultUpdate(memo={**view.memo, view.tool: seen + 1})

    return Hooks("a count of each tool", memo={}, after_tool_result=count)


def lengths() -> Hooks:
    """How much was shown in the last 600 requests."""

    def note(view: Any) -> ContextUpdate:
        return ContextUpdate(memo=[*view.memo, len(view.messages)][-600:])

    return Hooks("lengths", memo=[], transform_context=note)


BOUNDED: Final = (
    *(last(most) for most in (20, 100, 150, 600)),
    *(noting(turn) for turn in (70, 150)),
    counting(),
    lengths(),
)


def test_memos_that_are_bounded_are_fine_however_long_they_are() -> None:
    """Each is measured by itself, in one run of all: the one that grows is the last."""
    said, law = failure(*BOUNDED, Hooks("grows", memo=[], after_tool_result=rejections))

    assert said.startswith("The memo of hook 'grows' grows without end: ")
    assert law == "The law: a memo stays small, however long a run is."
