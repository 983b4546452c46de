"""A journal being written: where a run began, then what happened to it."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Final

from loopcore.codec import to_json
from loopcore.frozen import Json, clean, dump_json
from loopcore.inputs import Input
from loopcore.state import State

FORMAT: Final = "loopcore.journal"
VERSION: Final = 1


class Recording:
    """JSON Lines: a header with the initial state, then one input a line, with its time.

    Each line is in the file before the run goes on. There is no file before the first
    input, nor after writing that has failed: it would be in the way of another try.
    """

    def __init__(self, path: str | PathLike[str], state: State) -> None:
        self._path = Path(path)
        header = {"format": FORMAT, "version": VERSION, "state": to_json(state)}
        self._header: str | None = _lines([header])

    def add(self, inputs: Iterable[Input], at: float) -> None:
        """These happened at this time, in this order.

        Raises:
            FileExistsError: for the first ones, if there is such a file.
        """
        text = _lines({"at": at, "input": to_json(i, Input)} for i in inputs)
        if self._header is None:
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(text)
            return
        self._create(self._header + text)
        self._header = None

    def _create(self, text: str) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = self._path.open("x", encoding="utf-8", newline="\n")
        except FileExistsError:
            message = (
                f"{self._path} exists already, and a journal is of one run. Give "
                "journal= another path, or remove it."
            )
            raise FileExistsError(message) from None
        try:
            with file:
                file.write(text)
        except BaseException:
            self._path.unlink(missing_ok=True)
            raise


def _lines(values: Iterable[dict[str, Json]]) -> str:
    """Text that can be encoded, whatever the values hold."""
    return clean("".join(dump_json(value) + "\n" for value in values))
