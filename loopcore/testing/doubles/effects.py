"""Expect this effect, give this answer: a run driven along a script of effects."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, assert_never

from returns.result import Failure

from loopcore.config import AnyConfig, LoopConfig, Nested, T
from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.events import Tell
from loopcore.frozen import Json
from loopcore.inputs import INPUTS, Answer, FollowUp, Input, Prompt, Steer
from loopcore.messages import AssistantMessage, ToolCall
from loopcore.reducer import Given, RunResult, advance
from loopcore.runtime.interpreter import Answered, Interpreter, Perform
from loopcore.runtime.model import Called, Model
from loopcore.runtime.parts import EFFECTS
from loopcore.state import State
from loopcore.testing.differences import clipped, differences, lines
from loopcore.testing.doubles.answers import NoAnswer, answer_to
from loopcore.testing.doubles.scripted import ScriptedTools

__all__ = ["EffectScript", "advanced", "answer_to", "call_of", "described"]

Expected: TypeAlias = (
    type[CallModel | RunTool | RequestApproval | Consult | Sleep]
    | Effect
    | ToolCall
    | str
    | Callable[[Any], object]
)
"""A kind of effect; a whole effect; a call of a tool with these arguments; the name of a
tool, model or service; or a function that says whether this is the one."""

Pair: TypeAlias = tuple[Expected, object]


class EffectScript:
    """A script of effects: each pair expects one and gives its answer.

    An answer is what a double would say there: for a model a text, a ToolCall or several,
    a message or a ModelError; for a tool what it returns, or an exception; for a person
    `Approve()`, `Edit(...)`, `Reject(...)` or `Respond(...)`; for a service JSON, or an
    exception; for a pause None. A function is asked for it with the effect. `...` leaves
    the effect waiting. An input between the pairs, such as `Steer("hurry")`, happens there.

    >>> from loopcore import LoopConfig
    >>> script = EffectScript([(CallModel, "Hello.")])
    >>> script.run(LoopConfig(model="test:m"), "Hi!").output
    'Hello.'
    """

    def __init__(self, pairs: Iterable[Pair | Input]) -> None:
        self._entries = tuple(pairs)
        for n, entry in enumerate(self._entries, 1):
            _refuse_no_entry(n, entry)
        self._came, self._failed = list[str](), ""

    def __repr__(self) -> str:
        return f"<script of {len(self._entries)} effects, {len(self._came)} taken>"

    @property
    def log(self) -> str:
        """What was expected, and what came, a line for each."""
        return "\n".join(self._lines())

    def run(
        self,
        config: LoopConfig[T],
        *given: Given,
        state: State | None = None,
        run_id: str = "r",
    ) -> RunResult[T]:
        """Drive a run by hand along the script. Nothing is performed, and no time passes.

        Each pair has to expect one of the effects that wait, so a script is also the order
        in which answers arrive.

        Raises:
            AssertionError: with the log, if none of the effects that wait is the expected
                one, or if more of them wait than are expected.
            Rejected: if the run cannot take what is given.
        """
        state = State.start(config, run_id=run_id) if state is None else state
        state = advanced(config, state, *given)
        self._came, left = list[str](), set[str]()
        for entry in self._entries:
            waiting = [effect for effect in state.waiting if effect.id not in left]
            answer = self._next(entry, waiting)
            if isinstance(answer, str):
                left.add(answer)
            else:
                state = advanced(config, state, answer)
        self._refuse_more([e for e in state.waiting if e.id not in left])
        return RunResult.of(config, state)

    def interpreter(self, config: AnyConfig) -> Interpreter:
        """An interpreter that follows the script, for code that is given one.

        Effects are expected in the order in which they are started: a batch's calls as the
        model wrote them. What comes otherwise fails, and so does `assert_complete`.

        Raises:
            ValueError: for a script with inputs, which no interpreter gives to a run.
        """
        given = [entry for entry in self._entries if isinstance(entry, INPUTS)]
        if given:
            raise ValueError(NO_INPUTS.format(given[0]))
        self._came = list[str]()
        models = (Model(name, _unasked) for name in sorted(_models(config)))
        tools = ScriptedTools(config, {})
        return Interpreter(*models, *tools).wrap(self._perform)

    def assert_complete(self) -> None:
        """Fail if what came is not what was expected, or if some of it never came."""
        if self._failed:
            raise AssertionError(self._failed)
        if len(self._came) < len(self._entries):
            raise AssertionError("\n".join((SHORT, *self._lines())))

    async def _perform(self, effect: Effect, _: Tell, __: Perform) -> Answered:
        if self._failed or len(self._came) == len(self._entries):
            self._failed = self._failed or self._report(OVER, [effect])
            raise AssertionError(self._failed)
        try:
            answer = self._next(self._entries[len(self._came)], [effect])
        except (AssertionError, NoAnswer) as problem:
            self._failed = str(problem)
            raise
        return answer if isinstance(answer, Answer) else None

    def _next(self, entry: Pair | Input, waiting: list[Effect]) -> Input | str:
        """What happens next, or the id of an effect that is left waiting."""
        if isinstance(entry, INPUTS):
            self._came.append("happened")
            return entry
        expected, said = entry
        for effect in waiting:
            if not _problems(expected, effect):
                self._came.append(described(effect))
                return effect.id if said is ... else answer_to(effect, said)
        raise AssertionError(self._report(MISMATCH, waiting, expected))

    def _refuse_more(self, waiting: list[Effect]) -> None:
        if waiting:
            raise AssertionError(self._report(OVER, waiting))

    def _report(
        self, why: str, waiting: list[Effect], expected: Expected | None = None
    ) -> str:
        told = self._lines()
        place = len(self._came)
        at = [WAITS if waiting else "       nothing waits"]
        for effect in waiting:
            at.append(f"         {described(effect)}")
            problems = [] if expected is None else _problems(expected, effect)
            at += [f"           {problem}" for problem in problems]
        return "\n".join((why, *told[: place + 1], *at, *told[place + 1 :]))

    def _lines(self) -> list[str]:
        wanted = [_wanted(entry) for entry in self._entries]
        width = min(max(map(len, wanted), default=0), WIDTH)
        told = [f"{n:5}  {text:{width}}" for n, text in enumerate(wanted, 1)]
        came = [*self._came, "", *(["(not reached)"] * len(wanted))]
        pairs = zip(told, came, strict=False)
        return [f"{line}  {what}".rstrip() for line, what in pairs]


WIDTH: Final = 40


def advanced(config: AnyConfig, state: State, *given: Given) -> State:
    """The state after these.

    Raises:
        Rejected: if it cannot take one of them.
    """
    moved = advance(config, state, *given)
    if isinstance(moved, Failure):
        raise moved.failure()
    return moved.unwrap()[0]


MISMATCH: Final = "The script expects an effect that does not wait:"
OVER: Final = (
    "More effects are wanted than the script expects. (To leave one waiting, expect it "
    "with the answer `...`.)"
)
SHORT: Final = "Not all that the script expects was wanted:"
WAITS: Final = "       what waits:"
NO_INPUTS: Final = (
    "{!r} is an input, and an interpreter only performs effects: use script.run(config, "
    "...), or give it to the run yourself."
)
NO_ENTRY: Final = (
    "EffectScript: entry {} is {!r:.80}; it takes pairs (expected, answer), such as "
    '(CallModel, "hi"), and inputs, such as Steer("hurry")'
)


NO_EXPECTED: Final = (
    "EffectScript: entry {} expects {!r:.80}, and no effect is that: expect one by its kind "
    "({}), the name of its tool, model or service, its id, a ToolCall, whole, or by a "
    "function of it"
)


def _refuse_no_entry(n: int, entry: Any) -> None:  # noqa: ANN401  # whatever is given
    match entry:
        case _ if isinstance(entry, INPUTS):
            return
        case (expected, _) if isinstance(entry, tuple):
            if not _can_be(expected):
                kinds = ", ".join(kind.__name__ for kind in EFFECTS)
                raise TypeError(NO_EXPECTED.format(n, expected, kinds))
        case _:
            raise TypeError(NO_ENTRY.format(n, entry))


def _can_be(expected: Any) -> bool:  # noqa: ANN401  # whatever is given
    """Whether an effect can be what is expected."""
    if isinstance(expected, type):
        return expected in EFFECTS
    return isinstance(expected, (*EFFECTS, ToolCall, str)) or callable(expected)


async def _unasked(effect: CallModel, _: Tell) -> Called:
    # An interpreter wants a function for each model; the script answers before any is asked.
    return AssistantMessage("", model=effect.model)  # pragma: no cover  # see above


def _models(config: AnyConfig) -> set[str]:
    inner = (t.config for t in config.tools if isinstance(t, Nested))
    return {config.model}.union(*map(_models, inner))


# What is expected.


def _problems(expected: Expected, effect: Effect) -> list[str]:
    """Why this is not the effect that is expected; empty if it is."""
    match expected:
        case type():
            fits = isinstance(effect, expected)
        case str():
            fits = expected in (_subject(effect), effect.id)
        case ToolCall():
            return _other_call(expected, effect)
        case CallModel() | RunTool() | RequestApproval() | Consult() | Sleep():
            return lines(differences(expected, effect), 5, "expected", "came")
        case _:
            fits = bool(expected(effect))
    return [] if fits else [f"is not {_named(expected)}"]


def _other_call(expected: ToolCall, effect: Effect) -> list[str]:
    if not isinstance(effect, RunTool | RequestApproval):
        return ["is no call"]
    if expected.name != effect.spec.name:
        return [f"calls {effect.spec.name!r}"]
    found = differences(expected.arguments, effect.arguments, "arguments")
    return lines(found, 5, "expected", "came")


def _subject(effect: Effect) -> str:
    """Whose turn it is: the name of the tool, the model or the service."""
    match effect:
        case CallModel():
            return effect.model
        case RunTool() | RequestApproval():
            return effect.spec.name
        case Consult():
            return effect.service
        case Sleep():
            return "sleep"
        case _:
            assert_never(effect)


def _wanted(entry: Pair | Input) -> str:
    """An entry in a few words."""
    match entry:
        case Steer() | FollowUp() | Prompt():
            said = " ".join(message.text for message in entry.say)
            return f"({type(entry).__name__} {clipped(said)})"
        case (expected, _):
            return _named(expected)
        case _:
            return f"({clipped(entry)})"


def _named(expected: Expected) -> str:
    """What is expected, in a few words."""
    match expected:
        case type():
            return expected.__name__
        case str():
            return expected
        case ToolCall():
            return call_of(expected.name, expected.arguments)
        case CallModel() | RunTool() | RequestApproval() | Consult() | Sleep():
            return described(expected)
        case _:
            return getattr(expected, "__name__", clipped(expected))


def call_of(name: str, arguments: Mapping[str, Json]) -> str:
    """A call as a person would write it."""
    return f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})"


def described(effect: Effect) -> str:
    """An effect in a few words: its kind, its subject, its id."""
    kind = type(effect).__name__
    match effect:
        case CallModel():
            last = clipped(effect.messages[-1]) if effect.messages else "nothing"
            what = f"{effect.model}, shown {len(effect.messages)}, the last {last}"
        case RunTool() | RequestApproval():
            what = call_of(effect.spec.name, effect.arguments)
        case Consult():
            what = f"{effect.service} {clipped(effect.data)}"
        case Sleep():
            what = f"{effect.seconds:g} s"
        case _:
            assert_never(effect)
    return f"{kind} {what} [{effect.id}]"
