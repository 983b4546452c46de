"""check_merge_laws: the laws of `|`, for the updates of all points and for one's own."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any, Final

import pytest
from attrs import field, frozen
from returns.contrib.hypothesis.laws import (
    check_all_laws,  # pyright: ignore[reportUnknownVariableType]  # upstream
)

from loopcore.frozen import freeze
from loopcore.hooks import (
    UNSET,
    Allow,
    Ask,
    Block,
    ContextUpdate,
    ToolCallUpdate,
    TurnUpdate,
    Unset,
    Update,
    any_stop,
    both,
    strictest,
)
from loopcore.messages import Message, Usage
from loopcore.testing import check_merge_laws, strategies
from loopcore.testing.laws import Merged


def failure(*updates: Any, **more: Any) -> str:
    """What is said of these updates."""
    with pytest.raises(AssertionError) as caught:
        check_merge_laws(*updates, **more)
    return str(caught.value)


def test_the_updates_of_all_points_keep_the_laws() -> None:
    check_merge_laws(examples=40)


@frozen
class Fine(Update):
    """An update of one's own, as it should be."""

    stop: bool | str | Unset = field(default=UNSET, metadata={"rule": any_stop})
    decision: Allow | Ask | Block | Unset = field(
        default=UNSET, metadata={"rule": strictest}
    )
    words: tuple[str, ...] | Unset = field(default=UNSET, metadata={"rule": both})
    label: str | Unset | None = UNSET


def test_an_update_of_ones_own_keeps_the_laws() -> None:
    check_merge_laws(Fine, examples=60)


@frozen
class Lifted(Update):
    """A limit that whoever comes later lifts."""

    stop: bool | Unset = UNSET


def test_a_limit_that_a_later_hook_lifts() -> None:
    """C9: a hook that returns a bool always writes, so its False would lift the limit."""
    assert failure(Lifted) == (
        "Lifted: the verdict `stop` is lifted by whoever comes later (its rule is later): "
        "a = Lifted(memo=UNSET, stop=False), b = Lifted(memo=UNSET, stop=True); "
        "a | b has stop=True, b | a has stop=False. Give the field a rule that joins, such "
        'as field(default=UNSET, metadata={"rule": any_stop}).'
    )


@frozen
class Named(Update):
    """The same under a name of one's own."""

    halted: bool | Unset = UNSET


def test_a_verdict_has_the_name_that_one_gives_it() -> None:
    check_merge_laws(Named, examples=20)

    assert failure(Named, verdicts=["halted"]).startswith(
        "Named: the verdict `halted` is lifted by whoever comes later"
    )


def _mean(old: Any, new: Any) -> Any:
    if old is UNSET or new is UNSET:
        return old if new is UNSET else new
    return (old + new) / 2


@frozen
class Averaged(Update):
    """A score that depends on how it is put together."""

    score: float | Unset = field(default=UNSET, metadata={"rule": _mean})


def test_a_rule_that_is_not_associative() -> None:
    assert failure(Averaged) == (
        "Averaged: associativity ((a | b) | c == a | (b | c)) fails for `score` (its rule "
        "is _mean): a = Averaged(memo=UNSET, score=0.0), b = Averaged(memo=UNSET, "
        "score=0.0), c = Averaged(memo=UNSET, score=1.0); (a | b) | c is "
        "Averaged(memo=UNSET, score=0.5), a | (b | c) is Averaged(memo=UNSET, score=0.25)."
    )


def _total(old: Any, new: Any) -> Any:
    return (old or 0) + (new or 0)


@frozen
class Summed(Update):
    """A sum that takes nothing for zero."""

    count: int | Unset = field(default=UNSET, metadata={"rule": _total})


def test_a_rule_that_has_no_identity() -> None:
    assert failure(Summed) == (
        "Summed: the identity (an empty update | a == a) fails for `count` (its rule is "
        "_total): a = Summed(memo=UNSET, count=UNSET); an empty update | a is "
        "Summed(memo=UNSET, count=0)."
    )


def _longer(old: Any, new: Any) -> Any:
    return old if len(old) >= len(new) else new


