"""`Log`: an inspector that writes each moment of a run in one line."""

import logging
import re
from typing import Final, Literal, TypeAlias, assert_never

from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.events import (
    Delta,
    Ended,
    Event,
    HookWrote,
    MessageAdded,
    RunEnd,
    RunStart,
    Started,
    TurnEnd,
)
from loopcore.frozen import dump_json
from loopcore.inputs import Value
from loopcore.messages import AssistantMessage, ModelError, ToolResultMessage
from loopcore.runtime.inspect import LOGGER, Inspector
from loopcore.tools import ToolOutput

Moment: TypeAlias = (
    RunStart | MessageAdded | TurnEnd | HookWrote | RunEnd | Started | Ended
)
Only: TypeAlias = Literal["all", "loop", "tools"]
ONLY: Final[tuple[Only, ...]] = ("all", "loop", "tools")


class Log(Inspector):
    """Log each moment in one line: names, counts, lengths, seconds; text only if asked.

    Lines go to the logger "loopcore".

    Args:
        level: a level of the logging module, by name.
        only: "tools" is calls and their results, "loop" all the rest.
        content: also the text of messages, arguments and outputs.
    """

    def __init__(
        self, level: str = "DEBUG", *, only: Only = "all", content: bool = False
    ) -> None:
        levels = logging.getLevelNamesMapping()
        if level not in levels or only not in ONLY:
            message = (
                f"Log({level!r}, only={only!r}): the level is one of "
                f"{', '.join(levels)}, and only= one of {', '.join(ONLY)}"
            )
            raise ValueError(message)
        self._level, self._only, self._content = levels[level], only, content

    def on_event(self, event: Event) -> None:
        """One line, if it is a moment of the chosen kind."""
        if isinstance(event, Delta) or not LOGGER.isEnabledFor(self._level):
            return
        if self._only == "all" or (self._only == "tools") == _is_of_tools(event):
            text = _text(event) if self._content else ""
            said = f"{_line(event)}: {text}" if text else _line(event)
            run_id = on_one_line(event.run_id)
            LOGGER.log(
                self._level, "%s turn %d: %s", run_id, event.turn, on_one_line(said)
            )


def on_one_line(text: str) -> str:
    """The text, its control characters written out: what a model says forges no lines.

    >>> print(on_one_line("a\\nb\\x1b[2J"))
    a\\nb\\x1b[2J
    """
    return _STEERING.sub(lambda found: ascii(found[0])[1:-1], text)


_STEERING: Final = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What ends a line, moves a cursor, colours, or turns the reading direction."""


def _is_of_tools(event: Event) -> bool:
    match event:
        case Started(effect=effect) | Ended(effect=effect):
            return isinstance(effect, RunTool | RequestApproval)
        case MessageAdded(message=message):
            return isinstance(message, ToolResultMessage)
        case _:
            return False


def _line(event: Moment) -> str:
    """What happened, without what was said."""
    match event:
        case Started() | Ended():
            said = f"{_named(event.effect)} {_moved(event)}"
        case RunStart(messages=messages):
            said = f"run starts, {len(messages)} messages"
        case MessageAdded(message=message):
            said = f"{type(message).__name__} stored, {len(message.text)} characters"
        case TurnEnd(results=results, usage=usage):
            said = f"turn ends, {len(results)} results, {usage.total} tokens"
        case HookWrote(hook=hook, point=point):
            said = f"hook {hook} wrote at {point}"
        case RunEnd(stop=stop, usage=usage):
            said = f"run ends: {stop.reason}, {usage.total} tokens"
        case _:
            assert_never(event)
    return said


def _moved(event: Started | Ended) -> str:
    if isinstance(event, Started):
        return f"starts{_size(event.effect)}"
    how = "was cancelled" if event.cancelled else f"ended, {_how(event.value)}"
    return how if event.seconds is None else f"{how}, {event.seconds:.2f} s"


def _named(effect: Effect) -> str:
    match effect:
        case CallModel(model=model):
            return f"model {model}"
        case RunTool(spec=spec):
            return f"tool {spec.name}"
        case RequestApproval(spec=spec):
            return f"approval of {spec.name}"
        case Consult(service=service):
            return f"service {service}"
        case Sleep(seconds=seconds):
            return f"pause of {seconds:g} s"
        case _:
            assert_never(effect)


def _size(effect: Effect) -> str:
    match effect:
        case CallModel(messages=messages, tools=tools):
            return f", {len(messages)} messages, {len(tools)} tools"
        case RunTool(arguments=arguments) | RequestApproval(arguments=arguments):
            return f", {len(arguments)} arguments"
        case _:
            return ""


def _how(value: Value) -> str:
    match value:
        case AssistantMessage():
            calls, tokens = len(value.calls), value.usage.total
            return f"{value.finish}, {calls} calls, {tokens} tokens"
        case ModelError(kind=kind):
            return f"failed: {kind}"
        case ToolOutput(outcome=outcome, text=text):
            return f"{outcome}, {len(text)} characters"
        case _:
            return type(value).__name__


def _text(event: Event) -> str:
    """What was said."""
    match event:
        case Started(effect=RunTool(arguments=a) | RequestApproval(arguments=a)):
            return dump_json(a)
        case Ended(value=AssistantMessage() | ToolOutput() as value):
            return value.text
        case Ended(value=ModelError() as error):
            return str(error)
        case MessageAdded(message=message):
            return message.text
        case RunEnd(stop=stop):
            return str(stop)
        case _:
            return ""
