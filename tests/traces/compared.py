"""A trace as what of it can be compared: recorded, modelled or played."""

from typing import Final

from loopcore.frozen import Json
from tests.traces import tables
from tests.traces.records import message, sendable, texts

OURS: Final = (
    "before_tool_call",
    "after_tool_call",
    "prepare_next_turn",
    "should_stop_after_turn",
    "transform_context",
)
"""The hooks that both have; T11: polls and projection are none of ours."""


def compared(trace: Json, scenario: Json) -> Json:
    """What loopcore has too: no polls, no deltas; wording as tokens; requests as sent."""
    given = texts(scenario)
    return _strict(
        {
            "end": _end(trace["end"], given),
            "new_messages": [_said(row, given) for row in trace["new_messages"]],
            "requests": [_request(row, given) for row in trace["requests"]],
            "tool_runs": trace["tool_runs"],
            "tool_ends": trace.get("tool_ends") or _ends(trace),
            "hooks": [_hook(row) for row in trace["hooks"] if row["hook"] in OURS],
            "events": [e for row in trace["events"] if (e := _event(row))],
            "order": [name for name in trace["order"] if _is_ours(name)],
        }
    )


def _strict(value: Json) -> Json:
    """Plain lists and dicts, in which true is not 1, though 3 is 3.0."""
    match value:
        case dict():
            return _strict_object(value)
        case list() | tuple():
            return _strict_list(value)
        case bool():
            return f"<{value}>"
        case _:
            return value


def _strict_object(value: Json) -> Json:
    return {key: _strict(value[key]) for key in value}


def _strict_list(value: Json) -> Json:
    return [_strict(item) for item in value]


def _end(end: Json, given: frozenset[str]) -> Json:
    kept = {key: value for key, value in end.items() if key != "agent_end"}
    return {**kept, "error": end["error"] if end["error"] in given else None}


def _said(row: Json, given: frozenset[str]) -> Json:
    """A message without the wording that an engine invented."""
    if row.get("error_message") in (None, *given):
        return row
    return {key: value for key, value in row.items() if key != "error_message"}


def _request(row: Json, given: frozenset[str]) -> Json:
    return {**row, "messages": sendable(map(message, row["messages"]), given)}


def _ends(trace: Json) -> list[Json]:
    """The ends of calls, which a recording has among its events."""
    ended = [row for row in trace["events"] if row["event"] == "tool_end"]
    rows = [{k: v for k, v in row.items() if k != "event"} for row in ended]
    return [{**row, "details": row["details"] or None} for row in rows]


def _hook(row: Json) -> Json:
    """A hook call; the fields it wrote have no order."""
    lists = {key: sorted(row[key]) for key in ("update", "override") if key in row}
    return {**row, **lists}


def _event(row: Json) -> Json | None:
    match row["event"]:
        case "agent_start" | "agent_end" | "turn_end":
            return row
        case "message_end":
            return tables.message_end(row)
        case _:
            return None


def _is_ours(name: str) -> bool:
    kind, _, rest = name.partition(":")
    if kind == "hook":
        return rest.partition(":")[0] in OURS
    return kind in ("request", "run", "ran")
