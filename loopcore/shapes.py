"""Types as JSON Schema, and JSON as values of those types.

msgspec knows builtins, enums, unions, dates, dataclasses, attrs, TypedDict and its own
structs. What pydantic made is left to pydantic, which is never imported here: whoever
has such a type has imported it.
"""

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial
from typing import Any, Final, get_args

import attrs
import msgspec
from attrs import frozen

from loopcore.frozen import FrozenDict, Json

REFERENCE: Final = "#/$defs/{name}"
PYDANTIC: Final = frozenset(("pydantic", "pydantic_core", "annotated_types"))


@frozen
class Shape:
    """A type: its schema, the definitions that refers to, and how JSON becomes a value.

    `convert` raises ValueError for JSON that does not fit.
    """

    schema: Mapping[str, Any]
    definitions: Mapping[str, Any]
    convert: Callable[[Json], Any]


def shape_of(kind: Any) -> Shape:  # noqa: ANN401  # any type
    """The shape of a type; TypeError for types that JSON has nothing like."""
    if _is_pydantic(kind):
        return _by_pydantic(kind)
    try:
        return _by_msgspec(kind)
    except TypeError:
        if "pydantic" not in sys.modules:
            raise
        with suppress(RuntimeError):  # a dataclass of pydantic models, for one
            return _by_pydantic(kind)
        raise


def _is_pydantic(kind: Any) -> bool:  # noqa: ANN401  # any type, or what annotates one
    if hasattr(kind, "__pydantic_core_schema__"):
        return True
    if type(kind).__module__.partition(".")[0] in PYDANTIC:
        return "pydantic" in sys.modules
    metadata = getattr(kind, "__metadata__", ())
    return any(map(_is_pydantic, (*get_args(kind), *metadata)))


def _by_msgspec(kind: Any) -> Shape:  # noqa: ANN401  # any type
    (schema,), definitions = msgspec.json.schema_components(
        [kind], ref_template=REFERENCE
    )
    return Shape(schema, definitions, partial(_convert, kind))


def _convert(kind: Any, value: Json) -> Any:  # noqa: ANN401  # any type
    try:
        return msgspec.convert(value, kind, str_keys=True)
    except msgspec.ValidationError:
        # To JSON Schema 1.0 is an integer; to msgspec it is not.
        return msgspec.convert(_whole(value), kind, str_keys=True)


def _whole(value: Any) -> Any:  # noqa: ANN401  # any JSON
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_whole(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {key: _whole(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def _by_pydantic(kind: Any) -> Shape:  # noqa: ANN401  # any type
    adapter = sys.modules["pydantic"].TypeAdapter(kind)
    schema = dict(adapter.json_schema(ref_template=REFERENCE.format(name="{model}")))
    return Shape(schema, schema.pop("$defs", {}), adapter.validate_python)


def reason(problem: ValueError, name: str) -> str:
    """Why JSON did not fit the parameter of this name, and where in it."""
    errors: Callable[[], list[dict[str, Any]]] | None = getattr(problem, "errors", None)
    if errors is None:
        return f"{name!r}: {str(problem).replace('`$', f'`{name}')}"
    return "; ".join(
        f"{'.'.join(map(str, (name, *error['loc'])))!r}: {error['msg']}"
        for error in errors()
    )


def unshaped(value: object) -> Any:  # noqa: ANN401  # any JSON
    """A record (attrs, dataclass, msgspec, pydantic), or a list of them, as plain JSON.

    Anything else comes back as it is.
    """
    if isinstance(value, list | tuple):
        items = tuple[object, ...](value)  # pyright: ignore[reportUnknownArgumentType]
        return [unshaped(item) for item in items]
    dumped: Any = getattr(type(value), "model_dump", None)
    if dumped is not None:
        return dumped(value, mode="json")
    made: Any = value
    kind: type[Any] = made.__class__
    if attrs.has(kind):  # msgspec would sort the fields of slotted ones
        return msgspec.to_builtins(attrs.asdict(made))
    if is_dataclass(made) or isinstance(made, msgspec.Struct):
        return msgspec.to_builtins(made)
    return made


def plain(value: Json) -> Any:  # noqa: ANN401  # any JSON
    """Frozen JSON as the dicts and lists that a tool's author expects."""
    match value:
        case FrozenDict():
            return {key: plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case tuple():
            return [plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value
