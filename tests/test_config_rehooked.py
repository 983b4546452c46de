"""A configuration whose hooks are wrapped is otherwise the one it was."""

from collections.abc import Callable
from typing import Any, Final

import attrs
import pytest

from loopcore import LoopConfig, tool
from loopcore.hooks import Block, Hooks
from loopcore.runtime.purity import asked_twice
from loopcore.testing.invariants.spies import spied
from loopcore_adapters.viewer.spies import Spies

Config = LoopConfig[Any]


def refuse(view: object) -> Block:  # noqa: ARG001  # a hook takes its view
    """A rule."""
    return Block("no")


@tool
def look(place: str) -> str:
    """Look at a place."""
    return place


RULES: Final = Hooks("refuse", before_tool_call=refuse)

INSIDE: Final[Config] = LoopConfig(model="test:inside", hooks=[RULES], repairs=7)

FULL: Final[Config] = LoopConfig(
    model="test:model",
    system="be brief",
    tools=[look, INSIDE.as_tool("ask", "Asks.", needs_approval=True, timeout=3)],
    hooks=[RULES],
    thinking="high",
    options={"temperature": 0},
    output=int,
    optional=True,
    repairs=5,
    parallel=False,
    steering="all",
    follow_ups="all",
)
"""Every field has another value than its default."""

WRAPS: Final[dict[str, Callable[[Config], Config]]] = {
    "spied": lambda config: spied(config, []),
    "asked twice": asked_twice,
    "viewed": lambda config: Spies(config).config,
}


def kept(config: Config) -> dict[str, object]:
    """Every field that can be given, but the tools and hooks."""
    return {
        field.name: getattr(config, field.name)
        for field in attrs.fields(LoopConfig)
        if field.init and field.name not in {"tools", "hooks"}
    }


def test_every_field_of_the_example_has_another_value_than_its_default() -> None:
    """A new field has to be given here, or the tests below would not see it lost."""
    plain = kept(LoopConfig(model="test:other"))
    same = [name for name, value in kept(FULL).items() if value == plain[name]]
    assert [] == same


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_every_field_stays(wrap: Callable[[Config], Config]) -> None:
    assert kept(FULL) == kept(wrap(FULL))


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_the_model_is_offered_the_same(wrap: Callable[[Config], Config]) -> None:
    assert FULL.settings == wrap(FULL).settings


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_every_field_of_a_nested_run_stays(wrap: Callable[[Config], Config]) -> None:
    nested = wrap(FULL).nested("ask")
    assert nested is not None
    assert kept(INSIDE) == kept(nested)


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_a_nested_run_is_wrapped_too(wrap: Callable[[Config], Config]) -> None:
    nested = wrap(FULL).nested("ask")
    assert nested is not None
    wrapped = nested.hooks[-1].functions["before_tool_call"]
    assert wrapped is not refuse
