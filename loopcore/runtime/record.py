"""A journal being written: where a run began, then what happened to it."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Final

from loopcore.codec import to_json
from loopcore.frozen import Json, dump_json
from loopcore.inputs import Input
from loopcore.state import State

FORMAT: Final = "loopcore.journal"
VERSION: Final = 1


class Recording:
    """JSON Lines: a header with the initial state, then one input a line, with its time.

    Each line is in the file before the run goes on.
    """

    def __init__(self, path: str | PathLike[str], state: State) -> None:
        self._path = Path(path)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        header = {"format": FORMAT, "version": VERSION, "state": to_json(state)}
        try:
            self._write("x", [header])
        except FileExistsError:
            message = (
                f"{self._path} exists already, and a journal is of one run. Give "
                "journal= another path, or remove it."
            )
            raise FileExistsError(message) from None

    def add(self, inputs: Iterable[Input], at: float) -> None:
        """These happened at this time, in this order."""
        self._write("a", [{"at": at, "input": to_json(i, Input)} for i in inputs])

    def _write(self, mode: str, lines: Iterable[dict[str, Json]]) -> None:
        with self._path.open(mode, encoding="utf-8", newline="\n") as file:
            file.writelines(dump_json(line) + "\n" for line in lines)
