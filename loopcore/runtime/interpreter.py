"""The interpreter: everything impure, in one place."""

import asyncio
import copy
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias, assert_never

from returns.result import Failure

from loopcore.config import AnyConfig
from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.events import Event, Tell
from loopcore.frozen import EMPTY, Json, evolve
from loopcore.inputs import Answer
from loopcore.messages import ModelError
from loopcore.reducer.answers import BUILDERS
from loopcore.runtime.context import Cancelled
from loopcore.runtime.inspect import LOGGER, Inspector, Watchers
from loopcore.runtime.lacking import Able
from loopcore.runtime.model import Model, call_model
from loopcore.runtime.outcome import (
    cancelled_from_outside,
    opened,
    output_of_fault,
    shown,
    spoken,
)
from loopcore.runtime.parts import (
    capabilities_of,
    inspectors_of,
    refuse_no_effect,
    refuse_no_function,
    seconds_of,
    services_of,
)
from loopcore.runtime.running import run_tool
from loopcore.runtime.sync import run_here
from loopcore.runtime.threads import GRACE, called
from loopcore.runtime.tool import Tool

Answered: TypeAlias = Answer | None
Perform: TypeAlias = Callable[[Effect, Tell], Awaitable[Answered]]
"""Performs an effect: its answer, or None if that cannot be had here."""

Around: TypeAlias = Callable[[Effect, Tell, Perform], Awaitable[Answered]]
Approve: TypeAlias = Callable[[RequestApproval], Answered | Awaitable[Answered]]
Service: TypeAlias = Callable[[Json], Any]


def silent(
    text: str = "",
    *,
    part: int = 0,
    thinking: str = "",
    name: str = "",
    arguments: str = "",
    progress: Json = None,
) -> None:
    """A `Tell` for when nobody watches."""