@frozen
class Longest(Update):
    """A rule that does not think of what nobody wrote."""

    name: str | Unset = field(default=UNSET, metadata={"rule": _longer})


def test_a_rule_that_raises() -> None:
    said = failure(Longest)

    assert said.startswith(
        "Longest: the identity (an empty update | a == a) cannot be tried: TypeError("
    )
    assert said.endswith("for a = Longest(memo=UNSET, name='').")


def test_some_updates_are_tried_in_every_three() -> None:
    check_merge_laws(
        ToolCallUpdate(Allow()),
        ToolCallUpdate(Ask("sure?")),
        ToolCallUpdate(Block("no"), arguments={"x": 1}),
        TurnUpdate("go on", model="test:other"),
        examples=20,
    )


def test_some_updates_that_break_a_law_are_told() -> None:
    said = failure(Averaged(score=1.0), Averaged(score=2.0), Averaged(score=5.0))

    assert said.startswith("Averaged: associativity")


@frozen
class Holding(Update):
    """Messages, in whatever holds them."""

    listed: list[Message] | Unset = UNSET
    keyed: dict[str, Sequence[Message]] | Unset = UNSET
    pair: tuple[str, Message] | Unset = UNSET


def test_what_holds_messages_is_made_up() -> None:
    check_merge_laws(Holding, examples=20)


class Grim:
    """What nobody can make."""

    def __init__(self, word: str) -> None:
        raise RuntimeError(word)


@frozen
class Refusing(Update):
    """A field that holds what cannot be made."""

    grim: Grim | Unset = UNSET


def test_a_value_that_cannot_be_made_is_told_in_a_sentence() -> None:
    with pytest.raises(TypeError) as caught:
        check_merge_laws(Refusing)

    assert str(caught.value) == (
        "check_merge_laws could make up no Refusing from its annotations: "
        "RuntimeError(''). Give it some values instead, of which every three are tried: "
        "check_merge_laws(Refusing(...), Refusing(...), Refusing(...))"
    )


def _newer(old: Any, new: Any) -> Any:
    return old if new is UNSET else new


def _newer_json(old: Any, new: Any) -> Any:
    for value in (old, new):
        assert value is UNSET or value == freeze(value)
    return _newer(old, new)


@frozen
class Anything(Update):
    """A field that may hold whatever there is."""

    x: object = field(default=UNSET, metadata={"rule": _newer_json})


def test_for_an_object_json_is_made_up() -> None:
    """Anything else, such as a coroutine, would leave warnings behind."""
    check_merge_laws(Anything)


@frozen
class Carrying(Update):
    """A field that holds what equals itself alone."""

    error: Exception | Unset = field(default=UNSET, metadata={"rule": _newer})


def test_what_equals_itself_alone_is_not_changed_where_it_holds_the_same() -> None:
    check_merge_laws(Carrying, examples=30)
    check_merge_laws(
        Carrying(UnicodeDecodeError("utf-8", b"a", 0, 1, "odd")),
        Carrying(ExceptionGroup("some", [ValueError("a"), KeyError()])),
        Carrying(),
        examples=30,
    )


def _noting(old: Any, new: Any) -> Any:
    if old is not UNSET and new is not UNSET:
        new[0].add_note("and before")
    return _newer(old, new)


@frozen
class Noting(Update):
    """A rule that writes into what it merges."""

    errors: tuple[Exception, ...] | Unset = field(
        default=UNSET, metadata={"rule": _noting}
    )


def test_what_equals_itself_alone_is_changed_where_it_holds_something_else() -> None:
    said = failure(Noting((ValueError("a"),)), Noting((ValueError("b"),)))

    assert said.startswith("Noting: merging changes what is merged: `errors` (its rule")


@frozen
class Priced(Update):
    """A field whose type has a value that does not equal itself."""

    price: Decimal | Unset = UNSET


def test_no_value_is_made_up_that_does_not_equal_itself() -> None:
    check_merge_laws(Priced)


def _sum(old: Any, new: Any) -> Any:
    if old is UNSET or new is UNSET:
        return _newer(old, new)
    return old + new


