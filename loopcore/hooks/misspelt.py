"""A rule for a tool whose name is misspelt: it would guard nothing, without a word."""

import sys
import warnings
from collections.abc import Collection, Iterable, Iterator
from types import FrameType
from typing import Final
from weakref import WeakValueDictionary

from loopcore.hooks.code import package_of
from loopcore.hooks.rule import Hooks
from loopcore.tools import near

MISSPELT: Final = (
    "hook {!r} is about a tool {!r}, which is not among the tools of this configuration. "
    "Did you mean {}?"
)
MAKER: Final = 4
"""Whoever makes a configuration: above its `__init__`, what that calls, and `tell_of`."""

BETWEEN: Final = frozenset(("attr", "copy", "typing"))
"""Who may stand between: `attrs.evolve`, `copy.replace` and `LoopConfig[str]`."""

OURS: Final = frozenset(("loopcore", "loopcore_adapters"))

_TOLD: Final = WeakValueDictionary[tuple[int, str], Hooks]()
"""Which rules were told of, by identity: copies of a configuration share them."""


def tell_of_misspelt(hooks: Iterable[Hooks], tools: Collection[str]) -> None:
    """Warn of each rule for a tool that is not there, if one is that may be meant.

    Any other name may be that of a tool that comes later. A copy of a configuration does
    not tell it again, nor does one that this package makes of yours.
    """
    for hook, name, meant in misspelt(hooks, tools):
        key, level = (id(hook), name), _level()
        if level and _TOLD.get(key) is not hook:
            text = MISSPELT.format(hook.name, name, " or ".join(map(repr, meant)))
            warnings.warn(text, UserWarning, stacklevel=level)
            _TOLD[key] = hook


def misspelt(
    hooks: Iterable[Hooks], tools: Collection[str]
) -> Iterator[tuple[Hooks, str, list[str]]]:
    """The rules with a name that is not among these tools, and those that may be meant."""
    for hook in hooks:
        named = hook.tools or ()
        missing = [name for name in named if name not in tools]
        told = ((hook, name, meant_by(name, tools, named)) for name in missing)
        yield from (one for one in told if one[-1])


def meant_by(
    name: str, tools: Collection[str], named: Collection[str] = ()
) -> list[str]:
    """The tools that may be meant by a name: not those that are named besides."""
    return near(name, [tool for tool in tools if tool not in named])


def _level() -> int:
    """The stack level of the line that makes a configuration; 0 if that is one of ours."""
    frame: FrameType | None = sys._getframe(MAKER)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # inspect reads files
    level = MAKER
    while frame is not None and package_of(frame) in BETWEEN:
        frame, level = frame.f_back, level + 1
    return 0 if frame is None or package_of(frame) in OURS else level
