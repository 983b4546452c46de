"""Outcomes of tools that there are not: they would never be had, without a word."""

from collections.abc import Iterable, Iterator
from typing import Final

from loopcore.config import AnyConfig, Nested
from loopcore.frozen import UNSET
from loopcore.hooks.misspelt import meant_by
from loopcore.hooks.points import PointName
from loopcore.hooks.rule import Hooks
from loopcore.inputs import Input
from loopcore.testing.explore.choices import Outcomes
from loopcore.tools import spec_of

ADDING: Final[tuple[PointName, ...]] = ("transform_context", "prepare_next_turn")
"""Where a hook may offer tools that a configuration does not have."""


def refuse_unknown(config: AnyConfig, inputs: Iterable[Input], tools: Outcomes) -> None:
    """Refuse outcomes of a tool that neither a configuration nor an input has.

    Where a hook may add tools, only a name that is near another one is refused.

    Raises:
        ValueError: saying which tools there are.
    """
    known = list(dict.fromkeys((*_tools(config), *_given(inputs))))
    may_come = any(hook.functions.keys() & {*ADDING} for hook in _hooks(config))
    for name in tools:
        meant = meant_by(name, known, tools)
        if name not in known and (meant or not may_come):
            raise ValueError(_unknown(name, meant, known))


def _tools(config: AnyConfig) -> Iterator[str]:
    """The tools of a configuration, then those of the runs inside."""
    yield from (spec_of(tool).name for tool in config.tools)
    for inside in _inside(config):
        yield from _tools(inside)


def _given(inputs: Iterable[Input]) -> Iterator[str]:
    for one in inputs:
        found = getattr(one, "tools", UNSET)
        yield from () if found is UNSET else (spec.name for spec in found)


def _hooks(config: AnyConfig) -> Iterator[Hooks]:
    yield from config.hooks
    for inside in _inside(config):
        yield from _hooks(inside)


def _inside(config: AnyConfig) -> Iterator[AnyConfig]:
    return (tool.config for tool in config.tools if isinstance(tool, Nested))


def _unknown(name: str, meant: list[str], known: list[str]) -> str:
    hint = f" Did you mean {' or '.join(map(repr, meant))}?" if meant else ""
    there = f"There are: {', '.join(known)}." if known else "There are no tools."
    return (
        f"tools={{{name!r}: ...}}: there is no tool {name!r} in this configuration.{hint} "
        f"{there}"
    )
