"""Whether a port of loopcore, or an engine that drives it, meets the vectors."""

import contextlib
import json
import subprocess
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TextIO, TypeAlias

from attrs import field, frozen
from returns.result import Failure

from loopcore.codec import from_json, to_json
from loopcore.config import LoopConfig
from loopcore.effects import Effect
from loopcore.frozen import EMPTY, Json, dump_json, freeze
from loopcore.inputs import Input
from loopcore.reducer import Effects, advance
from loopcore.runtime.outcome import spoken
from loopcore.state import Rejected, State
from loopcore.testing.differences import differences, lines
from loopcore.testing.vectors.file import SHIPPED, Vector, Vectors
from loopcore.testing.vectors.form import (
    Form,
    digest_of,
    digests_of,
    effects_of,
    fields_of,
    worded,
)

__all__ = ["SHIPPED", "Came", "Report", "Vector", "Vectors", "check", "reducer"]

Step: TypeAlias = Callable[
    [LoopConfig[Any], State, Input, float | None], tuple[State, Effects] | Rejected
]
"""What is to be proven: the state after an input and what it wants, or the refusal."""


@frozen
class Came:
    """What came of a step: a refusal's kind, or the state after it and its effects."""

    refused: str = ""
    state: State | None = None
    effects: Mapping[str, Json] = EMPTY


Port: TypeAlias = Callable[[Vector, Form], Came]


@frozen
class Wrong:
    """A vector that is not met: its id, and what differs."""

    id: str
    differs: tuple[str, ...]


@frozen(repr=False)
class Report:
    """What checking came to."""

    vectors: int
    wrong: tuple[Wrong, ...] = field(default=())

    def __repr__(self) -> str:
        met = self.vectors - len(self.wrong)
        told = [f"{met} of {self.vectors} vectors are met"]
        for wrong in self.wrong[:SHOWN]:
            told += [wrong.id, *(f"  {line}" for line in wrong.differs)]
        more = len(self.wrong) - SHOWN
        return "\n".join([*told, f"... and {more} more"] if more > 0 else told)


SHOWN: Final = 10
"""How many vectors that are not met are told of."""


def reducer(
    config: LoopConfig[Any], state: State, given: Input, at: float | None
) -> tuple[State, Effects] | Rejected:
    """The step of loopcore's own reducer."""
    moved = advance(config, state, given, at=at)
    return moved.failure() if isinstance(moved, Failure) else moved.unwrap()


def check(step: Step = reducer, vectors: Vectors | None = None) -> Report:
    """Whether a step of one's own does what the vectors say: by default the shipped ones.

    The step is a function of a configuration, a state, an input and its time. What it
    raises is told as a difference.
    """
    return checked(_called(step), vectors or Vectors.read())


def _called(step: Step) -> Port:
    def ask(vector: Vector, form: Form) -> Came:
        came = step(form.config(), vector.state, vector.input, vector.at)
        if isinstance(came, Rejected):
            return Came(came.kind)
        state, effects = came
        return Came("", state, effects_of(effects))

    return ask


def checked(port: Port, vectors: Vectors) -> Report:
    """Whether a port does what the vectors say."""
    wrong: list[Wrong] = []
    for vector in vectors.steps:
        differs = tuple(_differs(port, vector, vectors.configs[vector.config]))
        if differs:
            wrong.append(Wrong(vector.id, differs))
    return Report(len(vectors.steps), tuple(wrong))


def _differs(port: Port, vector: Vector, form: Form) -> Iterator[str]:
    """What differs, in lines."""
    try:
        came = port(vector, form)
    except Silent:
        raise
    except Exception as problem:  # noqa: BLE001  # it is what is being proven
        yield f"it raised {spoken(problem)}"
        return
    if came.refused != vector.refused:
        yield f"refused: expected {vector.refused or 'no'}, came {came.refused or 'no'}"
    if came.state is None or vector.refused:
        return
    yield from _other_state(vector, form, came.state)
    yield from _other_effects(vector, came.effects)


