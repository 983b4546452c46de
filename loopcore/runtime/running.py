"""Run a tool: convert its arguments, call it, time it out, stop it."""

import asyncio
import threading
from functools import partial
from typing import Final

from loopcore.effects import RunTool
from loopcore.events import Tell
from loopcore.frozen import Json, freeze
from loopcore.runtime.context import Cancelled, ToolContext
from loopcore.runtime.outcome import (
    cancelled_from_outside,
    output_from,
    output_of_fault,
)
from loopcore.runtime.parameters import Misfit
from loopcore.runtime.threads import called
from loopcore.runtime.tool import Tool
from loopcore.tools import ToolOutput


class Progress:
    """A running tool's word, brought to the event loop until the tool has ended."""

    def __init__(self, tell: Tell) -> None:
        self._tell, self._loop = tell, asyncio.get_running_loop()
        self._here, self.open = threading.get_ident(), True

    def __call__(self, word: Json) -> None:
        said = freeze(word)
        if threading.get_ident() == self._here:
            self._say(said)
        elif self.open:
            self._loop.call_soon_threadsafe(self._say, said)

    def _say(self, word: Json) -> None:
        if self.open:
            self._tell(progress=word)


async def run_tool(tool: Tool, effect: RunTool, tell: Tell, grace: float) -> ToolOutput:
    """How a call ended, whatever the tool does. It is over when this returns.

    Only what does not listen may outlast it, by a warning: see `in_thread`, `in_task`.
    """
    progress = Progress(tell)
    context = ToolContext(effect.id, Cancelled(), progress)
    try:
        async with asyncio.timeout(effect.spec.timeout) as limit:
            output = await _outcome(tool, effect, context, grace)
    except TimeoutError:
        return _late(effect)
    finally:
        progress.open = False
    return _late(effect) if limit.expired() else output


def _late(effect: RunTool) -> ToolOutput:
    text = LATE.format(effect.spec.name, effect.spec.timeout)
    return ToolOutput(text, outcome="timeout")


LATE: Final = "{} timed out after {} s. What it had started may still be running."


async def _outcome(
    tool: Tool, effect: RunTool, context: ToolContext, grace: float
) -> ToolOutput:
    try:
        arguments = tool.bind(effect.arguments, context)
        name = f"tool {tool.spec.name} ({effect.id})"
        work = partial(tool.fn, **arguments)
        return output_from(await called(work, name, context.cancelled, grace))
    except Misfit as problem:
        return ToolOutput(
            f"The arguments do not fit the tool {effect.spec.name!r}; it was not run:\n"
            f"{problem}\nCall it again with arguments that fit.",
            outcome="invalid_arguments",
        )
    except asyncio.CancelledError as problem:
        if cancelled_from_outside():
            context.cancelled.set()
            raise
        return output_of_fault(problem)
    except Exception as problem:  # noqa: BLE001  # a tool's own fault ends no run
        return output_of_fault(problem)
