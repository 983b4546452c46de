"""However a run is driven, it is the same run: 2, 9."""

import asyncio
from typing import Any, Final

from attrs import evolve
from hypothesis import given

from loopcore import (
    Answer,
    Effect,
    Interpreter,
    Model,
    Perform,
    Prompt,
    State,
    Tell,
    Tool,
    advance,
    deliver,
    run,
    step,
    stream,
)
from property_tests.catalogue import CHILD, GUARDED, TOOLS
from property_tests.programs import DECISIONS, Program, Script, Setup
from property_tests.strategies import ORDERLY, programs, scripts, setups
from property_tests.world import RUN_ID, World, order_aside
from property_tests.world import run as play


@given(programs())
def test_a_run_that_is_saved_and_loaded_before_each_input_is_the_same(
    program: Program,
) -> None:
    """2, 9: any prefix can be saved, loaded and continued."""
    whole, resumed = play(program), play(program, reload=True)

    assert whole.state == resumed.state
    assert whole.gave == resumed.gave


@given(programs())
def test_a_run_is_the_fold_of_its_inputs(program: Program) -> None:
    """2, 9: and it does not matter how many are taken at once."""
    world = play(program)
    state, states = world.first, []
    for given_, at in world.taken:
        state, _ = step(world.config, deliver(state, given_, at=at).unwrap())
        states.append(state)
    inputs = [given_ for given_, _ in world.taken]
    at_once, effects = advance(world.config, world.first, *inputs).unwrap()

    assert states[-1] == world.state == at_once
    assert effects.tell == tuple(e for gave in world.gave for e in gave.tell)


@given(programs())
def test_an_empty_inbox_is_the_state_itself(program: Program) -> None:
    world = play(program)

    again, effects = step(world.config, world.state)

    assert again is world.state
    assert (effects.perform, effects.cancel, effects.tell) == ((), (), ())


WILLING: Final = tuple(how for how in DECISIONS if how != "misedit")
MODELS: Final = ("main", "other", "small", "fallback", "asked", "next", "went")
"""All of a setup's, so that the interpreter has what the configuration wants."""


async def _unused(effect: Effect, tell: Tell) -> Any:  # noqa: ARG001
    raise AssertionError(effect)


def _nothing() -> None:
    raise AssertionError


def interpreter(script: Script) -> Interpreter:
    """One that answers as the script says, at once."""

    async def around(effect: Effect, tell: Tell, inner: Perform) -> Answer:  # noqa: ARG001
        return timed(script, effect)

    models = (Model(f"test:{name}", _unused) for name in MODELS)
    tools = (Tool(spec, _nothing) for spec in TOOLS)
    return Interpreter(*models, *tools).wrap(around, now=lambda: 1.5)


def timed(script: Script, effect: Effect) -> Answer:
    """The script's answer, that took no time."""
    answer: Answer = evolve(script.answer(effect), seconds=0.0)
    return answer


def by_hand(setup: Setup, script: Script) -> World:
    """A run that is settled, the oldest effect first."""
    world = World.of(setup)
    world.at = 1.5
    world.give(Prompt("begin"))
    while world.state.waiting:
        world.give(timed(script, world.state.waiting[0]))
    return world


@given(setups(ORDERLY, names=(CHILD, GUARDED)), scripts(decisions=WILLING))
def test_run_and_stream_do_what_hands_do(setup: Setup, script: Script) -> None:
    """9: run ≡ stream ≡ hand-driven, from the same interpreter's answers."""
    hand = by_hand(setup, script)

    ran = asyncio.run(ran_to_its_end(setup, script))
    streamed, events = asyncio.run(streamed_to_its_end(setup, script))

    assert order_aside(ran) == order_aside(hand.state)
    assert order_aside(streamed) == order_aside(hand.state)
    assert sorted(map(repr, events)) == sorted(
        repr(event) for effects in hand.gave for event in effects.tell
    )


async def ran_to_its_end(setup: Setup, script: Script) -> State:
    """What `run` makes of it."""
    result = await run(setup.config(), interpreter(script), "begin", run_id=RUN_ID)
    return result.state


async def streamed_to_its_end(setup: Setup, script: Script) -> tuple[State, list[Any]]:
    """What `stream` makes of it, and what it told."""
    live = stream(setup.config(), interpreter(script), "begin", run_id=RUN_ID)
    events = [event async for event in live]
    return live.state, events
