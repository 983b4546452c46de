"""Files that only their owner may read: they hold what was said."""

import os
from typing import Final

OWNER_ONLY: Final = 0o600


def private(path: str, flags: int) -> int:
    """Open a file that may not be there yet, as `open(..., opener=private)`.

    A new one is its owner's alone, where the system has that; one that is there keeps the
    permissions it has.
    """
    return os.open(path, flags | os.O_CREAT, OWNER_ONLY)
