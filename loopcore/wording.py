"""A run in a few words: what people are shown of where it stands."""

from typing import TYPE_CHECKING

from loopcore.effects import Consult, Effect, RequestApproval, RunTool

if TYPE_CHECKING:
    from loopcore.state import State


def one_line(text: str) -> str:
    """The text with what would break a line, or steer a terminal, written out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def describe(state: "State") -> str:
    """What a run is doing, in a few words."""
    if state.stop:
        return str(state.stop)
    asked = state.approvals
    if asked:
        return f"paused: {', '.join(map(spoken, asked))} needs approval"
    wanted = ", ".join(_wanted(effect) for effect in state.waiting[:3])
    if wanted:
        return f"waiting for {wanted}"
    queued = len(state.steering) + len(state.follow_ups)
    return f"{state.phase}, {queued} queued" if queued else state.phase


def _wanted(effect: Effect) -> str:
    """What an effect waits for, in a few words."""
    if isinstance(effect, Consult):
        named = f"services={{{effect.service!r}: ...}}"
        return f"the service {effect.service!r} (Interpreter(..., {named}))"
    if isinstance(effect, RunTool) and effect.spec.elsewhere:
        return f"{effect.spec.name}, which somebody else answers ({effect.id})"
    return effect.id


def spoken(asked: RunTool | RequestApproval) -> str:
    """A call as a person would write it, on one line: names may be anybody's."""
    arguments = ", ".join(f"{k}={v!r}" for k, v in asked.arguments.items())
    return one_line(f"{asked.spec.name}({arguments})")