@frozen
class Lasting(Update):
    """A sum of a type that does not hold every sum."""

    span: timedelta | Unset = field(default=UNSET, metadata={"rule": _sum})


def test_what_becomes_too_large_for_its_type_is_left_out() -> None:
    check_merge_laws(Lasting)


def test_values_that_are_given_are_left_out_where_they_become_too_large() -> None:
    check_merge_laws(Lasting(timedelta.max), Lasting(timedelta(1)), examples=30)


@frozen
class Halved(Update):
    """A mean of a type that does not hold every sum."""

    span: timedelta | Unset = field(default=UNSET, metadata={"rule": _mean})


def test_a_law_is_tried_with_what_is_not_too_large() -> None:
    assert failure(Halved).startswith(
        "Halved: associativity ((a | b) | c == a | (b | c))"
    )


def _too_far(old: Any, new: Any) -> Any:
    if old is UNSET or new is UNSET:
        return _newer(old, new)
    raise OverflowError


@frozen
class Bursting(Update):
    """A rule for which every value is too large."""

    count: int | Unset = field(default=UNSET, metadata={"rule": _too_far})


def test_a_rule_for_which_everything_is_too_large_cannot_be_tried() -> None:
    assert failure(Bursting).startswith(
        "Bursting: associativity ((a | b) | c == a | (b | c)) cannot be tried: "
        "OverflowError(), for a = Bursting(memo=UNSET, count="
    )


def _sum_each(old: Any, new: Any) -> Any:
    if old is UNSET or new is UNSET:
        return _newer(old, new)
    return {name: old.get(name, 0) + new.get(name, 0) for name in {**old, **new}}


def _cents(old: Any, new: Any) -> Any:
    if old is UNSET or new is UNSET:
        return _newer(old, new)
    return round(old + new, 2)


def _product(old: Any, new: Any) -> Any:
    if old is UNSET or new is UNSET:
        return _newer(old, new)
    return old * new


@frozen
class Costing(Update):
    """Sums that round, in whatever they stand."""

    cost: float | Unset = field(default=UNSET, metadata={"rule": _sum})
    paid: int | float | Unset = field(default=UNSET, metadata={"rule": _sum})
    rounded: float | Unset = field(default=UNSET, metadata={"rule": _cents})
    factor: float | Unset = field(default=UNSET, metadata={"rule": _product})
    price: Decimal | Unset = field(default=UNSET, metadata={"rule": _sum})
    delay: float | Unset = field(default=UNSET, metadata={"rule": _sum})
    usage: Usage | Unset = field(default=UNSET, metadata={"rule": _sum})
    each: dict[str, float] | Unset = field(default=UNSET, metadata={"rule": _sum_each})


def test_that_sums_round_is_not_held_against_a_rule() -> None:
    check_merge_laws(Costing)


Bare: Final[Any] = frozen(type("Bare", (Update,), {"x": field(default=UNSET)}))
"""A field that does not say what it holds."""


def test_a_field_without_an_annotation_is_told() -> None:
    with pytest.raises(TypeError) as caught:
        check_merge_laws(Bare)

    assert str(caught.value) == (
        "check_merge_laws makes up values from annotations, and the field `x` of Bare has "
        "none. Say what it holds, as in `x: str | Unset = field(default=UNSET)`. Or give "
        "it some of its values instead, of which every three are tried: "
        "check_merge_laws(Bare(...), Bare(...), Bare(...))"
    )
    check_merge_laws(Bare(), Bare(), examples=5)


# The laws are those of `returns`: its own check can be pointed at them.

CONTEXTS: Final = strategies.updates(ContextUpdate).map(Merged)
check_all_laws(
    Merged,
    container_strategy=lambda _: CONTEXTS,
    settings_kwargs={"max_examples": 30, "deadline": None, "database": None},
)


def test_returns_checks_the_same_laws() -> None:
    """It makes a test of each law, which pytest runs with the others here."""
    made = [name for name in globals() if name.startswith("test_merged_merging_")]

    assert sorted(made) == [
        "test_merged_merging_associativity",
        "test_merged_merging_left_identity",
        "test_merged_merging_right_identity",
    ]
