"""Hooks whose points are named by a table."""

from typing import Any

from loopcore.hooks import Hooks


def hooked(name: str, **points: Any) -> Hooks:  # functions of any point
    """A hook with these functions at these points."""
    return Hooks(name, **points)


def raises(view: object) -> None:
    """What a hook does that has a fault."""
    message = f"no use for {type(view).__name__}"
    raise RuntimeError(message)
