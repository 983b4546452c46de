"""The way to a state: the inputs that led to it, and the state at its end."""

from collections.abc import Hashable

from attrs import frozen

from loopcore.inputs import Input
from loopcore.testing.invariants import Watch


@frozen(eq=False)
class Link:
    """An input, and those before it, newest first."""

    given: Input
    before: "Link | None"
    length: int


def linked(before: Link | None, given: Input) -> Link:
    """These, and one more."""
    return Link(given, before, before.length + 1 if before else 1)


def inputs_of(link: Link | None) -> tuple[Input, ...]:
    """The inputs of a way, in order."""
    found: list[Input] = []
    while link is not None:
        found.append(link.given)
        link = link.before
    return tuple(reversed(found))


@frozen(eq=False)
class Node:
    """A state on its way: how it was reached, and what may still happen beside.

    `answers` is what it was given, if that was answers alone, so that their order must not
    matter; None else. `memory` is what the user's laws remember of the way.
    """

    watch: Watch
    link: Link | None
    left: tuple[int, ...]
    answers: frozenset[Hashable] | None
    memory: tuple[Hashable, ...] = ()
