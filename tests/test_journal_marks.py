"""Digests of hooks: hints by which two configurations can be told apart."""

import functools
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import pytest
from attrs import frozen

from loopcore.hooks import Block, Hooks, ToolCallView
from loopcore.journal.marks import hook_digest

Rule = Callable[[ToolCallView], Block | None]


def limit(most: int, view: ToolCallView) -> Block | None:
    """A rule with a number."""
    return Block("enough") if view.turn > most else None


def other(most: int, view: ToolCallView) -> Block | None:
    """Another rule with a number."""
    return Block("enough") if view.turn < most else None


def named(view: ToolCallView, *, words: object = ()) -> Block | None:  # noqa: ARG001  # only told
    """A rule with words."""
    return None


def by_default(most: int) -> Rule:
    """A rule whose number is a default."""

    def rule(view: ToolCallView, most: int = most) -> Block | None:
        return limit(most, view)

    return rule


def around(rule: Rule) -> Rule:
    """A rule that asks another one."""

    def asks(view: ToolCallView) -> Block | None:
        return rule(view)

    return asks


@frozen
class Limit:
    """A rule with a number, as a record."""

    most: int

    def __call__(self, view: ToolCallView) -> Block | None:
        """Judge a call."""
        return limit(self.most, view)

    def judge(self, view: ToolCallView) -> Block | None:
        """Judge a call, too."""
        return limit(self.most, view)


class Plain:
    """A rule with a number, as an object."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, view: ToolCallView) -> Block | None:
        """Judge a call."""
        return limit(self.most, view)


class Own:
    """A rule that holds itself."""

    def __init__(self) -> None:
        self.own = self

    def __call__(self, view: ToolCallView) -> None:
        """Say nothing."""


@frozen
class Numbers:
    """What a rule may hold."""

    most: int


def within(numbers: Numbers) -> Rule:
    """A rule that holds a record."""

    def rule(view: ToolCallView) -> Block | None:
        return limit(numbers.most, view)

    return rule


def digest(rule: Any) -> str:  # whatever can be called
    """The digest of a hook that is this rule."""
    return hook_digest(Hooks("rule", before_tool_call=rule))


MAKES: Final[dict[str, Callable[[int], Any]]] = {
    "a partial": lambda most: functools.partial(limit, most),
    "a partial of a partial": lambda most: functools.partial(Limit(most)),
    "a partial with a name": lambda most: functools.partial(named, words=most),
    "a partial with a list": lambda most: functools.partial(named, words=[most]),
    "a partial with a dict": lambda most: functools.partial(named, words={"a": most}),
    "a partial with a set": lambda most: functools.partial(named, words={most}),
    "a record": Limit,
    "an object": Plain,
    "a method": lambda most: Limit(most).judge,
    "a default": by_default,
    "a record in a closure": lambda most: within(Numbers(most)),
    "a rule in a closure": lambda most: around(Limit(most)),
    "a rule that is cached": lambda most: functools.lru_cache(by_default(most)),
}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_another_number_is_another_digest(make: Callable[[int], Any]) -> None:
    assert digest(make(3)) != digest(make(4))


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_the_same_number_is_the_same_digest(make: Callable[[int], Any]) -> None:
    assert digest(make(3)) == digest(make(3))


def test_another_function_of_a_partial_is_another_digest() -> None:
    assert digest(functools.partial(limit, 3)) != digest(functools.partial(other, 3))


def test_another_class_of_an_object_is_another_digest() -> None:
    assert digest(Limit(3)) != digest(Plain(3))


def test_names_of_a_partial_have_no_order() -> None:
    one = functools.partial(named, words={"a": 1, "b": 2})
    assert digest(one) == digest(functools.partial(named, words={"b": 2, "a": 1}))


def test_what_holds_itself_has_a_digest() -> None:
    assert digest(Own()) == digest(Own())


PROGRAM: Final = """
import functools
from tests.test_journal_marks import digest, named
print(digest(functools.partial(named, words=frozenset({"a", "b", "c"}))))
"""


def test_a_digest_is_the_same_in_another_process() -> None:
    """What a set holds has another order there."""
    told = {
        subprocess.run(  # noqa: S603  # a program of this test
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2", "3")
    }
    assert {digest(functools.partial(named, words=frozenset("abc")))} == told
