"""The rules that show less, in any company: what is hidden, kept and added, whoever hid it."""

from collections.abc import Iterable
from itertools import permutations
from typing import Final

import pytest

from loopcore import (
    Abort,
    CallModel,
    Continue,
    LoopConfig,
    Message,
    Prompt,
    SystemMessage,
    UserMessage,
    repair,
)
from loopcore.hooks import ContextView, Hooks, TurnUpdate, TurnView
from loopcore.policies import compact, fit, redact, sliding_window
from tests.driving import Run, begin, call, config

HIDDEN: Final = r"sk-\w+"
TURNS: Final = 14
NOTE: Final = UserMessage("NOTE")
SAMPLE: Final = (UserMessage("SAMPLE"), SystemMessage("SAMPLE"))


def note(view: ContextView) -> list[Message]:
    """What many say at the end of each request."""
    return [*view.messages, NOTE]


def sample(view: ContextView) -> list[Message]:
    """What some say at its beginning."""
    return [*SAMPLE, *view.messages]


def remind(view: ContextView) -> list[Message]:
    """The task, said again at the end."""
    return [*view.messages, view.messages[0]]


RULES: Final = {
    "redact": redact(HIDDEN),
    "note": Hooks("note", transform_context=note),
    "sample": Hooks("sample", transform_context=sample),
    "window": sliding_window(9),
    "fit": fit(400),
}
LESS: Final = {
    "messages": sliding_window(4),
    "turns": sliding_window(2, unit="turns"),
    "tokens": sliding_window(60, unit="tokens"),
    "fit": fit(90),
}
EVERY_ORDER: Final = [
    names for size in (1, 2, 3) for names in permutations(RULES, size)
]


def talk(run: Run) -> Run:
    """A reply and a result a turn, each with its number, and a secret in every third."""
    for turn in range(TURNS):
        secret = f" sk-{turn}" if turn % 3 == 0 else ""
        run = run.says(f"say {turn}.{secret}", call("a", f"c{turn}", at=secret))
        run = run.ran(f"c{turn}", f"result {turn}.{secret}")
        if ".model." not in run.one_request.id:
            run = run.give(run.one_request.reply("SUMMARY"))
    return run


def spread(messages: Iterable[Message]) -> str:
    """All that can be read in these."""
    return "\n".join(
        "\n".join([m.text, *(one.text for one in getattr(m, "calls", ()))])
        for m in messages
    )


def split(run: Run) -> tuple[list[CallModel], list[CallModel]]:
    """The requests of the run itself, and those for a summary."""
    own = [request for request in run.requests if ".model." in request.id]
    return own, [request for request in run.requests if ".model." not in request.id]


@pytest.mark.parametrize("names", EVERY_ORDER, ids=">".join)
def test_what_the_rules_before_it_show_is_what_it_works_on(
    names: tuple[str, ...],
) -> None:
    """Nothing that was hidden comes back, what was added stays, and pairs stay pairs."""
    rules = [RULES[name] for name in names]
    run = talk(begin(config(*rules, compact(8, keep=3)), "task sk-task."))
    own, summaries = split(run)

    assert summaries or {"window", "fit"} & set(names)
    for request in run.requests:
        assert "redact" not in names or "sk-" not in spread(request.messages)
    for turn, request in enumerate(own[1:]):
        assert f"result {turn}." in spread(request.messages)
        assert repair(request.messages) == request.messages
        assert "note" not in names or NOTE in request.messages
        assert "sample" not in names or set(SAMPLE) <= set(request.messages)
    asked = "\n".join(spread(request.messages) for request in summaries)
    for said in [f"{kind} {n}." for n in range(TURNS) for kind in ("say", "result")]:
        assert asked.count(said) <= 1
        assert {"window", "fit"} & set(names) or said in asked + spread(
            own[-1].messages
        )


def test_a_repeated_task_is_one_message() -> None:
    run = talk(
        begin(config(Hooks(transform_context=remind), compact(8, keep=3)), "task")
    )
    own, summaries = split(run)

    assert summaries
    assert {"task"} == {request.messages[-1].text for request in own}
    assert len(own[-1].messages) <= 8


