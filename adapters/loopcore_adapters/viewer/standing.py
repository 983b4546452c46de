"""Where a run stands, as JSON with records in it: what a page tells apart between points."""

from typing import Any

from loopcore import Effect, State, ToolSpec
from loopcore_adapters.viewer.words import said_of


def standing(state: State) -> dict[str, Any]:
    """All that a point tells of a run but its transcript."""
    turn = state.turn
    return {
        "phase": state.phase,
        "stop": str(state.stop) if state.stop else None,
        "run": state.run,
        "turn": state.turns,
        "attempt": turn.attempt if turn else None,
        "messages": len(state.transcript),
        "calls": _calls(state),
        "waiting": {effect.id: said_of(effect) for effect in state.pending.values()},
        "queued": _queued(state),
        "memory": state.memos,
        "settings": _settings(state),
        "chosen by": state.by,
        "usage": _usage(state),
        "requests": state.requests,
        "repairs": state.repairs,
        "nested": {child.run_id: standing(child) for child in state.children},
    }


def _calls(state: State) -> dict[str, str]:
    """The calls of the open turn, and how far each has got."""
    slots: tuple[Any, ...] = state.turn.slots if state.turn else ()
    return {f"{place} {_name(slot)}": _stage(slot) for place, slot in enumerate(slots)}


def _name(slot: Any) -> str:  # noqa: ANN401  # a slot of any kind
    return str(slot.call.name if hasattr(slot, "call") else slot.message.name)


def _stage(slot: Any) -> str:  # noqa: ANN401  # a slot of any kind
    if hasattr(slot, "message"):
        return f"done: {slot.message.outcome}"
    return type(slot).__name__.lower()


def _queued(state: State) -> dict[str, Any]:
    return {
        "steering": tuple(m.text for q in state.steering for m in q.messages),
        "follow-ups": tuple(m.text for q in state.follow_ups for m in q.messages),
    }


def _settings(state: State) -> dict[str, Any]:
    settings = state.settings
    return {
        "model": settings.model,
        "system": settings.system,
        "tools": _by_name(settings.tools),
        "thinking": settings.thinking,
        "options": settings.options,
    }


def _by_name(tools: tuple[ToolSpec, ...]) -> dict[str, ToolSpec]:
    """The first tool of a name is the one that is found."""
    return {tool.name: tool for tool in reversed(tools)}


def _usage(state: State) -> dict[str, Any]:
    usage = state.usage
    return {
        "input": usage.input,
        "output": usage.output,
        "cache read": usage.cache_read,
        "cache write": usage.cache_write,
        "reasoning": usage.reasoning,
        "cost": usage.cost,
    }


def asked_by(state: State, effect: Effect) -> State | None:
    """The run, this or one within it, that wants this effect."""
    for child in state.children:
        if (found := asked_by(child, effect)) is not None:
            return found
    return state if effect.id in state.pending else None
