"""Whoever watches a run sees the same of it however it is driven, and all of it: 9."""

import asyncio
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen
from hypothesis import example, given
from hypothesis import strategies as st

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    CallModel,
    Effect,
    Event,
    FollowUp,
    Input,
    Inspector,
    Interpreter,
    LoopConfig,
    Model,
    Perform,
    Prompt,
    Rejected,
    State,
    Steer,
    Tell,
    Tool,
    advance,
    run,
    stream,
)
from loopcore.events import Delta, Ended, Started
from property_tests.catalogue import CHILD, GUARDED, TOOLS
from property_tests.programs import DECISIONS, Script, Setup
from property_tests.strategies import CALM, ORDERLY, scripts, setups
from property_tests.world import order_aside

NOW: Final = 1.5
WILLING: Final = tuple(how for how in DECISIONS if how != "misedit")
MODELS: Final = ("main", "other", "small", "fallback", "asked", "next", "went")
PIECE: Final = "well,"

Noted: TypeAlias = Event | Input


class Notes(Inspector):
    """Keeps every event, and what was sent to a stream, in order."""

    def __init__(self) -> None:
        self.seen: list[Noted] = []

    def on_event(self, event: Event) -> None:
        self.seen.append(event)


class Broken(Inspector):
    """Fails at everything."""

    def on_event(self, event: Event) -> None:
        raise RuntimeError(event)


async def _unused(effect: Effect, tell: Tell) -> Any:  # noqa: ARG001
    raise AssertionError(effect)


def _nothing() -> None:
    raise AssertionError


def interpreter(script: Script, *inspectors: Inspector) -> Interpreter:
    """One that answers as the script says: some a little later, models after a piece."""

    async def around(effect: Effect, tell: Tell, inner: Perform) -> Answer:  # noqa: ARG001
        if isinstance(effect, CallModel):
            tell(PIECE)
        for _ in range(len(effect.id) % 3):
            await asyncio.sleep(0)
        answer: Answer = evolve(script.answer(effect), seconds=0.25)
        return answer

    models = (Model(f"test:{name}", _unused) for name in MODELS)
    tools = (Tool(spec, _nothing) for spec in TOOLS)
    made = Interpreter(*models, *tools, inspectors=inspectors)
    return made.wrap(around, now=lambda: NOW)


@frozen
class Way:
    """A run that was driven: its state, and what an inspector was told of it."""

    state: State
    told: list[Noted]


GIVEN: Final = (Prompt("begin"), FollowUp("and then"), Steer("hurry"))


async def ran(config: LoopConfig, script: Script) -> Way:
    """By `run`."""
    notes = Notes()
    result = await run(config, interpreter(script, notes), *GIVEN, run_id="r")
    return Way(result.state, notes.seen)


async def streamed(
    config: LoopConfig, script: Script, sent: dict[int, Input] | None = None
) -> Way:
    """By `stream`; what is sent goes out when so many events were read."""
    notes = Notes()
    live = stream(config, interpreter(script, notes), *GIVEN, run_id="r")
    read = 0
    async for _ in live:
        read += 1
        one = (sent or {}).get(read)
        if one:
            send(live, notes, one)
    return Way(live.state, notes.seen)


def send(live: Any, notes: Notes, one: Input) -> None:
    """Send it, if it is still taken; the note of it comes before what it leads to."""
    if live.state.stop:
        return
    notes.seen.append(one)
    try:
        live.send(one)
    except Rejected:
        notes.seen.remove(one)


async def by_hand(config: LoopConfig, script: Script, *, reload: bool) -> Way:
    """By `advance`, the oldest effect first; the state saved and loaded before each."""
    notes = Notes()
    made = interpreter(script, notes)
    state = State.start(config, run_id="r")
    queue: list[Input] = [*GIVEN]
    while queue or state.waiting:
        one = queue.pop(0) if queue else await made.perform(state.waiting[0])
        assert one is not None
        state = State.loads(state.dumps()).unwrap() if reload else state
        state, effects = advance(config, state, one, at=NOW).unwrap()
        made.tell(*effects.tell)
    return Way(state, notes.seen)


