"""A port that is a program: it is asked a line of JSON, and answers each with one."""

import contextlib
import json
import subprocess
from collections.abc import Generator, Iterable, Sequence
from typing import Final, TextIO

from attrs import frozen

from loopcore.codec import from_json, to_json
from loopcore.effects import Effect
from loopcore.frozen import Json, dump_json
from loopcore.inputs import Input
from loopcore.reducer import Effects
from loopcore.state import Rejected, State
from loopcore.testing.differences import clipped
from loopcore.testing.vectors.conform import (
    Came,
    Moved,
    NoAnswer,
    Port,
    Refused,
    Silent,
    reducer,
)
from loopcore.testing.vectors.file import Vector
from loopcore.testing.vectors.form import Form, effects_of


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
        return answered(line)

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


@frozen
class Told:
    """What a program says that it wants, and what happened."""

    perform: tuple[Effect, ...] = ()
    cancel: tuple[str, ...] = ()
    tell: tuple[str, ...] | None = None


@frozen
class Stepped:
    """What a program says of a step that it takes."""

    state: State
    effects: Told


def answered(line: str | bytes) -> Came:
    """What a program says in a line; read strictly, as a saved state is.

    Raises:
        NoAnswer: with the line, and what is wrong with it.
    """
    try:
        return _read(_parsed(line))
    except ValueError as problem:  # what is no JSON, and what is no record
        message = f"it answered {clipped(_text(line))}: {problem}"
        raise NoAnswer(message) from None


def _read(data: dict[str, Json]) -> Came:
    if "refused" in data:
        return _refused(data)
    stepped: Stepped = from_json(Stepped, data)
    told = stepped.effects
    effects: dict[str, Json] = {
        "perform": [to_json(one, Effect) for one in told.perform],
        "cancel": told.cancel,
    }
    if told.tell is not None:
        effects["tell"] = told.tell
    return Moved(stepped.state, effects)


def _refused(data: dict[str, Json]) -> Refused:
    kind = data["refused"]
    if not isinstance(kind, str) or not kind:
        raise NoAnswer(BLANK.format(kind))
    if data.keys() != {"refused"}:
        raise NoAnswer(BOTH)
    return Refused(kind)


BLANK: Final = (
    "`refused` is {!r:.80}; it is the kind of a refusal, a text, and is left out where "
    "nothing is refused"
)
BOTH: Final = (
    "it says both that it refuses the input and what comes of it; a refusal is alone"
)


def _parsed(line: str | bytes) -> dict[str, Json]:
    try:
        text = line if isinstance(line, str) else line.decode()
        data = json.loads(
            text, parse_constant=_no_constant, object_pairs_hook=_without_twins
        )
    except UnicodeDecodeError as problem:
        message = f"that is no UTF-8 ({problem.reason} at byte {problem.start})"
        raise NoAnswer(message) from None
    except json.JSONDecodeError as problem:
        message = f"that is no JSON ({problem})"
        raise NoAnswer(message) from None
    if not isinstance(data, dict):
        raise NoAnswer(NO_OBJECT)
    return data  # pyright: ignore[reportUnknownVariableType]  # of anything


NO_OBJECT: Final = "a line holds one object"


def _no_constant(name: str) -> Json:
    message = f"{name} is no JSON"
    raise NoAnswer(message)


def _without_twins(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, value in pairs:
        if name in found:
            message = f"{name!r} is there twice in one object"
            raise NoAnswer(message)
        found[name] = value
    return found


def _text(line: str | bytes) -> str:
    text = line if isinstance(line, str) else line.decode(errors="backslashreplace")
    return text.rstrip("\r\n")


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
    told = {"tell": (), **effects_of(effects)}
    return {"state": to_json(state), "effects": told}
