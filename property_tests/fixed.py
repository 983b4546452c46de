"""A hundred programs that are the same in every process, and one digest of their runs."""

import hashlib
import random
from typing import Final

from loopcore.codec import to_json
from loopcore.frozen import dump_json
from property_tests.strategies import LENGTH, Range, program, read
from property_tests.world import run

PROGRAMS: Final = 100


def digest() -> str:
    """The digest of all states and events of all programs."""
    summed = hashlib.sha256()
    for seed in range(PROGRAMS):
        chance = random.Random(seed)  # noqa: S311  # it guards no secret
        world = run(program(read(chance.randbytes(LENGTH)), Range()))
        summed.update(world.state.dumps())
        for effects in world.gave:
            events = [to_json(event) for event in effects.tell]
            summed.update(dump_json((events, effects.cancel)).encode())
    return summed.hexdigest()


if __name__ == "__main__":
    print(digest())  # noqa: T201  # a process tells its parent
