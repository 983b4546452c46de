"""A scenario's tables as hooks that take notes."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from loopcore import Message, ToolSpec, UserMessage
from loopcore.frozen import Json
from loopcore.hooks import (
    UNSET,
    Block,
    ContextView,
    Hooks,
    RawCallUpdate,
    RawCallView,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from tests.traces import tables
from tests.traces.log import Log
from tests.traces.records import STOP_REASON, blocks, message, parts, result_blocks

Noted: TypeAlias = Callable[[Log, Any], Any]


def hooks(log: Log) -> list[Hooks]:
    """The installed hooks, and two that always are: one mends, one only looks."""
    names = (*log.scenario["hooks"], "prepare_tool_call", "after_tool_result")
    functions = {name: _bound(KNOWN[name], log) for name in names}
    return [Hooks("table", **functions)]


def _bound(function: Noted, log: Log) -> Any:  # of any point
    def noted(view: object) -> Any:
        return function(log, view)

    return noted


def transform_context(log: Log, view: ContextView) -> list[Message] | None:
    """What a request shows, by the scenario's rule."""
    rule = log.scenario["hooks"]["transform_context"]
    kept = tables.transformed(rule, view.messages, UserMessage)
    log.called("transform_context", {"n": len(view.messages), "n_out": len(kept)})
    return None if rule["kind"] == "none" else kept


def prepare_tool_call(log: Log, view: RawCallView) -> RawCallUpdate | None:
    """A tool's own way to mend raw arguments."""
    rule = tables.tool(log.scenario, view.name).get("prepare_arguments")
    if rule is None:
        return None
    return RawCallUpdate(arguments=tables.prepared(rule, view.arguments))


def before_tool_call(log: Log, view: ToolCallView) -> Block | None:
    """Block what the table blocks."""
    call = view.call
    decision = tables.decided(log.scenario, "before_tool_call", call.id, call.name)
    block = bool(decision.get("block"))
    row = {
        "call_id": call.id,
        "tool": view.tool,
        "args": view.arguments,
        "n_context": len(view.transcript),
        "block": block,
    }
    log.called("before_tool_call", row, call.id)
    return Block(decision.get("reason", "")) if block else None


def after_tool_call(log: Log, view: ToolResultView) -> ToolResultUpdate | None:
    """Write the fields that the table writes."""
    call = view.call
    update = tables.decided(log.scenario, "after_tool_call", call.id, call.name)
    row = {
        "call_id": call.id,
        "tool": view.tool,
        "args": view.arguments,
        "n_context": len(view.transcript),
        "content": blocks(view.parts),
        "details": view.details or None,
        "is_error": view.is_error,
        "terminate": view.terminate,
        "override": sorted(update),
    }
    log.called("after_tool_call", row, call.id)
    return ToolResultUpdate(
        content=parts(update["content"]) if "content" in update else UNSET,
        details=update.get("details", UNSET),
        is_error=update.get("is_error", UNSET),
        terminate=update.get("terminate", UNSET),
    )


def after_tool_result(log: Log, view: ToolResultView) -> None:
    """What is about to be stored, as the trace's tool_end says it."""
    row = {
        "call_id": view.call.id,
        "tool": view.call.name,
        "content": result_blocks(view.outcome, view.parts, log.given),
        "details": view.details or None,
        "is_error": view.is_error,
        "terminate": view.terminate,
    }
    log.rows["tool_ends"].append(row)


def prepare_next_turn(log: Log, view: TurnView) -> TurnUpdate:
    """Write the fields that the table writes after this turn."""
    turns = log.scenario["hooks"]["prepare_next_turn"]["turns"]
    update = turns.get(str(view.turn - 1), {})
    log.called("prepare_next_turn", {**_turn(view), "update": sorted(update)})
    known = {spec.name: spec for spec in specs(log.scenario)}
    new: Any = [known[name] for name in update.get("tools", ())]
    history: Any = list(map(message, update.get("messages", ())))
    return TurnUpdate(
        model=update.get("model", UNSET),
        thinking=update.get("thinking", UNSET),
        system=update.get("system_prompt", UNSET),
        tools=new if "tools" in update else UNSET,
        transcript=history if "messages" in update else UNSET,
    )


def should_stop_after_turn(log: Log, view: TurnView) -> bool:
    """Stop in the turns that the table names."""
    rule = log.scenario["hooks"]["should_stop_after_turn"]
    stop = tables.stops(rule, view.turn - 1, len(view.new_messages))
    log.called("should_stop_after_turn", {**_turn(view), "stop": stop})
    return stop


def _turn(view: TurnView) -> Json:
    results = [{"call_id": r.call_id, "is_error": r.is_error} for r in view.results]
    return {
        "turn": view.turn - 1,
        "stop_reason": STOP_REASON[view.message.finish],
        "calls": [call.id for call in view.message.calls],
        "results": results,
        "n_context": len(view.transcript),
        "n_new": len(view.new_messages),
    }


def specs(scenario: Json) -> list[ToolSpec]:
    """The tools of a scenario."""
    return [
        ToolSpec(
            tool["name"],
            tool["description"],
            tool.get("parameters", {}),
            execution=tool.get("mode", "parallel"),
        )
        for tool in scenario["tools"]
    ]


KNOWN: Final[dict[str, Noted]] = {
    "transform_context": transform_context,
    "prepare_tool_call": prepare_tool_call,
    "before_tool_call": before_tool_call,
    "after_tool_call": after_tool_call,
    "after_tool_result": after_tool_result,
    "prepare_next_turn": prepare_next_turn,
    "should_stop_after_turn": should_stop_after_turn,
}
