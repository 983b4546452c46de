"""A hundred programs that are the same in every process, and one digest of their runs."""

import hashlib
import random
from typing import Any, Final

from loopcore.codec import to_json
from loopcore.frozen import dump_json
from property_tests.catalogue import CALLS, ERRORS, FOUND, OUTPUTS, USAGES
from property_tests.strategies import (
    DECISIONS,
    FINISHES,
    KINDS,
    NESTED,
    WILD,
    Move,
    Program,
    Script,
    Setup,
    reply,
)
from property_tests.table import Plan
from property_tests.world import run

PROGRAMS: Final = 100


def digest() -> str:
    """The digest of all states and events of all programs."""
    summed = hashlib.sha256()
    for seed in range(PROGRAMS):
        world = run(program(random.Random(seed)))  # noqa: S311  # it guards no secret
        summed.update(world.state.dumps())
        for effects in world.gave:
            events = [to_json(event) for event in effects.tell]
            summed.update(dump_json((events, effects.cancel)).encode())
    return summed.hexdigest()


def program(chance: random.Random) -> Program:
    """A program, by this chance alone."""
    moves = (Move(chance.choice(KINDS), chance.randrange(4)) for _ in range(12))
    return Program(setup(chance, 1), script(chance), tuple(moves))


def setup(chance: random.Random, depth: int) -> Setup:
    """A configuration, with runs inside."""
    plans = (
        Plan(f"h{n}", some(chance, WILD, 3), chance.random() < 0.3)
        for n in range(chance.randrange(3))
    )
    inside = ((name, setup(chance, depth - 1)) for name in NESTED if depth)
    return Setup(tuple(plans), tuple(inside), parallel=chance.random() < 0.7)


def script(chance: random.Random) -> Script:
    """Its answers."""
    said = tuple(
        chance.choice(ERRORS) if chance.random() < 0.1 else _reply(chance)
        for _ in range(3)
    )
    return Script(said, some(chance, OUTPUTS, 3), some(chance, DECISIONS, 2), FOUND)


def _reply(chance: random.Random) -> Any:  # a reply
    calls, usage = some(chance, CALLS, 3), chance.choice(USAGES)
    return reply("well", calls, chance.choice(FINISHES), usage)


def some(chance: random.Random, pool: tuple[Any, ...], most: int) -> tuple[Any, ...]:
    """Some of a pool."""
    return tuple(chance.choice(pool) for _ in range(chance.randrange(1, most + 1)))


if __name__ == "__main__":
    print(digest())  # noqa: T201  # a process tells its parent
