"""A port that is a program: it is asked a line of JSON, and answers each with one."""

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Generator, Iterable, Sequence
from queue import Empty, SimpleQueue
from typing import Final, TextIO

from attrs import define, field, frozen

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
    Refused,
    Silent,
    reducer,
)
from loopcore.testing.vectors.file import Vector
from loopcore.testing.vectors.form import Form, effects_of

LIMIT: Final = 10.0
"""How many seconds a program has for an answer, and to end when it is asked no more."""

LONGEST: Final = 16 * 2**20
"""How many bytes an answer may have."""

AT_ONCE: Final = 1.0
"""How many seconds what has been ended may take to be gone."""


@contextlib.contextmanager
def program(command: Sequence[str], limit: float = LIMIT) -> "Generator[Program]":
    """A program that is asked for each step: see `serve` for what it is told and tells.

    Raises:
        OSError: if it cannot be started.
    """
    process = subprocess.Popen(  # noqa: S603  # whoever calls names it
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,  # so that what it starts can be ended with it
    )
    asked = Program(process, limit)
    try:
        yield asked
        asked.finish()
    finally:
        asked.end()


@frozen
class Unasked:
    """A line that no question asked for."""

    line: bytes


@define(eq=False)
class Program:
    """A port that runs: it is written to and read from by two threads of their own.

    So nobody waits for a pipe that the other side does not empty. Afterwards `note` says
    what was odd about its end, and `surplus` what it said that nobody had asked for.
    """

    process: "subprocess.Popen[bytes]"
    limit: float
    note: str = ""
    surplus: str = ""
    questions: int = field(default=0, init=False)
    lines: int = field(default=0, init=False)
    ended: bool = field(default=False, init=False)
    asked: "SimpleQueue[bytes | None]" = field(
        factory=SimpleQueue["bytes | None"], init=False
    )
    told: "SimpleQueue[bytes | Unasked]" = field(
        factory=SimpleQueue["bytes | Unasked"], init=False
    )

    threads: tuple[threading.Thread, ...] = field(default=(), init=False)

    def __attrs_post_init__(self) -> None:
        self.threads = tuple(
            threading.Thread(target=work, daemon=True)
            for work in (self._write, self._read)
        )
        for thread in self.threads:
            thread.start()

    def __call__(self, vector: Vector, form: Form) -> Came:
        """What it answers.

        Raises:
            Silent: if no answer comes, or more than one.
            NoAnswer: for what is none.
        """
        # Before it is asked: what has been said by now is no answer to it.
        self.questions += 1
        self.asked.put(f"{dump_json(question(vector, form))}\n".encode())
        match self._next(self.limit):
            case None:
                raise self._silent(SLOW.format(vector.id, self.limit))
            case Unasked(line):
                raise self._silent(MORE.format(_brief(line)))
            case b"":
                raise self._silent(ENDED.format(vector.id, self._status()))
            case line if len(line) > LONGEST:
                raise self._silent(TOO_LONG.format(vector.id, LONGEST))
            case line:
                return answered(line)

    def _next(self, limit: float) -> bytes | Unasked | None:
        try:
            return self.told.get(timeout=limit)
        except Empty:
            return None

    def _silent(self, why: str) -> Silent:
        self.end()
        return Silent(why)

    def _status(self) -> str:
        try:
            return f"with status {self.process.wait(AT_ONCE)}"
        except subprocess.TimeoutExpired:
            return "that is, it closed its output"

    def finish(self) -> None:
        """Let it end, and say so if it does not, or has said too much."""
        if self.ended:
            return
        self.asked.put(None)
        try:
            self.process.wait(self.limit)
        except subprocess.TimeoutExpired:
            self.note = STAYS.format(self.limit)
            return
        more = self._next(AT_ONCE)
        if isinstance(more, Unasked):
            self.surplus = MORE.format(_brief(more.line))

    def end(self) -> None:
        """End it, and what it has started, also if it has ended before that.

        With nobody at their other ends the pipes are closed, each by its own thread. Only
        what a program has started in a session of its own can keep one of them open.
        """
        if self.ended:
            return
        self.asked.put(None)
        self._kill()
        self.process.wait()
        for thread in self.threads:
            thread.join(AT_ONCE)
        self.ended = True

    def _kill(self) -> None:
        """Its number stays its group's for as long as anybody is left in that."""
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
            else:
                self.process.kill()

    # What each thread does.

    def _write(self) -> None:
        pipe = self.process.stdin
        assert pipe is not None  # noqa: S101  # it was asked for
        with contextlib.suppress(OSError), pipe:
            while (line := self.asked.get()) is not None:
                pipe.write(line)
                pipe.flush()

    def _read(self) -> None:
        """Hand on each line; stop at the end, and at the first that nobody asked for."""
        pipe = self.process.stdout
        assert pipe is not None  # noqa: S101  # as above
        with pipe:
            while self._hands_on(pipe.readline(LONGEST + 1)):
                pass

    def _hands_on(self, line: bytes) -> bool:
        """Hand this line on; whether the next one is to be read."""
        self.lines += 1
        unasked = line and self.lines > self.questions
        self.told.put(Unasked(line) if unasked else line)
        return bool(line) and not unasked


SLOW: Final = (
    "the program gave no answer to vector {!r} within {:g} s, and was ended; "
    "--timeout SECONDS gives it longer"
)
TOO_LONG: Final = "the program answered vector {!r} with a line of more than {} bytes"
ENDED: Final = "the program ended at vector {!r}, {}"
MORE: Final = "the program said more than one line for a question: {}"
STAYS: Final = (
    "the program did not end within {:g} s after its input had, and was ended"
)


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


def _brief(line: bytes) -> str:
    return clipped(_text(line))


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
