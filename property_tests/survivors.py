"""Mutants that no test sees, since they change nothing: which they are, and why."""

from typing import Final

from attrs import frozen


@frozen
class Survivor:
    """A mutant: its function, a part of what it lost and got, and why that is the same.

    One that got nothing lost those lines and has none in their place.
    """

    where: str
    lost: str
    got: str
    why: str

    def fits(self, lost: str, got: str) -> bool:
        """Whether it is the mutant that lost these lines and got those."""
        return self.lost in lost and (self.got in got if self.got else not got)


SPARES_A_COPY: Final = "the condition only spares a copy or a sum that would be equal"
SPARES_A_STAGE: Final = (
    "a stage passes over what is settled, so this only spares it one"
)
SPARES_A_LOOK: Final = "what stands before is done, and is passed over when looked at"
ONE_BY_ONE: Final = "calls that do not run are then passed one by one, to the same end"
NOTHING_IS_OPEN: Final = (
    "before a request, after its reply or failure and after a turn nothing waits and "
    "nothing runs inside, so winding up asks no configuration and cancels nothing"
)
NO_STATE: Final = "it looks at no state: it has one since all checks of the door do"
HOOKS_ALONE: Final = "hooks alone ask services, and what hooks asked is found before"
FALSE_ENOUGH: Final = "it is only asked whether it is true, and None is as untrue"
FALLS_THROUGH: Final = "what stands after the match comes to the same"
FOR_TYPES: Final = "a turn that ends a run has a reply: the other branch is for types"

EXPLAINED: Final[tuple[Survivor, ...]] = (
    Survivor("ask.commit", "if memos else state", "or True else state", SPARES_A_COPY),
    Survivor("out.added", "if messages else stored", "or True", SPARES_A_COPY),
    Survivor("model.chosen", "if written else by", "or True else by", SPARES_A_COPY),
    Survivor(
        "results.as_they_came", "at=turn.last", "slots=tuple(slots), )", SPARES_A_STAGE
    ),
    Survivor("out.sum", "if before is NO_USAGE", "and False", SPARES_A_COPY),
    Survivor("step.advance", "if done is NOTHING", "and False", SPARES_A_COPY),
    Survivor(
        "gates.as_tools_have_it", "range(turn.at,", "range(turn.last)", SPARES_A_LOOK
    ),
    Survivor("gates.prepared", "at + 1)", "put(state, at, checked, ", SPARES_A_STAGE),
    Survivor(
        "results.after_tool_result", "turn.at + 1)", "turn.at, done, ", SPARES_A_STAGE
    ),
    Survivor(
        "gates.before_tool_call",
        "turn.at + 1)",
        "_gated(slot, folded), ",
        SPARES_A_STAGE,
    ),
    Survivor("batch.cut_off", "last=len(slots)", "slots=slots, )", ONE_BY_ONE),
    Survivor(
        "model.on_model_error", "_give_up(config,", "_give_up(None,", NOTHING_IS_OPEN
    ),
    Survivor(
        "model.transform_context", "wind_up(config,", "wind_up(None,", NOTHING_IS_OPEN
    ),
    Survivor(
        "model.transform_context",
        "state, out,",
        "wind_up(config, state, None,",
        NOTHING_IS_OPEN,
    ),
    Survivor("model.accepted", "_give_up(config,", "_give_up(None,", NOTHING_IS_OPEN),
    Survivor(
        "turn.prepare_next_turn", "wind_up(config,", "wind_up(None,", NOTHING_IS_OPEN
    ),
    Survivor(
        "turn.prepare_next_turn",
        "state, out,",
        "wind_up(config, state, None,",
        NOTHING_IS_OPEN,
    ),
    Survivor(
        "turn.should_stop_after_turn",
        "wind_up(config,",
        "wind_up(None,",
        NOTHING_IS_OPEN,
    ),
    Survivor(
        "turn.should_stop_after_turn",
        "state, out,",
        "wind_up(config, state, None,",
        NOTHING_IS_OPEN,
    ),
    Survivor("door.prompt", "_sayable(state,", "_sayable(None,", NO_STATE),
    Survivor("step.answer", "case Consult(): return state, None", "", HOOKS_ALONE),
    Survivor("model.give_up", "wind_up(config,", "wind_up(None,", NOTHING_IS_OPEN),
    Survivor("model.give_up", "out, stop)", "failed), None, stop)", NOTHING_IS_OPEN),
    Survivor("model.after_model_call", "_withhold(config,", "(None,", NOTHING_IS_OPEN),
    Survivor("model.withhold", "wind_up(config,", "wind_up(None,", NOTHING_IS_OPEN),
    Survivor(
        "model.withhold", "out, fault", "reply), None, fault_stop", NOTHING_IS_OPEN
    ),
    Survivor("results.react", "ran=False", "ran=None", FALSE_ENOUGH),
    Survivor("ask.hook_stop", "case _: return None", "", FALLS_THROUGH),
    Survivor("door.answerable", "CustomMessage(): continue", "", FALLS_THROUGH),
    Survivor(
        "turn.cut", "if turn.reply else", 'if (turn.reply) or True else ""', FOR_TYPES
    ),
    Survivor("turn.cut", 'else ""', 'if turn.reply else "XXXX"', FOR_TYPES),
)
