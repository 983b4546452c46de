"""What models and tools say: replies, errors and outputs."""

from functools import cache, lru_cache
from typing import Final

from hypothesis import strategies as st

from loopcore.config import Nested
from loopcore.frozen import evolve
from loopcore.messages import (
    FAULTS,
    OUTCOMES,
    AssistantMessage,
    Finish,
    ModelError,
    Part,
    Text,
    ToolCall,
)
from loopcore.testing.strategies.plain import Drawn, parts, texts, usages
from loopcore.testing.strategies.tooling import calls, outputs_of_json
from loopcore.tools import ToolLike, ToolOutput, ToolSpec, spec_of


def replies(
    *offered: ToolLike | Nested, odd: bool = False, least: int = 0
) -> Drawn[AssistantMessage]:
    """Replies of a model that is offered these tools.

    Args:
        offered: the tools, or their data.
        odd: also what real models send now and then: nothing at all, calls that cannot
            be run, ids that are missing or doubled, replies that are cut or refused.
        least: how many calls there are at least.
    """
    return _replies(tuple(spec_of(tool) for tool in offered), odd, least)


@lru_cache(maxsize=256)
def _replies(
    specs: tuple[ToolSpec, ...],
    odd: bool,  # noqa: FBT001
    least: int,
) -> Drawn[AssistantMessage]:
    plain = _said(specs, least, odd=False)
    if not odd:
        return plain
    return plain | st.builds(
        _with, _said(specs, least, odd=True), st.sampled_from(FINISHES), usages()
    )


def _said(
    specs: tuple[ToolSpec, ...], least: int, *, odd: bool
) -> Drawn[AssistantMessage]:
    said = st.lists(parts(), max_size=2) if odd else st.builds(Text, texts(1)).map(_one)
    if not specs and not odd:
        return said.map(AssistantMessage)
    asked = st.lists(
        calls(*specs, valid=None if odd else True), min_size=max(1, least), max_size=3
    )
    ids = st.sampled_from(IDS) if odd else st.just("c{}")
    calling = st.builds(_calling, st.just([]) | said, asked, ids)
    return calling if least else said.map(AssistantMessage) | calling


def _one(part: Part) -> list[Part]:
    return [part]


def _calling(said: list[Part], asked: list[ToolCall], ids: str) -> AssistantMessage:
    """A reply with these calls, under ids of a form."""
    named = (evolve(call, id=ids.format(n)) for n, call in enumerate(asked, 1))
    return AssistantMessage([*said, *named], finish="tools")


IDS: Final = ("c{}", "", "same", "call|{}", "long" * 20 + "{}")
"""Forms of ids: each their own, none, one for all, with odd letters, long."""


def _with(
    reply: AssistantMessage, finish: Finish | None, usage: object
) -> AssistantMessage:
    finish = finish or reply.finish
    return evolve(reply, finish=finish, usage=usage)  # type: ignore[arg-type]


FINISHES: Final[tuple[Finish | None, ...]] = (
    *(None,) * 6,
    "end",
    "length",
    "refusal",
    "error",
    "aborted",
)


@cache
def errors() -> Drawn[ModelError]:
    """Why a model gave no reply, some with what had arrived of it."""
    kinds = st.sampled_from(FAULTS)
    plain = st.builds(ModelError, st.just("no answer"), kinds)
    partial = st.none() | st.builds(AssistantMessage, texts(1))
    return plain | st.builds(
        ModelError,
        texts(1),
        kinds,
        retry_after=st.none() | st.floats(0, 120, allow_subnormal=False),
        status=st.sampled_from((None, 429, 500)),
        partial=partial,
    )


@cache
def outcomes() -> Drawn[ToolOutput]:
    """What a tool gave, and how its call ended."""
    plain = st.builds(ToolOutput, texts())
    return plain | st.builds(
        ToolOutput,
        st.lists(parts(), max_size=2),
        details=outputs_of_json(),
        terminate=st.sampled_from((False, False, True)),
        outcome=st.sampled_from(OUTCOMES),
    )
