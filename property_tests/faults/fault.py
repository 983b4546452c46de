"""A fault as data, and the copy of the code that it is seeded into."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from attrs import frozen

ROOT: Final = Path(__file__).parents[2]
COPIED: Final = ("loopcore", "adapters", "tests", "property_tests", "pyproject.toml")
SECONDS: Final = 300.0
"""How long a suite may take: a fault may make a run go on for ever."""


@frozen
class Patch:
    """In this file, this text (which stands there once) becomes that one."""

    file: str
    old: str
    new: str


@frozen
class Fault:
    """What goes wrong, how, and other tests than the kit's that must see it."""

    name: str
    patches: tuple[Patch, ...]
    tests: tuple[str, ...]


@frozen
class Verdict:
    """What some tests said of a fault.

    `how` is caught, survived, broken, or otherwise: it was caught, not by this law.
    """

    how: str
    by: str
    seconds: float


def fault(name: str, *rest: str) -> Fault:
    """A fault in one file: what goes wrong, the file, its text, another, and the tests."""
    file, old, new, *tests = rest
    return Fault(name, (Patch(file, old, new),), tuple(tests))


def stale(one: Fault, root: Path = ROOT) -> list[str]:
    """The files in which the text of a patch does not stand exactly once."""
    return [p.file for p in one.patches if _count(root / p.file, p.old) != 1]


def _count(path: Path, text: str) -> int:
    return path.read_text().count(text) if path.exists() else 0


def copied(where: Path) -> Path:
    """A copy of the code and its tests."""
    skipped = shutil.ignore_patterns("__pycache__", ".*")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, where / name, ignore=skipped)
        else:
            shutil.copy(ROOT / name, where / name)
    return where


@contextmanager
def seeded(one: Fault, copy: Path) -> Generator[None]:
    """The copy with this fault in it, for as long as it takes."""
    before = {p.file: (copy / p.file).read_text() for p in one.patches}
    try:
        for patch in one.patches:
            text = (copy / patch.file).read_text()
            _write(copy / patch.file, text.replace(patch.old, patch.new))
        yield
    finally:
        for file, text in before.items():
            _write(copy / file, text)


def _write(path: Path, text: str) -> None:
    """Write a source, and forget what Python compiled of it: times are too coarse."""
    path.write_text(text)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def judged(copy: Path, tests: Iterable[str], law: str = "") -> Verdict:
    """What these tests say of the copy as it is; they are to name this law."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-x", "-q", *PLUGINS, *tests]
    try:
        done = subprocess.run(  # noqa: S603  # our own tests
            command,
            cwd=copy,
            env=_environment(copy),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        how, by = _read(done.returncode, done.stdout)
        named = law in done.stdout
        how = "otherwise" if how == "caught" and not named else how
        by = law if law and named else by
    except subprocess.TimeoutExpired:
        how, by = "caught", "it did not end"
    return Verdict(how, by, time.perf_counter() - began)


PLUGINS: Final = ("-p", "property_tests.faults.quick", "-p", "no:cacheprovider")


def _environment(copy: Path) -> dict[str, str]:
    path = os.pathsep.join((str(copy), str(copy / "adapters")))
    return {**os.environ, "PYTHONPATH": path, "HYPOTHESIS_PROFILE": "faults"}


def _read(code: int, printed: str) -> tuple[str, str]:
    """The verdict of pytest: 0 is all passed, 1 is some failed, the rest is its trouble."""
    if code == 0:
        return "survived", ""
    if code == 1:
        found = re.search(r"^FAILED (\S+)", printed, re.MULTILINE)
        return "caught", found[1].rsplit("::", 1)[-1] if found else "?"
    last = printed.strip().rsplit("\n", 1)[-1]
    return "broken", last
