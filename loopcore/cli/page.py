"""A page of text: lines with a margin, the last of which may still grow."""

from typing import Final

from rich.cells import cell_len
from rich.console import Console

from loopcore.cli.harmless import harmless

MARGIN: Final = " " * 4


class Page:
    """Writes lines, and keeps one open for whoever has more to say in it.

    The first line of a turn has the turn's number in its margin.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._owner, self._width = "", 0  # whose line is open, and how long it is
        self._newlines = 0  # held back until something follows them
        self._turn, self._margin = 0, MARGIN

    def turn(self, number: int) -> None:
        """What comes next belongs to this turn; 0 is before the first one."""
        if number != self._turn:
            self._turn = number
            self._margin = f"{number:>2}".ljust(len(MARGIN)) if number else MARGIN

    def line(self, text: str, style: str | None = None) -> None:
        """A whole line, or several."""
        for one in harmless(text).splitlines():
            self.open("line", one, style=style)
            self.end()

    def bare_line(self, text: str, style: str | None = None) -> None:
        """A line without a margin, about the run as a whole."""
        self.end()
        self._write(f"{harmless(text)}\n", style)

    def open(
        self, owner: str, text: str, *, depth: int = 0, style: str | None = None
    ) -> None:
        """Begin a line that is to grow; `depth` is how far in it stands."""
        self.end()
        self._write(MARGIN + "  " * depth if depth else self._margin)
        self._margin = MARGIN
        self._write(harmless(text), style)
        self._owner, self._width = owner, 2 * depth + cell_len(text)

    def is_open(self, owner: str) -> bool:
        """Whether the last line is this one's, and may grow."""
        return self._owner == owner

    def close(self, column: int, *said: tuple[str, str | None]) -> None:
        """End the open line with these words and styles, from a column on."""
        self._write(" " * max(column - self._width, 2))
        for text, style in said:
            self._write(text, style)
        self.end()

    def flow(self, owner: str, text: str, style: str | None = None) -> None:
        """More of a text: in its open line, or from a new one on."""
        for n, piece in enumerate(harmless(text).split("\n")):
            self._newlines += n > 0
            if piece:
                self._follow(owner)
                self._write(piece, style)

    def _follow(self, owner: str) -> None:
        if self._owner != owner:
            self.open(owner, "")
        elif self._newlines:
            self._write("\n" * min(self._newlines, 2) + MARGIN)
        self._newlines = 0

    def end(self) -> None:
        """The open line is done."""
        if self._owner:
            self._write("\n")
        self._owner, self._newlines = "", 0

    def interrupted(self) -> None:
        """A terminal has written ^C where the cursor was."""
        if self._console.is_terminal:
            self._owner = self._owner or "^C"

    def _write(self, text: str, style: str | None = None) -> None:
        self._console.out(text, style=style, end="", highlight=False)
