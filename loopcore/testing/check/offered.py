"""The tools that made-up runs offer: those that are given, and those that hooks name."""

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from types import CodeType
from typing import Final

from hypothesis import given, settings
from hypothesis.errors import InvalidArgument, Unsatisfiable

from loopcore.config import Nested
from loopcore.hooks.code import code_of
from loopcore.hooks.rule import Hooks
from loopcore.testing.strategies.tooling import ADD, LOOK, PAY, arguments
from loopcore.tools import ToolLike, ToolSpec, spec_of

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,40}")
MOST: Final = 6


def toolsets(
    hooks: tuple[Hooks, ...], given: tuple[ToolLike | Nested, ...]
) -> tuple[tuple[ToolLike | Nested, ...], ...]:
    """What is offered: the tools given, and one for each other that a hook is limited to.

    Where none is given, now one tool is offered and now some of each kind, among them one
    of each name that stands in a hook's code: that may be what it looks for.
    """
    known = {spec_of(tool).name for tool in given}
    limits = [name for hook in hooks for name in hook.tools or () if name not in known]
    made = [ToolSpec(name) for name in dict.fromkeys(limits)]
    if given:
        return ((*given, *made),)
    named = (name for hook in hooks for name in _names_in(hook))
    found = [ToolSpec(name) for name in dict.fromkeys(islice(named, MOST))]
    all_kinds = {tool.name: tool for tool in (LOOK, *made, *found, ADD, PAY)}
    return tuple(made or [LOOK]), tuple(all_kinds.values())


@contextmanager
def makeable(tools: Iterable[ToolLike | Nested]) -> Generator[None]:
    """Name the tool for which no arguments can be made up, if that is why nothing is."""
    try:
        yield
    except (InvalidArgument, Unsatisfiable) as problem:
        for tool in tools:
            _refuse_unmakeable(spec_of(tool), problem)
        raise


def _refuse_unmakeable(spec: ToolSpec, problem: Exception) -> None:
    @settings(max_examples=1, database=None, deadline=None)
    @given(arguments(spec))
    def draw(_: object) -> None:
        """Only whether there are any."""

    try:
        draw()
    except (InvalidArgument, Unsatisfiable):
        message = (
            f"check_hooks(tools=...): no arguments can be made up for {spec.name!r}. Give "
            "one whose parameters some arguments fit, or that has none."
        )
        raise ValueError(message) from problem


def _names_in(hook: Hooks) -> Iterator[str]:
    taken = (LOOK.name, ADD.name, PAY.name)
    for function in hook.functions.values():
        code = code_of(function)
        if code:
            yield from (name for name in _texts(code) if name not in taken)


def _texts(code: CodeType) -> Iterator[str]:
    """What in code looks like a name."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _texts(constant)
        elif isinstance(constant, str) and NAME.fullmatch(constant):
            yield constant
