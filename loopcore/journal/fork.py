"""`fork`: a recorded run as it stood at some point, ready to go another way."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from attrs import frozen
from returns.result import Failure, Success

from loopcore.config import AnyConfig
from loopcore.effects import Effect, Sleep
from loopcore.events import Stop, TurnEnd
from loopcore.frozen import evolve
from loopcore.inputs import Abort, Answer, Input
from loopcore.journal.folding import Refused, Step, steps
from loopcore.journal.journal import Journal, JournalError, refuse_no_journal
from loopcore.journal.renaming import renamed, retold
from loopcore.reducer import Given, advance, deliver, step
from loopcore.state import State

Forked: TypeAlias = Success[State] | Failure[JournalError]


def fork(
    config: AnyConfig,
    journal: Journal,
    *,
    run_id: str,
    turn: int | None = None,
    at: int | None = None,
    replace: Given | None = None,
) -> Forked:
    """The state after that turn or input, under a new name, ready to go another way.

    It shares its memory with the past. What waits keeps its ids; what is asked from then
    on, in nested runs too, has ids of its own.

    Args:
        config: what the run is; it must lead where it was recorded to lead.
        journal: the record.
        run_id: the name of the new run.
        turn: after this turn of the newest run that has it. The request that followed is
            let go, so that a `Prompt` or a `Continue` can be given: it begins another
            run, whose turns, tokens and limits count anew.
        at: after this input, from 1, and whatever then waits still does; 0 is the start.
        replace: what happened instead of input `at`, which is then to be given. What was
            recorded after it is kept as far as it still fits; see `refold`, which says
            what does.

    Without `turn` and `at` it is the end of the record.

    Raises:
        ValueError: for the name of the past: the ids of effects begin with it.
    """
    refuse_no_journal(journal)
    if run_id == journal.run_id:
        raise ValueError(SAME_NAME.format(run_id))
    if turn is not None and at is not None:
        raise ValueError(TWO_POINTS)
    if replace is not None and at is None:
        raise ValueError(NO_POINT)
    try:
        found = (
            renamed(_found(config, journal, turn, at), run_id)
            if replace is None
            else _edited(config, journal, at or 0, replace, run_id).state
        )
    except JournalError as problem:
        return Failure(problem)
    return Success(found)


SAME_NAME: Final = (
    "fork() takes another run_id than that of the past, {!r}: effects of both would have "
    "the same ids, and tools would take one for the other."
)

TWO_POINTS: Final = (
    "fork() takes turn= or at=, not both: either names a point of the run"
)
NO_POINT: Final = (
    "fork() needs at= beside what replaces an input (replace=, --say): the number of that "
    "input, from 1"
)


def _found(
    config: AnyConfig, journal: Journal, turn: int | None, at: int | None
) -> State:
    if turn is not None:
        return _after_turn(config, journal, turn)
    last = len(journal.entries) if at is None else at
    return _after_input(config, journal, last)


def _after_input(config: AnyConfig, journal: Journal, last: int) -> State:
    _refuse_beyond(journal, last)
    state = journal.start
    for one in faithful(config, journal):
        if one.number > last:
            break
        state = one.state
    return state


def _refuse_beyond(journal: Journal, number: int, first: int = 0) -> None:
    count = len(journal.entries)
    if not first <= number <= count:
        sentence = f"it has no input {number}: its inputs are 1 to {count}"
        raise _error(journal, sentence)


def _after_turn(config: AnyConfig, journal: Journal, turn: int) -> State:
    ends = [
        one for one in faithful(config, journal) if turn in _turns_ended(journal, one)
    ]
    if not ends:
        sentence = f"no turn {turn} came to its end in it"
        raise _error(journal, sentence)
    return let_go(config, ends[-1].state)


def _turns_ended(journal: Journal, one: Step) -> list[int]:
    """The turns of the run itself, nested ones left out, that ended in this step."""
    return [
        event.turn
        for event in one.effects.tell
        if isinstance(event, TurnEnd) and event.run_id == journal.run_id
    ]


def let_go(config: AnyConfig, state: State) -> State:
    """The run, stopped as "forked" if its next turn has got no further than a request."""
    turn = state.turn
    if turn is None or (turn.reply is not None and not turn.over):
        return state
    last = state.turns if turn.over else state.turns - 1
    ended, _ = step(config, deliver(state, Abort("forked")).unwrap())
    return evolve(ended, stop=Stop("forked", f"after turn {last}"))


def faithful(config: AnyConfig, journal: Journal) -> Iterator[Step]:
    """The steps of a journal, each as it was recorded.

    Raises:
        JournalError: at the first one that is not.
    """
    for one in steps(config, journal):
        if isinstance(one, Refused) or one.led != one.entry.led:
            sentence = f"input {one.number} does not lead where it led: see replay()"
            raise _error(journal, sentence)
        yield one


def _error(journal: Journal, sentence: str) -> JournalError:
    return JournalError(journal.path or f"the journal of {journal.run_id}", 0, sentence)


@frozen
class Refolded:
    """A journal in which one input was replaced, folded as far as it still fits.

    Args:
        state: where it leads to; what has to be asked again is waiting there.
        kept: how many inputs after the replaced one still fit.
        valid: ids of the effects whose recorded answers were taken.
        again: ids of those that have to be performed: they are new, or ask another thing.
        dropped: the numbers of the inputs that do not fit any more.
    """

    state: State
    kept: int
    valid: tuple[str, ...]
    again: tuple[str, ...]
    dropped: tuple[int, ...]


def refold(
    config: AnyConfig, journal: Journal, *, at: int, replace: Given
) -> Success[Refolded] | Failure[JournalError]:
    """The run as it would have gone had this happened instead of input `at`.

    A recorded answer still fits if the same effect, by its id and by all that it asks, is
    waiting for it; a pause fits however long it is. The others are left out: their effects
    are to be performed again. This tells what that would be; to go on from there,
    `fork(..., replace=...)` gives the run, and all that it asks, a name of its own.
    """
    refuse_no_journal(journal)
    try:
        return Success(_edited(config, journal, at, replace, journal.run_id))
    except JournalError as problem:
        return Failure(problem)


def _edited(
    config: AnyConfig, journal: Journal, at: int, replace: Given, run_id: str
) -> Refolded:
    _refuse_beyond(journal, at, first=1)
    before = renamed(_after_input(config, journal, at - 1), run_id)
    placed = advance(config, before, replace, at=journal.entries[at - 1].at)
    if isinstance(placed, Failure):
        raise _error(journal, f"input {at}: {placed.failure()}")
    state, _ = placed.unwrap()
    return _carry_on(config, journal, at, state)


def _carry_on(config: AnyConfig, journal: Journal, at: int, state: State) -> Refolded:
    asked = _asked(config, journal)
    valid, dropped = list[str](), list[int]()
    for number, entry in enumerate(journal.entries[at:], at + 1):
        given = retold(entry.input, journal.run_id, state)
        fits = _fits(state, given, asked.get(getattr(entry.input, "effect_id", "")))
        moved = advance(config, state, given, at=entry.at) if fits else None
        if not isinstance(moved, Success):
            dropped.append(number)
            continue
        state, _ = moved.unwrap()
        valid += [given.effect_id] if isinstance(given, Answer) else []
    kept = len(journal.entries) - at - len(dropped)
    again = tuple(effect.id for effect in state.waiting)
    return Refolded(state, kept, tuple(valid), again, tuple(dropped))


def fitting(config: AnyConfig, journal: Journal, number: int) -> tuple[int, str]:
    """How many inputs after this one fit, and the first effect to be asked again.

    `number` is the input at which the record diverges. A reply still fits if its request
    is made, whatever that shows.
    """
    state, kept, again = journal.start, 0, ""
    for place, entry in enumerate(journal.entries, 1):
        moved = advance(config, state, entry.input, at=entry.at)
        if isinstance(moved, Failure):
            continue
        state, effects = moved.unwrap()
        kept += place > number
        if place >= number and not again:
            again = next((effect.id for effect in effects.perform), "")
    return kept, again


def _asked(config: AnyConfig, journal: Journal) -> dict[str, Effect]:
    """What each recorded effect asked."""
    asked = {effect.id: effect for effect in journal.start.waiting}
    for one in faithful(config, journal):
        asked |= {effect.id: effect for effect in one.effects.perform}
    return asked


def _fits(state: State, given: Input, asked: Effect | None) -> bool:
    """Whether what this answers waits, and asks what was asked when it was recorded.

    Of a pause its length does not count: in a nested run it comes of the run's name.
    """
    if not isinstance(given, Answer):
        return True
    waits = next((e for e in state.waiting if e.id == given.effect_id), None)
    if isinstance(asked, Sleep):
        return isinstance(waits, Sleep)
    return asked is not None and waits == evolve(asked, id=given.effect_id)
