"""A long run: what hooks remember stays small, and what they show stays paired."""

from random import Random
from typing import Any, Final

from attrs import define
from returns.result import Failure

from loopcore.config import LoopConfig
from loopcore.effects import CallModel, Consult, Effect, RequestApproval, RunTool, Sleep
from loopcore.frozen import dump_json
from loopcore.hooks.fold import Fault
from loopcore.hooks.rule import Hooks
from loopcore.inputs import Answer, Prompt
from loopcore.messages import AssistantMessage, ModelError, ToolCall
from loopcore.reducer import advance
from loopcore.state import State
from loopcore.testing.check.asking import failing, place
from loopcore.testing.check.broken import Breach, broken
from loopcore.testing.check.course import Offer
from loopcore.testing.check.one_view import Judge, keep_pairs
from loopcore.testing.check.rebuilt import rebuilt
from loopcore.testing.check.together import first_at, stand_together
from loopcore.testing.doubles.values import CannotMake, value_for
from loopcore.testing.strategies.listening import Heard, listening
from loopcore.tools import ToolSpec

TURNS: Final = (32, 64, 128)
"""After how many turns a memo is measured."""

STEADY: Final = 1.5
"""What grows in the later turns by this much more than before grows without end."""

BYTES_A_TURN: Final = 1.0
ERRORS: Final = 8
"""One of so many requests fails."""

MOST_CALLS: Final = 4
SEED: Final = 1


def long_run(hooks: tuple[Hooks, ...], offer: Offer, judge: Judge) -> None:
    """Drive a long run under these hooks, every turn of it a little different.

    Raises:
        Breach: for a memo that keeps growing, or for another law that is broken late.
    """
    watch = _Onlooker(hooks, judge)
    config = LoopConfig(
        model="test:model",
        tools=offer.tools,
        hooks=[listening(hook, watch.hear) for hook in hooks],
    )
    run = _LongRun(config, offer)
    sizes: dict[str, list[int]] = {hook.name: [] for hook in hooks}
    for turns in TURNS:
        try:
            run.go_on(turns)
        except _Late as found:
            raise found.broken from None
        if not run.state.memos and not any(hook.transform_context for hook in hooks):
            return  # nothing could grow, or be cut
        for name, measured in sizes.items():
            measured.append(_size(run.state, name))
    for hook in hooks:
        _refuse_growing(hook, sizes[hook.name], run.state)


class _Late(BaseException):
    """Found while a run is stepped, which would take an exception for a hook's own."""

    def __init__(self, found: Breach) -> None:
        super().__init__(found)
        self.broken = found


@define(eq=False)
class _Onlooker:
    """Sees what hooks are about to see: a few views closely, and all for their pairs."""

    hooks: tuple[Hooks, ...]
    judge: Judge
    seen: int = 0

    def hear(self, heard: Heard) -> None:
        """Look at this view."""
        self.seen += 1
        try:
            self._look(heard)
        except Breach as found:
            messages = len(heard.view.state.transcript)
            late = f" It is seen in a long run, once {messages} messages are stored."
            raise _Late(broken(found.law, found.sentence + late)) from None

    def _look(self, heard: Heard) -> None:
        hook, point, view = heard.hook, heard.point, heard.view
        if self.seen % CLOSELY == 0:
            heard.copy = rebuilt(view)
            self.judge.judge(heard)
        if len(self.hooks) > 1 and hook is first_at(self.hooks, point):
            stand_together(self.hooks, point, view)
        if self.seen % PAIRS == 0:
            keep_pairs(hook, point, view)


CLOSELY: Final = 50
"""One of so many views of a long run is looked at closely."""

PAIRS: Final = 2
"""And one of so many for its pairs."""


def _size(state: State, name: str) -> int:
    memo = state.memos.get(name)
    return 0 if memo is None else len(dump_json(memo).encode())


def _refuse_growing(hook: Hooks, sizes: list[int], state: State) -> None:
    first, later = sizes[1] - sizes[0], sizes[2] - sizes[1]
    if later < BYTES_A_TURN * (TURNS[2] - TURNS[1]) or later < STEADY * first:
        return
    grown = ", ".join(
        f"{s:,} bytes after {t} turns" for s, t in zip(sizes, TURNS, strict=True)
    )
    memo = dump_json(state.memos[hook.name])
    shown = memo if len(memo) <= SHOWN else f"{memo[:SHOWN]}..."
    where = ", ".join(f"{p} ({place(hook, p)})" for p in hook.functions)
    sentence = (
        f"The memo of hook {hook.name!r} grows without end: {grown}. It is written at "
        f"{where}, and is now {shown}. A memo is saved with every state: keep a count, "
        "or the last few."
    )
    raise broken("small_memo", sentence)


SHOWN: Final = 120


class _LongRun:
    """A run that goes on and on."""

    def __init__(self, config: LoopConfig, offer: Offer) -> None:
        self._config, self._offer, self._random = config, offer, Random(SEED)  # noqa: S311  # the same each time
        self.state = State.start(config, run_id="long")
        self._turns = self._said = 0

    def go_on(self, turns: int) -> None:
        """As far as this turn, of all runs counted together."""
        for _ in range(STEPS * turns):
            if self._turns >= turns:
                return
            waiting = self.state.waiting
            self._said += 1
            given = (
                self._answer(waiting[0]) if waiting else Prompt(f"prompt {self._said}")
            )
            self._give(given, waiting[0] if waiting else None)

    def _give(self, given: Any, effect: Effect | None) -> None:  # noqa: ANN401  # an input
        moved = advance(self._config, self.state, given, at=float(self._said))
        if isinstance(moved, Failure) and effect is not None:
            moved = advance(self._config, self.state, effect.fail("no"))
        before = self.state.requests
        self.state, _ = moved.unwrap()
        self._turns += self.state.requests != before
        stop = self.state.stop
        if stop and stop.reason == "hook_error":
            where = f" (It is seen in turn {self._turns} of a long run.)"
            raise failing(
                Fault(stop.hook or "", stop.point or "", stop.detail), None, where
            )

    def _answer(self, effect: Effect) -> Answer:
        n = self._said
        match effect:
            case CallModel():
                return self._reply(effect, n)
            case RunTool():
                return effect.reply(f"result {n}")
            case RequestApproval():
                return effect.approve()
            case Consult():
                known = self._offer.services.get(effect.service, ({"n": n},))
                return effect.reply(known[n % len(known)])
            case Sleep():
                return effect.done()

    def _reply(self, effect: CallModel, n: int) -> Answer:
        if self._random.randrange(ERRORS) == 0:
            return effect.fail(ModelError(f"error {n}", "overloaded"))
        most = MOST_CALLS if effect.tools else 1
        tools = self._random.choices(effect.tools, k=self._random.randrange(most))
        made = (_call(tool, n, f"c{n}_{place}") for place, tool in enumerate(tools))
        calls = [call for call in made if call]
        if not calls:
            return effect.reply(f"reply {n}")
        return effect.reply(AssistantMessage(calls, finish="tools"))


STEPS: Final = 6
"""How many inputs a turn takes, at most."""


def _call(tool: ToolSpec, n: int, call_id: str) -> ToolCall | None:
    try:
        return ToolCall(tool.name, value_for(tool.parameters, n), call_id)
    except CannotMake:
        return None
