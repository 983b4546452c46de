"""JSON Schema as the wire's own mode for structured output takes it: a part of it.

What is left out becomes a note for the model; replies are checked against the whole schema
anyway. Rules: https://platform.claude.com/docs/en/build-with-claude/structured-outputs
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NoReturn, TypeAlias

from loopcore_adapters.loose import Json, dump, items, members, parse, text

Object: TypeAlias = dict[str, Json]
Kept: TypeAlias = tuple[str, Json] | None

DEFINED: Final = "#/$defs/"
FORMATS: Final = frozenset(
    (
        *("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4"),
        *("ipv6", "uuid"),
    )
)
"""The formats of texts that the mode knows."""

SILENT: Final = frozenset(
    (
        *("$schema", "$id", "$comment", "title", "default", "examples", "deprecated"),
        *("additionalProperties", "discriminator"),
    )
)
"""What is left out and no loss: objects are closed, and the rest binds no value."""


class _Unsayable(Exception):
    """The mode has no word for this part of a schema."""


def cut(schema: Mapping[str, Json]) -> Object | None:
    """The schema as the mode takes it; None if it has no word for a part of it.

    >>> cut({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}})
    ... # doctest: +NORMALIZE_WHITESPACE
    {'type': 'object',
     'properties': {'n': {'type': 'integer', 'description': '{"minimum":1}'}},
     'additionalProperties': False}
    >>> cut({"type": "object", "additionalProperties": {"type": "integer"}})
    """
    whole = members(parse(dump(schema)))  # lists and objects of Python, whatever it was
    definitions = members(whole.pop("$defs", {}))
    try:
        found = {name: _cut(each) for name, each in definitions.items()}
        closed = _cut(whole)
        _refuse_circles({**found, "": closed})
    except (_Unsayable, RecursionError):
        return None
    return closed | ({"$defs": found} if found else {})


def _refuse_circles(found: Mapping[str, Json]) -> None:
    """Refuse definitions that are in themselves, and the use of one that is not there."""
    open_, known = {name: set(_used(each)) for name, each in found.items()}, set[str]()
    while ready := [name for name, used in open_.items() if used <= known]:
        known.update(ready)
        open_ = {name: used for name, used in open_.items() if name not in known}
    if open_:
        raise _Unsayable


def _used(schema: Json) -> Iterator[str]:
    if text(members(schema).get("$ref")):
        yield schema["$ref"].removeprefix(DEFINED)
    for value in (*members(schema).values(), *items(schema)):
        yield from _used(value)


def _cut(schema: Json) -> Object:
    if not isinstance(schema, dict):
        raise _Unsayable  # true and false: anything, and nothing
    if "$ref" in schema:
        return _reference(schema["$ref"])
    kept, notes = dict[str, Json](), dict[str, Json]()
    for name, value in members(schema).items():
        word = WORDS.get(name, _note)(name, value)
        if word and word[0] not in kept:
            kept[word[0]] = word[1]
        elif name not in SILENT:
            notes[name] = value
    _close(kept, members(schema))
    if notes:
        said = (text(kept.get("description")), dump(notes))
        kept["description"] = "\n\n".join(filter(None, said))
    return kept


def _reference(target: Json) -> Object:
    if not text(target).startswith(DEFINED):
        raise _Unsayable
    return {"$ref": target}


def _close(kept: Object, schema: Object) -> None:
    """Objects have the properties that they name and no other; all else is typed."""
    if not kept.keys() & {"type", "enum", "const", "anyOf"}:
        raise _Unsayable
    if kept.keys() >= {"properties", "anyOf"}:
        raise _Unsayable  # two closed objects have nothing in common
    types = kept.get("type")
    if types == "object" or "object" in items(types):
        if "properties" not in kept and schema.get("additionalProperties") is not False:
            raise _Unsayable
        kept.setdefault("properties", {})
        kept["additionalProperties"] = False
    if (types == "array" or "array" in items(types)) and "items" not in kept:
        raise _Unsayable


def _same(name: str, value: Json) -> Kept:
    return name, value


def _note(_name: str, _value: Json) -> Kept:
    return None


def _each(_name: str, value: Json) -> Kept:
    return "anyOf", [_cut(one) for one in items(value)]


def _all(_name: str, value: Json) -> Kept:
    return _each("", value) if len(items(value)) == 1 else _refuse()


def _one(name: str, value: Json) -> Kept:
    return name, _cut(value)


def _members(name: str, value: Json) -> Kept:
    return name, {key: _cut(one) for key, one in members(value).items()}


def _values(name: str, value: Json) -> Kept:
    found = items(value) if name == "enum" else [value]
    return (
        _refuse()
        if any(isinstance(one, dict | list) for one in found)
        else (name, value)
    )


def _format(name: str, value: Json) -> Kept:
    return (name, value) if value in FORMATS else None


def _least(name: str, value: Json) -> Kept:
    return (name, value) if value in (0, 1) else None


def _refuse() -> NoReturn:
    raise _Unsayable


WORDS: Final[Mapping[str, Callable[[str, Json], Kept]]] = {
    "type": _same,
    "required": _same,
    "description": _same,
    "enum": _values,
    "const": _values,
    "anyOf": _each,
    "oneOf": _each,
    "allOf": _all,
    "properties": _members,
    "items": _one,
    "format": _format,
    "minItems": _least,
}
"""What each word of a schema becomes; None makes it a note."""
