"""Whatever holds a conversation is made for its owner alone; a file's mode is kept."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_IMODE
from typing import Any, Final

import pytest

from loopcore import Interpreter, LoopConfig, State, run_sync
from loopcore.cli.saving import save
from loopcore.journal import Journal, Recorder, shrink
from loopcore.testing import ScriptedModel
from tests.cli import PAY, Shell, shell

CONFIG: Final[LoopConfig[Any]] = LoopConfig(model="test:script")


def run_into(file: Path) -> None:
    model = ScriptedModel("Hi.")
    run_sync(LoopConfig(model=model), Interpreter(model), "Hi!", journal=file)


def recorded(file: Path) -> None:
    state = State.start(CONFIG, run_id="r")
    with Recorder(file, flush="none").open(CONFIG, state) as recording:
        recording.advance(CONFIG, state, "Hi!").unwrap()


def past() -> Journal:
    state = State.start(CONFIG, run_id="r")
    return Journal.of(CONFIG, state, ["Hi!"]).unwrap()


def written(file: Path) -> None:
    past().write(file)


def shrunk(file: Path) -> None:
    shrink(CONFIG, past(), lambda _: True).write(file)


def saved(file: Path) -> None:
    save(State.start(CONFIG, run_id="r"), file)


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    with shell(tmp_path, monkeypatch) as one:
        one.app(PAY)
        yield one


@pytest.fixture(autouse=True)
def _open_to_all() -> Iterator[None]:
    """New files may be read by all, unless somebody says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(file: Path) -> int:
    return S_IMODE(file.stat().st_mode)


WRITERS: Final[dict[str, Callable[[Path], None]]] = {
    "a run": run_into,
    "a recorder": recorded,
    "a journal written": written,
    "a journal shrunk": shrunk,
    "a saved run": saved,
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_new_file_is_its_owners_alone(
    write: Callable[[Path], None], tmp_path: Path
) -> None:
    write(tmp_path / "r.jsonl")

    assert 0o600 == mode(tmp_path / "r.jsonl")


@pytest.mark.parametrize("write", [run_into, recorded, saved])
@pytest.mark.parametrize("had", [0o644, 0o660])
def test_a_file_that_is_there_keeps_its_mode(
    write: Callable[[Path], None], had: int, tmp_path: Path
) -> None:
    file = tmp_path / "r.jsonl"
    file.touch()
    file.chmod(had)

    write(file)

    assert file.stat().st_size
    assert had == mode(file)


def test_a_saved_run_may_stand_where_a_link_leads_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.symlink_to(tmp_path / "gone")

    saved(file)

    assert 0o600 == mode(file)


COMMANDS: Final = {
    "run --journal": ("run", "app", "Pay.", "--journal", "kept"),
    "run --save": ("run", "app", "Pay.", "--save", "kept"),
    "chat --journal": ("chat", "app", "--journal", "kept"),
    "chat --save": ("chat", "app", "--save", "kept"),
    "/save": ("chat", "app"),
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_keeps_it_for_its_owner(sh: Shell, words: tuple[str, ...]) -> None:
    sh.loopcore(*words, typed="/save kept\nPay.\n")

    assert 0o600 == mode(sh.folder / "kept")


def test_a_fork_is_its_owners_alone(sh: Shell) -> None:
    sh.loopcore("run", "app", "Pay.", "--journal", "r.jsonl")
    sh.loopcore("fork", "app", "r.jsonl", "--at", "1", "--save", "kept")

    assert 0o600 == mode(sh.folder / "kept")
