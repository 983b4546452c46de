"""`Hooks`: one rule, a pure function for each point it cares about. `Need`: a question."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from attrs import Attribute, evolve, field, frozen

from loopcore.effects import CallModel, Consult
from loopcore.events import Stop
from loopcore.frozen import NotJson, clean, cleaned, constructor, freeze, printed, takes
from loopcore.hooks.code import unwrapped
from loopcore.hooks.dropped import dropped
from loopcore.hooks.merge import Allow, Ask, Block
from loopcore.hooks.points import CALL_POINTS, POINTS, PointName
from loopcore.hooks.updates import (
    ContextUpdate,
    RawCallUpdate,
    ReplyUpdate,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
)
from loopcore.hooks.views import (
    ContextView,
    ErrorView,
    RawCallView,
    ReplyView,
    ToolCallView,
    ToolResultView,
    TurnView,
)
from loopcore.messages import AssistantMessage, Message, Say, messages, transcript
from loopcore.settings import ModelLike, model_id
from loopcore.tools import ToolLike, name_of
from loopcore.wording import one_line


def _key(key: object) -> str:
    if isinstance(key, str) and key:
        return clean(key)
    message = f"a need's key is a text that is not empty, not {key!r}"
    raise ValueError(message)


def _messages(say: Say | None) -> tuple[Message, ...] | None:
    return None if say is None else messages(say)


@constructor
@frozen
class Need:
    """A hook asks the world, and is called again with `view.answers[key]` filled.

    Make one with `Need.model` or `Need.service`.
    """

    key: str = field(converter=_key)
    messages: tuple[Message, ...] | None = field(default=None, converter=_messages)
    model_id: str | None = field(default=None, validator=takes(str, type(None)))
    system: str = field(default="", converter=clean)
    service_name: str = field(default="", converter=clean)
    data: Any = field(default=None, converter=freeze)  # pyright: ignore[reportUnknownVariableType]

    @classmethod
    def model(
        cls, key: str, say: Say, *, model: ModelLike | None = None, system: str = ""
    ) -> "Need":
        """Ask a model these messages; without `model`, the run's own."""
        return cls(
            key, messages(say), None if model is None else model_id(model), system
        )

    @classmethod
    def service(cls, key: str, name: str, data: object = None) -> "Need":
        """Ask a named service of the interpreter."""
        return cls(key, service_name=name, data=freeze(data))

    def effect(self, effect_id: str, model: str) -> CallModel | Consult:
        """What is wanted, as an effect."""
        if self.messages is None:
            return Consult(effect_id, self.service_name, self.data)
        return CallModel(
            effect_id, self.model_id or model, transcript(self.messages), self.system
        )


Contexts: TypeAlias = ContextUpdate | Need | Iterable[Message] | None
Replies: TypeAlias = ReplyUpdate | Need | AssistantMessage | None
Verdicts: TypeAlias = ToolCallUpdate | Need | Allow | Ask | Block | None
Results: TypeAlias = ToolResultUpdate | Need | None
Stops: TypeAlias = StopUpdate | Need | bool | str | Stop | None

EDITED: Final = "edited"
"""In effect ids, the second passage of a gate: no hook may have this name."""

Function: TypeAlias = Callable[[Any], Any]


def _memo(value: object) -> Any:  # noqa: ANN401  # JSON
    try:
        return freeze(value)
    except NotJson as problem:
        message = f"memo= must be JSON, so that runs can be saved: {problem}"
        raise TypeError(message) from None


def _names(tools: Iterable[str | ToolLike] | None) -> tuple[str, ...] | None:
    if isinstance(tools, str):
        message = f"Hooks(tools=...) takes a list of names; write tools=[{tools!r}]"
        raise TypeError(message)
    return None if tools is None else tuple(map(name_of, tools))


def _name_of_a_rule(hook: object, field_of: "Attribute[Any]", value: object) -> None:
    if callable(value):
        message = (
            "Hooks(...) begins with a name. Say at which point the function is asked: "
            f"Hooks(before_tool_call={getattr(value, '__name__', 'function')})"
        )
        raise TypeError(message)
    takes(str)(hook, field_of, value)


