"""An effect that is being performed."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeAlias

from loopcore.effects import CallModel, Effect
from loopcore.events import Delta, Event
from loopcore.frozen import Json, a, freeze
from loopcore.messages import AssistantMessage
from loopcore.runtime.interpreter import Interpreter
from loopcore.runtime.partial import Partial
from loopcore.state import State

Watcher: TypeAlias = Callable[[Event], None]


class Flight:
    """Its task, and what it has told so far.

    Its `tell` makes events of pieces, until the effect has ended.
    """

    def __init__(
        self, effect: Effect, state: State, interpreter: Interpreter, watch: Watcher
    ) -> None:
        self.effect, self._state = effect, state
        self._now, self._watch = interpreter.now, watch
        self._partial, self._open = Partial(), True
        # No task of the loop's factory: an eager one would perform at once, and what that
        # tells and is answered with would find no flight.
        perform = interpreter.perform(effect, self._tell)
        loop = asyncio.get_running_loop()
        self.task = asyncio.Task(perform, loop=loop, name=effect.id)
        self.task.add_done_callback(self._close)

    @property
    def arrived(self) -> bool:
        """Whether its answer is here, and was not taken yet."""
        task = self.task
        return task.done() and not task.cancelled() and task.exception() is None

    def leave(self) -> None:
        """It is no longer wanted: nothing more is told, and it is to end."""
        self._open = False
        self.task.cancel()

    def _close(self, _: object) -> None:
        self._open = False

    def partial(self) -> AssistantMessage | None:
        """What a model has streamed, if this is one."""
        if not isinstance(self.effect, CallModel):
            return None
        return self._partial.message(self.effect.model)

    def _tell(  # the signature of Tell
        self,
        text: str = "",
        *,
        part: int = 0,
        thinking: str = "",
        name: str = "",
        arguments: str = "",
        progress: Json = None,
    ) -> None:
        said = {
            "text": text,
            "thinking": thinking,
            "name": name,
            "arguments": arguments,
        }
        words = {key: _word(key, it) for key, it in said.items()}
        if not self._open or not (any(words.values()) or progress is not None):
            return
        delta = Delta(
            self.effect.id,
            part=_place(part),
            progress=freeze(progress),
            **words,
            run_id=self._state.run_id,
            turn=self._state.turns,
            at=self._now(),
        )
        self._partial.add(delta)
        self._watch(delta)


def _word(name: str, said: object) -> str:
    """A piece of text: None is none, as servers send it."""
    if said is None or isinstance(said, str):
        return said or ""
    raise TypeError(NO_WORD.format(f"{name}=", "text", a(said)))


def _place(part: object) -> int:
    if part is None or isinstance(part, int):
        return part or 0
    raise TypeError(NO_WORD.format("part=", "a whole number", a(part)))


NO_WORD: Final = "tell({}...) takes {}; it got {}"
