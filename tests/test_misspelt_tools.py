"""A rule or an outcome for a tool that is misspelt guards nothing, and that is said."""

import copy
import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import attrs
import pytest

from loopcore import LoopConfig, Prompt, ToolSpec, policies, tool
from loopcore.hooks import Block, Hooks, TurnUpdate
from loopcore.policies import ask_before, truncate_results
from loopcore.runtime.purity import asked_twice
from loopcore.testing import explore, simulate
from loopcore.testing.invariants.spies import spied
from loopcore_adapters.viewer.spies import Spies

Config = LoopConfig[Any]


def refuse(view: object) -> Block:  # noqa: ARG001  # a hook takes its view
    """A rule."""
    return Block("no")


@tool
def stock(item: str) -> str:
    """How many there are."""
    return item


@tool
def order(item: str) -> str:
    """Order one."""
    return item


RULE: Final = Hooks("shut", before_tool_call=refuse)

NAMING: Final[dict[str, Callable[..., Hooks]]] = {
    "tools=": lambda *names: attrs.evolve(RULE, tools=names),
    "for_tools": RULE.for_tools,
    "a policy's for_tools": truncate_results(10).for_tools,
    "ask_before": ask_before,
    "ask_before when": lambda *names: ask_before(*names, when=bool),
    "as specs": lambda *names: RULE.for_tools(*map(ToolSpec, names)),
}
"""Every way in which a rule names tools."""


def made(*hooks: Hooks, tools: Iterable[Any] = (stock,)) -> Config:
    return LoopConfig(model="test:model", hooks=hooks, tools=tools)


def told(make: Callable[[], object]) -> list[str]:
    """What making something warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        make()
    return [str(one.message) for one in found]


def quiet(*hooks: Hooks) -> Config:
    """A configuration whose rules were told of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made(*hooks)


@pytest.mark.parametrize("naming", NAMING.values(), ids=NAMING)
def test_a_rule_for_a_misspelt_tool_is_told(naming: Callable[..., Hooks]) -> None:
    hook = naming("stok")
    said = (
        f"hook {hook.name!r} is about a tool 'stok', which is not among the tools of this "
        "configuration. Did you mean 'stock'?"
    )

    assert [said] == told(lambda: made(hook))


@pytest.mark.parametrize("naming", NAMING.values(), ids=NAMING)
@pytest.mark.parametrize("names", [("stock",), ("weather",), ("stock", "stocks")])
def test_what_may_be_meant_is_not_told(
    naming: Callable[..., Hooks], names: tuple[str, ...]
) -> None:
    """A tool that is there; one that nothing is near to, which may come later; both."""
    assert [] == told(lambda: made(naming(*names)))


def test_every_policy_that_takes_tools_names_them_in_its_rule() -> None:
    taking = {
        name
        for name in policies.__all__
        for parameter in inspect.signature(getattr(policies, name)).parameters.values()
        if "ToolLike" in str(parameter.annotation) or parameter.name == "tools"
    }

    assert {"ask_before"} == taking
    assert ("stock",) == ask_before(stock).tools


def test_each_rule_and_each_name_is_told() -> None:
    one, two = RULE.named("one"), RULE.named("two")
    found = told(lambda: made(one.for_tools("stok", "oder"), two.for_tools("stok")))
    assert 2 == len(found)

    found = told(
        lambda: made(
            one.for_tools("stok", "oder"),
            two.for_tools("stok"),
            tools=[stock, order],
        )
    )
    assert ["'stok'", "'oder'", "'stok'"] == [text.split()[6][:-1] for text in found]


def test_all_that_are_near_are_named() -> None:
    tools = [ToolSpec("read_page"), ToolSpec("read_pages")]
    (said,) = told(lambda: made(RULE.for_tools("readpge"), tools=tools))
    assert said.endswith("Did you mean 'read_page' or 'read_pages'?")


def test_a_rule_without_tools_to_choose_from_is_not_told() -> None:
    assert [] == told(lambda: made(RULE.for_tools("stok"), tools=[]))


def test_a_rule_of_a_nested_run_is_told_where_that_is_made() -> None:
    inside = quiet(RULE.for_tools("stok"))
    assert [] == told(lambda: made(tools=[inside.as_tool("ask", "Asks.")]))


# Where it is told


def a_class() -> Config:
    class App:
        def __init__(self) -> None:
            self.config = made_here()

    return App().config


def made_here() -> Config:
    return LoopConfig(model="m:m", tools=[stock], hooks=[RULE.for_tools("stok")])


def evolved() -> Config:
    rules = [RULE.for_tools("stok")]
    return attrs.evolve(LoopConfig(model="m:m", tools=[stock]), hooks=rules)


@attrs.frozen(kw_only=True, repr=False)
class Own(LoopConfig[Any]):
    """A configuration with a field of its own."""

    more: int = 0


def subclassed() -> Config:
    return Own(model="m:m", tools=[stock], hooks=[RULE.for_tools("stok")])


def parametrised() -> Config:
    return LoopConfig[str](model="m:m", tools=[stock], hooks=[RULE.for_tools("stok")])


def by_a_name_of_its_own() -> Config:
    return Config(model="m:m", tools=[stock], hooks=[RULE.for_tools("stok")])


def by_a_partial() -> Config:
    make = functools.partial(LoopConfig[Any], model="m:m", tools=[stock])
    return make(hooks=[RULE.for_tools("stok")])


