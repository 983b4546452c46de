"""The parameters of a function: what a model is told of them, how they are given."""

import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import docstring_parser
import msgspec
from attrs import frozen

from loopcore.frozen import FrozenDict, Json, NotJson, freeze
from loopcore.hooks.code import unwrapped
from loopcore.runtime.context import ToolContext
from loopcore.shapes import Shape, plain, reason, shape_of

Function = Callable[..., Any]
NOTHING: Final = inspect.Parameter.empty
MANY: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Misfit(ValueError):
    """Arguments that do not fit the types of the parameters: a line for each."""


def plain_function(fn: Function) -> Function:
    """What was written: the function inside partials, the `__call__` of an object."""
    inner = unwrapped(fn)
    return inner if hasattr(inner, "__name__") else type(inner).__call__


@frozen
class Parameters:
    """The parameters of a function that a model, or a hand, gives; the context apart.

    Args:
        signature: the function's own.
        hints: the types of its parameters.
        shapes: how JSON becomes a value, where there is a type.
        context: the name of the parameter that takes the `ToolContext`, if any.
        receiver: the name of the `self` of a method that is not bound, if it is one.
    """

    signature: inspect.Signature
    hints: Mapping[str, Any]
    shapes: Mapping[str, Shape]
    context: str | None = None
    receiver: str | None = None

    @classmethod
    def of(cls, fn: Function) -> "Parameters":
        """Read a function; TypeError names the parameter that cannot be understood."""
        signature, hints = inspect.signature(fn), _hints(plain_function(fn))
        receiver = "self" if _takes_self(signature, hints) else None
        context = next((n for n, kind in hints.items() if _is_context(kind)), None)
        given = [
            name
            for name, parameter in signature.parameters.items()
            if parameter.kind not in MANY and name not in (context, receiver)
        ]
        shapes = {name: _shape(name, hints[name]) for name in given if name in hints}
        return cls(signature, hints, shapes, context, receiver)

    def offered(self, fn: Function) -> Iterator[inspect.Parameter]:
        """Those that a model gives. What a partial fixed by name it does not."""
        fixed = fn.keywords if isinstance(fn, partial) else {}
        hidden = {*fixed, self.context, self.receiver}
        return (p for p in self.signature.parameters.values() if p.name not in hidden)

    def bind(self, arguments: FrozenDict[Json], context: ToolContext) -> dict[str, Any]:
        """The arguments as the function takes them, by name.

        Raises:
            Misfit: saying which do not fit, and where.
        """
        given: dict[str, Any] = {self.context: context} if self.context else {}
        problems: list[str] = []
        for name, value in arguments.items():
            try:
                given[name] = self._value(name, value)
            except ValueError as problem:
                problems.append(f"- {reason(problem, name)}")
        if problems:
            raise Misfit("\n".join(problems))
        return given

    def _value(self, name: str, value: Json) -> Any:  # noqa: ANN401  # any type
        shape = self.shapes.get(name)
        return shape.convert(plain(value)) if shape else plain(value)


def _hints(fn: Function) -> Mapping[str, Any]:
    """The types of the parameters; that of the result may be unknown at run time."""
    names = getattr(inspect.unwrap(fn), "__globals__", {})
    try:
        annotations: dict[str, Any] = dict(getattr(fn, "__annotations__", {}))
        annotations.pop("return", None)
        lookalike = types.SimpleNamespace(__annotations__=annotations)
        return get_type_hints(lookalike, names, include_extras=True)
    except NameError as problem:
        message = f"a type is not known where the function is: {problem}"
        raise TypeError(message) from None


def _is_context(kind: object) -> bool:
    """Whether it is the context, `ToolContext | None` of a function one calls oneself too."""
    return kind is ToolContext or ToolContext in get_args(kind)


def _takes_self(signature: inspect.Signature, hints: Mapping[str, Any]) -> bool:
    """Whether it is a method that is not bound."""
    first = next(iter(signature.parameters), None)
    return first == "self" and first not in hints


def _shape(name: str, kind: object) -> Shape:
    try:
        return shape_of(kind)
    except TypeError as problem:
        why = str(problem).splitlines()[-1]
        message = f"the parameter {name!r} has a type that JSON has nothing like: {why}"
        raise TypeError(message) from None


def schema_of(parameters: Parameters, fn: Function) -> dict[str, Any]:
    """The JSON Schema of what a model gives to a function."""
    texts = _texts(fn)
    offered = list(parameters.offered(fn))
    properties = {p.name: _property(parameters, p, texts) for p in offered}
    required = [p.name for p in offered if p.default is NOTHING]
    definitions = _definitions(parameters.shapes[p.name] for p in offered)
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
        **({"$defs": definitions} if definitions else {}),
    }


def _property(
    parameters: Parameters, parameter: inspect.Parameter, texts: Mapping[str, str]
) -> dict[str, Any]:
    name = parameter.name
    said = next(_annotated(parameters.hints[name]), texts.get(name))
    return {
        **({"description": said} if said else {}),
        **parameters.shapes[name].schema,
        **_default(parameter.default),
    }


def _annotated(kind: object) -> Iterator[str]:
    """The texts beside a type. Those of a `Literal` are its values."""
    metadata = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return (text for text in metadata if isinstance(text, str))


def _default(value: object) -> dict[str, Any]:
    """The default, where there is one and JSON can hold it."""
    if value is NOTHING:
        return {}
    try:
        made = msgspec.to_builtins(value, str_keys=True, order="deterministic")
        return {"default": freeze(made)}  # a set's order would be the hash seed's
    except (TypeError, NotImplementedError, NotJson):
        return {}


def _texts(fn: Function) -> dict[str, str]:
    """What the docstring says of each parameter."""
    try:
        found = docstring_parser.parse(plain_function(fn).__doc__ or "").params
    except (docstring_parser.ParseError, LookupError):  # odd docstrings are no fault
        return {}
    return {
        name.strip(): " ".join(param.description.split())
        for param in found
        for name in param.arg_name.split(",")
        if param.description
    }


def _definitions(shapes: Iterator[Shape]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    named = (pair for shape in shapes for pair in shape.definitions.items())
    for name, schema in named:
        if found.setdefault(name, schema) != schema:
            message = f"two of its types are called {name!r}; rename one"
            raise TypeError(message)
    return found
