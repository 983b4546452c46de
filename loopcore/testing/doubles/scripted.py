"""A model and tools that say what a test tells them to."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from inspect import isawaitable
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from loopcore.config import AnyConfig, Nested
from loopcore.effects import CallModel
from loopcore.events import Tell
from loopcore.inputs import INPUTS, Approve, Edit, Reject, Respond
from loopcore.messages import (
    AssistantMessage,
    Image,
    ModelError,
    Part,
    Text,
    Thinking,
    ToolCall,
)
from loopcore.runtime.model import Called, Model
from loopcore.runtime.parts import EFFECTS
from loopcore.runtime.tool import Tool
from loopcore.testing.invariants.mistakes import named
from loopcore.tools import ToolOutput, ToolSpec

Said: TypeAlias = str | Part | Iterable[str | Part] | AssistantMessage | ModelError
Reply: TypeAlias = Said | Callable[[CallModel], Said]
"""Text, a tool call or several, a whole message, a failure, or a function of the request."""

PARTS: Final = (str, Text, Image, Thinking, ToolCall)
NO_REPLY: Final = (
    "A reply is a text, a part such as a ToolCall, a list of these, a whole message or a "
    "ModelError, and in a script also a function of the request; {!r:.80} is none of these."
)

DECISIONS: Final = (Approve, Edit, Reject, Respond)
FOREIGN: Final = (*INPUTS, *DECISIONS, *EFFECTS, AssistantMessage, ModelError)
"""What a person, a model or the loop says, and no tool and no service."""

WORDS: Final = re.compile(r"\s*\S+|\s+")


@frozen(init=False, eq=False)
class ScriptedModel(Model):
    """A model that says these, one after the other, piece by piece.

    `requests` are those it got.

    >>> ScriptedModel("Hello.", ToolCall("add", {"a": 1}))
    ScriptedModel(id='test:script', 2 replies)
    """

    replies: tuple[Reply, ...]
    requests: list[CallModel] = field(factory=list[CallModel])

    def __init__(self, *replies: Reply, id: str = "test:script") -> None:  # noqa: A002
        for reply in replies:
            refuse_no_reply(reply)
        self.__attrs_init__(id, self._reply, replies)  # pyright: ignore[reportAttributeAccessIssue]  # made by attrs

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r}, {len(self.replies)} replies)"

    async def _reply(self, effect: CallModel, tell: Tell) -> Called:
        asked = len(self.requests)
        self.requests.append(effect)
        if asked >= len(self.replies):
            return ModelError(self._overrun(), "bad_request")
        reply = self.replies[asked]
        said = await _asked(reply, effect) if callable(reply) else reply
        return await _told(reply_of(said, self.id), tell)

    def _overrun(self) -> str:
        return (
            f"The script of {self.id!r} has {len(self.replies)} replies, and was asked "
            f"{len(self.requests)} times. Last shown: {_last(self.requests)}"
        )

    def assert_complete(self) -> None:
        """Fail if it was asked more often, or less often, than it has replies."""
        left = self.replies[len(self.requests) :]
        if left:
            message = f"{self.id!r} was not asked for {list(left)}"
            raise AssertionError(message)
        if len(self.requests) > len(self.replies):
            raise AssertionError(self._overrun())


@frozen(init=False, eq=False)
class FunctionModel(Model):
    """A model by function: it says what the function, plain or async, makes of a request.

    `requests` are those it got. What the function raises is the request's failure.

    >>> FunctionModel(lambda request: request.messages[-1].text.upper())
    FunctionModel(id='test:function')
    """

    function: Callable[[CallModel], Said | Awaitable[Said]]
    requests: list[CallModel] = field(factory=list[CallModel])

    def __init__(
        self,
        function: Callable[[CallModel], Said | Awaitable[Said]],
        *,
        id: str = "test:function",  # noqa: A002  # what a model calls it
    ) -> None:
        refuse_no_function(function)
        self.__attrs_init__(id, self._reply, function)  # pyright: ignore[reportAttributeAccessIssue]  # made by attrs

    def __repr__(self) -> str:
        return f"{type(self).__name__}(id={self.id!r})"

    async def _reply(self, effect: CallModel, tell: Tell) -> Called:
        self.requests.append(effect)
        return await _told(reply_of(await _asked(self.function, effect), self.id), tell)


async def _asked(function: Callable[[CallModel], Any], effect: CallModel) -> Any:  # noqa: ANN401  # what it says
    """What a test's own function says of a request; its failure, with the line in it."""
    try:
        said = function(effect)
        return await said if isawaitable(said) else said
    except (asyncio.CancelledError, TimeoutError):
        raise  # whoever awaits it knows what these mean
    except Exception as problem:  # noqa: BLE001  # it is what the model says
        return ModelError(named(problem), "raised")