MAKERS: Final[dict[str, tuple[Callable[[], Config], Callable[..., Any]]]] = {
    "called": (made_here, made_here),
    "from an __init__": (a_class, made_here),
    "evolved": (evolved, evolved),
    "subclassed": (subclassed, subclassed),
    "with a type": (parametrised, parametrised),
    "by a name of its own": (by_a_name_of_its_own, by_a_name_of_its_own),
    "by a partial": (by_a_partial, by_a_partial),
}


@pytest.mark.parametrize(("make", "where"), MAKERS.values(), ids=MAKERS)
def test_it_is_told_of_the_line_that_makes_the_configuration(
    make: Callable[[], Config], where: Callable[..., Any]
) -> None:
    with pytest.warns(UserWarning, match="stok") as found:
        make()

    lines, first = inspect.getsourcelines(where)
    assert [(__file__, first + len(lines) - 1)] == [
        (one.filename, one.lineno) for one in found
    ]


# How often


def copies() -> Iterator[tuple[str, Callable[[Config], object]]]:
    yield "evolved", lambda config: attrs.evolve(config, model="test:other")
    yield (
        "with another rule",
        lambda c: attrs.evolve(c, hooks=[*c.hooks, RULE.named("b")]),
    )
    yield "with another tool", lambda c: attrs.evolve(c, tools=[stock, order])
    yield "made of the same rules", lambda config: made(*config.hooks)
    yield "copied", copy.copy
    yield "deeply copied", copy.deepcopy
    yield "a tool of another", lambda c: made(tools=[c.as_tool("ask", "Asks.")])
    yield "asked twice", asked_twice
    yield "spied", lambda config: spied(config, [])
    yield "viewed", lambda config: Spies(config).config


COPIES: Final = dict(copies())


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_does_not_tell_it_again(copied: Callable[[Config], object]) -> None:
    config = quiet(RULE.for_tools("stok"))

    assert [] == told(lambda: copied(config))


def test_another_rule_of_the_same_name_is_told_again() -> None:
    """As when a cell of a notebook is run again."""
    quiet(RULE.for_tools("stok"))
    assert 1 == len(told(lambda: made(RULE.for_tools("stok"))))


def test_a_tool_that_goes_away_is_told() -> None:
    config = made(RULE.for_tools("stocks"), tools=[ToolSpec("stocks")])
    assert 1 == len(told(lambda: attrs.evolve(config, tools=[stock])))


def test_a_rule_whose_function_has_no_hash_is_told() -> None:
    @attrs.define
    class Unhashable:
        def __call__(self, view: object) -> Block:
            return refuse(view)

    hook = Hooks("shut", before_tool_call=Unhashable(), tools=["stok"])
    assert 1 == len(told(lambda: made(hook)))


def test_as_an_error_it_is_raised_each_time() -> None:
    hook = RULE.for_tools("stok")
    for _ in range(2):
        with pytest.raises(UserWarning, match="Did you mean 'stock'"):
            made(hook)


# Outcomes of explore and simulate


def exploring(config: Config, **tools: list[str]) -> object:
    return explore(config, "go", replies=["done"], tools=tools)


def simulating(config: Config, **tools: list[str]) -> object:
    return simulate(config, "go", replies=["done"], tools=tools, seeds=range(1))


TRIED: Final = {"explore": exploring, "simulate": simulating}


@pytest.mark.parametrize("tried", TRIED.values(), ids=TRIED)
def test_an_outcome_of_a_tool_that_is_not_there_is_refused(
    tried: Callable[..., object],
) -> None:
    inside = made(tools=[order])
    config = made(tools=[stock, inside.as_tool("ask", "Asks.")])
    with pytest.raises(ValueError, match=r"tools=.*'stok'") as refused:
        tried(config, stok=["3"])

    assert (
        "tools={'stok': ...}: there is no tool 'stok' in this configuration. Did you mean "
        "'stock'? There are: stock, ask, order."
    ) == str(refused.value)


@pytest.mark.parametrize("tried", TRIED.values(), ids=TRIED)
def test_where_there_are_no_tools_that_is_said(tried: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="There are no tools"):
        tried(made(tools=[]), stok=["3"])


@pytest.mark.parametrize("tried", TRIED.values(), ids=TRIED)
def test_outcomes_of_all_tools_there_are_are_taken(
    tried: Callable[..., object],
) -> None:
    inside = made(tools=[order])
    config = made(tools=[stock, inside.as_tool("ask", "Asks.")])
    assert tried(config, stock=["3"], ask=["yes"], order=["done"])


@pytest.mark.parametrize("tried", TRIED.values(), ids=TRIED)
def test_an_outcome_of_a_tool_that_a_rule_may_add_is_taken(
    tried: Callable[..., object],
) -> None:
    """The name may be that of any tool, unless it is nearly that of one there is."""
    adding = Hooks("adding", prepare_next_turn=lambda _: TurnUpdate(tools=[order]))

    assert tried(made(adding), order=["done"])
    with pytest.raises(ValueError, match="Did you mean 'stock'"):
        tried(made(adding), stok=["3"])


@pytest.mark.parametrize("tried", [explore, simulate])
def test_an_outcome_of_a_tool_that_an_input_brings_is_taken(
    tried: Callable[..., object],
) -> None:
    more: Any = {} if tried is explore else {"seeds": [1]}
    tools = {"order": ["done"]}
    brought = Prompt("go", tools=[order.spec])

    assert tried(made(), brought, replies=["done"], tools=tools, **more)
