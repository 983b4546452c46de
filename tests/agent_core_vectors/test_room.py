"""Agent core rows about conversations that have grown too long for their model."""

import pytest

from loopcore import ModelError, Usage
from loopcore.hooks import Hooks
from loopcore.policies import fit
from loopcore.policies.room import GO_ON
from tests.driving import Run, begin, call, config, words

LONG = "x" * 4_000
OVERFLOW = ModelError("prompt is too long", "context_overflow")


COUNTED = Usage(900, 20)


def worked(*hooks: Hooks, usage: Usage = COUNTED) -> Run:
    """A run whose tool gave a long result, and which waits for the next reply."""
    run = begin(config(*hooks, tools="a"), "question")
    return run.says(call("a"), finish="tools", usage=usage).ran("a", LONG)


def shown(run: Run) -> list[int]:
    """How long each message is that the newest request shows."""
    return [len(message.text) for message in run.requests[-1].messages]


def test_a_prompt_that_was_larger_than_the_window_is_an_overflow() -> None:
    """Row 118: though the service says nothing of it, less is shown from then on."""
    run = worked(fit(10_000)).says("so be it", usage=Usage(6_000, 9, 4_500))
    stored = [len(message.text) for message in run.state.transcript]

    assert run.reason == "done"
    assert shown(run.give("more"))[2] < len(LONG) == stored[2]


def test_a_reply_for_which_nothing_was_left_is_an_overflow() -> None:
    """Row 119: cut before it began, with the window as good as full."""
    run = worked(fit(1_000)).says(finish="length", usage=Usage(995, 0))

    assert words(run.requests[-1].messages)[-1] == f"user: {GO_ON}"
    assert shown(run)[2] < len(LONG)
    assert run.says("done").reason == "done"


def test_an_overflow_right_after_one_ends_the_run() -> None:
    """Row 120: less is shown once; the second time it is as it would be."""
    run = worked(fit()).fails(OVERFLOW).woke()
    again = shown(run)
    run = run.fails(OVERFLOW)

    assert again[2] < len(LONG)
    assert run.reason == "model_error"
    assert run.stop.detail == str(OVERFLOW)


def test_a_count_of_nought_is_no_count() -> None:
    """Row 124: the reply before that was counted, and what came since is estimated."""
    run = worked(fit(2_600), usage=Usage(1_500, 20))
    assert shown(run)[2] == len(LONG)

    again = run.says(call("a", "2"), finish="tools").ran("2", "y" * 400)
    assert shown(again)[2] < len(LONG)

    recounted = run.says(call("a", "2"), finish="tools", usage=Usage(1_700, 20))
    assert shown(recounted.ran("2", "y" * 400))[2] == len(LONG)


def cut_at(output: int) -> Run:
    """A run whose reply was cut after so many tokens, of a hundred that it might have had."""
    run = worked(fit(longest=100))
    return run.says("so", finish="length", usage=Usage(900, output))


@pytest.mark.parametrize("output", [0, 40])
def test_a_reply_that_was_cut_before_its_limit_had_no_room(output: int) -> None:
    """Row 135: less is shown, and the model goes on."""
    run = cut_at(output)

    assert words(run.requests[-1].messages)[-1] == f"user: {GO_ON}"
    assert shown(run)[2] < len(LONG)


@pytest.mark.parametrize("output", [100, 120])
def test_a_reply_that_was_cut_at_its_limit_is_a_long_one(output: int) -> None:
    """Row 135: it is what was asked for."""
    assert cut_at(output).reason == "done"
