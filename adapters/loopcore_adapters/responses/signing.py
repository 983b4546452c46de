"""What the provider must get back with a part, as the signature of the part.

* Of a thought it is the whole item, as JSON: who made it can read what is encrypted in it.
* Of a text it is the id and the phase of its message, as JSON, and that it is a refusal.
* Of a call it is the id of the item alone; `ToolCall.id` is the one that results name.

A signature that is of no such form was made over another wire, and is none here.
"""

import re
from collections.abc import Mapping
from typing import Final

from attrs import frozen

from loopcore import Text, Thinking, ToolCall
from loopcore_adapters.flow import mend
from loopcore_adapters.loose import Json, dump, items, members, parse, text

PHASES: Final = ("commentary", "final_answer")
"""What a message can be in a reply that goes on; models want it back on every message."""

LONGEST_ID: Final = 64
"""How many characters the id of an item may have."""

_THOUGHT: Final = re.compile(r'\{"type":"reasoning"(?:,"id":("(?:[^"\\]|\\.)*"))?[,}]')
_MESSAGE_ID: Final = re.compile(r"msg_[A-Za-z0-9_-]{1,60}")
_CALL_ID: Final = re.compile(r"fc_[A-Za-z0-9_-]{1,61}")


def thought(said: Mapping[str, Json]) -> str | None:
    """The signature of a thought, if it can be given back."""
    if not readable(said):
        return None
    first = {name: said[name] for name in ("type", "id") if name in said}
    kept = {name: value for name, value in said.items() if name != "status"}
    return mend(dump({**first, "summary": [], **kept}))


def readable(said: Mapping[str, Json]) -> bool:
    """Whether a server that keeps nothing can read the thought."""
    told = (text(members(entry).get("text")) for entry in items(said.get("content")))
    return bool(text(said.get("encrypted_content")) or any(told))


def words(
    said: Mapping[str, Json], *, refusal: bool = False, linked: bool = True
) -> str | None:
    """The signature of a text. Its id goes back beside a thought, and serves nothing else."""
    found = {
        "id": text(said.get("id")) if linked else "",
        "phase": text(said.get("phase")),
        "refusal": refusal,
    }
    kept = {name: value for name, value in found.items() if value}
    return mend(dump(kept)) if kept else None


def call(said: Mapping[str, Json], *, linked: bool = True) -> str | None:
    """The signature of a call. It goes back beside a thought, and serves nothing else."""
    return mend(text(said.get("id"))) or None if linked else None


@frozen
class Voice:
    """What a text's signature says of its message."""

    id: str = ""
    phase: str = ""
    refusal: bool = False


def voice(part: Text) -> Voice:
    """What the signature says; nothing if there is none of this wire."""
    found = _parsed(part.signature)
    message_id, phase = text(found.get("id")), text(found.get("phase"))
    return Voice(
        message_id if _MESSAGE_ID.fullmatch(message_id) else "",
        phase if phase in PHASES else "",
        found.get("refusal") is True,
    )


def item_id(part: ToolCall) -> str:
    """The id of the call's item; empty if the signature is none of this wire."""
    found = part.signature or ""
    return found if _CALL_ID.fullmatch(found) else ""


def thought_id(part: Thinking) -> str | None:
    """The id of a thought, as JSON; None if its signature is none of this wire.

    Only the beginning is looked at: what is encrypted may be long.
    """
    found = _THOUGHT.match(part.signature or "")
    return (found[1] or "") if found else None


def item(part: Thinking) -> dict[str, Json]:
    """The item of the thought; empty if it cannot be given back."""
    written = thought_id(part)
    found = _parsed(part.signature)
    if written is None or parse(written or "null") != found.get("id"):
        return {}  # not as it is written here: its id would be overlooked
    return found if _is_sound(found) and readable(found) else {}


def _is_sound(found: Mapping[str, Json]) -> bool:
    """Whether a server would take it: history may have been edited."""
    named = found.get("id", "rs")
    texts = ("summary", "summary_text"), ("content", "reasoning_text")
    entries = [
        members(entry).get("type") == kind and isinstance(entry.get("text"), str)
        for field, kind in texts
        for entry in items(found.get(field))
    ]
    listed = isinstance(found.get("summary"), list)
    return listed and all(entries) and 0 < len(text(named)) <= LONGEST_ID


def _parsed(signature: str | None) -> dict[str, Json]:
    try:
        return members(parse(signature or "null"))
    except ValueError:
        return {}
