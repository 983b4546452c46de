"""Reading files as a tool: text below one folder, and nothing else."""

from pathlib import Path
from typing import Final, TypeAlias

from returns.result import Failure, Success

BYTES: Final = 20_000
"""How much of a file is read: what a small model can take in."""

NAMES: Final = 50
"""How many names of a folder are told."""

Read: TypeAlias = Success[str] | Failure[str]


def read_below(folder: Path, path: str) -> Read:
    """The text of a file below this folder, or why it is not to be had.

    Neither `..` nor a link leads out: what a path comes to is looked at, not its text.
    Hidden files are left alone, as that is where keys are kept.
    """
    try:
        root = folder.resolve()
        found = (root / path).resolve()
        problem = _problem(root, found, path)
        return Failure(problem) if problem else _text(found, path)
    except (OSError, ValueError, RuntimeError):  # no access, a NUL, links in a ring
        return Failure(f"{path!r} cannot be read.")


def _problem(root: Path, found: Path, path: str) -> str:
    if not found.is_relative_to(root):
        return f"{path!r} is not below the current folder; only what is can be read."
    if any(part.startswith(".") for part in found.relative_to(root).parts):
        return f"{path!r} is hidden; hidden files are not read."
    if found.is_dir():
        return f"{path!r} is a folder. It holds: {_names(found)}."
    if not found.exists():
        return (
            f"There is no file {path!r}. The folder holds: {_names(_nearest(found))}."
        )
    return "" if found.is_file() else f"{path!r} is not a file."


def _nearest(found: Path) -> Path:
    return next(parent for parent in found.parents if parent.is_dir())


def _names(folder: Path) -> str:
    entries = [p for p in folder.iterdir() if not p.name.startswith(".")]
    names = sorted(f"{p.name}/" if p.is_dir() else p.name for p in entries)
    more = [f"and {len(names) - NAMES} more"] if len(names) > NAMES else []
    return ", ".join([*names[:NAMES], *more]) or "nothing"


def _text(found: Path, path: str) -> Read:
    with found.open("rb") as file:
        data = file.read(BYTES + 1)
    cut = len(data) > BYTES
    if b"\0" in data:
        return Failure(f"{path!r} is not text.")
    try:
        text = data[:BYTES].decode()
    except UnicodeDecodeError as problem:
        if not cut or problem.start < BYTES - 3:
            return Failure(f"{path!r} is not text.")
        text = data[: problem.start].decode()  # the cut went through a character
    rest = f"\n[cut here, of {found.stat().st_size} bytes]" if cut else ""
    return Success(text + rest)
