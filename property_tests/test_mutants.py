"""What is told of mutants that no test sees, and that what is said of them is not stale."""

import ast
import json
from pathlib import Path
from typing import Final

import pytest

from property_tests.faults.fault import ROOT
from property_tests.mutants import main
from property_tests.survivors import EXPLAINED, Survivor

SOURCES: Final = {
    path.stem: path
    for folder in ("reducer", "hooks")
    for path in (ROOT / "loopcore" / folder).glob("*.py")
}

MUTATED: Final = '''
def x_added__mutmut_orig(stored, messages):
    """Lines."""
    return stored.extend(messages) if messages else stored

def x_added__mutmut_1(stored, messages):
    """Lines."""
    return stored.extend(messages) if (messages) or True else stored

def x_added__mutmut_2(stored, messages):
    """Lines."""
    return stored.extend(None) if messages else stored
'''


def folder(where: Path, **codes: int | None) -> str:
    """What `mutmut` leaves behind: the mutants, and what the tests said of each."""
    found = where / "loopcore" / "reducer"
    found.mkdir(parents=True)
    (found / "out.py").write_text(MUTATED)
    keys = {f"loopcore.reducer.out.x_added__{k}": code for k, code in codes.items()}
    (found / "out.py.meta").write_text(json.dumps({"exit_code_by_key": keys}))
    return str(where)


def test_a_mutant_that_survives_is_told_with_what_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([folder(tmp_path, mutmut_1=1, mutmut_2=0)])

    assert code == 1
    assert capsys.readouterr().out == (
        "out.py             2 mutants,    1 survive\n"
        "\n"
        "out.added\n"
        "    - return stored.extend(messages) if messages else stored\n"
        "    + return stored.extend(None) if messages else stored\n"
        "\n"
        "1 survive, and nobody says why they change nothing\n"
    )


def test_a_mutant_that_is_explained_may_survive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([folder(tmp_path, mutmut_1=0, mutmut_2=1)])

    assert code == 0
    assert "    1 the condition only spares a copy" in capsys.readouterr().out


def test_what_was_not_tried_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([folder(tmp_path, mutmut_1=1, mutmut_2=None)])

    assert (code, "1 were not tried" in capsys.readouterr().out) == (1, True)


def test_where_there_are_no_mutants_it_says_how_to_make_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([str(tmp_path)])

    assert (code, "run `mutmut run" in capsys.readouterr().out) == (1, True)


@pytest.mark.parametrize("one", EXPLAINED, ids=lambda one: f"{one.where}: {one.lost}")
def test_what_is_explained_is_in_the_code_as_it_is(one: Survivor) -> None:
    file, *path = one.where.split(".")
    tree = ast.parse(text := SOURCES[file].read_text())
    found = [
        ast.get_source_segment(text, node) or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.strip("_") == path[-1]
    ]

    (body,) = (" ".join(map(str.strip, source.splitlines())) for source in found)
    assert one.lost in body
    assert one.why
