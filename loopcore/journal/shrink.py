"""`shrink`: the smallest journal of which something still holds."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen
from returns.result import Failure

from loopcore.config import AnyConfig
from loopcore.effects import Effect, RequestApproval, RunTool
from loopcore.inputs import Answer, FollowUp, Input, Prompt, Steer
from loopcore.journal.digests import Digests
from loopcore.journal.folding import Step
from loopcore.journal.journal import Journal, header_for
from loopcore.journal.ledger import Ledger
from loopcore.journal.lines import Entry
from loopcore.journal.replay import Replay, replay
from loopcore.messages import AssistantMessage, Message, Text
from loopcore.reducer import RunResult, deliver, step
from loopcore.state import State
from loopcore.tools import ToolOutput

Fails: TypeAlias = Callable[[Replay[Any]], bool]

MOST: Final = 2_000
"""How many smaller journals are tried at most."""


@frozen
class Case:
    """A journal that is tried, and the configuration that it is of."""

    config: AnyConfig
    journal: Journal


Draft: TypeAlias = tuple[AnyConfig, Sequence[Entry]]
"""What may be left of a case: it is yet to be seen what of it fits."""

Smaller: TypeAlias = Callable[[Case], Iterator[Draft]]


def shrink(config: AnyConfig, journal: Journal, fails: Fails) -> Journal:
    """The smallest journal found of which `fails` still says yes.

    Hooks, turns and other inputs are left out, then parts of messages; texts and results
    are cut short. What no longer fits after that is left out with it. Its `hooks` are
    those that are still needed.

    Args:
        config: what the run is.
        journal: the record; it must replay under `config`.
        fails: whether it still holds, asked of the replay of each smaller one.

    Raises:
        ValueError: if it does not hold of the journal itself, or that does not replay.
    """
    whole = replay(config, journal)
    if isinstance(whole, Failure):
        message = f"shrink() needs a journal that replays: {whole.failure()}"
        raise ValueError(message)  # noqa: TRY004  # it is a journal, and a wrong one
    if not fails(whole.unwrap()):
        message = "shrink() needs a journal of which fails(replay) says yes; it said no"
        raise ValueError(message)
    return _shrunk(Case(config, journal), fails).journal


def _shrunk(case: Case, fails: Fails) -> Case:
    """Smaller and smaller ones, until none is left to try."""
    tries, before = iter(range(MOST)), None
    while case is not before:
        before = case
        for smaller in SMALLER:
            case = _passed(case, smaller, fails, tries)
    return case


def _passed(case: Case, smaller: Smaller, fails: Fails, tries: Iterator[int]) -> Case:
    """The case after one way of making it smaller, taken wherever it can be.

    After one that holds it goes on from there: what did not hold before is tried again
    only once all else was.
    """
    place = 0
    while True:
        draft = next(islice(smaller(case), place, None), None)
        if draft is None or next(tries, None) is None:
            return case
        found = _refitted(case.journal, draft)
        if found and fails(found[1]):
            case = found[0]
        else:
            place += 1


def _without_hooks(case: Case) -> Iterator[Draft]:
    hooks = case.config.hooks
    for place in range(len(hooks)):
        fewer = [*hooks[:place], *hooks[place + 1 :]]
        yield evolve(case.config, hooks=fewer), case.journal.entries


def _without_inputs(case: Case) -> Iterator[Draft]:
    return ((case.config, kept) for kept in _fewer(case.journal.entries))


def _without_calls(case: Case) -> Iterator[Draft]:
    return ((case.config, kept) for kept in _fewer_calls(case.journal.entries))


def _with_less(case: Case) -> Iterator[Draft]:
    entries = case.journal.entries
    for place, entry in enumerate(entries):
        for given in _simpler(entry.input):
            changed = evolve(entry, input=given)
            yield case.config, (*entries[:place], changed, *entries[place + 1 :])


SMALLER: Final[tuple[Smaller, ...]] = (
    _without_hooks,
    _without_inputs,
    _without_calls,
    _with_less,
)
"""Ways of making a journal smaller, the boldest first."""


def _fewer(entries: Sequence[Entry]) -> Iterator[tuple[Entry, ...]]:
    """Without runs of inputs: half of them, then a quarter, and so on."""
    size = len(entries) // 2
    while size:
        for first in range(0, len(entries), size):
            yield (*entries[:first], *entries[first + size :])
        size //= 2


def _fewer_calls(entries: Sequence[Entry]) -> Iterator[tuple[Entry, ...]]:
    """Without one call of a reply, and what was answered to it."""
    for place, entry in enumerate(entries):
        for n, less in enumerate(_less_by_a_call(entry.input)):
            turn = less.effect_id.rpartition(".model.")[0]
            rest = _without(entries[place + 1 :], turn, n)
            yield (*entries[:place], evolve(entry, input=less), *rest)


def _less_by_a_call(given: Input) -> Iterator[Answer]:
    """A model's answer without one of its calls, each in turn."""
    match given:
        case Answer(value=AssistantMessage() as reply):
            for call in reply.calls:
                parts = [part for part in reply.parts if part is not call]
                yield evolve(given, value=evolve(reply, content=parts))
        case _:
            return


