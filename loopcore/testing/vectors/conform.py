"""Whether a port of loopcore, or an engine that drives it, meets the vectors."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import field, frozen
from returns.result import Failure

from loopcore.config import LoopConfig
from loopcore.frozen import Json, freeze
from loopcore.inputs import Input
from loopcore.reducer import Effects, advance
from loopcore.runtime.outcome import spoken
from loopcore.state import Rejected, State
from loopcore.testing.differences import clipped, differences, lines
from loopcore.testing.vectors.file import SHIPPED, Vector, Vectors
from loopcore.testing.vectors.form import (
    Form,
    digest_of,
    digests_of,
    effects_of,
    fields_of,
    worded,
)

__all__ = [
    "SHIPPED",
    "Came",
    "Moved",
    "Refused",
    "Report",
    "Vector",
    "Vectors",
    "check",
    "reducer",
]

Step: TypeAlias = Callable[
    [LoopConfig[Any], State, Input, float | None], tuple[State, Effects] | Rejected
]
"""What is to be proven: the state after an input and what it wants, or the refusal."""


@frozen
class Refused:
    """The input was refused, for a reason of this kind."""

    kind: str


@frozen
class Moved:
    """The input was taken: the state after it, and in JSON what is wanted and told."""

    state: State
    effects: Mapping[str, Json]


Came: TypeAlias = Refused | Moved
"""What came of a step."""


class Silent(Exception):
    """A port that gives no answer, and will give none."""


class NoAnswer(ValueError):
    """What came instead of an answer, in a sentence."""


Port: TypeAlias = Callable[[Vector, Form], Came]


@frozen
class Wrong:
    """A vector that is not met: its id, and what differs."""

    id: str
    differs: tuple[str, ...]


@frozen(repr=False)
class Report:
    """What checking came to.

    `silent` says why a port could not be asked to the end, `unasked` for how many vectors,
    and `events` whether events were compared.
    """

    vectors: int
    wrong: tuple[Wrong, ...] = field(default=())
    unasked: int = 0
    silent: str = ""
    events: bool = True

    def __repr__(self) -> str:
        met = self.vectors - self.unasked - len(self.wrong)
        told = [f"{met} of {self.vectors} vectors are met{self._but()}"]
        for wrong in self.wrong[:SHOWN]:
            told += [wrong.id, *(f"  {line}" for line in wrong.differs)]
        more = len(self.wrong) - SHOWN
        return "\n".join([*told, f"... and {more} more"] if more > 0 else told)

    def _but(self) -> str:
        left = f", and {self.unasked} were not asked for" if self.unasked else ""
        return left if self.events else f"{left}; {UNTOLD}"


UNTOLD: Final = "events are not compared, since no answer has `tell`"
SHOWN: Final = 10
"""How many vectors that are not met are told of."""


def reducer(
    config: LoopConfig[Any], state: State, given: Input, at: float | None
) -> tuple[State, Effects] | Rejected:
    """The step of loopcore's own reducer."""
    moved = advance(config, state, given, at=at)
    return moved.failure() if isinstance(moved, Failure) else moved.unwrap()


def check(
    step: Step = reducer, vectors: Vectors | None = None, *, events: bool = True
) -> Report:
    """Whether a step of one's own does what the vectors say: by default the shipped ones.

    The step is a function of a configuration, a state, an input and its time. What it
    raises is told as a difference. With `events=False` it need not tell events.
    """
    return checked(_called(step, events=events), vectors or Vectors.read())


def _called(step: Step, *, events: bool = True) -> Port:
    def ask(vector: Vector, form: Form) -> Came:
        came = _came(step(form.config(), vector.state, vector.input, vector.at))
        return came if events or isinstance(came, Refused) else _untold(came)

    return ask


def _came(given: object) -> Came:
    """What a step gave, if that is what a step may give."""
    match given:
        case Rejected() as refusal:
            return Refused(refusal.kind)
        case (State() as state, Effects() as effects):
            return Moved(state, {"tell": (), **effects_of(effects)})
        case _:
            raise NoAnswer(NEITHER.format(clipped(given)))


NEITHER: Final = "it gave {}, and no State with Effects, nor a Rejected"


def _untold(came: Moved) -> Moved:
    kept = {name: what for name, what in came.effects.items() if name != "tell"}
    return Moved(came.state, kept)


def checked(port: Port, vectors: Vectors) -> Report:
    """Whether a port does what the vectors say.

    Events are compared if any answer tells some. A port that falls silent is asked no more.
    """
    asked = list(_asked(port, vectors))
    told = [came.effects for _, came in asked if isinstance(came, Moved)]
    events = not told or any("tell" in effects for effects in told)
    wrong: list[Wrong] = []
    for vector, came in asked:
        form = vectors.configs[vector.config]
        differs = tuple(_differs(vector, form, came, events=events))
        if differs:
            wrong.append(Wrong(vector.id, differs))
    last = asked[-1][1] if asked else None
    return Report(
        len(vectors.steps),
        tuple(wrong),
        unasked=len(vectors.steps) - len(asked),
        silent=str(last) if isinstance(last, Silent) else "",
        events=events,
    )


def _asked(port: Port, vectors: Vectors) -> Iterator[tuple[Vector, Came | Exception]]:
    """Each vector with what came of it, up to where the port falls silent."""
    for vector in vectors.steps:
        try:
            yield vector, port(vector, vectors.configs[vector.config])
        except Silent as problem:
            yield vector, problem
            return
        except Exception as problem:  # noqa: BLE001  # it is what is being proven
            yield vector, problem


def _differs(
    vector: Vector, form: Form, came: Came | Exception, *, events: bool
) -> Iterator[str]:
    """What differs, in lines."""
    match came:
        case Silent() | NoAnswer():
            yield str(came)
        case Exception():
            yield f"it raised {spoken(came)}"
        case Refused(kind) if kind != vector.refused or not kind:
            yield SHOULD_NOT.format(_wanted(vector), clipped(kind))
        case Refused():
            return
        case Moved() if vector.refused:
            yield f"{_wanted(vector)}, and does not"
        case Moved(state, effects):
            yield from _other_state(vector, form, state)
            yield from _other_effects(vector, effects, events=events)


SHOULD_NOT: Final = "{}, and refuses it as {}"


def _wanted(vector: Vector) -> str:
    wants = f"refuse this as {vector.refused!r}" if vector.refused else "take this"
    return f"it should {wants}"


def _other_state(vector: Vector, form: Form, state: State) -> Iterator[str]:
    now = digests_of(state)
    if digest_of(now) == vector.digest:
        return
    wanted = {**digests_of(vector.state), **vector.changed}
    fields = wanted.keys() | now.keys()
    names = {name for name in fields if wanted.get(name, "") != now.get(name, "")}
    yield f"the state differs in {', '.join(sorted(names))}"
    own = _called(reducer)(vector, form)
    if isinstance(own, Moved) and digest_of(digests_of(own.state)) == vector.digest:
        then, came = fields_of(own.state), fields_of(state)
        for name in sorted(names):
            found = differences(then.get(name), came.get(name), name)
            yield from lines(found, 3, *SIDES)


SIDES: Final = ("expected", "came")


def _other_effects(
    vector: Vector, came: Mapping[str, Json], *, events: bool
) -> Iterator[str]:
    names = ("perform", "cancel", *(["tell"] if events else []))
    wanted = {name: vector.effects.get(name, ()) for name in names}
    found = {name: came.get(name, ()) for name in names}
    pair = freeze(worded(wanted)), freeze(worded(found))
    yield from lines(differences(*pair, "effects"), 5, *SIDES)