@frozen
class Hooks:
    """One rule: a pure function for each point it cares about.

    Args:
        name: names its memory and its effects; the first function's name by default. It
            has no dot.
        memo: what it remembers at the start: JSON.
        fail_closed: if it fails, what it guards is withheld.
        tools: the tools whose calls it is about (the four points of a call); None: all.

    Raises:
        TypeError: for a coroutine or generator function, or one that drops the vector that
            `view.messages.append(...)` returns.

    >>> Hooks(before_tool_call=lambda view: Block("no")).named("no_tools").name
    'no_tools'
    """

    name: str = field(default="", converter=cleaned, validator=_name_of_a_rule)
    memo: Any = field(default=None, converter=_memo, kw_only=True)  # pyright: ignore[reportUnknownVariableType]
    fail_closed: bool = field(default=False, kw_only=True)
    tools: tuple[str, ...] | None = field(default=None, kw_only=True, converter=_names)
    transform_context: Callable[[ContextView], Contexts] | None = field(
        default=None, kw_only=True
    )
    after_model_call: Callable[[ReplyView], Replies] | None = field(
        default=None, kw_only=True
    )
    on_model_error: Callable[[ErrorView], RetryUpdate | Need | None] | None = field(
        default=None, kw_only=True
    )
    prepare_tool_call: Callable[[RawCallView], RawCallUpdate | Need | None] | None = (
        field(default=None, kw_only=True)
    )
    before_tool_call: Callable[[ToolCallView], Verdicts] | None = field(
        default=None, kw_only=True
    )
    after_tool_call: Callable[[ToolResultView], Results] | None = field(
        default=None, kw_only=True
    )
    after_tool_result: Callable[[ToolResultView], Results] | None = field(
        default=None, kw_only=True
    )
    prepare_next_turn: Callable[[TurnView], TurnUpdate | Need | None] | None = field(
        default=None, kw_only=True
    )
    should_stop_after_turn: Callable[[TurnView], Stops] | None = field(
        default=None, kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        functions = self.functions
        if not self.name:
            first = next(iter(functions.values()), None)
            object.__setattr__(self, "name", _name(first) if first else "nothing")
        if "." in self.name:
            message = (
                f"the hook name {self.name!r} has a dot; effect ids are cut at dots"
            )
            raise ValueError(message)
        if self.name == EDITED:
            message = f"{EDITED!r} cannot be a hook's name; it is a word of effect ids"
            raise ValueError(message)
        for point, function in functions.items():
            _refuse_impure(self.name, point, function)

    @property
    def functions(self) -> dict[PointName, Function]:
        """The points it cares about, in the order of a turn."""
        found: list[tuple[PointName, Function | None]] = [
            (point, getattr(self, point)) for point in POINTS
        ]
        return {point: function for point, function in found if function is not None}

    def named(self, name: str) -> "Hooks":
        """The same rule under another name, with a memory of its own."""
        return evolve(self, name=name)

    def for_tools(self, *tools: str | ToolLike) -> "Hooks":
        """The same rule, at the four points of a call only for these tools.

        A tool is given by its name, or as it is.

        Raises:
            ValueError: for a rule that cares about none of these points.
        """
        if not any(getattr(self, point) for point in CALL_POINTS):
            of_calls = ", ".join(point for point in POINTS if point in CALL_POINTS)
            message = NO_CALL.format(self.name, ", ".join(self.functions), of_calls)
            raise ValueError(message)
        return evolve(self, tools=tools)

    def at(self, point: PointName, view: Any) -> Function | None:  # noqa: ANN401  # a view of the point
        """Its function for this point, if it cares about what is seen."""
        function: Function | None = getattr(self, point)
        if function is None or self.tools is None or point not in CALL_POINTS:
            return function
        return function if view.tool in self.tools else None

    _repr_pretty_ = printed

    def __repr__(self) -> str:
        tools = f" for {', '.join(self.tools)}" if self.tools is not None else ""
        return one_line(f"<hook {self.name}: {', '.join(self.functions)}{tools}>")


NO_CALL: Final = (
    "Hook {0!r} is asked at {1}, which is not about one call: for_tools() would change "
    "nothing. It is for rules at {2}; others look at the view themselves."
)


def _name(function: Function) -> str:
    inner = unwrapped(function)
    found = getattr(inner, "__name__", type(inner).__name__)
    return str(found).replace(".", "_")


def _refuse_impure(name: str, point: str, function: object) -> None:
    if not callable(function):
        message = f"Hook {name!r} at {point} is {function!r}, not a function."
        raise TypeError(message)
    inner = unwrapped(function)
    code = inner if inspect.isroutine(inner) else getattr(inner, "__call__")  # noqa: B004, B009
    kind = next((kind for test, kind in IMPURE if test(code)), None)
    if kind:
        message = (
            f"Hook {name!r} at {point} is {kind}. Hooks are pure, so that runs can be "
            'replayed. Return `Need.service("verdict", "policy", {...})`, read '
            '`view.answers["verdict"]`, and give `Interpreter(..., '
            'services={"policy": policy})`.'
        )
        raise TypeError(message)
    lost = dropped(code)
    if lost:
        message = f"Hook {name!r} {lost}"
        raise TypeError(message)


IMPURE: Final = (
    (inspect.iscoroutinefunction, "a coroutine function"),
    (inspect.isasyncgenfunction, "an async generator function"),
    (inspect.isgeneratorfunction, "a generator function"),
)
