"""Does the last reply come to the output that is wanted? If not, it is sent back."""

from typing import Final

from loopcore.config import AnyConfig
from loopcore.events import Stop
from loopcore.frozen import evolve
from loopcore.messages import UserMessage
from loopcore.output import Value, problem, read
from loopcore.reducer.out import Out, store
from loopcore.state import State, Turn

REFUSED: Final = "the model refused"
SENT_BACK: Final = (
    "Your reply could not be used as the output:\n{0}\n"
    "Answer again, with the corrected JSON value and nothing else."
)


def misfit(config: AnyConfig, turn: Turn) -> str:
    """What is wrong with a turn's reply; empty if it fits, or nothing is wanted."""
    if config.wanted is None or turn.reply is None:
        return ""
    if turn.reply.finish == "refusal":
        return REFUSED
    return problem(config.wanted, turn.reply.text)


def may_repair(config: AnyConfig, state: State, turn: Turn) -> bool:
    """Whether the reply may be sent back; a refusal is final."""
    refused = turn.reply is not None and turn.reply.finish == "refusal"
    return state.repairs < config.repairs and not refused


def repaired(state: State, out: Out, why: str) -> State:
    """Say what is wrong, inside the same conversation."""
    wish = UserMessage(SENT_BACK.format(why))
    return store(evolve(state, repairs=state.repairs + 1), out, wish)


def spoilt(state: State, why: str) -> Stop:
    """No repair is left."""
    said = "; ".join(line.removeprefix("- ") for line in why.splitlines())
    after = f" (after {state.repairs} repairs)" if state.repairs else ""
    return Stop("output_error", f"{said}{after}")


def value_of(config: AnyConfig, text: str) -> Value:
    """What a reply's text comes to: itself, if nothing is wanted."""
    if config.wanted is None:
        return Value(text)
    return read(config.wanted, text).value_or(Value(None))


def why_not(config: AnyConfig, turn: Turn) -> str:
    """Why an optional output is missing, as the model said."""
    if turn.reply is None or config.wanted is None or not config.wanted.optional:
        return ""
    return value_of(config, turn.reply.text).reason
