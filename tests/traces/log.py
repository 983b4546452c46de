"""What was seen while a scenario is played through loopcore."""

from attrs import define, field

from loopcore import CallModel, Event, RunTool, State
from loopcore.events import MessageAdded, RunEnd, RunStart, TurnEnd
from loopcore.frozen import Json
from tests.traces import tables
from tests.traces.records import sendable, shown


class HookBug(Exception):
    """What a hook raises where the scenario says so."""


@define
class Running:
    """A tool that runs: when it is over, what asked for it, and its row in the trace."""

    over: int
    effect: RunTool
    row: Json


def _nothing_runs() -> list[Running]:
    return []


@define
class Log:
    """What was seen; `given` are the texts of the scenario itself."""

    scenario: Json
    given: frozenset[str]
    clock: int = 0
    running: list[Running] = field(factory=_nothing_runs)
    rows: dict[str, list[Json]] = field(factory=tables.empty_trace)

    def called(self, hook: str, row: Json, call_id: str | None = None) -> None:
        """A hook call; the one that the scenario names raises."""
        tables.note_hook(self.rows, hook, row, call_id)
        number = sum(seen["hook"] == hook for seen in self.rows["hooks"]) - 1
        bug = tables.raised(self.scenario, hook, number)
        if bug:
            self.rows["hooks"][-1]["raised"] = True
            raise HookBug(bug)

    def requested(self, effect: CallModel) -> None:
        """A model is asked."""
        number = len(self.rows["requests"])
        row = {
            "request": number,
            "model": effect.model,
            "thinking": effect.thinking,
            "system_prompt": effect.system,
            "messages": sendable(effect.messages, self.given),
            "tools": [spec.name for spec in effect.tools],
        }
        self.rows["requests"].append(row)
        self.rows["order"].append(f"request:{number}")

    def started(self, effect: RunTool) -> None:
        """A tool is started."""
        call = effect.call
        row = {
            "call_id": call.id,
            "tool": call.name,
            "args": effect.arguments,
            "start_ms": self.clock,
            "end_ms": None,
        }
        delay = tables.outcome(self.scenario, call.name, call.id)["delay_ms"]
        self.rows["tool_runs"].append(row)
        self.rows["order"].append(f"run:{call.id}")
        self.running.append(Running(self.clock + delay, effect, row))

    def told(self, state: State, event: Event) -> None:
        """An event, if the trace has one for it."""
        events = self.rows["events"]
        match event:
            case RunStart():
                events.append({"event": "agent_start"})
            case MessageAdded():
                events.append(tables.message_end(shown(event.message, self.given)))
            case TurnEnd():
                events.append(self._turn_end(event))
            case RunEnd():
                events.append({"event": "agent_end", "n": len(state.new)})
            case _:
                pass

    def _turn_end(self, event: TurnEnd) -> Json:
        reply = shown(event.message, self.given) if event.message else None
        return tables.turn_end(reply, [shown(r, self.given) for r in event.results])
