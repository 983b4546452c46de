"""Invariant 12: decode(encode(x)) == x for every record; all else is a clear error."""

import json
from collections.abc import Iterator
from typing import Any, Final, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from returns.result import Failure, Success

from loopcore import Abort, Event, Input, Message, State, Steer, advance, step
from loopcore.codec import DecodeError, from_json, to_json
from loopcore.frozen import Json, dump_json
from loopcore.inputs import Value
from property_tests.annotated import RECORDS, SCALARS, values
from property_tests.resting import RESTING

UNIONS: Final = (Message, Input, Event, Value)
EVERY: Final = [*RECORDS, *UNIONS]
NAMED: Final = pytest.mark.parametrize("kind", EVERY, ids=lambda kind: str(kind)[-40:])
FEWER: Final = settings(max_examples=max(5, settings().max_examples // 10))
"""For tests that run once for each of many kinds."""
AT_REST: Final = pytest.mark.parametrize("name", RESTING)


@NAMED
@FEWER
@given(data=st.data())
def test_what_was_encoded_comes_back(kind: Any, data: st.DataObject) -> None:
    value = data.draw(values(kind))
    text = dump_json(to_json(value, kind))
    back = from_json(kind, json.loads(text))

    assert value == back
    assert text == dump_json(to_json(back, kind))
    assert value == from_json(kind, to_json(value, kind))  # no text between


@NAMED
@FEWER
@given(data=st.data())
def test_what_was_changed_is_a_record_or_an_error_that_names_the_place(
    kind: Any,  # a class or a union
    data: st.DataObject,
) -> None:
    plain = json.loads(dump_json(to_json(data.draw(values(kind)), kind)))
    changed = data.draw(changes(plain))

    match _read(kind, changed):
        case DecodeError() as problem:
            assert problem.path.startswith("file")
        case back:
            assert back == from_json(kind, to_json(back, kind))


def _read(kind: Any, data: Json) -> Any:
    try:
        return from_json(kind, data, "file")
    except DecodeError as problem:
        return problem


@AT_REST
@FEWER
@given(data=st.data())
def test_a_saved_state_with_a_flipped_byte_is_a_state_or_an_error(
    name: str, data: st.DataObject
) -> None:
    saved = bytearray(RESTING[name][1].dumps())
    place = data.draw(st.integers(0, len(saved) - 1))
    saved[place] = data.draw(st.integers(0, 255))

    assert_settled(State.loads(bytes(saved)))


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_whatever_is_read_is_a_state_or_an_error(data: bytes | str) -> None:
    assert_settled(State.loads(data))


@AT_REST
@FEWER
@given(data=st.data())
def test_a_changed_state_that_was_loaded_can_be_stepped(
    name: str, data: st.DataObject
) -> None:
    """Whatever was done to a saved state, `step` is total on what comes back."""
    config, state = RESTING[name]
    saved = json.loads(state.dumps())
    saved["state"] = data.draw(changes(saved["state"]))
    loaded = State.loads(json.dumps(saved))

    if isinstance(loaded, Success):
        back, _ = step(config, loaded.unwrap())
        for _ in range(6):
            wanted = [answer for effect in back.waiting for answer in _answers(effect)]
            choice = [*wanted, Abort(), Steer("x"), "go"]
            moved = advance(config, back, data.draw(st.sampled_from(choice)), at=2.0)
            back = moved.unwrap()[0] if isinstance(moved, Success) else back
        assert back == State.loads(back.dumps()).unwrap()


def _answers(effect: Any) -> Iterator[Any]:  # any effect
    if hasattr(effect, "approve"):
        yield from (effect.approve(), effect.reject(), effect.edit(n=3))
    elif hasattr(effect, "reply"):
        yield from (effect.reply("so"), effect.fail("not so"))
    else:
        yield effect.done()


def assert_settled(loaded: Success[State] | Failure[DecodeError]) -> None:
    match loaded:
        case Success(state):
            assert state == State.loads(state.dumps()).unwrap()
        case Failure(problem):
            assert str(problem)


# Changes: in one place of the data, something else.


def changes(data: Json) -> st.SearchStrategy[Json]:
    """The data with a key added, or with something removed, replaced or moved."""
    places = list(_places(data))
    found = [_get(data, place) for place in places]
    other = SCALARS | st.sampled_from(found) | st.integers(-1, 3)
    spots = st.sampled_from(places)
    return st.one_of(
        st.tuples(spots, other).map(lambda s: _put(data, s[0], s[1])),
        st.tuples(spots, NAMES, other).map(lambda s: _add(data, *s)),
        spots.map(lambda place: _drop(data, place)),
    )


NAMES: Final = st.sampled_from(("extra", "type", "json", "$record", "id", "text"))
Place = tuple[str | int, ...]


def _places(data: Json, at: Place = ()) -> Iterator[Place]:
    yield at
    for key in _steps(data):
        yield from _places(data[key], (*at, key))


def _steps(data: Json) -> tuple[str | int, ...]:
    if isinstance(data, dict):
        return tuple(cast("dict[str, Json]", data))
    return tuple(range(len(cast("list[Json]", data)))) if _is_list(data) else ()


def _is_list(data: object) -> bool:
    return isinstance(data, list)


def _get(data: Json, place: Place) -> Json:
    for key in place:
        data = data[key]
    return data


def _put(data: Json, place: Place, value: Json) -> Json:
    if not place:
        return value
    copy = data.copy()
    copy[place[0]] = _put(data[place[0]], place[1:], value)
    return copy


def _add(data: Json, place: Place, name: str, value: Json) -> Json:
    found = _get(data, place)
    if isinstance(found, dict):
        return _put(data, place, {**found, name: value})
    return _put(data, place, [found, value])


def _drop(data: Json, place: Place) -> Json:
    if not place:
        return None
    copy = _get(data, place[:-1]).copy()
    del copy[place[-1]]
    return _put(data, place[:-1], copy)
