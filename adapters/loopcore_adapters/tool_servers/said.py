"""What a server says besides its answers, kept to tell why it ended."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ENOUGH: Final = 2**20
"""How many bytes are kept between two calls at most."""

LAST: Final = 2000
"""How many of the last bytes are read."""


class Said:
    """A file that a process writes its errors to.

    Not a pipe, which somebody would have to read as long as any child of it lives; and
    opened to append, so that it can be emptied meanwhile.
    """

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(
            prefix="loopcore-", ignore_cleanup_errors=True
        )
        self.file = Path(self._folder.name, "stderr").open(  # noqa: SIM115  # `close` closes it
            "a+", encoding="utf-8"
        )

    def note(self, word: str) -> None:
        """Keep this word, and nothing that was before."""
        self._empty()
        self.file.write(word)
        self.file.flush()

    def trim(self) -> None:
        """Empty it, if there is much in it: servers write logs for days."""
        if os.fstat(self.file.fileno()).st_size > ENOUGH:
            self._empty()

    def last(self) -> str:
        """Its last lines."""
        written = Path(self.file.name).read_bytes()[-LAST:]
        return written.decode(errors="replace").strip()

    def _empty(self) -> None:
        os.ftruncate(self.file.fileno(), 0)

    def close(self) -> None:
        """Forget it all."""
        self.file.close()
        self._folder.cleanup()
