"""A saved state: its envelope, and how it refers to its own transcript.

A run's own messages, and those of a request that waits, are mostly the transcript's. They
are written as references to it, which makes a waiting state about as large as its
transcript.
"""

import json
from typing import Final, TypeAlias

from attrs import frozen
from returns.result import Failure, Success

from loopcore.codec import (
    Code,
    DecodeError,
    Stored,
    as_array,
    as_object,
    from_json,
    to_json,
)
from loopcore.effects import CallModel, Effect
from loopcore.frozen import (
    EMPTY,
    FrozenDict,
    Json,
    clean,
    dump_json,
    evolve,
    refuse_constant,
)
from loopcore.messages import Message, transcript
from loopcore.sound import refuse_unsound
from loopcore.state import State

Loaded: TypeAlias = Success[State] | Failure[DecodeError]

FORMAT: Final = "loopcore.state"
OLDEST: Final = 1
NEWEST: Final = 1
NONE: Final = transcript()


def dumps(state: State) -> bytes:
    """The state as JSON text, in an envelope that names the format and its version."""
    saved = {"format": FORMAT, "version": NEWEST, "state": to_json(state)}
    return clean(dump_json(saved)).encode()


def loads(data: bytes | str) -> Loaded:
    """The state that was saved, or what is wrong with it and where."""
    try:
        return Success(from_json(State, _opened(_parsed(data))))
    except DecodeError as problem:
        return Failure(problem)


def _parsed(data: bytes | str) -> Json:
    try:
        return json.loads(data, parse_constant=refuse_constant)
    except RecursionError:
        raise DecodeError("", "is nested too deeply") from None
    except ValueError as problem:
        raise DecodeError("", f"is not JSON: {problem}") from None


@frozen
class Envelope:
    """What a saved state is wrapped in."""

    format: str
    version: int


def _opened(saved: Json) -> Json:
    """What the envelope holds."""
    if not isinstance(saved, dict) or as_object(saved).get("format") != FORMAT:
        raise DecodeError("", f'is not a saved state: it has no "format": "{FORMAT}"')
    wrapping = as_object(saved)
    held = wrapping.pop("state", None)
    version = from_json(Envelope, wrapping).version
    if not OLDEST <= version <= NEWEST:
        raise DecodeError("", _unreadable(version))
    return held


def _unreadable(version: int) -> str:
    reads = f"this loopcore reads {OLDEST} to {NEWEST}"
    advice = " Upgrade loopcore." if version > NEWEST else ""
    return f"was written in state format {version}; {reads}.{advice}"


# The form of a state: see `loopcore.codec.special`.

REFERRING: Final = frozenset(("new", "pending"))


def pack(state: State, plain: Code) -> dict[str, Json]:
    """The state, with references to its transcript."""
    data: dict[str, Json] = plain(evolve(state, new=NONE, pending=EMPTY))
    stored = Stored(Message, state.transcript)
    if state.new:
        data["new"] = stored.refer(state.new)
    if state.pending:
        data["pending"] = [_packed(stored, e) for e in state.pending.values()]
    return data


def unpack(data: Json, plain: Code) -> State:
    """The state that was packed, if a run can go on from it."""
    given = as_object(data)
    state: State = plain({k: v for k, v in given.items() if k not in REFERRING})
    stored = Stored(Message, state.transcript)
    state = evolve(
        state,
        new=stored.expand(given.get("new", ()), "new"),
        pending=_pending(stored, given.get("pending", ())),
    )
    refuse_unsound(state)
    return state


def _packed(stored: Stored, effect: Effect) -> Json:
    if not isinstance(effect, CallModel):
        return to_json(effect, Effect)
    bare = to_json(evolve(effect, messages=NONE), Effect)
    return {**bare, "messages": stored.refer(effect.messages)}


def _pending(stored: Stored, data: Json) -> FrozenDict[Effect]:
    found: dict[str, Effect] = {}
    for n, given in enumerate(as_array(data, "pending")):
        path = f"pending[{n}]"
        effect = _unpacked(stored, given, path)
        if effect.id in found:
            raise DecodeError(path, f"has the id of another effect, {effect.id!r}")
        found[effect.id] = effect
    return FrozenDict(found)


def _unpacked(stored: Stored, data: Json, path: str) -> Effect:
    given = as_object(data, path)
    if given.get("type") != "CallModel" or "messages" not in given:
        effect: Effect = from_json(Effect, given, path)
        return effect
    bare: CallModel = from_json(Effect, {**given, "messages": ()}, path)
    shown = stored.expand(given["messages"], f"{path}.messages")
    return evolve(bare, messages=shown)
