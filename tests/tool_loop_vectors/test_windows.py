"""Tool loop vectors about the window and the truncator, and about logging.

Their window counts system messages and moves them to the front; ours shows them besides,
where they stood. What is at the limit, or truncated, is in tests/test_policies.py.
"""

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from loopcore import (
    AssistantMessage,
    Image,
    Log,
    LoopConfig,
    Message,
    State,
    SystemMessage,
    Text,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    UserMessage,
    project,
)
from loopcore.hooks import ContextView, Hooks, TurnUpdate, TurnView, apply
from loopcore.messages import OUTCOMES, Outcome
from loopcore.policies import sliding_window
from tests.driving import MODEL, begin, call, config, words
from tests.ways import every_way, scripted


def messages(line: str) -> list[Message]:
    """A history in the document's notation: S U A, C12 calls 1 and 2, R1 answers 1."""
    return [_message(word) for word in line.split()]


def _message(word: str) -> Message:
    kind, rest = word[0], word[1:]
    match kind:
        case "S":
            return SystemMessage(word)
        case "U":
            return UserMessage(word)
        case "C":
            return AssistantMessage(
                [ToolCall("t", {}, n) for n in rest], finish="tools"
            )
        case "R":
            return ToolResultMessage(rest, "t", word)
        case _:
            return AssistantMessage(word)


def shown(window: Hooks, history: Sequence[Message]) -> list[Message]:
    """What a request shows of this history; of the whole of it, the hook writes nothing."""
    state = State.start(LoopConfig(model=MODEL), run_id="r")
    view = ContextView(state=state, messages=history, model=MODEL)
    applied = apply([window], view)
    seen = list(applied.view.messages)
    assert bool(applied.update.written) == (seen != list(history))
    return seen


@pytest.mark.parametrize(
    ("keep", "history", "left"),
    [
        pytest.param(5, "S U1 A1", "S U1 A1", id="38"),
        pytest.param(3, "U1 A1 U2 A2 U3", "U2 A2 U3", id="39"),
        pytest.param(2, "S U1 A1 U2 A2", "S U2 A2", id="40"),
        pytest.param(2, "S1 U1 S2 A1 U2 A2", "S1 S2 U2 A2", id="41"),
        pytest.param(1, "S U1 A1 U2", "S U2", id="42"),
        pytest.param(3, "S U C12 R1 R2 C3 R3", "S C3 R3", id="44"),
        pytest.param(3, "S U C123 R1 R2 R3 A", "S A", id="45"),
        pytest.param(3, "S U C1 R1 A", "S C1 R1 A", id="46"),
        pytest.param(3, "U C12 R1 R2 C3 R3", "C3 R3", id="48"),
        pytest.param(3, "S U C1 R1", "S U C1 R1", id="49"),
    ],
)
def test_a_window_shows_the_newest_whole_rounds(
    keep: int, history: str, left: str
) -> None:
    """Vectors 38, 39, 40, 41, 42, 44, 45, 46, 48, 49: as theirs; no orphan is cut off.

    The limit is theirs less the system messages.
    """
    window = sliding_window(keep, pin=0)

    assert messages(left) == shown(window, messages(history))


def test_a_window_on_what_is_stored_is_a_rule_of_ones_own() -> None:
    """Vector 43: theirs runs before a call and after an iteration, with one result.

    Ours never rewrites what is stored; who wants that says so at prepare_next_turn.
    """
    window = sliding_window(2, pin=0)

    def forget(view: TurnView) -> TurnUpdate:
        return TurnUpdate(transcript=shown(window, view.transcript))

    one = begin(config(window))
    other = begin(config(Hooks("forget", prepare_next_turn=forget)))
    for n in range(3):
        one, other = (r.says(call("a", f"c{n}")).ran(f"c{n}") for r in (one, other))

    assert words(one.one_request.messages) == words(other.one_request.messages)
    assert (7, 2) == (len(one.state.transcript), len(other.state.transcript))


@pytest.mark.parametrize("history", ["S R1 R2", "S U C1 R1 R9 A"])
def test_results_without_their_call_are_never_sent(history: str) -> None:
    """Vectors 47, 52: theirs looks at the front alone, so one in the middle stays."""
    strays = {"R1", "R2"} if history == "S R1 R2" else {"R9"}
    sent = [m.text for m in project(shown(sliding_window(9, pin=0), messages(history)))]

    assert strays.isdisjoint(sent)
    assert [m for m in history.split() if m not in {*strays, "C1"}] == [
        text for text in sent if text
    ]


@pytest.mark.parametrize(
    ("keep", "history", "left"),
    [
        pytest.param(2, "S1 S2 S3 U1 A1 U2", "S1 S2 S3 U1 A1 U2", id="50"),
        pytest.param(4, "S U C12345 R1 R2 R3 R4 R5", None, id="51"),
    ],
)
def test_a_window_never_shows_only_system_messages(
    keep: int, history: str, left: str | None
) -> None:
    """Vectors 50, 51: the task and the newest round are shown, however large."""
    wanted = messages(left or history)

    assert wanted == shown(sliding_window(keep), messages(history))
    newest = shown(sliding_window(1, pin=0), messages(history))[-1]
    assert messages(history)[-1] == newest


BIG = "x" * 20_000


@every_way
@pytest.mark.parametrize(
    ("level", "only"), [("DEBUG", "all"), ("INFO", "loop"), ("WARNING", "tools")]
)
def test_a_log_takes_anything(
    way: str, level: str, only: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Vector 57: every level, large texts, all outcomes; it never raises."""
    outputs = [
        ToolOutput([Text(BIG), Image("aGk=", "image/png")], outcome=o) for o in ALL
    ]
    asked = [call("a", f"c{n}", text=BIG) for n in range(len(outputs))]
    caplog.set_level(logging.DEBUG, "loopcore")
    scripted(
        way,
        config(),
        [BIG, *asked],
        BIG,
        tools={"a": outputs},
        inspectors=[Log(level, only=only), Log(level, only=only, content=True)],
    )

    assert {level} == {record.levelname for record in caplog.records}
    big = [BIG in record.getMessage() for record in caplog.records]
    assert {True, False} == set(big)


ALL: tuple[Outcome, ...] = OUTCOMES
