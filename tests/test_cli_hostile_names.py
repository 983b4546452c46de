"""Names that somebody else chose, of runs and files: they steer no shell and no reader."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopcore.journal import Journal, JournalError
from tests.cli import Shell, shell

RUN = 'app("Hi.")'
NAMES = {
    "../../up": "_._.._up-fork.json",
    "/there": "_there-fork.json",
    "x; touch owned #": "x__touch_owned__-fork.json",
    "-rf": "_rf-fork.json",
    ".hidden": "_hidden-fork.json",
    "two\nlines\x1b[2J": "two_lines__2J-fork.json",
    "Größe-7.1": "Größe-7.1-fork.json",
}


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    with shell(folder, monkeypatch) as one:
        one.app(RUN)
        yield one


@pytest.mark.parametrize("name", NAMES)
def test_a_run_of_any_name_is_saved_here_and_gone_on_with(sh: Shell, name: str) -> None:
    """And what is told to be typed next does that, and nothing else."""
    sh.loopcore("run", "app", "Hi!", "--journal", "r.jsonl", "--run-id", name)

    told = sh.loopcore("fork", "app", "r.jsonl")

    go_on = f"go on with:  loopcore run app --resume {shlex.quote(NAMES[name])}"
    assert told.lines[-1] == f"saved to {NAMES[name]} · {go_on}"
    assert sorted(path.name for path in sh.folder.glob("*.json")) == [NAMES[name]]
    assert [*sh.folder.parent.glob("*")] == [sh.folder]


def test_a_file_that_needs_quotes_is_told_in_quotes(sh: Shell) -> None:
    sh.loopcore("run", "app", "Hi!", "--journal", "r.jsonl", "--run-id", "r")

    told = sh.loopcore("fork", "app", "r.jsonl", "--save", "my run.json")

    assert told.lines[-1].endswith("loopcore run app --resume 'my run.json'")


@pytest.mark.parametrize("command", ["verify", "check app"])
@pytest.mark.parametrize("text", [b"", b"{}"])
def test_a_file_is_told_of_in_one_line(sh: Shell, command: str, text: bytes) -> None:
    """Else its name could say of others that they are whole."""
    folder = sh.folder / "runs"
    folder.mkdir()
    (folder / "x\nb.jsonl: 4 lines, whole\n.jsonl").write_bytes(text)

    told = sh.loopcore(*command.split(), "runs")

    assert not [line for line in told.lines if line.startswith("b.jsonl")]


def test_a_whole_file_is_told_of_in_one_line(sh: Shell) -> None:
    sh.loopcore("run", "app", "Hi!", "--journal", "r.jsonl")
    (sh.folder / "r.jsonl").rename(sh.folder / "x\ny.jsonl")

    assert sh.loopcore("verify", "x\ny.jsonl").lines == ["x␊y.jsonl: 3 lines, whole"]


def test_an_error_of_a_journal_is_one_line() -> None:
    problem = Journal.read("no\nfile").failure()

    assert "\n" not in str(problem)
    assert line_of(problem) == "no\\nfile, line 3: it is empty"


def line_of(problem: JournalError) -> str:
    return str(JournalError(problem.path, 3, "it is empty"))
