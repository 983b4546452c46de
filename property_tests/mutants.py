"""What became of the mutants of the reducer and of merging.

    HYPOTHESIS_PROFILE=mutants mutmut run --max-children 2    change the code in every small way
    python -m property_tests.mutants                          tell which no test sees, and why

`mutmut` leaves a folder `mutants` with a copy of the code, the mutants in it, and what the
tests said of each. This reads it. A mutant that survives is either explained in
`property_tests.survivors`, since it changes nothing that anybody can see; or it is told
here, and the command exits with 1.
"""

import ast
import difflib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from property_tests.survivors import EXPLAINED

FOLDER: Final = Path("mutants")
SURVIVED: Final = 0
UNTESTED: Final = 33
"""What mutmut writes down for a mutant that all tests pass, and that no test reaches."""


@frozen
class Mutant:
    """A mutant: the function that was changed, the lines that it lost and got."""

    where: str
    lost: tuple[str, ...]
    got: tuple[str, ...]

    def __str__(self) -> str:
        lost = [f"    - {line}" for line in self.lost]
        return "\n".join((self.where, *lost, *(f"    + {line}" for line in self.got)))


def why(mutant: Mutant) -> str:
    """Why it changes nothing; empty if nobody says so."""
    lost, got = " ".join(mutant.lost), " ".join(mutant.got)
    known = [one for one in EXPLAINED if one.where == mutant.where]
    return next((s.why for s in known if s.fits(lost, got)), "")


def main(given: list[str] | None = None) -> int:
    """Tell what became of them; 1 if one survived and nobody says why it may."""
    folder = Path(given[0]) if given else FOLDER
    files = sorted(folder.rglob("*.meta"))
    if not files:
        say(f"there are no mutants in {folder}: run `mutmut run` first")
        return 1
    found = [(mutant, why(mutant)) for file in files for mutant in survivors(file)]
    left = [mutant for mutant, reason in found if not reason]
    for line in filter(None, map(counted, files)):
        say(line)
    for reason, n in Counter(r for _, r in found if r).items():
        say(f"{n:5} {reason}")
    for mutant in left:
        say(f"\n{mutant}")
    say(f"\n{len(left)} survive, and nobody says why they change nothing")
    untried = any(None in _codes(file).values() for file in files)
    return 1 if left or untried else 0


def counted(file: Path) -> str:
    """How many mutants there were in a file; nothing, if there were none."""
    codes = Counter(_codes(file).values())
    alive = codes[SURVIVED] + codes[UNTESTED]
    unknown = f", {codes[None]} were not tried" if codes[None] else ""
    total = sum(codes.values())
    said = f"{file.stem:14} {total:5} mutants, {alive:4} survive{unknown}"
    return said if total else ""


def _codes(file: Path) -> dict[str, int | None]:
    codes: dict[str, int | None] = json.loads(file.read_text())["exit_code_by_key"]
    return codes


def survivors(file: Path) -> Iterator[Mutant]:
    """The mutants of a file that no test sees."""
    alive = [key for key, code in _codes(file).items() if code in (SURVIVED, UNTESTED)]
    if not alive:
        return
    source = file.with_suffix("").read_text()
    functions = {
        node.name: ast.get_source_segment(source, node) or ""
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    }
    for key in alive:
        yield _mutant(Path(file.stem).stem, key.rsplit(".", 1)[-1], functions)


def _mutant(file: str, name: str, functions: dict[str, str]) -> Mutant:
    base = name.partition("__mutmut_")[0]
    before = functions[f"{base}__mutmut_orig"].splitlines()[1:]
    after = functions[name].splitlines()[1:]
    diff = list(difflib.ndiff(before, after))
    lost = tuple(line[2:].strip() for line in diff if line.startswith("- "))
    got = tuple(line[2:].strip() for line in diff if line.startswith("+ "))
    function = base.removeprefix("x").strip("_ǁ").replace("ǁ", ".")
    return Mutant(f"{file}.{function}", lost, got)


def say(line: str) -> None:
    """Print a line."""
    print(line)  # noqa: T201  # this is a command


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
