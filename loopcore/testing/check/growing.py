"""Memos that grow without end, told from those that are bounded or get a note late."""

from collections.abc import Callable
from typing import Final, TypeAlias

from attrs import define
from returns.result import Success

from loopcore.config import LoopConfig
from loopcore.frozen import dump_json
from loopcore.hooks.rule import Hooks
from loopcore.reducer import advance
from loopcore.state import State
from loopcore.testing.check.asking import place
from loopcore.testing.check.broken import broken
from loopcore.testing.check.talk import Talk

Sizes: TypeAlias = dict[str, list[int]]
"""How long each hook's memo was, each time that it was measured."""

MEASURED: Final = (50, 100)
"""After how many turns memos are measured in a run that is looked at."""

ENOUGH: Final = 72
"""After so many turns a run is over in which no hook has a memo: nothing can grow there."""

LATER: Final = (200, 400, 800, 1600)
"""And further, for those that have grown."""

FIRST: Final = 4
"""Bytes: what gains more between the first two is looked at further."""

SLACK: Final = 10
"""Bytes: what gains no more while the turns double does not grow."""

STEPS: Final = 8
"""How many inputs a turn takes, at most."""


def size(state: State, name: str) -> int:
    """How long a hook's memo is, in bytes."""
    memo = state.memos.get(name)
    return 0 if memo is None else len(dump_json(memo).encode())


def refuse_growing(
    hooks: tuple[Hooks, ...], sizes: Sizes, talk: Talk, reached: tuple[State, int]
) -> None:
    """Go on from there for as long as a memo grows.

    Args:
        hooks: the rules.
        sizes: how long their memos were so far.
        talk: what is said.
        reached: the state, and how much was said in it.

    Raises:
        Breach: for a memo that still grows.
    """
    grow = [h for h in hooks if sizes[h.name][-1] - sizes[h.name][-2] > FIRST]
    config = LoopConfig(model="test:model", tools=talk.offer.tools, hooks=hooks)
    further = _Further(config, talk, *reached)
    turns = MEASURED[-1]
    for until in LATER:
        if not grow:
            return
        take(until - turns, further.say)
        turns = until
        for hook in hooks:
            sizes[hook.name].append(size(further.state, hook.name))
        grow = [h for h in grow if sizes[h.name][-1] - sizes[h.name][-2] > SLACK]
    for hook in grow:
        if sizes[hook.name][-2] - sizes[hook.name][-3] > SLACK:
            _refuse(hook, sizes[hook.name], further.state)


def take(turns: int, say: Callable[[], bool]) -> None:
    """Say one thing after the other until so many of them have begun a turn.

    A hook that fails ends its run, and the next one begins.
    """
    done = 0
    for _ in range(STEPS * turns):
        if done >= turns:
            return
        done += say()


@define
class _Further:
    """The run goes on without being looked at.

    All that it stores stays: a memo that is made of the transcript grows with it.
    """

    config: LoopConfig
    talk: Talk
    state: State
    said: int

    def say(self) -> bool:
        """Say one thing more; whether that began a turn."""
        self.said += 1
        before, given = self.state.requests, self.talk(self.state, self.said)
        moved = advance(self.config, self.state, given, at=float(self.said))
        if isinstance(moved, Success):
            self.state, _ = moved.unwrap()
        return self.state.requests != before


def _refuse(hook: Hooks, sizes: list[int], state: State) -> None:
    grown = ", ".join(
        f"{s:,} bytes after {t:,} turns"
        for s, t in zip(sizes, (*MEASURED, *LATER), strict=True)
        if t in TOLD
    )
    memo = dump_json(state.memos[hook.name])
    shown = memo if len(memo) <= SHOWN else f"{memo[:SHOWN]}..."
    where = ", ".join(f"{p} ({place(hook, p)})" for p in hook.functions)
    sentence = (
        f"The memo of hook {hook.name!r} grows without end: {grown}. It is written at "
        f"{where}, and is now {shown}. A memo is saved with every state: keep a count, "
        "or the last few."
    )
    raise broken("small_memo", hook.name, sentence)


TOLD: Final = (100, 400, 1600)
SHOWN: Final = 120
