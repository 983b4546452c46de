"""JSON Schemas as servers take them that want to see an object at the root.

OpenAI's refuse with "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/
'enum'/'not' at the top level", and a root that is but a reference with "got 'type: None'".
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast
from urllib.parse import unquote

from loopcore_adapters.loose import Json

COMBINED: Final = ("allOf", "anyOf", "oneOf")
"""What a schema may be combined of."""

REFUSED: Final = frozenset((*COMBINED, "enum", "const", "not"))
"""What may not stand at the root of a tool's schema."""

ANNOTATIONS: Final = frozenset(("description", "title", "default", "examples"))
MOST: Final = 100
"""How many references are followed: they may go in a circle."""


def rooted(schema: Mapping[str, Json]) -> dict[str, Json]:
    """The schema, with what its root refers to in the place of the reference.

    >>> rooted({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}}})
    {'type': 'object', '$defs': {'A': {'type': 'object'}}}
    """
    found = dict(schema)
    for _ in range(MOST):
        target = _target(schema, found.get("$ref"))
        beside = {name: value for name, value in found.items() if name != "$ref"}
        if target is None or any(
            _binds(name) for name in target.keys() & beside.keys()
        ):
            break
        found = {**target, **beside}
    return found


def is_object(schema: Mapping[str, Json]) -> bool:
    """Whether every value that fits is seen at the root to be an object.

    >>> is_object({"type": "object"}), is_object({"type": "array"}), is_object({})
    (True, False, False)
    """
    return schema.get("type") == "object" and not REFUSED & schema.keys()


def of_object(schema: Mapping[str, Json]) -> dict[str, Json]:
    """The schema of a tool's arguments, with nothing at the root that is refused there.

    Each property that some part of a combination has is one of the object's. So it takes
    more than the schema; arguments are held to that one anyway.

    >>> of_object({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]})
    {'type': 'object', 'properties': {'a': {}, 'b': {}}}
    """
    root = rooted(schema)
    kept = {name: value for name, value in root.items() if name not in REFUSED}
    kept["type"] = "object"
    if combined := list(_parts(root, schema, COMBINED)):
        kept["properties"] = _properties([root, *combined])
        needed = [root, *_parts(root, schema, ("allOf",))]
        names = [name for part in needed for name in _listed(part.get("required"))]
        required = [name for name in names if isinstance(name, str)]
        kept |= {"required": list(dict.fromkeys(required))} if required else {}
    return kept


def _binds(name: str) -> bool:
    return name not in ANNOTATIONS and not name.startswith("$")


def _target(schema: Mapping[str, Json], reference: Json) -> Mapping[str, Json] | None:
    """What a reference within the schema stands for."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: object = schema
    for step in reference[2:].split("/"):
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        found = _mapping(found).get(name)
    return _mapping(found) or None


def _mapping(value: object) -> Mapping[str, Json]:
    """The value, if it is an object, frozen or not."""
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else {}


def _listed(value: object) -> Sequence[Json]:
    """The value, if it is an array, frozen or not."""
    return cast("Sequence[Json]", value) if isinstance(value, list | tuple) else ()


def _parts(
    root: Mapping[str, Json], schema: Mapping[str, Json], words: tuple[str, ...]
) -> Iterator[Mapping[str, Json]]:
    """The schemas that the root is combined of."""
    for word in words:
        for part in _listed(root.get(word)):
            named = _mapping(part)
            yield _target(schema, named.get("$ref")) or named


def _properties(parts: list[Mapping[str, Json]]) -> dict[str, Json]:
    """The properties of all of these; one that several have may be as any says."""
    found = dict[str, list[Json]]()
    for part in parts:
        for name, value in _mapping(part.get("properties")).items():
            known = found.setdefault(name, [])
            known += [] if value in known else [value]
    return {n: one[0] if len(one) == 1 else {"anyOf": one} for n, one in found.items()}
