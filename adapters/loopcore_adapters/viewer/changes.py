"""What changed in a value, told so that it can be made from the one before.

{"=": value}            it is another one
{"d": [key, change]}    an object: these members changed; a change of null: it is gone
{"l": [n, m, items]}    a list: its first n and its last m items are the same
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from loopcore.hooks import UNSET
from loopcore_adapters.viewer.tables import Tables, Told

Raw: TypeAlias = Any
"""JSON, or records in it."""

Change: TypeAlias = dict[str, Told]


def change(tables: Tables, old: Raw, new: Raw) -> Change | None:
    """How the old value becomes the new one; None if it is the same."""
    if old is new or (type(old) is type(new) and old == new):
        return None
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return _of_object(tables, _members(old), _members(new))
    if isinstance(old, tuple) and isinstance(new, tuple):
        return _of_list(tables, _items(old), _items(new))
    return {"=": tables.told(new)}


def _members(value: Any) -> Mapping[str, Raw]:  # noqa: ANN401  # an object of any type
    members: Mapping[str, Raw] = value
    return members


def _items(value: Any) -> tuple[Raw, ...]:  # noqa: ANN401  # a tuple of any type
    items: tuple[Raw, ...] = value
    return items


def _of_object(
    tables: Tables, old: Mapping[str, Raw], new: Mapping[str, Raw]
) -> Change | None:
    kept = [key for key in old if key in new]
    added = [key for key in new if key not in old]
    if [*kept, *added] != list(new):  # their order is part of what models are shown
        return {"=": tables.told(new)}
    found: list[Told] = []
    for key in old:
        if key not in new:
            found += [tables.text(key), None]
        elif changed := change(tables, old[key], new[key]):
            found += [tables.text(key), changed]
    for key in added:
        found += [tables.text(key), {"=": tables.told(new[key])}]
    return {"d": found} if found else None


def _of_list(tables: Tables, old: Sequence[Raw], new: Sequence[Raw]) -> Change:
    most = min(len(old), len(new))
    ahead = next((n for n in range(most) if not _same(old[n], new[n])), most)
    rest = range(most - ahead)
    behind = next((n for n in rest if not _same(old[-1 - n], new[-1 - n])), len(rest))
    middle = new[ahead : len(new) - behind]
    return {"l": [ahead, behind, tables.told(middle)]}


def _same(one: Raw, other: Raw) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


Difference: TypeAlias = tuple[tuple[str, ...], Raw, Raw]
"""A path, the old value and the new one; UNSET for one that is not there."""


def differences(old: Raw, new: Raw, path: tuple[str, ...] = ()) -> Iterator[Difference]:
    """What differs between two values, member by member.

    >>> list(differences({"a": 1, "b": 2}, {"a": 1, "b": 3}))
    [(('b',), 2, 3)]
    """
    if _same(old, new):
        return
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        yield path, old, new
        return
    before, after = _members(old), _members(new)
    for key in {**before, **after}:
        was, now = before.get(key, UNSET), after.get(key, UNSET)
        yield from differences(was, now, (*path, key))
