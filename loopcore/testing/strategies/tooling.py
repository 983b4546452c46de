"""Tools as data, and calls of them: with arguments that fit, and others."""

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, Final

from hypothesis import strategies as st
from returns.result import Success

from loopcore.arguments import arguments_for
from loopcore.config import Nested
from loopcore.frozen import EMPTY, FrozenDict, Json, freeze_object
from loopcore.messages import ToolCall
from loopcore.testing.strategies.plain import Drawn, jsons, objects, texts
from loopcore.testing.strategies.schemas import values
from loopcore.tools import NO_PARAMETERS, ToolLike, ToolSpec, spec_of

NAMES: Final = ("look", "add", "note", "send", "a-b")

X: Final = freeze_object(
    {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
)
WIDE: Final = freeze_object(
    {
        "type": "object",
        "properties": {
            "to": {"type": "string", "minLength": 1},
            "how": {"enum": ["fast", "slow"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "more": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        },
        "required": ["to"],
        "additionalProperties": False,
    }
)


def tools(name: str | None = None) -> Drawn[ToolSpec]:
    """Tools as data, of this name. Their parameters are of the kinds that functions have."""
    return _tools(name)


@cache
def _tools(name: str | None) -> Drawn[ToolSpec]:
    named = st.sampled_from(NAMES) if name is None else st.just(name)
    plain = st.builds(ToolSpec, named)
    choices: dict[str, Drawn[Any]] = {
        "parameters": st.sampled_from((NO_PARAMETERS, X, WIDE)),
        "execution": st.sampled_from(("parallel", "sequential")),
        "timeout": st.sampled_from((None, 5.0)),
        "on_interrupt": st.sampled_from(("report", "retry")),
        "needs_approval": st.sampled_from((False, False, True)),
    }
    return plain | st.builds(ToolSpec, named, st.just("Does it."), **choices)


def toolsets() -> Drawn[tuple[ToolSpec, ...]]:
    """Tools that one configuration may offer: a few sets, from one tool to all kinds."""
    return st.sampled_from(TOOLSETS)


LOOK: Final = ToolSpec("look")
ADD: Final = ToolSpec("add", "Adds.", X)
SEND: Final = ToolSpec("send", "Sends.", WIDE)
PAY: Final = ToolSpec("pay", "Pays.", X, needs_approval=True)
WALK: Final = ToolSpec("walk", "One by one.", execution="sequential", timeout=5.0)
TOOLSETS: Final = ((LOOK,), (ADD, LOOK), (LOOK, SEND, PAY), (), (ADD, WALK))


def arguments(
    tool: ToolLike | Nested, *, valid: bool = True
) -> Drawn[FrozenDict[Json]]:
    """Arguments that fit a tool as they stand; or, where anything does not, those.

    Args:
        tool: the tool, or its data.
        valid: False for arguments that the tool's schema refuses. A tool that takes
            everything has none of these: then there is nothing to draw.
    """
    return _arguments(spec_of(tool), valid)


@lru_cache(maxsize=256)
def _arguments(spec: ToolSpec, valid: bool) -> Drawn[FrozenDict[Json]]:  # noqa: FBT001
    if valid:
        return values(spec.parameters).filter(lambda given: _fits(spec, given))
    candidates = (c for c in _spoilt(spec) if not _fits(spec, c))
    simple = list(candidates)
    if not simple:
        return st.nothing()
    others = objects().filter(lambda given: not _fits(spec, given))
    return st.sampled_from(simple) | others


def _fits(spec: ToolSpec, given: Json) -> bool:
    """Whether it is an object that need not even be coerced."""
    if not isinstance(given, FrozenDict):
        return False
    found = arguments_for(spec, given)  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(found, Success) and found.unwrap() is given


def _spoilt(spec: ToolSpec) -> Iterable[FrozenDict[Json]]:
    """What people and models get wrong: nothing at all, a wrong kind, a name too many."""
    yield EMPTY
    known = spec.parameters.get("properties", EMPTY)
    for name in (*known, "unknown"):
        yield from (FrozenDict({name: wrong}) for wrong in WRONG)


WRONG: Final[tuple[Json, ...]] = (None, "x", (), EMPTY, True, 1.5)


def calls(*offered: ToolLike | Nested, valid: bool | None = True) -> Drawn[ToolCall]:
    """Calls of these tools, without an id.

    Args:
        offered: the tools.
        valid: True for arguments that fit; False for calls that cannot be run: arguments
            that do not fit or are no JSON, a tool that is not there; None for both.
    """
    specs = tuple(spec_of(tool) for tool in offered)
    if valid is None:
        return _calls(specs, True) | _calls(specs, False)  # noqa: FBT003
    return _calls(specs, valid)


@lru_cache(maxsize=256)
def _calls(specs: tuple[ToolSpec, ...], valid: bool) -> Drawn[ToolCall]:  # noqa: FBT001
    made = [st.builds(ToolCall, st.just(s.name), _arguments(s, valid)) for s in specs]
    if valid:
        return st.one_of(*made)
    names = [spec.name for spec in specs]
    unknown = st.builds(ToolCall, st.just(_other(names)), objects())
    broken = st.builds(
        ToolCall.parse, st.sampled_from((*names, _other(names))), BROKEN_TEXTS
    )
    return st.one_of(*made, unknown, broken)


def _other(names: list[str]) -> str:
    """A name that no tool has."""
    return next(n for n in ("missing", "missing_too", *NAMES) if n not in names)


BROKEN_TEXTS: Final = st.sampled_from(("[1", "", "null", '"x"', '{"x": NaN}'))


@cache
def outputs_of_json() -> Drawn[Json]:
    """Details of an output, or what a service said."""
    return st.none() | texts() | jsons()
