"""What a hook reached, as a sentence, and what to write instead."""

from collections.abc import Iterable
from typing import Final

from loopcore.runtime.purity.watch import Reach
from loopcore.runtime.purity.world import World

WORLDS: Final[dict[World, str]] = {
    "clock": "reads the clock",
    "time zone": "reads the machine's time zone",
    "randomness": "draws a random number",
    "environment": "reads the environment",
    "I/O": "does input or output",
    "global state": "remembers something outside of the run",
}
SEED: Final = "Use the seed and the time in the view: `view.state.seed`, `view.now`."
INSTEAD: Final[dict[World, str]] = {
    "clock": SEED,
    "time zone": "Say which is meant, as in `datetime.fromtimestamp(view.now or 0, UTC)`.",
    "randomness": SEED,
    "environment": "Read it where the hook is made, outside of the function, and pass the "
    "value in.",
    "I/O": "Ask for it: return `Need.service(key, name, data)`, and read "
    "`view.answers[key]`. To watch a run, there is `Inspector`.",
    "global state": "Keep what it remembers in its memo, which is saved, forked and replayed "
    "with the run: `Hooks(..., memo=...)`, `view.memo`.",
}


def worlds(reached: Iterable[Reach]) -> str:
    """What a hook does that reached this, such as "reads the clock"."""
    return " and ".join(dict.fromkeys(WORLDS[reach.world] for reach in reached))


def blame(reached: Iterable[Reach]) -> str:
    """Which calls were made and what was changed, where, and what to write instead."""
    found = tuple(reached)
    said = " ".join(f"It {reach}." for reach in found[:MOST])
    advice = dict.fromkeys(INSTEAD[reach.world] for reach in found[:MOST])
    return " ".join((said, *advice))


MOST: Final = 3
