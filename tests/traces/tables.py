"""What a scenario's tables say, and the rows of a trace. Both engines read them here."""

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeVar

from loopcore import CustomMessage
from loopcore.frozen import Json

M = TypeVar("M")

LISTS: Final = ("hooks", "requests", "tool_runs", "tool_ends", "events", "order")
NONE: Final[Json] = {}
PAST_THE_END: Final = {
    "content": [{"type": "text", "text": "(end of script)"}],
    "stop_reason": "stop",
}


def reply(scenario: Json, number: int) -> Json:
    """How this request is answered."""
    replies = scenario["replies"]
    return replies[number] if number < len(replies) else PAST_THE_END


def tool(scenario: Json, name: str) -> Json:
    """The first tool of this name, empty if there is none."""
    return next((tool for tool in scenario["tools"] if tool["name"] == name), NONE)


def outcome(scenario: Json, name: str, call_id: str) -> Json:
    """What a tool does in this call; a raised error is its text."""
    table = tool(scenario, name)
    found = table.get("by_call", NONE).get(call_id, table["default"])
    error = found.get("raises")
    said = found.get("content")
    if error and said is None:
        said = [{"type": "text", "text": _text(error)}]
    return {
        "content": said or [],
        "details": found.get("details") or None,
        "is_error": bool(error) or found.get("is_error", False),
        "raises": bool(error),
        "terminate": found.get("terminate", False),
        "delay_ms": found.get("delay_ms", 0),
    }


def _text(error: Json) -> str:
    return f"<panicked> {error['message']}" if error.get("panic") else error["message"]


def prepared(rule: Json, arguments: Json) -> dict[str, Json]:
    """Raw arguments, renamed and filled."""
    renames = rule.get("rename", NONE)
    renamed = {renames.get(key, key): value for key, value in arguments.items()}
    return {**rule.get("defaults", NONE), **renamed}


def decided(scenario: Json, hook: str, call_id: str, name: str) -> Json:
    """What a hook of a call decides: the entry of the call wins over the tool's."""
    table = scenario["hooks"][hook]
    by_tool = table.get("tools", NONE).get(name, NONE)
    return table.get("calls", NONE).get(call_id, by_tool)


def raised(scenario: Json, hook: str, number: int) -> str:
    """What this call of a hook raises, empty if it does not."""
    bug = scenario.get("raise", NONE)
    here = bool(bug) and (bug["hook"], bug["at"]) == (hook, number)
    return bug["message"] if here else ""


def stops(rule: Json, turn: int, new: int) -> bool:
    """Whether the run is to stop after this turn."""
    most = rule.get("max_new_messages")
    return turn in rule.get("turns", ()) or (most is not None and new > most)


def transformed(
    rule: Json, context: Iterable[M], summary: Callable[[str], M]
) -> list[M]:
    """What one request shows of the context."""
    history = list(context)
    kind, k = rule["kind"], rule.get("k", 0)
    over = len(history) - k
    if kind == "keep_last":
        return history[max(over, 0) :]
    if kind == "drop_custom":
        return [said for said in history if not _is_custom(said)]
    if kind == "summarise" and over > 0:
        return [summary(f"[summary of {over}]"), *history[over:]]
    return history


def _is_custom(said: Any) -> bool:  # a record or a row
    if isinstance(said, dict):
        return bool(said["role"] == "custom")  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(said, CustomMessage)


def drain(scenario: Json, key: str) -> Literal["one", "all"]:
    """How much one poll of a queue takes."""
    return "all" if scenario.get(key) == "all" else "one"


# The rows of a trace.


def empty_trace() -> dict[str, list[Json]]:
    """Rows to append to."""
    return {name: [] for name in LISTS}


def note_hook(
    rows: dict[str, list[Json]], hook: str, row: Json, call_id: str | None
) -> None:
    """A hook call, and its place in the merged order."""
    rows["hooks"].append({"hook": hook, **row})
    rows["order"].append(
        f"hook:{hook}" if call_id is None else f"hook:{hook}:{call_id}"
    )


def message_end(said: Json) -> Json:
    """The event that a message was stored."""
    return {
        "event": "message_end",
        "role": said["role"],
        "call_id": said.get("call_id"),
    }


def turn_end(said: Json, results: Iterable[Json]) -> Json:
    """The event that a turn is over."""
    return {
        "event": "turn_end",
        "stop_reason": said and said["stop_reason"],
        "calls": calls(said),
        "results": [
            {key: row[key] for key in ("call_id", "is_error")} for row in results
        ],
    }


def calls(said: Json) -> list[str]:
    """The ids of a reply's calls."""
    content = said["content"] if said else ()
    return [block["id"] for block in content if block["type"] == "tool_call"]
