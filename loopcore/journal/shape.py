"""The shape of what a line says that a step led to: a chain that holds proves no sense."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from loopcore.codec import DecodeError, from_json
from loopcore.codec.error import MISSING, NAMES, UNKNOWN
from loopcore.events import Stop
from loopcore.frozen import FrozenDict, Json

Check: TypeAlias = Callable[[Any], None]

KINDS: Final = frozenset(
    ("CallModel", "RunTool", "RequestApproval", "Consult", "Sleep")
)
TEXT: Final[frozenset[type]] = frozenset((str,))
NUMBER: Final[frozenset[type]] = frozenset((int, float))


def check_led(led: FrozenDict[Json]) -> None:
    """Refuse what no `Ledger.entry` says.

    Raises:
        DecodeError: naming the place.
    """
    for name, found in led.items():
        check = LED.get(name)
        if check is None:
            raise DecodeError("", UNKNOWN).under(name)
        if _kind(found) is not tuple or not found:
            raise DecodeError(name, "must be an array of one or more")
        under(name, check, found)


def check_wrote(wrote: Sequence[Json]) -> None:
    """Refuse what no `Ledger.wrote` says.

    Raises:
        DecodeError: naming the place.
    """
    _each(_hint, wrote)


def under(step: str | int, check: Check, value: Any) -> None:  # noqa: ANN401  # any JSON
    """Check what stands there, and say where in it a fault is.

    Raises:
        DecodeError: naming the place, from there on.
    """
    try:
        check(value)
    except DecodeError as problem:
        raise problem.under(step) from None


def _kind(value: object) -> type:
    return type(value)


def _each(check: Check, found: Sequence[Json]) -> None:
    for place, one in enumerate(found):
        under(place, check, one)


def _hint(one: Json) -> None:
    if _kind(one) is not tuple or tuple(map(_kind, one)) != HINT:
        raise DecodeError("", "must be a hook, a point and its fields")


HINT: Final = (str, str, FrozenDict)


def _texts(found: Sequence[Json]) -> None:
    if not TEXT.issuperset(map(_kind, found)):
        _each(_text, found)


def _text(one: Json) -> None:
    if _kind(one) is not str:
        raise DecodeError("", f"must be a str, is {NAMES[_kind(one)]}")


def _asked(found: Sequence[Json]) -> None:
    _each(_effect, found)


def _effect(one: Json) -> None:
    if _kind(one) is not FrozenDict:
        raise DecodeError("", f"must be an object, is {NAMES[_kind(one)]}")
    for name, value in one.items():
        if name == "messages":
            under(name, _pieces, value)
        elif _kind(value) not in EFFECT.get(name, ()):
            raise _no_member(name, value)
    for name in ("id", "kind"):
        if name not in one:
            raise DecodeError(name, MISSING)
    if one["kind"] not in KINDS:
        raise DecodeError("kind", f"is no effect: {one['kind']!r}")


def _no_member(name: str, value: Json) -> DecodeError:
    problem = f"cannot be {NAMES[_kind(value)]}" if name in EFFECT else UNKNOWN
    return DecodeError("", problem).under(name)


EFFECT: Final = {
    **dict.fromkeys(("id", "kind", "model", "system", "tools", "thinking"), TEXT),
    **dict.fromkeys(("options", "output", "tool", "arguments", "question"), TEXT),
    **dict.fromkeys(("service", "data"), TEXT),
    **dict.fromkeys(("seconds", "until"), NUMBER),
}
"""What is told of an effect, beside what a request shows: see `Ledger`."""


def _pieces(found: Json) -> None:
    if _kind(found) is not tuple:
        raise DecodeError("", f"must be an array, is {NAMES[_kind(found)]}")
    _each(_piece, found)


def _piece(one: Json) -> None:
    if _kind(one) is not str and not _is_span(one):
        raise DecodeError("", "must be a digest, or where and how many")


def _is_span(one: Json) -> bool:
    if _kind(one) is not tuple or tuple(map(_kind, one)) != (int, int):
        return False
    first, count = one
    return bool(first >= 0 and count > 0)


def _stops(found: Sequence[Json]) -> None:
    _each(_stop, found)


def _stop(one: Json) -> None:
    from_json(Stop, one)


LED: Final[dict[str, Check]] = {
    "added": _texts,
    "replaced": _texts,
    "ask": _asked,
    "cancel": _texts,
    "stop": _stops,
}
