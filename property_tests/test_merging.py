"""Updates merge by an algebra: 6. Each class, with whatever its fields may hold."""

from typing import Any, Final, TypeAlias

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from loopcore import AssistantMessage, State, Stop, ToolCall, ToolSpec, UserMessage
from loopcore.hooks import (
    UNSET,
    Allow,
    Ask,
    Block,
    ContextUpdate,
    ContextView,
    ErrorView,
    Hooks,
    RawCallUpdate,
    RawCallView,
    ReplyUpdate,
    ReplyView,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
    apply,
)
from property_tests.catalogue import ADD, ERRORS
from property_tests.programs import Setup
from property_tests.table import NAMES, UPDATES, PointName

Values: TypeAlias = st.SearchStrategy[Any]

texts: Values = st.text("ab", max_size=2)
levels: Values = st.sampled_from((None, "off", "low", "medium", "high"))
flags: Values = st.booleans()
objects: Values = st.dictionaries(texts, st.one_of(st.integers(), st.none(), texts))
people: Values = st.lists(st.builds(UserMessage, texts), max_size=2)
specs: Values = st.lists(st.builds(ToolSpec, st.sampled_from(("a", "b"))), max_size=2)
stops: Values = st.one_of(flags, texts, st.builds(Stop, st.just("limit"), texts))
models: Values = st.sampled_from(("test:a", "test:b"))
verdicts: Values = st.one_of(
    st.builds(Allow), st.builds(Ask, texts), st.builds(Block, texts)
)

FIELDS: Final[dict[type[Any], dict[str, Values]]] = {
    ContextUpdate: {
        "messages": people,
        "model": models,
        "system": texts,
        "tools": specs,
        "thinking": levels,
        "options": objects,
        "stop": stops,
    },
    ReplyUpdate: {"message": st.builds(AssistantMessage, texts)},
    RetryUpdate: {
        "retry": flags,
        "delay": st.floats(0, 9),
        "model": models,
        "thinking": levels,
    },
    RawCallUpdate: {"name": texts, "arguments": objects},
    ToolCallUpdate: {"decision": verdicts, "arguments": objects, "terminate": flags},
    ToolResultUpdate: {
        "content": texts,
        "details": st.one_of(st.none(), objects),
        "is_error": flags,
        "terminate": flags,
    },
    TurnUpdate: {
        "inject": people,
        "model": models,
        "thinking": levels,
        "system": texts,
        "tools": specs,
        "transcript": people,
    },
    StopUpdate: {"stop": stops},
}


def updates(kind: type[Any]) -> Values:
    """Updates of this class; each field is left out half of the time."""
    drawn = {
        name: st.none() | values.map(_some) for name, values in FIELDS[kind].items()
    }
    drawn["memo"] = st.none() | objects.map(_some)
    return st.fixed_dictionaries(drawn).map(
        lambda given: kind(**{n: value[0] for n, value in given.items() if value})
    )


def _some(value: object) -> tuple[object]:
    return (value,)


kinds: Final = st.sampled_from(tuple(FIELDS))
triples: Final = kinds.flatmap(lambda kind: st.tuples(*(updates(kind),) * 3))


def test_every_update_has_its_laws() -> None:
    assert set(UPDATES.values()) == set(FIELDS)


@given(kinds.flatmap(updates))
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
    for name in {*FIELDS[type(merged)], "memo"} - JOINED:
        wrote = [getattr(one, name) for one in three]
        said = [value for value in wrote if value is not UNSET]

        assert getattr(merged, name) == (said[-1] if said else UNSET)


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


STATE: Final = State.start(Setup().config(), run_id="r")
REPLY: Final = AssistantMessage("hi")
CALL: Final = ToolCall("add", {"x": 1}, "c1")
VIEWS: Final[dict[PointName, Any]] = {
    "transform_context": ContextView(state=STATE, messages=(), model="test:m"),
    "after_model_call": ReplyView(state=STATE, message=REPLY),
    "on_model_error": ErrorView(
        state=STATE, error=ERRORS[0], attempt=1, model="test:m"
    ),
    "prepare_tool_call": RawCallView(
        state=STATE, call=CALL, spec=ADD, name="add", arguments=CALL.arguments
    ),
    "before_tool_call": ToolCallView(
        state=STATE, call=CALL, spec=ADD, arguments=CALL.arguments, message=REPLY
    ),
    "after_tool_result": ToolResultView(
        state=STATE, call=CALL, spec=ADD, arguments=CALL.arguments, parts=()
    ),
    "prepare_next_turn": TurnView(
        state=STATE,
        message=REPLY,
        results=(),
        new_messages=STATE.new,
        usage=STATE.usage,
        model="test:m",
    ),
}
VIEWS["after_tool_call"] = VIEWS["after_tool_result"]
VIEWS["should_stop_after_turn"] = VIEWS["prepare_next_turn"]


@given(st.sampled_from(NAMES), st.data())
def test_hooks_together_say_what_their_updates_merge_to(
    point: PointName, data: st.DataObject
) -> None:
    """6: and each is shown what those before it wrote, unless the chain had ended."""
    kind = UPDATES[point]
    one, other = data.draw(updates(kind)), data.draw(updates(kind))
    seen: list[Any] = []
    first = says("one", point, one)
    then = says("other", point, other, seen)

    both = apply((first, then), VIEWS[point], point)

    merged = one | other if seen else one
    assert both.update == merged
    for name in merged.written:
        if name in FIELDS[kind].keys() - SHOWN_OTHERWISE:
            assert getattr(both.view, name) == getattr(merged, name)
    if seen:
        alone = apply((first,), VIEWS[point], point).view
        assert evolve(seen[0], memo=None) == alone


SHOWN_OTHERWISE: Final = {"content", "is_error", "arguments", "transcript", "stop"}
"""What a view has under another name, or not as it was written."""


def says(name: str, point: PointName, update: Any, seen: Any = None) -> Hooks:
    """A hook that says this, and notes what it sees."""

    def function(view: object) -> Any:  # an update
        if seen is not None:
            seen.append(view)
        return update

    functions: dict[str, Any] = {point: function}
    return Hooks(name, **functions)
