"""Golden journals: what was written by any version is read, and does the same."""

from pathlib import Path

import attrs
import pytest

from loopcore.journal import Entry, Journal, backtest, replay, verify
from tests.golden import FOLDER, SCENES, missing, record

FILES = sorted(FOLDER.parent.rglob("*.jsonl"))


def test_every_scene_was_recorded() -> None:
    """If it fails: `python -m tests.golden`, and commit what it made."""
    assert missing() == []


@pytest.mark.parametrize(
    "file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_a_golden_journal_does_the_same(file: Path) -> None:
    config = SCENES[file.stem].config
    journal = Journal.read(file).unwrap()

    again = replay(config, journal)

    assert len(again.unwrap().steps) == len(journal.entries)
    assert len(backtest([file], old=config, new=config).same) == 1


@pytest.mark.parametrize(
    "file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_a_golden_journal_is_as_it_was_written(file: Path) -> None:
    """No line end was changed on the way here, and no byte."""
    assert verify(file).unwrap() == file.read_bytes().count(b"\n")


@pytest.mark.parametrize("name", SCENES)
def test_this_version_writes_the_newest_format(tmp_path: Path, name: str) -> None:
    """To the byte, but for hints: digests of code, and what exactly a hook wrote.

    Code differs among Pythons, and a rule may come to remember more, or to write less.
    """
    newest = max(FOLDER.parent.iterdir(), key=lambda folder: int(folder.name))
    record(name, tmp_path / "r.jsonl")

    made = Journal.read(tmp_path / "r.jsonl").unwrap()
    golden = Journal.read(newest / f"{name}.jsonl").unwrap()

    assert (made.start, bare(made), made.notes) == (
        golden.start,
        bare(golden),
        golden.notes,
    )


def bare(journal: Journal) -> list[Entry]:
    """Its lines; of what hooks wrote, only which of them did, and where."""
    return [
        attrs.evolve(
            entry,
            wrote=tuple((hook, point) for hook, point, _ in entry.wrote),
        )
        for entry in journal.entries
    ]
