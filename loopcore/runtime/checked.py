"""Whether hooks are to be checked while a run goes on: LOOPCORE_CHECK=1."""

import os
from typing import Final

from loopcore.config import LoopConfig, T

OFF: Final = frozenset(("", "0", "false", "no", "off"))


def checked(config: LoopConfig[T]) -> LoopConfig[T]:
    """The configuration; with LOOPCORE_CHECK=1, one whose hooks are asked twice.

    Two answers to the same view are then a hook_error that says what made the difference.
    """
    if os.environ.get("LOOPCORE_CHECK", "").strip().lower() in OFF:
        return config
    from loopcore.runtime.purity import asked_twice  # noqa: PLC0415  # it is rarely wanted

    return asked_twice(config)