@pytest.mark.parametrize("left", [6, 12, 20])
def test_what_was_said_after_a_summary_survives_that_the_transcript_is_cut(
    left: int,
) -> None:
    """A place in a transcript says nothing once another rule has taken messages away."""

    def cut(view: TurnView) -> TurnUpdate | None:
        return TurnUpdate(transcript=view.transcript[-left:])

    hooks = Hooks("cut", prepare_next_turn=cut), compact(8, keep=3)
    run = talk(begin(config(*hooks), "task"))
    own, summaries = split(run)

    asked = "\n".join(spread(request.messages) for request in summaries)
    assert all(asked.count(f"result {turn}.") <= 1 for turn in range(TURNS))
    for turn, request in enumerate(own[1:]):
        stored = [f"result {n}." for n in range(turn + 1)][-(left // 2) :]
        assert all(said in asked + spread(request.messages) for said in stored)
        assert repair(request.messages) == request.messages


# sliding_window, fit: the task of this run


def others(name: str, *more: str) -> LoopConfig:
    """A configuration of a rule that shows less, behind others that change what it sees."""
    return config(*(RULES[one] for one in more), LESS[name])


COMPANY: Final = [(), ("redact",), ("sample", "redact", "note")]


@pytest.mark.parametrize("more", COMPANY, ids=">".join)
@pytest.mark.parametrize("name", LESS)
def test_what_this_run_was_asked_stays_as_well_as_the_first_task(
    name: str, more: tuple[str, ...]
) -> None:
    """In a long conversation, the first prompt is of another day."""
    run = (
        talk(begin(others(name, *more), "first task")).says("done").give("second task")
    )
    run = talk(run)

    for request in run.requests[-TURNS:]:
        said = spread(request.messages)
        assert "first task" in said
        assert "second task" in said
        assert len(request.messages) < 2 * TURNS
        assert repair(request.messages) == request.messages


@pytest.mark.parametrize("name", LESS)
def test_a_task_may_have_several_messages(name: str) -> None:
    asked = Prompt([UserMessage("a page"), UserMessage("a question")])
    run = talk(begin(others(name), "first task").says("done").give(asked))

    said = spread(run.one_request.messages)
    assert ["first task", "a page", "a question"] == [
        text for text in ("first task", "a page", "a question") if text in said
    ]


@pytest.mark.parametrize("name", LESS)
def test_a_run_that_goes_on_keeps_the_task_of_the_one_before(name: str) -> None:
    run = begin(others(name), "first task").says("done").give("second task")
    run = talk(talk(run).give(Abort()).give(Continue()))

    assert "second task" in spread(run.one_request.messages)
    assert run.config.hooks[0] == LESS[name]


@pytest.mark.parametrize("name", LESS)
def test_a_rewritten_transcript_pins_no_reply(name: str) -> None:
    """Where the prompt stood, a reply may stand, and it has a result."""

    def without_first(view: TurnView) -> TurnUpdate | None:
        left = [m for m in view.transcript if m.text != "second task"]
        return TurnUpdate(transcript=left)

    hooks = Hooks("rewrite", prepare_next_turn=without_first), LESS[name]
    run = talk(begin(config(*hooks), "first task").says("done").give("second task"))

    for request in run.requests:
        assert repair(request.messages) == request.messages


def test_no_task_is_kept_where_none_is_wanted() -> None:
    run = talk(begin(config(sliding_window(4, pin=0)), "first task"))

    assert "first task" not in spread(run.one_request.messages)


# fit


@pytest.mark.parametrize("names", EVERY_ORDER, ids=">".join)
def test_the_newest_round_always_fits(names: tuple[str, ...]) -> None:
    """What is left out is known by where it is stored, not by how much others show."""
    rules = [RULES[name] for name in names if name != "fit"]
    run = talk(begin(config(*rules, fit(100)), "task"))

    for turn, request in enumerate(run.requests[1:]):
        assert f"result {turn}." in spread(request.messages)
        assert "task" in spread(request.messages)
        assert repair(request.messages) == request.messages
    assert len(run.one_request.messages) < TURNS


def test_what_fits_again_is_shown_again_once_the_transcript_was_cut() -> None:
    def cut(view: TurnView) -> TurnUpdate | None:
        return TurnUpdate(transcript=view.transcript[-2:]) if view.turn == 9 else None

    run = begin(config(fit(100), Hooks("cut", prepare_next_turn=cut)), "task")
    run = talk(run)

    after = run.requests[9:11]
    assert [["result 8."], ["result 8.", "result 9."]] == [
        [m.text[:9] for m in request.messages if m.text.startswith("result")]
        for request in after
    ]
