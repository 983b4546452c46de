"""Structured output: how a model is held to a JSON Schema, and schemas as it takes them."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias, cast

from loopcore import CallModel
from loopcore_adapters.gemini.dialect import dialect_of
from loopcore_adapters.loose import Json
from loopcore_adapters.roots import is_object, rooted

Mode: TypeAlias = Literal["", "schema", "tool", "prompt"]

ANSWER: Final = "final_output"
ANSWER_SAYS: Final = (
    "Gives your final answer. Call it once, alone, when you have the answer; do not "
    "write the answer as text."
)
VALUES: Final = frozenset(("const", "default", "enum", "examples"))
"""Keywords whose values are no schemas."""

NAMED: Final = frozenset(
    (
        *("properties", "patternProperties", "$defs", "definitions"),
        *("dependentSchemas", "dependencies"),
    )
)
"""Keywords that have schemas by names of the user's: these may be those of keywords."""


def output_mode(call: CallModel) -> Mode:
    """How the model is held to the schema of the output.

    Models before Gemini 3 take none beside tools ("Function calling with a response mime
    type: 'application/json' is unsupported"): there the answer is the call of a tool, or,
    as arguments are always an object, a prompt asks for it.
    """
    if call.output is None:
        return ""
    if not call.tools or dialect_of(call.model).output_with_tools:
        return "schema"
    return "tool" if is_object(rooted(call.output)) else "prompt"


def answer_tool(call: CallModel) -> str:
    """The name of the tool whose call is the answer; empty if there is none.

    The decoder turns its call into the text of the reply.
    """
    if output_mode(call) != "tool":
        return ""
    taken = {spec.name for spec in call.tools}
    name = ANSWER
    while name in taken:
        name += "_"
    return name


def adapted(schema: Json) -> Json:
    """The schema as Gemini takes it: beside a `$ref` nothing else may stand.

    >>> adapted({"$ref": "#/$defs/A", "description": "an A"})
    {'anyOf': [{'$ref': '#/$defs/A'}], 'description': 'an A'}
    """
    if isinstance(schema, Mapping):
        return _object(cast("Mapping[str, Json]", schema))
    if isinstance(schema, list | tuple):
        return [adapted(item) for item in cast("Sequence[Json]", schema)]
    return schema


def _inner(word: str, value: Json) -> Json:
    if word in VALUES:
        return value
    if word in NAMED and isinstance(value, Mapping):
        named = cast("Mapping[str, Json]", value)
        return {name: adapted(one) for name, one in named.items()}
    return adapted(value)


def _object(schema: Mapping[str, Json]) -> dict[str, Json]:
    inner = {name: _inner(name, value) for name, value in schema.items()}
    beside = {name: value for name, value in inner.items() if name[:1] != "$"}
    pointer = inner.get("$ref")
    if not isinstance(pointer, str) or not beside:
        return inner
    kept = {n: v for n, v in inner.items() if n[:1] == "$" and n != "$ref"}
    return {**kept, "anyOf": [{"$ref": pointer}], **beside}
