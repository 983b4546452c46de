"""What hooks return, compared and told apart in few words."""

from typing import Any, Final, TypeAlias

import attrs

from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Need
from loopcore.hooks.updates import Update

Returned: TypeAlias = dict[str, Any]
"""The fields that were written, by name; empty for no opinion."""

LONGEST: Final = 60


def returned(point: PointName, value: Any) -> Returned:  # noqa: ANN401  # by a hook
    """What a hook returned at a point, field by field."""
    if value is None:
        return {}
    if isinstance(value, Update):
        return {n: getattr(value, n) for n in value.written}
    if isinstance(value, Need):
        return {"need": value}
    return {main_field(point): value}


def main_field(point: PointName) -> str:
    """The field of a point's update that a bare value is for."""
    fields: tuple[attrs.Attribute[Any], ...] = attrs.fields(POINTS[point].update)
    return next(f.name for f in fields if f.name != "memo")


def is_same(one: Returned, other: Returned) -> bool:
    """Whether these say the same; a value that cannot be compared is no other."""
    try:
        return bool(one == other) and list(one) == list(other)
    except Exception:  # noqa: BLE001  # whatever comparing values does
        return False


def differing(one: Returned, other: Returned) -> str:
    """Both, as far as they differ: `delay=3.1, then delay=2.7`."""
    names = [
        n
        for n in dict.fromkeys((*one, *other))
        if n not in one or n not in other or not is_same({n: one[n]}, {n: other[n]})
    ]
    return f"{_said(one, names)}, then {_said(other, names)}"


def _said(given: Returned, names: list[str]) -> str:
    said = (f"{n}={brief(given[n])}" for n in names if n in given)
    return ", ".join(said) or "nothing"


def brief(value: object, most: int = LONGEST) -> str:
    """A value's repr, cut in its middle if it is long."""
    said = repr(value)
    half = (most - 3) // 2
    return said if len(said) <= most else f"{said[:half]}...{said[-half:]}"
