"""Tools: a function, and what a model is told about it."""

import inspect
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, Literal, NoReturn, TypedDict, overload

from attrs import Factory, field, frozen
from typing_extensions import ParamSpec, TypeVar, Unpack

from loopcore.frozen import FrozenDict, Json, freeze_object
from loopcore.runtime.context import ToolContext
from loopcore.runtime.parameters import MANY, Parameters, plain_function, schema_of
from loopcore.tools import NAME, NAMES, ToolSpec

P = ParamSpec("P", default=...)
R = TypeVar("R", default=Any)


class ToolOptions(TypedDict, total=False):
    """What `tool` takes besides the function, as `ToolSpec` explains it."""

    name: str
    execution: Literal["parallel", "sequential"]
    timeout: float | None
    on_interrupt: Literal["report", "retry"]
    needs_approval: bool
    elsewhere: bool


@frozen(repr=False)
class Tool(Generic[P, R]):
    """A tool's two halves: what the model is told, and the function.

    The function gets its arguments by name: plain JSON, or what its types say. Called
    as a function, a tool is that function, so that testing it needs nothing else.
    """

    spec: ToolSpec
    fn: Callable[P, R]
    _parameters: Parameters = field(
        init=False,
        eq=False,
        repr=False,
        default=Factory(lambda self: Parameters.of(self.fn), takes_self=True),
    )

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.fn(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> "Tool[..., R]":
        if instance is None or not self._parameters.receiver:
            return self
        return Tool(self.spec, types.MethodType(self.fn, instance))

    def __repr__(self) -> str:
        return f"<tool {self.spec.name}>"

    def bind(self, arguments: FrozenDict[Json], context: ToolContext) -> dict[str, Any]:
        """The arguments as the function takes them; `Misfit` says which do not fit."""
        return self._parameters.bind(arguments, context)


@overload
def tool(fn: Callable[P, R], /, **options: Unpack[ToolOptions]) -> Tool[P, R]: ...


@overload
def tool(
    **options: Unpack[ToolOptions],
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    fn: Callable[..., Any] | None = None, /, **options: Unpack[ToolOptions]
) -> Any:
    """Make a tool of a typed function.

    Its schema comes from the types, its description from the docstring's first
    paragraph. A parameter of type `ToolContext` is no part of the schema. The options
    are those of `ToolSpec`, and `name`.

    Raises:
        TypeError: naming what a model could not be told.

    >>> @tool
    ... def weather(city: str) -> str:
    ...     '''Today's weather in a city.'''
    ...     return f"{city}: rain"
    >>> weather.spec.description
    "Today's weather in a city."
    >>> weather("Paris")
    'Paris: rain'
    """
    if fn is None:
        return partial(_tool, options=options)
    if not callable(fn):
        raise TypeError(_no_function(fn))
    return _tool(fn, options)


def _no_function(given: object) -> str:
    """What to write instead of what is no function."""
    instead = (
        f"@tool(name={given!r})" if isinstance(given, str) else "@tool, or @tool()"
    )
    return f"@tool takes a function; it got {given!r}. Write {instead} before one."


def _tool(fn: Callable[P, R], options: ToolOptions) -> Tool[P, R]:
    name = options.get("name", plain_function(fn).__name__)
    problem = _problem(fn, name, options)
    if problem:
        _refuse(name, problem)
    try:
        schema = _schema(fn)
    except TypeError as cause:
        _refuse(name, f": {cause}")
    told: dict[str, Any] = {**options, "name": name}
    return Tool(ToolSpec(description=_description(fn), parameters=schema, **told), fn)


def _refuse(name: str, problem: str) -> NoReturn:
    message = f"@tool {name}{problem}"
    raise TypeError(message)


def _problem(fn: Callable[..., Any], name: str, options: ToolOptions) -> str:
    """Why this function cannot be a tool, if so."""
    timeout = options.get("timeout")
    if not NAME.fullmatch(name):
        return f": {NAMES}: name=..."
    if isinstance(timeout, int | float) and timeout <= 0:
        return f": timeout={timeout} leaves it no time; give seconds, or None to wait"
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        return ": it is a generator; return the whole output (ToolContext has progress)"
    if not _description(fn):
        return (
            " has no docstring. The model chooses tools by their description: say in "
            "one sentence what it does."
        )
    return ""


def _description(fn: Callable[..., Any]) -> str:
    """The docstring's first paragraph."""
    text = inspect.cleandoc(plain_function(fn).__doc__ or "")
    return " ".join(text.partition("\n\n")[0].split())


def _schema(fn: Callable[..., Any]) -> FrozenDict[Json]:
    parameters = Parameters.of(fn)
    for parameter in parameters.offered(fn):
        problem = _unclear(parameter, parameters, plain_function(fn).__name__)
        if problem:
            raise TypeError(problem)
    return freeze_object(schema_of(parameters, fn))


def _unclear(
    parameter: inspect.Parameter, parameters: Parameters, function: str
) -> str:
    """What a model could not be told about a parameter, if anything."""
    name = parameter.name
    if parameter.kind in MANY:
        return f"{parameter} takes anything; a model must be told each name and type"
    if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
        return f"the parameter {name!r} has no name to give it by; remove the `/`"
    if name not in parameters.hints:
        return (
            f"the parameter {name!r} has no type. The model's schema is made from the "
            f"types: `def {function}({name}: str) -> str`."
        )
    return ""
