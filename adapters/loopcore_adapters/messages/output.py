"""Structured output: by the wire's own mode where it can say the schema, else by a tool."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from loopcore import CallModel
from loopcore_adapters.loose import Json, dump, members, parse
from loopcore_adapters.messages.dialect import Dialect
from loopcore_adapters.messages.schema import cut
from loopcore_adapters.roots import is_object, rooted

TOOL: Final = "final_output"
WRAP: Final = "output"
DESCRIPTION: Final = "Gives the final answer."
WISH: Final = "Give your final answer by calling the tool {0}, and only then."


@frozen
class OutputTool:
    """The tool whose call is the final answer; what is no object is wrapped in one."""

    name: str
    schema: Mapping[str, Json]
    wrapped: bool

    @property
    def spec(self) -> dict[str, Json]:
        """The tool as it is offered."""
        return {
            "name": self.name,
            "description": DESCRIPTION,
            "input_schema": self.schema,
        }

    def unwrapped(self, arguments: str) -> str:
        """The answer, out of the object that it is wrapped in; else all that there is."""
        try:
            value = members(parse(arguments))
        except ValueError:
            return arguments
        return dump(value[WRAP]) if WRAP in value else arguments


def output_format(call: CallModel, dialect: Dialect) -> dict[str, Json]:
    """The wire's own mode for the schema, if it can be said there."""
    if call.output is None or not dialect.schemas:
        return {}
    schema = cut(rooted(call.output))
    return (
        {} if schema is None else {"format": {"type": "json_schema", "schema": schema}}
    )


def output_tool(call: CallModel, dialect: Dialect) -> OutputTool | None:
    """The tool that takes the output, where there is one and the mode does not."""
    if call.output is None or output_format(call, dialect):
        return None
    name, taken = TOOL, {spec.name for spec in call.tools}
    while name in taken:
        name += "_"
    schema = rooted(call.output)
    if is_object(schema):
        return OutputTool(name, schema, wrapped=False)
    return OutputTool(name, _wrapped(schema), wrapped=True)


def _wrapped(schema: Mapping[str, Json]) -> dict[str, Json]:
    """The schema as that of an object's one property; definitions stay at the root."""
    outer = {
        "type": "object",
        "properties": {WRAP: {n: each for n, each in schema.items() if n != "$defs"}},
        "required": [WRAP],
        "additionalProperties": False,
    }
    return outer | ({"$defs": schema["$defs"]} if "$defs" in schema else {})
