"""Asking hooks in a process of its own, whose strings are hashed by another seed."""

import json
import pickle
import sys
from contextlib import suppress
from functools import lru_cache
from typing import IO, Any, Final, NoReturn

from loopcore.hooks.fold import fold
from loopcore.runtime.model import Model
from loopcore.runtime.purity import Returned, returned
from loopcore.runtime.tool import Tool
from loopcore.tools import ToolSpec


def said_text(said: Returned) -> str:
    """What a hook said, as text: what is in another order is another text."""
    return ", ".join(f"{name}={value!r}" for name, value in said.items())


def _refuse(*_: object, **__: object) -> NoReturn:
    message = "a hook only gets the data of models and tools"
    raise RuntimeError(message)


def model_of(model_id: str) -> Model:
    """A model that cannot be called."""
    return Model(model_id, _refuse)


def tool_of(spec: ToolSpec) -> Tool:
    """A tool that cannot be run."""
    return Tool(spec, _refuse)


def cached_of(function: Any, parameters: Any) -> Any:  # noqa: ANN401  # as functools has them
    """A function that remembers, and remembers nothing yet."""
    return lru_cache(**parameters)(function)


def _said(hook: Any, point: Any, view: Any) -> str:  # noqa: ANN401  # as they were packed
    folded = fold((hook,), point, view)
    if folded.fault:
        return said_text({"fault": folded.fault.sentence})
    answer = folded.need[1] if folded.need else folded.update
    return said_text(returned(point, answer))


def _asked(packed: bytes) -> object:
    """What these hooks say, or why they cannot be asked."""
    try:
        path, hooks = pickle.loads(packed)  # noqa: S301  # packed by this very program
        sys.path[:] = path
        asked = pickle.loads(hooks)  # noqa: S301  # as above
        return [_said(hook, point, view) for hook, point, view in asked]
    except Exception as problem:  # noqa: BLE001  # whatever loading them does
        return f"{type(problem).__name__}: {problem}"


def send(stream: IO[bytes], data: bytes) -> None:
    """Write a message: its length, then itself."""
    stream.write(len(data).to_bytes(LENGTH, "big") + data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """The next message; EOFError if there is none."""
    size = int.from_bytes(_exactly(stream, LENGTH), "big")
    return _exactly(stream, size)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise EOFError
    return data


LENGTH: Final = 8


def main() -> None:
    """Read hooks and views, and write what the hooks say, until nobody asks any more."""
    asks, tells = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # where hooks print to
    with suppress(EOFError):
        while True:
            send(tells, json.dumps(_asked(receive(asks))).encode())
