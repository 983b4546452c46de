"""`LoopConfig`: what a run is. Settings to start from, and pure functions."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, Literal, TypeAlias

import attrs
from attrs import Attribute, field, frozen
from typing_extensions import TypeVar

from loopcore.frozen import (
    EMPTY,
    FrozenDict,
    Json,
    a,
    cleaned,
    constructor,
    evolve,
    freeze_object,
    one_of,
    printed,
    takes,
)
from loopcore.hooks.misspelt import tell_of_misspelt
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Function, Hooks
from loopcore.output import Wanted, wanted
from loopcore.settings import THINKING, Settings, ThinkingLevel, model_id
from loopcore.tools import NAME, NAMES, HasSpec, ToolSpec, spec_of, unopened
from loopcore.wording import one_line

T = TypeVar("T", default=str)
Drain: TypeAlias = Literal["one", "all"]
ONE_OR_ALL = one_of("one", "all")


@constructor
@frozen
class Nested:
    """A configuration as a tool of another one: a run inside a run."""

    spec: ToolSpec
    config: "AnyConfig"


def _count(config: object, field_of: "Attribute[Any]", value: int) -> None:
    takes(int)(config, field_of, value)
    if value < 0:
        message = f"LoopConfig(repairs={value}): take 0 or more"
        raise ValueError(message)


def _listed(name: str, given: object) -> Iterable[Any]:
    """Raise for one thing where a list is wanted."""
    if isinstance(given, Iterable) and not isinstance(given, str):
        return given  # pyright: ignore[reportUnknownVariableType]
    instead = unopened(given) or f"Write {name}=[...]"
    message = f"LoopConfig({name}=...) takes a list; it got {a(given)}. {instead}"
    raise TypeError(message)


def _tools(tools: Iterable[HasSpec | ToolSpec]) -> tuple[ToolSpec | Nested, ...]:
    given = _listed("tools", tools)
    return tuple(t if isinstance(t, Nested) else spec_of(t) for t in given)


MOST_LEVELS: Final = 40
"""How deep configurations may nest: a state that holds states has to be saved and read."""


def _levels(tools: Iterable[ToolSpec | Nested]) -> int:
    levels = 1 + max(
        (t.config.levels for t in tools if isinstance(t, Nested)), default=0
    )
    if levels > MOST_LEVELS:
        message = f"tools: configurations nest more than {MOST_LEVELS} deep; nest fewer"
        raise ValueError(message)
    return levels


def _hooks(hooks: Iterable[Hooks]) -> tuple[Hooks, ...]:
    found = tuple(_listed("hooks", hooks))
    _refuse_bare(found)
    return found


@frozen(kw_only=True, repr=False)
class LoopConfig(Generic[T]):
    """What a run is: settings to start from, and pure functions. Nothing in it acts.

    Args:
        model: a model, or its identity "provider:name".
        system: the system prompt.
        tools: what the model is offered; functions stay with the interpreter.
        hooks: the rules, in order.
        thinking: how hard the model is to think; None leaves it to the provider.
        options: more for the model's wire, such as {"temperature": 0}.
        output: a type that the last reply must come to (attrs, dataclass, msgspec,
            pydantic, or any other that JSON has something like); None takes its text.
        optional: the model may instead say why there is no such value; the run is done,
            its output None, and `stop.detail` has the reason. A reply is then
            `{"value": ..., "reason": ...}`, one of the two being null.
        repairs: how often a reply that does not fit is sent back with what is wrong.
        parallel: run the calls of a batch together, or one by one.
        steering, follow_ups: take one queued message at a time, or all.

    Raises:
        ValueError: for two hooks or two tools of one name, or tools nested too deep.
        TypeError: for an output type that JSON has nothing like.

    A hook for a tool that is not here is a `UserWarning` if one that is has nearly its
    name. Any other name may be that of a tool that comes later.
    """

    model: str = field(converter=model_id)
    system: str = field(default="", converter=cleaned, validator=takes(str))
    tools: tuple[ToolSpec | Nested, ...] = field(default=(), converter=_tools)
    hooks: tuple[Hooks, ...] = field(default=(), converter=_hooks)
    thinking: ThinkingLevel | None = field(default=None, validator=one_of(*THINKING))
    options: FrozenDict[Json] = field(default=EMPTY, converter=freeze_object)
    output: type[T] | None = None
    optional: bool = field(default=False, validator=takes(bool))
    repairs: int = field(default=2, validator=_count)
    parallel: bool = field(default=True, validator=takes(bool))
    steering: Drain = field(default="one", validator=ONE_OR_ALL)
    follow_ups: Drain = field(default="one", validator=ONE_OR_ALL)
    settings: Settings = field(init=False, eq=False)
    hooks_at: FrozenDict[tuple[Hooks, ...]] = field(init=False, eq=False)
    memos: FrozenDict[Json] = field(init=False, eq=False)
    wanted: Wanted | None = field(init=False, eq=False)
    levels: int = field(init=False, eq=False)

    def __attrs_post_init__(self) -> None:
        _refuse_twins("hook", "hooks", [hook.name for hook in self.hooks])
        names = [spec_of(tool).name for tool in self.tools]
        _refuse_twins("tool", "tools", names)
        object.__setattr__(self, "levels", _levels(self.tools))
        settings = Settings(
            self.model, self.system, self.tools, self.thinking, self.options
        )
        memos = {h.name: h.memo for h in self.hooks if h.memo is not None}
        object.__setattr__(self, "settings", settings)
        at = FrozenDict({point: _at(self.hooks, point) for point in POINTS})
        object.__setattr__(self, "hooks_at", at)
        object.__setattr__(self, "memos", FrozenDict(memos))
        if self.optional and self.output is None:
            message = (
                "LoopConfig(optional=True) says nothing without output=; give a type"
            )
            raise ValueError(message)
        object.__setattr__(self, "wanted", _wanted(self.output, self.optional))
        tell_of_misspelt(self.hooks, names)

    def as_tool(
        self,
        name: str,
        description: str,
        *,
        needs_approval: bool = False,
        timeout: float | None = None,
    ) -> Nested:
        """This configuration as a tool of another one, with one argument, `prompt`.

        `timeout`, in seconds, aborts the nested run; what a person takes to decide counts.
        An interpreter of the outer run needs the model and tools of this one, too. Hooks
        and inputs may offer it where `tools` of the outer configuration has it, by which
        its run is found; elsewhere it is a tool that nobody can run.

        Raises:
            ValueError: for a name that model services do not take.
        """
        spec = ToolSpec(
            name,
            description,
            PROMPT_ONLY,
            needs_approval=needs_approval,
            timeout=timeout,
        )
        if not NAME.fullmatch(name):
            message = f"as_tool({name!r}): {NAMES}"
            raise ValueError(message)
        return Nested(spec, self)

    def nested(self, name: str) -> "AnyConfig | None":
        """The configuration behind a tool that is a nested run."""
        for tool in self.tools:
            if isinstance(tool, Nested) and tool.spec.name == name:
                return tool.config
        return None

    _repr_pretty_ = printed

    def __repr__(self) -> str:
        tools = ", ".join(spec_of(tool).name for tool in self.tools) or "no tools"
        hooks = ", ".join(hook.name for hook in self.hooks) or "no hooks"
        return one_line(f"<config {self.model}: {tools}; {hooks}>")


AnyConfig: TypeAlias = LoopConfig[Any]
"""A configuration, whatever its runs come to."""

C = TypeVar("C", bound=AnyConfig)
Rehook: TypeAlias = Callable[[tuple[Hooks, ...]], Iterable[Hooks]]


def rehooked(config: C, change: Rehook) -> C:
    """The configuration with its hooks changed, those of nested runs too; all else stays."""
    tools = [_rehooked_tool(tool, change) for tool in config.tools]
    return attrs.evolve(config, tools=tools, hooks=change(config.hooks))


def with_functions(hook: Hooks, functions: Mapping[PointName, Function]) -> Hooks:
    """The rule with these in place of its own, unchecked: a check reads their code."""
    changed: dict[str, Any] = {str(point): done for point, done in functions.items()}
    return evolve(hook, **changed)


def _rehooked_tool(tool: ToolSpec | Nested, change: Rehook) -> ToolSpec | Nested:
    if isinstance(tool, Nested):
        return attrs.evolve(tool, config=rehooked(tool.config, change))
    return tool


def _wanted(kind: Any, optional: bool) -> Wanted | None:  # noqa: ANN401, FBT001  # any type
    return None if kind is None or kind is str else wanted(kind, optional=optional)


PROMPT_ONLY: FrozenDict[Json] = freeze_object(
    {
        "type": "object",
        "properties": {"prompt": {"type": "string", "description": "What to do."}},
        "required": ["prompt"],
        "additionalProperties": False,
    }
)


def _at(hooks: tuple[Hooks, ...], point: PointName) -> tuple[Hooks, ...]:
    return tuple(hook for hook in hooks if point in hook.functions)


def _refuse_bare(hooks: tuple[object, ...]) -> None:
    for place, hook in enumerate(hooks):
        if not isinstance(hook, Hooks):
            message = (
                f"hooks[{place}] is {hook!r}, not Hooks. Say at which point it is asked: "
                "Hooks(before_tool_call=...)"
            )
            raise TypeError(message)


def _refuse_twins(kind: str, field_name: str, names: list[str]) -> None:
    for place, name in enumerate(names):
        first = names.index(name)
        if first != place:
            raise ValueError(_twins(kind, field_name, name, first, place))


def _twins(kind: str, field_name: str, name: str, first: int, place: int) -> str:
    both = f"Two {kind}s are named {name!r} ({field_name}[{first}] and {field_name}[{place}])"
    if kind == "tool":
        return f"{both}; the model could not tell them apart. Rename one."
    other = f"{name}_too" if name.isidentifier() else "a name of its own"
    return (
        f"{both}; a hook's memory is kept under its name. Rename one: "
        f'`Hooks(...).named("{other}")`.'
    )
