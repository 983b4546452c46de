"""A process that ends in its first lines leaves a file that can be gone on with."""

from pathlib import Path

import pytest

from loopcore import Interpreter, LoopConfig, run_sync
from loopcore.journal import Journal, TornLine, replay
from loopcore.testing import ScriptedModel

CONFIG = LoopConfig(model="test:script")


def recorded(path: Path) -> bytes:
    """The lines of a run that was recorded there."""
    run_sync(CONFIG, Interpreter(ScriptedModel("Hi.")), "Hi!", run_id="r", journal=path)
    return path.read_bytes()


def test_a_run_whose_first_input_was_torn_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    header, first, *_ = recorded(path).splitlines(keepends=True)
    path.write_bytes(header + first[:40])
    with pytest.warns(TornLine):
        past = Journal.read(path).unwrap()
    state = replay(CONFIG, past).unwrap().result.state

    model = ScriptedModel("Hello.")
    result = run_sync(CONFIG, Interpreter(model), "Hi!", state=state, journal=path)

    again = replay(CONFIG, Journal.read(path).unwrap()).unwrap().result
    assert (again.state, again.output) == (result.state, "Hello.")


def test_another_run_does_not_take_its_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    header = recorded(path).splitlines(keepends=True)[0]
    path.write_bytes(header)

    with pytest.raises(FileExistsError, match="a journal is of one run"):
        run_sync(
            CONFIG, Interpreter(ScriptedModel("Hi.")), "Hi!", run_id="s", journal=path
        )

    assert path.read_bytes() == header
