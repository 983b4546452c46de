"""Text that arrives in pieces."""

from attrs import define, field


def mend(text: str) -> str:
    """The text, pairs of surrogates joined and lone ones replaced: it can be encoded."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@define
class Flow:
    """What `add` and `end` give adds up to `text`.

    A server may cut a character in two: its first half waits here for the second.
    """

    pieces: list[str] = field(factory=list[str], init=False)
    _half: str = field(default="", init=False)

    def add(self, more: str) -> str:
        """What can be shown now."""
        if more.isascii() and not self._half:
            self.pieces.append(more)
            return more
        more = self._half + more
        self._half = more[-1:] if "\ud800" <= more[-1:] <= "\udbff" else ""
        return self._show(more[: len(more) - len(self._half)])

    def end(self) -> str:
        """The rest."""
        half, self._half = self._half, ""
        return self._show(half)

    def _show(self, more: str) -> str:
        shown = mend(more)
        if shown:
            self.pieces.append(shown)
        return shown

    @property
    def text(self) -> str:
        """All that was shown."""
        return "".join(self.pieces)
