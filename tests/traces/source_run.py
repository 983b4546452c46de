"""A run of the source engine: where it stands, and what is told of it."""

from collections import Counter
from collections.abc import Collection, Sequence

from attrs import define, field

from loopcore.frozen import Json
from tests.traces import tables


class HookRaised(Exception):
    """A hook of the scenario raises here."""


class Aborted(Exception):
    """The run ends where it was cancelled."""


def _queues() -> dict[str, list[Json]]:
    return {"steering": [], "follow_ups": []}


def _no_messages() -> list[Json]:
    return []


def _no_polls() -> Counter[str]:
    return Counter()


@define
class Engine:
    """A run of the source engine, with the T rows that are decided."""

    scenario: Json
    decided: Collection[str]
    context: list[Json]
    settings: dict[str, Json]
    new: list[Json] = field(factory=_no_messages)
    queues: dict[str, list[Json]] = field(factory=_queues)
    polls: Counter[str] = field(factory=_no_polls)
    clock: int = 0
    cancelled: bool = False
    terminated: bool = False
    rows: dict[str, list[Json]] = field(factory=tables.empty_trace)

    def installed(self, hook: str) -> bool:
        """Whether the scenario has this hook."""
        return hook in self.scenario["hooks"]

    def called(self, hook: str, row: Json, call_id: str | None = None) -> None:
        """Note a hook call, which may be the one that raises."""
        tables.note_hook(self.rows, hook, row, call_id)
        number = sum(seen["hook"] == hook for seen in self.rows["hooks"]) - 1
        bug = tables.raised(self.scenario, hook, number)
        if bug:
            self.rows["hooks"][-1]["raised"] = True
            raise HookRaised(bug)

    def polled(self, hook: str, number: int) -> None:
        """A hook that loopcore has not, unless T11 says so, may raise too."""
        bug = tables.raised(self.scenario, hook, number)
        if bug and "T11" not in self.decided:
            raise HookRaised(bug)


def told(engine: Engine, *said: Json) -> None:
    """Messages as events."""
    engine.rows["events"] += map(tables.message_end, said)


def keep(engine: Engine, *said: Json) -> None:
    """Messages that requests to come show, and the run returns."""
    engine.context += said
    engine.new += said


def close(engine: Engine, reply: Json, results: Sequence[Json]) -> None:
    """The turn is over: its results are kept together."""
    messages = [result["message"] for result in results]
    keep(engine, *messages)
    engine.rows["events"].append(tables.turn_end(reply, messages))


def finish(engine: Engine, call: Json, result: Json) -> Json:
    """The result of a call, told; it is kept when its batch is over."""
    row = {"call_id": call["id"], "tool": call["name"], **result}
    engine.rows["tool_ends"].append(row)
    return _answered(engine, call, result)


def answer(engine: Engine, call: Json, text: str) -> Json:
    """A result that winding up makes: no hook sees it."""
    return _answered(engine, call, refused(text))


def refused(text: str) -> Json:
    """A result that no tool gave."""
    content = [{"type": "text", "text": text}]
    return {"content": content, "details": None, "is_error": True, "terminate": False}


def _answered(engine: Engine, call: Json, result: Json) -> Json:
    message = {
        "role": "tool_result",
        "call_id": call["id"],
        "tool": call["name"],
        "content": result["content"],
        "is_error": result["is_error"],
    }
    told(engine, message)
    return {"message": message, "terminate": result["terminate"]}