def _other_state(vector: Vector, form: Form, state: State) -> Iterator[str]:
    now = digests_of(state)
    if digest_of(now) == vector.digest:
        return
    wanted = {**digests_of(vector.state), **vector.changed}
    fields = wanted.keys() | now.keys()
    names = {name for name in fields if wanted.get(name, "") != now.get(name, "")}
    yield f"the state differs in {', '.join(sorted(names))}"
    own = _called(reducer)(vector, form).state
    if own is not None and digest_of(digests_of(own)) == vector.digest:
        then, came = fields_of(own), fields_of(state)
        for name in sorted(names):
            found = differences(then.get(name), came.get(name), name)
            yield from lines(found, 3, *SIDES)


SIDES: Final = ("expected", "came")


def _other_effects(vector: Vector, came: Mapping[str, Json]) -> Iterator[str]:
    """What is told is compared if anything is told."""
    names = ("perform", "cancel", *(["tell"] if came.get("tell") else []))
    wanted = {name: vector.effects.get(name, ()) for name in names}
    found = {name: came.get(name, ()) for name in names}
    pair = freeze(worded(wanted)), freeze(worded(found))
    yield from lines(differences(*pair, "effects"), 5, *SIDES)


# A port that is a program: one JSON line in, one JSON line out.


class Silent(Exception):
    """A program that gives no answer."""


@contextlib.contextmanager
def program(command: Sequence[str]) -> Generator[Port]:
    """A program that is asked for each step: see `serve` for what it is told and tells.

    Raises:
        OSError: if it cannot be started.
    """
    process = subprocess.Popen(  # noqa: S603  # whoever calls names it
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    )
    asked, told = process.stdin, process.stdout
    assert asked is not None  # noqa: S101  # it was asked for
    assert told is not None  # noqa: S101  # as above

    def ask(vector: Vector, form: Form) -> Came:
        with contextlib.suppress(BrokenPipeError):
            print(dump_json(question(vector, form)), file=asked, flush=True)
        line = told.readline()
        if not line:
            message = f"the program ended at vector {vector.id!r}"
            raise Silent(message)
        return answered(json.loads(line))

    try:
        yield ask
    finally:
        with contextlib.suppress(BrokenPipeError):
            asked.close()
        told.close()
        process.wait()


def question(vector: Vector, form: Form) -> dict[str, Json]:
    """What a program is told of a step."""
    return {
        "id": vector.id,
        "config": to_json(form),
        "state": to_json(vector.state),
        "input": to_json(vector.input, Input),
        "at": vector.at,
    }


def answered(data: Mapping[str, Json]) -> Came:
    """What a program tells of it; read strictly, as a saved state is.

    Raises:
        DecodeError: for what is none.
    """
    if "refused" in data:
        return Came(str(data["refused"]))
    told = data.get("effects", {})
    performed = [from_json(Effect, one) for one in told.get("perform", ())]
    effects = {**told, "perform": [to_json(one, Effect) for one in performed]}
    return Came("", from_json(State, data["state"]), effects)


def serve(asked: Iterable[str], told: TextIO) -> None:
    """The reducer as a program: a question a line, and a line for each answer.

    A question has the configuration, the state, the input and its time; an answer the
    state after it and its effects, or `{"refused": kind}`.
    """
    for line in asked:
        data = json.loads(line)
        form: Form = from_json(Form, data["config"])
        state: State = from_json(State, data["state"])
        given: Input = from_json(Input, data["input"])
        came = reducer(form.config(), state, given, data["at"])
        print(dump_json(_answer(came)), file=told, flush=True)


def _answer(came: tuple[State, Effects] | Rejected) -> dict[str, Json]:
    if isinstance(came, Rejected):
        return {"refused": came.kind}
    state, effects = came
    return {"state": to_json(state), "effects": effects_of(effects)}
