"""Asking hooks in a process of its own, whose strings are hashed by another seed."""

import json
import pickle
import sys
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from threading import Lock, RLock
from typing import IO, Any, Final, NoReturn, TypeAlias

from loopcore.hooks.fold import fold
from loopcore.runtime.model import Model
from loopcore.runtime.purity import Lookout, Returned, blame, returned, worlds
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


def lock_of() -> Any:  # noqa: ANN401  # it has no name of its own
    """A lock that nobody holds."""
    return Lock()


def rlock_of() -> Any:  # noqa: ANN401  # as above
    """The same, that its holder may take again."""
    return RLock()


Watched: TypeAlias = tuple[str | None, str, str]
"""What a hook said (None if it is not there), what else it did, and by which calls."""


def _said(hook: Any, point: Any, view: Any) -> str:  # noqa: ANN401  # as they were packed
    folded = fold((hook,), point, view)
    if folded.fault:
        return said_text({"fault": folded.fault.sentence})
    answer = folded.need[1] if folded.need else folded.update
    return said_text(returned(point, answer))


def _watched(hook: Any, point: Any, view: Any) -> Watched:  # noqa: ANN401  # as above
    """What a hook says, what it does that it may not, and by which calls.

    Here nothing is remembered yet: what a cache kept from the watch over there, it does
    not keep from this one. The first call may read files, as a time zone does once.
    """
    with Lookout(hook.functions[point], around=False) as watch:
        said = _said(hook, point, view)
    found = [reach for reach in watch.found if reach.world not in ONCE]
    return said, worlds(found), blame(found) if found else ""


ONCE: Final = frozenset(("I/O", "global state"))
"""Worlds that a first call may reach: for a file of time zones, and a cache."""


WATCHED: Final = 4
"""So many views of a hook at a point are watched: what it keeps, it keeps at the first."""


def _unwatched(hook: Any, point: Any, view: Any) -> Watched:  # noqa: ANN401  # as above
    return _said(hook, point, view), "", ""


def _asked(packed: bytes) -> object:
    """What these hooks say, or why they cannot be asked.

    Each hook by itself: one that cannot be loaded says why, in place of its answers.
    """
    try:
        path, hooks, views, asks = pickle.loads(packed)  # noqa: S301  # packed by this very program
        sys.path[:] = path
        loaded = [_loaded(hook) for hook in hooks]
        shown = pickle.loads(views)  # noqa: S301  # as above
    except Exception as problem:  # noqa: BLE001  # whatever loading them does
        return f"{type(problem).__name__}: {problem}"
    lost = {n: hook for n, hook in enumerate(loaded) if isinstance(hook, str)}
    said: list[Watched] = []
    times: Counter[tuple[int, str]] = Counter()
    for n, point, view in asks:
        times[n, point] += 1
        say = _watched if times[n, point] <= WATCHED else _unwatched
        said.append((None, "", "") if n in lost else say(loaded[n], point, shown[view]))
    return {"said": said, "lost": list(lost.items())}


def _loaded(hook: bytes) -> Any:  # noqa: ANN401  # a hook, or why it is none
    try:
        return pickle.loads(hook)  # noqa: S301  # packed by this very program
    except Exception as problem:  # noqa: BLE001  # whatever loading it does
        return f"{type(problem).__name__}: {problem}"


def _ordered(texts: list[list[str]]) -> object:
    """The order that these texts have in a set here."""
    return [list(set(some)) for some in texts]


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
ORDER: Final = b"?"
"""What begins a question about the order of texts; no pickle begins so."""


def main() -> None:
    """Read hooks and views, and write what the hooks say, until nobody asks any more."""
    asks, tells = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # where hooks print to
    with suppress(EOFError):
        while True:
            asked = receive(asks)
            said = (
                _ordered(json.loads(asked[1:])) if asked[:1] == ORDER else _asked(asked)
            )
            send(tells, json.dumps(said).encode())
