"""`--run-id`: a run is called what its caller calls it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from loopcore import State
from loopcore.journal import Journal
from tests.cli import PAY, Shell, shell


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    with shell(tmp_path, monkeypatch) as one:
        one.app(PAY)
        yield one


def saved(file: Path) -> State:
    return State.loads(file.read_bytes()).unwrap()


@pytest.mark.parametrize("words", [("run", "app", "Pay."), ("chat", "app")])
def test_a_run_has_the_name_that_it_is_given(sh: Shell, words: tuple[str, ...]) -> None:
    told = sh.loopcore(*words, "--run-id", "nightly", typed="Pay.\n")

    assert f"{words[0]} nightly · " in told.out
    assert "nightly" == saved(sh.folder / "nightly.json").run_id


def test_its_journal_has_that_name(sh: Shell) -> None:
    sh.loopcore("run", "app", "Pay.", "--run-id", "nightly", "--journal", "r.jsonl")

    assert "nightly" == Journal.read(sh.folder / "r.jsonl").unwrap().run_id


def test_an_empty_name_is_refused_as_by_the_library(sh: Shell) -> None:
    """`State.start` says so, too."""
    told = sh.loopcore("run", "app", "Pay.", "--run-id", "")

    assert 2 == told.code
    assert (
        "Error: run_id is empty; effect ids are made of it, so it must be unique\n"
    ) == told.err


@pytest.mark.parametrize(
    "kept", [("--save", "one.json"), ("--journal", "one.jsonl")], ids=lambda k: k[0]
)
def test_what_is_resumed_keeps_its_name(sh: Shell, kept: tuple[str, str]) -> None:
    sh.loopcore("run", "app", "Pay.", *kept)

    told = sh.loopcore("run", "app", "--resume", kept[1], "--run-id", "nightly")

    assert 2 == told.code
    assert (
        "Error: --run-id names a new run; one that is resumed keeps its own name.\n"
    ) == told.err


def test_no_file_of_that_name_is_overwritten(sh: Shell) -> None:
    """A run that has to wait is saved under its name: told before it begins."""
    (sh.folder / "nightly.json").write_text("precious")

    told = sh.loopcore("run", "app", "Pay.", "--run-id", "nightly")

    assert 2 == told.code
    assert "nightly.json exists already; give --save another path" in told.err
    assert "precious" == (sh.folder / "nightly.json").read_text()


@pytest.mark.parametrize("option", ["--save", "--journal"])
def test_where_it_is_kept_elsewhere_there_may_be_one(sh: Shell, option: str) -> None:
    (sh.folder / "nightly.json").write_text("precious")

    told = sh.loopcore("run", "app", "Pay.", "--run-id", "nightly", option, "kept")

    assert 0 == told.code
    assert "precious" == (sh.folder / "nightly.json").read_text()
