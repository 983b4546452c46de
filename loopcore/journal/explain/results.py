"""Where a tool's result came from: who asked, decided, performed and shaped it."""

from collections.abc import Iterator, Sequence

from loopcore.effects import Effect, RequestApproval, RunTool, call_number
from loopcore.events import RunEnd
from loopcore.frozen import dump_json
from loopcore.journal.explain.past import Past, told_input
from loopcore.journal.folding import Step
from loopcore.journal.history import Performed, Shaped, Stored, told, wrote
from loopcore.journal.tables import short
from loopcore.messages import AssistantMessage, ToolCall, ToolResultMessage


def result(past: Past, one: Stored) -> Iterator[tuple[str, str]]:
    """The way of a result from its call: each moment, and what is said of it."""
    place, asked = place_of(past, one)
    if asked and asked.step:
        yield "asked", f"message {asked.place + 1} ({told_input(asked.step)})"
    n = str(place)
    span = between(past, asked, one)
    yield from shaped_by(past, span, "prepare_tool_call", n, "prepared by")
    yield from _gate(past, span, n)
    yield from _performance(past, one)
    yield from shaped_by(past, span, "after_tool_call", n)
    yield from shaped_by(past, span, "after_tool_result", n)


def _performance(past: Past, one: Stored) -> Iterator[tuple[str, str]]:
    """What became of a call once it was let pass."""
    ran, nested = run_of(past, one), _nested_of(past, one)
    if ran:
        given = _other_arguments(call_of(past, one), ran.effect)
        seconds = "" if ran.seconds is None else f", {ran.seconds:.2g} s"
        yield "performed", f"{ran.effect.id} RunTool{given}{seconds}"
        if ran.ended:
            yield "ended", f"{_outcome(ran)} ({told_input(ran.ended)})"
    elif nested:
        yield "performed", f"{nested[0].run_id}, a run of its own"
        yield "ended", f"{nested[0].stop} ({told_input(nested[1])})"
    else:
        yield "performed", "nothing: its effect was never asked"


def _other_arguments(call: ToolCall | None, effect: Effect) -> str:
    """What a tool was run with, if that is not what the model wrote."""
    if (
        not isinstance(effect, RunTool)
        or not call
        or call.arguments == effect.arguments
    ):
        return ""
    return f" with {short(dump_json(effect.arguments), 40)}"


def _outcome(ran: Performed) -> str:
    if ran.cancelled:
        return "cancelled"
    text = getattr(ran.value, "parts", ())
    return f"{ran.value.outcome}{', no text' if not text else ''}"


def between(past: Past, asked: Stored | None, one: Stored) -> list[Step]:
    """The steps from a call to its result."""
    first = asked.step.number if asked and asked.step else 1
    last = one.step.number if one.step else 0
    return [step for step in past.steps if first <= step.number <= last]


def _gate(past: Past, span: Sequence[Step], n: str) -> Iterator[tuple[str, str]]:
    opinions = [_opinion(shaped) for shaped in at(past, span, "before_tool_call", n)]
    opinions += [_decision(asked) for asked in _asked_in(past, span, n)]
    yield "allowed", " · ".join(opinions) or "no hook had an opinion"


def _asked_in(past: Past, span: Sequence[Step], n: str) -> Iterator[Performed]:
    """The questions to people about this call."""
    for asked in _performed_in(past, span):
        effect = asked.effect
        if isinstance(effect, RequestApproval) and effect.id.rpartition(".")[2] == n:
            yield asked


def _performed_in(past: Past, span: Sequence[Step]) -> Iterator[Performed]:
    """What the run itself asked for in these steps."""
    effects = (effect for step in span for effect in step.effects.perform)
    found = (past.effects[effect.id] for effect in effects)
    return (one for one in found if one.run_id == past.journal.run_id)


def _opinion(shaped: Shaped) -> str:
    decision = getattr(shaped.update, "decision", None)
    fields = ", ".join(shaped.fields)
    return f"{shaped.hook}: {decision if 'decision' in shaped.fields else fields}"


def _decision(asked: Performed) -> str:
    if asked.ended is None:
        return "a person was asked"
    how = type(asked.value).__name__.lower() if asked.value else "cancelled"
    return f"a person: {how} (input {asked.ended.number})"


def at(past: Past, span: Sequence[Step], point: str, n: str | None) -> Iterator[Shaped]:
    """What hooks wrote at a point, about this call; an edited call passes twice."""
    for shaped in wrote(span):
        is_own = shaped.run_id == past.journal.run_id
        if is_own and shaped.point == point and n in (None, shaped.n.split(".")[0]):
            yield shaped


def shaped_by(
    past: Past,
    span: Sequence[Step],
    point: str,
    n: str | None,
    word: str = "shaped by",
) -> Iterator[tuple[str, str]]:
    """The hooks that shaped it at a point, each with the fields that it wrote."""
    for shaped in at(past, span, point, n):
        yield word, f"{shaped.hook} at {point}: {', '.join(shaped.fields) or 'nothing'}"


def place_of(past: Past, one: Stored) -> tuple[int, Stored | None]:
    """Which call of its reply this result answers, and where the reply is."""
    place = one.place - 1
    while place >= 0 and isinstance(past.messages[place].message, ToolResultMessage):
        place -= 1
    reply = past.messages[place] if place >= 0 else None
    return one.place - place - 1, reply


def call_of(past: Past, one: Stored) -> ToolCall | None:
    """The call that a result answers, if its reply is there."""
    number, reply = place_of(past, one)
    calls = (
        reply.message.calls
        if reply and isinstance(reply.message, AssistantMessage)
        else ()
    )
    return calls[number] if number < len(calls) else None


def run_of(past: Past, one: Stored) -> Performed | None:
    """The tool's run behind a result."""
    number, asked = place_of(past, one)
    for found in _performed_in(past, between(past, asked, one)):
        effect = found.effect
        if isinstance(effect, RunTool) and call_number(effect.id) == number:
            ended = hasattr(found.value, "outcome") or found.cancelled
            return found if ended else None
    return None


def _nested_of(past: Past, one: Stored) -> tuple[RunEnd, Step] | None:
    """The end of the nested run behind a result, and the step in which it came."""
    number, asked = place_of(past, one)
    ends = [
        (event, step)
        for step, event in told(between(past, asked, one))
        if isinstance(event, RunEnd) and event.run_id != past.journal.run_id
        if call_number(event.run_id) == number
    ]
    return min(ends, key=lambda end: end[0].run_id.count("."), default=None)


def end_of(past: Past, one: Stored) -> Step | None:
    """The input that ended the call of a result: its run, or a person's decision."""
    number, asked = place_of(past, one)
    nested = _nested_of(past, one)
    if nested:
        return nested[1]
    decided = _asked_in(past, between(past, asked, one), str(number))
    ends = [found.ended for found in (*decided, run_of(past, one)) if found]
    return next((end for end in reversed(ends) if end), None)
