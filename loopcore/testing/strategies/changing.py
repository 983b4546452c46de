"""Updates: what hooks may write, at every point, and of classes of one's own."""

import types
import typing
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final, Literal, TypeVar

import attrs
from hypothesis import strategies as st
from pyrsistent import PVector

from loopcore.events import Stop
from loopcore.frozen import UNSET, FrozenDict, Unset, vector
from loopcore.hooks.merge import Allow, Ask, Block
from loopcore.hooks.updates import FOREVER, Update
from loopcore.messages import (
    MESSAGES,
    AssistantMessage,
    Image,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from loopcore.testing.strategies.history import said, transcripts
from loopcore.testing.strategies.plain import (
    KEYS,
    Drawn,
    jsons,
    objects,
    parts,
    texts,
    usages,
)
from loopcore.testing.strategies.speech import replies
from loopcore.testing.strategies.tooling import LOOK, calls, tools
from loopcore.tools import ToolSpec

U = TypeVar("U", bound=Update)


def updates(kind: type[U]) -> Drawn[U]:
    """Updates of this class: of a point, or of one's own.

    Each field is left out half of the time. What a field may hold is read from its
    annotation; where a validator is stricter, what it refuses is not drawn.
    """
    known: Any = kind
    made: Drawn[U] = _updates(known)
    return made


@lru_cache(maxsize=64)
def _updates(kind: Any) -> Drawn[Any]:  # noqa: ANN401  # a class of updates
    fields = tuple(f for f in attrs.fields(kind) if f.init)
    kinds = typing.get_type_hints(kind)
    given = {f.alias: _some(_field(kind, f.name, kinds[f.name])) for f in fields}
    made = st.fixed_dictionaries(given).map(lambda wrote: _made(kind, wrote))
    return made.filter(lambda update: update is not None)


def _some(written: Drawn[Any]) -> Drawn[tuple[Any, ...]]:
    """Nothing, or one thing that is written."""
    return st.just(()) | st.tuples(written)


def _made(kind: type[Update], wrote: dict[str, tuple[Any, ...]]) -> Update | None:
    try:
        return kind(**{name: held[0] for name, held in wrote.items() if held})
    except (TypeError, ValueError):
        return None


def _field(kind: type[Update], name: str, annotation: Any) -> Drawn[Any]:  # noqa: ANN401  # any type
    """What a field may hold, but for UNSET."""
    found = FIELDS.get((kind.__name__, name)) or FIELDS.get(("", name))
    return found() if found else of(annotation).filter(lambda value: value is not UNSET)


FIELDS: Final[dict[tuple[str, str], Callable[[], Drawn[Any]]]] = {
    ("", "memo"): lambda: jsons(3),
    ("", "model"): lambda: st.sampled_from(("test:a", "test:b")),
    ("", "delay"): lambda: st.floats(0, 99) | st.floats(0, FOREVER),
    ("", "tools"): lambda: st.lists(tools(), max_size=2, unique_by=lambda s: s.name),
    ("ContextUpdate", "messages"): lambda: transcripts(3, odd=True),
    ("RawCallUpdate", "name"): lambda: st.sampled_from(("look", "add", "missing", "")),
    ("TurnUpdate", "inject"): lambda: st.lists(said(), max_size=2),
    ("TurnUpdate", "transcript"): lambda: transcripts(2),
    ("ToolResultUpdate", "content"): lambda: st.lists(parts(), max_size=2),
    ("ToolResultUpdate", "details"): lambda: jsons(3),
}


def of(annotation: Any) -> Drawn[Any]:  # noqa: ANN401  # any annotation
    """Values of what a field is annotated with."""
    return st.deferred(lambda: _of(annotation))


@cache
def _of(annotation: Any) -> Drawn[Any]:  # noqa: ANN401  # any annotation
    if annotation in KNOWN:
        return KNOWN[annotation]()
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return st.sampled_from(inside)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(of, inside))
    if origin is FrozenDict:
        return st.dictionaries(KEYS, of(inside[0]), max_size=2).map(FrozenDict)
    if origin in (tuple, PVector) and inside:
        items = st.lists(of(inside[0]), max_size=3)
        return items.map(vector if origin is PVector else tuple)
    return st.from_type(annotation)


@cache
def stops() -> Drawn[Stop]:
    """Why a hook would end a run."""
    reasons = st.sampled_from(("limit", "hook", "done"))
    return st.builds(Stop, reasons) | st.builds(Stop, reasons, texts())


KNOWN: Final[dict[Any, Callable[[], Drawn[Any]]]] = {
    Any: lambda: jsons(3),
    str: texts,
    int: lambda: st.integers(0, 9) | st.integers(-(2**53), 2**53),
    float: lambda: st.floats(0, 9) | st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans,
    type(None): st.none,
    Unset: lambda: st.just(UNSET),
    Allow: lambda: st.builds(Allow),
    Ask: lambda: st.builds(Ask, texts()),
    Block: lambda: st.builds(Block, texts()),
    Stop: stops,
    ToolSpec: tools,
    ToolCall: lambda: calls(LOOK, valid=None),
    AssistantMessage: lambda: replies(LOOK, odd=True),
    Usage: usages,
    **dict.fromkeys((Text, Thinking, Image), parts),
    **{kind: said for kind in MESSAGES if kind is not AssistantMessage},
    FrozenDict: objects,
}
