"""`diff` of records that the configuration does not make as they are: that is told."""

import json
from pathlib import Path

import attrs
import pytest

from loopcore import (
    Answer,
    AssistantMessage,
    LoopConfig,
    ModelError,
    Prompt,
    State,
    ToolCall,
    ToolOutput,
    ToolSpec,
)
from loopcore.journal import Journal, diff, fork
from loopcore.journal.tables import diff_json
from loopcore.policies import ask_before, redact, retry
from tests.cli import shell

LOOK = ToolSpec("look", "Look.", {"type": "object"})
CONFIG = LoopConfig(model="test:m", tools=[LOOK])
ASKING = attrs.evolve(CONFIG, hooks=[ask_before()])
HIDING = attrs.evolve(CONFIG, hooks=[redact("seen")])


def run(name: str, seen: str) -> Journal:
    """A run in which this was seen."""
    call = AssistantMessage([ToolCall("look", {}, "c1")])
    happened = (
        Prompt("Look!"),
        Answer(f"{name}.1.1.model.1", call),
        Answer(f"{name}.1.1.run.0", ToolOutput(seen)),
        Answer(f"{name}.1.2.model.1", AssistantMessage("Done.")),
    )
    return Journal.of(CONFIG, State.start(CONFIG, run_id=name), happened).unwrap()


def test_runs_that_are_as_recorded_have_no_notes() -> None:
    found = diff(CONFIG, run("a", "seen"), run("b", "seen"))

    assert (found.is_same, found.notes) == (True, ())


def timed(journal: Journal, seconds: float) -> Journal:
    """The same, but that each answer took so long."""
    happened = [
        attrs.evolve(one.input, seconds=seconds)
        if isinstance(one.input, Answer)
        else one.input
        for one in journal.entries
    ]
    return Journal.of(CONFIG, journal.start, happened).unwrap()


@pytest.mark.parametrize(("seen", "common"), [("seen", 4), ("nothing", 2)])
def test_what_two_runs_have_in_common_depends_on_no_name_and_no_time(
    seen: str, common: int
) -> None:
    """`the first 0 inputs lead to the same` was said of runs that are equal."""
    one, other = run("a", "seen"), run("b", seen)

    found = diff(CONFIG, timed(one, 0.1), timed(other, 0.2))

    assert found.common == common


RETRYING = attrs.evolve(CONFIG, hooks=[retry()])


def run_again(name: str, began: float) -> Journal:
    """A run whose model was busy at first, at this time."""
    start = State.start(RETRYING, run_id=name)
    happened = (
        Prompt("Look!"),
        Answer(f"{name}.1.1.model.1", ModelError("busy", "overloaded")),
        Answer(f"{name}.1.1.sleep.1", None),
        Answer(f"{name}.1.1.model.2", AssistantMessage("Done.")),
    )
    timed = attrs.evolve(start, now=began)
    return Journal.of(RETRYING, timed, happened).unwrap()


def test_a_pause_before_a_retry_is_a_time_that_makes_no_difference() -> None:
    one, other = run_again("a", 100.0), run_again("b", 200.0)

    assert diff(RETRYING, one, other).common == 4


def test_what_two_runs_have_in_common_is_said_in_whole_words() -> None:
    one, other = run("a", "seen"), run("b", "seen")
    again = Journal.of(CONFIG, one.start, [Prompt("Listen!")]).unwrap()
    early = Journal.of(CONFIG, one.start, [one.entries[0].input]).unwrap()

    said = [str(diff(CONFIG, one, x)).splitlines()[2] for x in (again, early, other)]

    assert said == [
        "already the first input leads elsewhere",
        "the first input leads to the same",
        "the first 4 inputs lead to the same",
    ]


def test_runs_that_no_longer_fit_are_not_the_same() -> None:
    """What they differ in may come later: that would be a wrong success."""
    found = diff(ASKING, run("a", "seen"), run("b", "nothing"))

    assert not found.is_same
    assert [note.partition(":")[0] for note in found.notes] == ["a", "a", "b", "b"]
    assert "b: (the record goes on, but input 3 no longer fits)" in str(found)


def test_what_is_told_of_a_record_that_leads_elsewhere_now_is_told_as_such() -> None:
    found = diff(HIDING, run("a", "seen"), run("b", "nothing"))

    note = (
        "a: (input 3 led elsewhere when this was recorded: what is told is what comes"
    )
    assert [line for line in str(found).splitlines() if line.startswith(note)]
    assert diff_json(found)["notes"] == list(found.notes)


def test_a_shell_tells_that_two_runs_no_longer_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seen in (("a", "seen"), ("b", "nothing")):
        run(name, seen).write(tmp_path / f"{name}.jsonl")
    with shell(tmp_path, monkeypatch) as sh:
        sh.module("from tests.test_journal_diff import ASKING as config", "app")

        told = sh.loopcore("diff", "app", "a.jsonl", "b.jsonl", "--json")

    assert (json.loads(told.out)["same"], told.code) == (False, 1)


@pytest.mark.parametrize("turn", [None, 1])
def test_a_replaced_input_is_named_by_its_number(turn: int | None) -> None:
    with pytest.raises(ValueError, match="needs at= beside what replaces"):
        fork(CONFIG, run("a", "seen"), turn=turn, replace="Hm?", run_id="f")


def test_a_replaced_input_after_a_turn_is_two_points() -> None:
    with pytest.raises(ValueError, match="turn= or at=, not both"):
        fork(CONFIG, run("a", "seen"), turn=1, at=1, replace="Hm?", run_id="f")
