"""Updates merge by an algebra: 6. Each class, with whatever its fields may hold."""

from typing import Any, Final, TypeAlias

import attrs
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from loopcore import Stop, UserMessage
from loopcore.hooks import (
    UNSET,
    Allow,
    Ask,
    Block,
    ContextView,
    ErrorView,
    Hooks,
    RawCallView,
    ReplyView,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultView,
    TurnUpdate,
    TurnView,
    apply,
)
from loopcore.testing import check_merge_laws, strategies
from property_tests.table import NAMES, UPDATES, PointName

Values: TypeAlias = st.SearchStrategy[Any]

texts: Values = st.text("ab", max_size=2)
flags: Values = st.booleans()
people: Values = st.lists(st.builds(UserMessage, texts), max_size=2)
stops: Values = st.one_of(flags, texts, st.builds(Stop, st.just("limit"), texts))
verdicts: Values = st.one_of(
    st.builds(Allow), st.builds(Ask, texts), st.builds(Block, texts)
)

kinds: Final = st.sampled_from(tuple(dict.fromkeys(UPDATES.values())))


def three_of(kind: type[Any]) -> st.SearchStrategy[tuple[Any, Any, Any]]:
    """Three updates of one class."""
    one: Values = strategies.updates(kind)
    return st.tuples(one, one, one)


triples: Final = kinds.flatmap(three_of)


FEWER: Final = max(settings().max_examples // 5, 25)
"""A view is a run."""


def test_all_updates_keep_the_laws_of_merging() -> None:
    """6: identity, associativity, verdicts that join, and hooks that say nothing."""
    check_merge_laws(examples=FEWER)


@given(kinds.flatmap(strategies.updates))
def test_an_empty_update_changes_nothing(update: Any) -> None:
    """6: it is the identity, from both sides."""
    empty = type(update)()

    assert empty | update == update == update | empty


@given(triples)
def test_merging_is_associative(three: tuple[Any, Any, Any]) -> None:
    """6"""
    a, b, c = three

    assert (a | b) | c == a | (b | c)


@given(triples)
def test_a_value_is_the_last_writers(three: tuple[Any, Any, Any]) -> None:
    """6: and a field that nobody wrote stays unwritten; None is a value."""
    merged = three[0] | three[1] | three[2]
    for name in fields_of(merged) - JOINED:
        wrote = [getattr(one, name) for one in three]
        said = [value for value in wrote if value is not UNSET]

        assert getattr(merged, name) == (said[-1] if said else UNSET)


def fields_of(update: Any) -> set[str]:
    """The names of what an update may write."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(update.__class__)
    return {field.name for field in fields}


JOINED: Final = {"decision", "stop", "retry", "inject"}
STRICT: Final = (Allow, Ask, Block)


@given(st.lists(verdicts, min_size=1, max_size=4))
def test_verdicts_join_to_the_strictest(said: list[Any]) -> None:
    """6: Block > Ask > Allow; the first reason is kept, questions are all asked."""
    merged = _merged(ToolCallUpdate(decision=one) for one in said).decision
    ranks = [STRICT.index(type(one)) for one in said]
    first = said[ranks.index(max(ranks))]
    questions = [one.question for one in said if isinstance(one, Ask) and one.question]

    assert type(merged) is type(first)
    if isinstance(merged, Ask):
        assert merged.question == "\n".join(questions)
    else:
        assert merged == first


@given(st.lists(stops, min_size=1, max_size=4))
def test_any_stop_is_a_stop_and_the_first_is_kept(said: list[Any]) -> None:
    """6"""
    merged = _merged(map(StopUpdate, said)).stop
    wanted = [one for one in said if one]

    assert merged == wanted[0] if wanted else not merged


@given(st.lists(flags, min_size=1, max_size=4))
def test_giving_up_beats_trying_again(said: list[bool]) -> None:
    """6"""
    assert _merged(map(RetryUpdate, said)).retry == all(said)


@given(st.lists(people, min_size=1, max_size=4))
def test_what_is_injected_adds_up(said: list[Any]) -> None:
    """6"""
    assert list(_merged(map(TurnUpdate, said)).inject) == [
        m for one in said for m in one
    ]


def _merged(updates: Any) -> Any:  # of one class
    first, *rest = updates
    for one in rest:
        first = first | one
    return first


@given(kinds, kinds)
def test_updates_of_two_points_do_not_merge(one: type[Any], other: type[Any]) -> None:
    if one is other:
        assert one() | other() == one()
        return
    with pytest.raises(TypeError):
        _ = one() | other()


VIEWS: Final[dict[PointName, type[Any]]] = {
    "transform_context": ContextView,
    "after_model_call": ReplyView,
    "on_model_error": ErrorView,
    "prepare_tool_call": RawCallView,
    "before_tool_call": ToolCallView,
    "after_tool_call": ToolResultView,
    "after_tool_result": ToolResultView,
    "prepare_next_turn": TurnView,
    "should_stop_after_turn": TurnView,
}


@settings(max_examples=FEWER)
@given(st.sampled_from(NAMES), st.data())
def test_hooks_together_say_what_their_updates_merge_to(
    point: PointName, data: st.DataObject
) -> None:
    """6: and each is shown what those before it wrote, unless the chain had ended."""
    kind = UPDATES[point]
    drawn: Values = strategies.updates(kind)
    one, other = data.draw(drawn), data.draw(drawn)
    shown: Values = strategies.views(VIEWS[point], point=point, max_turns=1)
    view = evolve(data.draw(shown), memo=None)
    seen: list[Any] = []
    first = says("one", point, one)
    then = says("other", point, other, seen)

    both = apply((first, then), view, point)

    merged = one | other if seen else one
    assert both.update == merged
    for name in merged.written:
        joins_more = name in JOINED and getattr(view, name) not in (None, ())
        if name not in SHOWN_OTHERWISE and not joins_more:
            assert getattr(both.view, name) == getattr(merged, name)
    if seen:
        alone = apply((first,), view, point).view
        assert evolve(seen[0], memo=None) == alone


SHOWN_OTHERWISE: Final = {
    "content",
    "is_error",
    "arguments",
    "transcript",
    "stop",
    "memo",
}
"""What a view has under another name, or not as it was written."""


def says(name: str, point: PointName, update: Any, seen: Any = None) -> Hooks:
    """A hook that says this, and notes what it sees."""

    def function(view: object) -> Any:  # an update
        if seen is not None:
            seen.append(view)
        return update

    functions: dict[str, Any] = {point: function}
    return Hooks(name, **functions)