def _without(entries: Sequence[Entry], turn: str, n: int) -> list[Entry]:
    """Without what was answered to this call; those behind it move up by one."""
    kept: list[Entry] = []
    for entry in entries:
        given = entry.input
        found = ANSWERED.fullmatch(getattr(given, "effect_id", ""))
        if found is None or not isinstance(given, Answer) or found["turn"] != turn:
            kept.append(entry)
        elif (place := int(found["place"])) != n:
            moved = f"{turn}.{found['kind']}.{place - (place > n)}"
            kept.append(evolve(entry, input=evolve(given, effect_id=moved)))
    return kept


ANSWERED: Final = re.compile(r"(?P<turn>.*)\.(?P<kind>run|ask)\.(?P<place>[0-9]+)")


def _refitted(journal: Journal, draft: Draft) -> tuple[Case, Replay[Any]] | None:
    """The journal of what still fits of a draft, and its replay; None if nothing does."""
    config, entries = draft
    asked, ledger = _asked(journal), Ledger(Digests(journal.hide))
    state, found = journal.start, list[Step]()
    for entry in entries:
        given = _aimed(state, entry.input, asked)
        placed = deliver(state, given, at=entry.at)
        if isinstance(placed, Failure):
            continue
        before, (state, effects) = state, step(config, placed.unwrap())
        led = ledger.entry(state, effects)
        made = Entry(given, entry.at, led, ledger.wrote(effects))
        found.append(Step(len(found) + 1, made, before, state, effects, led))
    if not found:
        return None
    header, taken = header_for(config, journal.start), tuple(one.entry for one in found)
    small = Journal(
        journal.start,
        taken,
        (),
        header.config,
        header.hooks,
        journal.path,
        hide=journal.hide,
    )
    return Case(config, small), Replay(tuple(found), RunResult.of(config, state))


def _asked(journal: Journal) -> dict[str, tuple[str, str]]:
    """What each effect of a record is: its kind, and its tool if it has one."""
    return {
        asked["id"]: (asked["kind"], asked.get("tool", ""))
        for entry in journal.entries
        for asked in entry.led.get("ask", ())
    }


def _aimed(state: State, given: Input, asked: dict[str, tuple[str, str]]) -> Input:
    """An answer, given to the first effect that asks the same kind of thing.

    Ids are positions, so a turn that is left out moves all that come after it.
    """
    if not isinstance(given, Answer):
        return given
    waiting = [
        effect.id
        for effect in state.waiting
        if _is(effect) == asked.get(given.effect_id)
    ]
    if not waiting or given.effect_id in waiting:
        return given
    return evolve(given, effect_id=waiting[0])


def _is(effect: Effect) -> tuple[str, str]:
    tool = effect.spec.name if isinstance(effect, RunTool | RequestApproval) else ""
    return type(effect).__name__, tool


def _simpler(given: Input) -> Iterator[Input]:
    """The same with less in it."""
    match given:
        case Answer(value=AssistantMessage() | ToolOutput() as value):
            for less in _less(value):
                yield evolve(given, value=less)
        case Prompt() | Steer() | FollowUp():
            for say in _less_said(given.say):
                yield evolve(given, say=say)
        case _:
            return


def _less_said(say: tuple[Message, ...]) -> Iterator[tuple[Message, ...]]:
    """Without a message, or with less in one."""
    for place, message in enumerate(say):
        if len(say) > 1:
            yield _but(say, place)
        for less in _less(message):
            yield _with(say, place, less)


def _less(record: Any) -> Iterator[Any]:  # noqa: ANN401  # anything with parts
    """Without a part, or with a shorter text."""
    parts: tuple[Any, ...] = getattr(record, "parts", ())
    for place, part in enumerate(parts):
        if len(parts) > 1:
            yield evolve(record, content=_but(parts, place))
        if isinstance(part, Text) and len(part.text) > 1:
            half = Text(part.text[: len(part.text) // 2])
            yield evolve(record, content=_with(parts, place, half))


def _but(items: tuple[Any, ...], place: int) -> tuple[Any, ...]:
    return (*items[:place], *items[place + 1 :])


def _with(items: tuple[Any, ...], place: int, item: object) -> tuple[Any, ...]:
    return (*items[:place], item, *items[place + 1 :])