async def _told(reply: Called, tell: Tell) -> Called:
    if isinstance(reply, AssistantMessage):
        await stream(reply, tell)
    return reply


def refuse_no_function(function: object) -> None:
    """Refuse what cannot be asked for a reply."""
    if not callable(function):
        message = (
            "FunctionModel(...) takes a function of the request, such as `lambda "
            f"request: request.messages[-1].text`; it got {function!r:.80}"
        )
        raise TypeError(message)


def refuse_no_reply(reply: object) -> None:
    """Refuse what a model could not say."""
    if not _is_said(reply):
        raise TypeError(NO_REPLY.format(reply))
    if isinstance(reply, list | tuple):
        _refuse_no_part(reply)  # pyright: ignore[reportUnknownArgumentType]  # of anything


def _refuse_no_part(items: Iterable[object]) -> None:
    for one in items:
        if not isinstance(one, PARTS):
            raise TypeError(NO_REPLY.format(one))


def _is_said(reply: object) -> bool:
    if isinstance(reply, bytes | Mapping):
        return False
    whole = isinstance(reply, (*PARTS, AssistantMessage, ModelError))
    return whole or callable(reply) or isinstance(reply, Iterable)


def _last(requests: list[CallModel]) -> str:
    return repr(requests[-1].messages[-1]) if requests[-1].messages else "nothing"


def reply_of(said: Said, model: str) -> Called:
    """What was said as a whole reply of this model, or its failure.

    Raises:
        TypeError: for what no model says.
    """
    refuse_no_reply(said)
    if isinstance(said, AssistantMessage | ModelError):
        return said
    content = (
        [said] if isinstance(said, str | Text | Image | Thinking | ToolCall) else said
    )
    parts = [Text(p) if isinstance(p, str) else p for p in content if p]
    calls = any(isinstance(part, ToolCall) for part in parts)
    return AssistantMessage(parts, model=model, finish="tools" if calls else "end")


async def stream(message: AssistantMessage, tell: Tell) -> None:
    """Tell a message piece by piece, and let others go on after each, who may stop it."""
    for place, part in enumerate(message.parts):
        for piece in _pieces(part):
            tell(part=place, **piece)
            await asyncio.sleep(0)


def _pieces(part: Part) -> list[dict[str, str]]:
    """A text word by word; a call's name, then its arguments."""
    match part:
        case Text(text=text):
            return [{"text": word} for word in WORDS.findall(text)]
        case Thinking(text=text):
            return [{"thinking": word} for word in WORDS.findall(text)]
        case ToolCall():
            return [{"name": part.name}, {"arguments": part.text}]
        case _:
            return []


def ScriptedTools(  # noqa: N802  # a double, named like the others
    config: AnyConfig, outcomes: Mapping[str, Iterable[object]]
) -> list[Tool]:
    """A tool for each one offered; each call takes the next of its outcomes.

    An outcome is what the tool returns, or an exception that it raises. Tools of nested
    configurations are here too.

    Raises:
        ValueError: for outcomes of a tool that is not offered.
        TypeError: for an outcome that is a person's or a model's, and no tool's, and for
            a text in place of a list.
    """
    specs = {spec.name: spec for spec in _specs(config)}
    strange = ", ".join(repr(name) for name in outcomes if name not in specs)
    if strange:
        offered = ", ".join(specs) or "none"
        message = (
            f"the configuration does not offer {strange}; its tools are: {offered}"
        )
        raise ValueError(message)
    return [_scripted(spec, outcomes.get(spec.name, ())) for spec in specs.values()]


def _specs(config: AnyConfig) -> Iterator[ToolSpec]:
    for tool in config.tools:
        if isinstance(tool, Nested):
            yield from _specs(tool.config)
        else:
            yield tool


def _scripted(spec: ToolSpec, outcomes: Iterable[object]) -> Tool:
    given: object = outcomes
    if isinstance(outcomes, str | bytes | Mapping):
        raise TypeError(NO_LIST.format(spec.name, given))
    listed = tuple(outcomes)
    for n, outcome in enumerate(listed, 1):
        if isinstance(outcome, FOREIGN):
            raise TypeError(NO_OUTCOME.format(n, spec.name, outcome))
    left = iter(listed)

    async def take(**arguments: Any) -> Any:  # noqa: ANN401  # whatever it is offered
        outcome = next(
            left, ToolOutput(OVER.format(spec.name, arguments), outcome="error")
        )
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return Tool(spec, take)


NO_LIST: Final = (
    "ScriptedTools: the outcomes of {0!r} are a list, one for each call; write "
    "{{{0!r}: [{1!r:.80}]}}"
)
NO_OUTCOME: Final = (
    "ScriptedTools: outcome {} of {!r} is {!r:.80}; a tool returns a text, parts, JSON or a "
    "ToolOutput, or raises"
)
OVER: Final = "The script of the tool {!r} has no outcome left for {}."