class Interpreter:
    """Everything impure, in one place: performs an effect, gives its answer.

    One interpreter serves many runs at once; nothing about a run is kept in it.

    Args:
        capabilities: the models and tools that can be had here.
        approve: decides for a person: gives the answer, or None for "not now".
        services: what hooks may consult, by name: functions of the data. These and
            `approve` may be plain or async.
        inspectors: told of every event.
        grace: seconds that what was cancelled, a thread or a task, is waited for.
    """

    def __init__(
        self,
        *capabilities: Model | Tool,
        approve: Approve | None = None,
        services: Mapping[str, Service] = EMPTY,
        inspectors: Iterable[Inspector] = (),
        grace: float = GRACE,
    ) -> None:
        models, tools = capabilities_of(capabilities)
        refuse_no_function(approve)
        self._models, self._tools = models, tools
        self._able = Able(tuple(models), tuple(tools))
        self._approve, self._services = approve, services_of(services)
        self._watch, self._grace = (
            Watchers(inspectors_of(inspectors)),
            seconds_of(grace),
        )
        self._arounds: tuple[Around, ...] = ()
        self._told_of = set[tuple[type[Effect], str]]()
        self._now: Callable[[], float] = time.time
        self._new_run_id: Callable[[], str] = _new_run_id

    def __repr__(self) -> str:
        return f"<interpreter: {self._able}>"

    async def perform(self, effect: Effect, tell: Tell = silent) -> Answered:
        """The answer, with the seconds it took, or None: it cannot be had here.

        What goes wrong is an answer too; it raises only for what is no effect. To cancel
        it is awaited.
        """
        refuse_no_effect(effect)
        return await self._within(self._arounds, effect, tell)

    def perform_sync(self, effect: Effect) -> Answered:
        """The same from code that is not asynchronous."""
        refuse_no_effect(effect)
        return run_here(
            partial(self.perform, effect),
            "interpreter.perform_sync()",
            "answer = await interpreter.perform(effect)",
        )

    def tell(self, *events: Event) -> None:
        """Inform the inspectors, in order. What they raise is logged and no more."""
        self._watch.tell(*events)

    def wrap(
        self,
        around: Around | None = None,
        *,
        now: Callable[[], float] | None = None,
        new_run_id: Callable[[], str] | None = None,
    ) -> "Interpreter":
        """An interpreter with a function round every effect.

        Args:
            around: gets the effect, `tell`, and `inner`, which performs it; gives the
                answer, or None.
            now, new_run_id: replace the clock and the inventor of run ids.
        """
        changed: dict[str, Any] = {
            "_now": now or self._now,
            "_new_run_id": new_run_id or self._new_run_id,
            "_arounds": (*self._arounds, *((around,) if around else ())),
        }
        new = copy.copy(self)
        vars(new).update(changed)
        return new

    def now(self) -> float:
        """The time, in seconds."""
        return self._now()

    def new_run_id(self) -> str:
        """A name that no other run has."""
        return self._new_run_id()

    def check(self, config: AnyConfig) -> None:
        """Refuse a configuration that wants what is not here.

        Raises:
            ValueError: naming the tool or model, and what to write.
        """
        self._able.check(config)

    async def _within(
        self, arounds: tuple[Around, ...], effect: Effect, tell: Tell
    ) -> Answered:
        began = time.perf_counter()
        answer = await self._safely(arounds, effect, tell)
        if answer is None or answer.seconds is not None:
            return answer
        return evolve(answer, seconds=time.perf_counter() - began)

    async def _safely(
        self, arounds: tuple[Around, ...], effect: Effect, tell: Tell
    ) -> Answered:
        try:
            answer: object = await self._through(arounds, effect, tell)
        except asyncio.CancelledError as problem:
            if cancelled_from_outside():
                raise
            return failed(effect, problem)
        except Exception as problem:  # noqa: BLE001  # a fault out there is an answer here
            if isinstance(effect, RequestApproval):
                self._log_once(effect, RAISED, effect.id, exc_info=problem)
            return failed(effect, problem)
        return self._checked(effect, answer)

    def _checked(self, effect: Effect, answer: object) -> Answered:
        if answer is None:
            return None
        if isinstance(answer, Answer) and answer.effect_id == effect.id:
            return answer
        wrong = NO_ANSWER.format(effect.id, shown(answer))
        self._log_once(effect, ONCE, wrong, BUILDERS[type(effect)])
        return failed(effect, TypeError(wrong))

    def _log_once(
        self,
        effect: Effect,
        sentence: str,
        *parts: str,
        exc_info: BaseException | None = None,
    ) -> None:
        """Tell a programmer what a model reads as well, who can put nothing right."""
        if (type(effect), sentence) not in self._told_of:
            self._told_of.add((type(effect), sentence))
            LOGGER.error(sentence, *parts, exc_info=exc_info)

    async def _through(
        self, arounds: tuple[Around, ...], effect: Effect, tell: Tell
    ) -> Answered:
        if not arounds:
            return await self._act(effect, tell)
        *inner, outermost = arounds
        return await outermost(effect, tell, partial(self._within, tuple(inner)))

    async def _act(self, effect: Effect, tell: Tell) -> Answered:
        match effect:
            case CallModel():
                return await self._call(effect, tell)
            case RunTool():
                return await self._run(effect, tell)
            case RequestApproval():
                return await self._ask(effect)
            case Consult():
                return await self._consult(effect)
            case Sleep():
                await asyncio.sleep(self._left(effect))
                return effect.done()
            case _:
                assert_never(effect)

    async def _call(self, effect: CallModel, tell: Tell) -> Answer:
        model = self._models.get(effect.model)
        if model is None:
            return effect.fail(self._able.no_such_model(effect))
        return Answer(effect.id, await call_model(model, effect, tell, self._grace))

    async def _run(self, effect: RunTool, tell: Tell) -> Answered:
        tool = self._tools.get(effect.spec.name)
        if effect.spec.elsewhere:
            return None
        if tool is None:
            return effect.reply(self._able.unknown_tool(effect))
        return effect.reply(await run_tool(tool, effect, tell, self._grace))

    async def _ask(self, effect: RequestApproval) -> Answered:
        if self._approve is None:
            return None
        name = f"approve ({effect.id})"
        work = partial(self._approve, effect)
        return await called(work, name, Cancelled(), self._grace)  # type: ignore[no-any-return]  # checked by _safely

    async def _consult(self, effect: Consult) -> Answered:
        service = self._services.get(effect.service)
        if service is None:
            return None
        name = f"service {effect.service} ({effect.id})"
        work = partial(service, effect.data)
        result = opened(await called(work, name, Cancelled(), self._grace))
        if isinstance(result, Failure):
            return effect.fail(str(result.failure()))
        return effect.reply(result.unwrap())

    def _left(self, effect: Sleep) -> float:
        """What is left of a pause; at most all of it, should a clock be set back."""
        if effect.until is None:
            return effect.seconds
        return min(effect.seconds, effect.until - self.now())


def failed(effect: Effect, problem: BaseException) -> Answer:
    """The answer to an effect that could not be performed."""
    match effect:
        case RunTool():
            return effect.reply(output_of_fault(problem))
        case CallModel():
            return effect.fail(ModelError(spoken(problem), "raised"))
        case _:
            return effect.fail(spoken(problem))


NO_ANSWER: Final = (
    "the answer to {} is built from the effect, as in effect.fail('why'), or is None; "
    "this is {}"
)
ONCE: Final = (
    "approve=, or a function put round, returned what is no answer: %s. Return "
    "`effect.%s` or what another of its methods builds. Now it counts as a failure. This "
    "is logged once for each kind of effect."
)

RAISED: Final = (
    "approve=, or a function put round, raised when it was asked of %s. It counts as a "
    "reject, whose reason the model reads. This is logged once."
)


def _new_run_id() -> str:
    return secrets.token_hex(8)