def refolded(config: LoopConfig, told: list[Noted]) -> Way:
    """Folded again from what an inspector was told, and nothing else."""
    state, again = State.start(config, run_id="r"), Notes()
    for one in inputs(told):
        state, effects = advance(config, state, one, at=NOW).unwrap()
        again.seen += effects.tell
    return Way(state, again.seen)


def inputs(told: list[Noted]) -> Iterator[Input]:
    """What the run was given, read off what was told."""
    speaking: dict[str, CallModel] = {}
    yield from GIVEN
    for noted in told:
        match noted:
            case Started(effect=CallModel() as effect):
                speaking[effect.id] = effect
            case Ended(effect=effect, cancelled=cancelled):
                speaking.pop(effect.id, None)
                if not cancelled:
                    yield Answer(effect.id, noted.value, noted.seconds)
            case Abort(reason):
                yield Abort(reason, partials=partials(speaking, told, noted))
            case Steer() | FollowUp():
                yield noted
            case _:
                pass


def partials(
    speaking: dict[str, CallModel], told: list[Noted], abort: Abort
) -> dict[str, AssistantMessage]:
    """What the models that were asked had said before the abort."""
    place = next(n for n, noted in enumerate(told) if noted is abort)
    heard = {e.effect_id for e in told[:place] if isinstance(e, Delta)}
    return {
        key: AssistantMessage(PIECE, model=effect.model, finish="aborted")
        for key, effect in speaking.items()
        if key in heard
    }


def config_of(setup: Setup) -> LoopConfig:
    """The configuration."""
    return setup.config()


ONE: Final = st.sampled_from((Steer("wait"), FollowUp("more"), Abort("enough")))
SENT: Final = st.dictionaries(st.integers(4, 40), ONE, max_size=3)
ANY: Final = st.one_of(setups(CALM), setups())


@given(ANY, scripts())
@example(Setup(), Script())
def test_a_run_is_the_fold_of_what_an_inspector_was_told(
    setup: Setup, script: Script
) -> None:
    """9: to the same state and the same events in the same order, times included."""
    config = config_of(setup)
    way = asyncio.run(ran(config, script))
    again = refolded(config, way.told)

    assert again.state == way.state
    assert again.told == whole(way)


@given(ANY, scripts(), SENT)
@example(Setup(), Script(), {3: Abort("enough")})
def test_a_stream_that_is_spoken_to_is_the_fold_of_what_was_told_and_sent(
    setup: Setup, script: Script, sent: dict[int, Input]
) -> None:
    """9: steered, followed up and aborted at any moment, what had streamed included."""
    config = config_of(setup)
    way = asyncio.run(streamed(config, script, sent))
    again = refolded(config, way.told)

    assert again.state == way.state
    assert again.told == [
        noted
        for noted in way.told
        if not isinstance(noted, (Delta, Steer, FollowUp, Abort))
    ]


@given(setups(ORDERLY, names=(CHILD, GUARDED)), scripts(decisions=WILLING))
@example(Setup(), Script())
def test_every_mode_comes_to_the_same_state_and_tells_the_same(
    setup: Setup, script: Script
) -> None:
    """9: run ≡ stream ≡ by hand ≡ resumed at every point, but for the order of answers."""
    config = config_of(setup)
    plain, *others = (
        asyncio.run(way)
        for way in (
            ran(config, script),
            streamed(config, script),
            by_hand(config, script, reload=False),
            by_hand(config, script, reload=True),
        )
    )

    for other in others:
        assert order_aside(other.state) == order_aside(plain.state)
        assert sorted(map(repr, whole(other))) == sorted(map(repr, whole(plain)))
    assert others[1] == others[2]


def whole(way: Way) -> list[Noted]:
    """What was told, without pieces and without what was sent."""
    aside = Delta | Steer | FollowUp | Abort
    return [noted for noted in way.told if not isinstance(noted, aside)]


@given(ANY, scripts())
def test_an_inspector_that_fails_changes_nothing_for_the_run_or_the_others(
    setup: Setup, script: Script
) -> None:
    """9, D83."""
    config = config_of(setup)

    async def watched(*inspectors: Inspector) -> Way:
        notes = Notes()
        made = interpreter(script, *inspectors, notes)
        result = await run(config, made, *GIVEN, run_id="r")
        return Way(result.state, notes.seen)

    assert asyncio.run(watched(Broken())) == asyncio.run(watched())
