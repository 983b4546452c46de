"""Where a message came from: asked, allowed, performed, shaped, shown."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from loopcore.effects import RequestApproval, RunTool
from loopcore.journal.diff import said
from loopcore.journal.explain.past import WIDE, Past, aligned, told_input, unknown
from loopcore.journal.folding import Step
from loopcore.journal.history import Performed, Shaped, Stored, requests, wrote
from loopcore.journal.tables import short
from loopcore.messages import AssistantMessage, ToolCall, ToolResultMessage


def message(past: Past, rest: str) -> Iterator[str]:
    number, _, name = rest.partition(".")
    if not re.fullmatch(r"[0-9]{1,9}", number):
        unknown(f"a message has a number, from 1; this is {rest!r}")
    if not 1 <= int(number) <= len(past.messages):
        unknown(f"there is no message {number}: it has 1 to {len(past.messages)}")
    one = past.messages[int(number) - 1]
    if name:
        yield from _one_field(past, one, name)
        return
    yield f"message {number} · {_headline(past, one)}"
    yield ""
    yield from aligned(_origin(past, one))
    yield from aligned(_showing(past, one))


def _headline(past: Past, one: Stored) -> str:
    turn = f" · turn {one.step.before.turns or 1}" if one.step else " · from the start"
    match one.message:
        case ToolResultMessage() as result:
            call = _call_of(past, one)
            named = f"{call.name} {short(call.text, 40)}" if call else result.name
            ran = _run_of(past, one)
            became = f"{ran.value.outcome}, stored as {result.outcome}" if ran else ""
            same = ran is None or ran.value.outcome == result.outcome
            return f"result of {named}{turn} · {result.outcome if same else became}"
        case message:
            return f"{short(said(message), WIDE)}{turn}"


def _origin(past: Past, one: Stored) -> Iterator[tuple[str, str]]:
    step = one.step
    if step is None:
        yield "was there", f"when the journal began (run {past.journal.start.run})"
    elif isinstance(one.message, ToolResultMessage):
        yield from _result(past, one)
    elif isinstance(one.message, AssistantMessage):
        yield "answers", told_input(step)
        yield from _shaped([step], "after_model_call", None)
    else:
        yield "said by", _sayer(step)


def _sayer(step: Step) -> str:
    hooks = [shaped.hook for shaped in _at([step], "prepare_next_turn", None)]
    injected = f", or injected by {', '.join(hooks)}" if hooks else ""
    return f"{told_input(step)}{injected}"


def _result(past: Past, one: Stored) -> Iterator[tuple[str, str]]:
    place, asked = _place_of(past, one)
    if asked and asked.step:
        yield "asked", f"message {asked.place + 1} ({told_input(asked.step)})"
    n = str(place)
    span = _between(past, asked, one)
    yield from _shaped(span, "prepare_tool_call", n, "prepared by")
    yield from _gate(past, span, n)
    ran = _run_of(past, one)
    if ran:
        seconds = "" if ran.seconds is None else f", {ran.seconds:.2g} s"
        yield "performed", f"{ran.effect.id} {type(ran.effect).__name__}{seconds}"
        if ran.ended:
            yield "ended", f"{_outcome(ran)} ({told_input(ran.ended)})"
    else:
        yield "performed", "nothing: its effect was never asked"
    yield from _shaped(span, "after_tool_call", n)
    yield from _shaped(span, "after_tool_result", n)


def _outcome(ran: Performed) -> str:
    if ran.cancelled:
        return "cancelled"
    text = getattr(ran.value, "parts", ())
    return f"{ran.value.outcome}{', no text' if not text else ''}"


def _between(past: Past, asked: Stored | None, one: Stored) -> list[Step]:
    """The steps from a call to its result."""
    first = asked.step.number if asked and asked.step else 1
    last = one.step.number if one.step else 0
    return [step for step in past.steps if first <= step.number <= last]


def _gate(past: Past, span: Sequence[Step], n: str) -> Iterator[tuple[str, str]]:
    opinions = [_opinion(shaped) for shaped in _at(span, "before_tool_call", n)]
    opinions += [
        _decision(past.effects[effect.id])
        for step in span
        for effect in step.effects.perform
        if isinstance(effect, RequestApproval) and effect.id.endswith(f".{n}")
    ]
    yield "allowed", " · ".join(opinions) or "no hook had an opinion"


def _opinion(shaped: Shaped) -> str:
    decision = getattr(shaped.update, "decision", None)
    fields = ", ".join(shaped.fields)
    return f"{shaped.hook}: {decision if 'decision' in shaped.fields else fields}"


def _decision(asked: Performed) -> str:
    if asked.ended is None:
        return "a person was asked"
    how = type(asked.value).__name__.lower() if asked.value else "cancelled"
    return f"a person: {how} (input {asked.ended.number})"


def _at(span: Sequence[Step], point: str, n: str | None) -> Iterator[Shaped]:
    """What hooks wrote at a point, about this call; an edited call passes twice."""
    for shaped in wrote(span):
        if shaped.point == point and n in (None, shaped.n.split(".")[0]):
            yield shaped


def _shaped(
    span: Sequence[Step], point: str, n: str | None, word: str = "shaped by"
) -> Iterator[tuple[str, str]]:
    for shaped in _at(span, point, n):
        yield word, f"{shaped.hook} at {point}: {', '.join(shaped.fields) or 'nothing'}"


def _place_of(past: Past, one: Stored) -> tuple[int, Stored | None]:
    """Which call of its reply this result answers, and where the reply is."""
    place = one.place - 1
    while place >= 0 and isinstance(past.messages[place].message, ToolResultMessage):
        place -= 1
    reply = past.messages[place] if place >= 0 else None
    return one.place - place - 1, reply


def _call_of(past: Past, one: Stored) -> ToolCall | None:
    number, reply = _place_of(past, one)
    calls = (
        reply.message.calls
        if reply and isinstance(reply.message, AssistantMessage)
        else ()
    )
    return calls[number] if number < len(calls) else None


def _run_of(past: Past, one: Stored) -> Performed | None:
    """The tool's run behind a result."""
    number, asked = _place_of(past, one)
    span = _between(past, asked, one)
    for step in span:
        for effect in step.effects.perform:
            own = (
                isinstance(effect, RunTool) and step.state.run_id == past.journal.run_id
            )
            if own and effect.id.endswith(f".run.{number}"):
                found = past.effects[effect.id]
                return (
                    found
                    if hasattr(found.value, "outcome") or found.cancelled
                    else None
                )
    return None


def _showing(past: Past, one: Stored) -> Iterator[tuple[str, str]]:
    """In which requests it was shown, and by whom it was left out of others."""
    shown, left = list[str](), dict[str, list[str]]()
    after = one.step.number if one.step else 0
    for number, (step, request) in enumerate(requests(past.steps), 1):
        if step.number < after:
            continue
        if any(message == one.message for message in request.messages):
            shown.append(str(number))
        else:
            left.setdefault(request.by.get("messages", "?"), []).append(str(number))
    outs = [f"left out of {', '.join(n)} by {hook}" for hook, n in left.items()]
    inside = f"requests {', '.join(shown)}" if shown else "no request"
    yield "shown in", f"{inside}{f' ({chr(59).join(outs)})' if outs else ''}"


def _one_field(past: Past, one: Stored, name: str) -> Iterator[str]:
    yield f"message {one.place + 1}.{name}: {short(_value(one, name), WIDE)}"
    is_result = isinstance(one.message, ToolResultMessage)
    number, asked = _place_of(past, one)
    span = _between(past, asked, one) if is_result else [one.step] if one.step else []
    names = {name, WRITTEN_AS.get(name, name)}
    writers = [
        shaped
        for point in SHAPING
        for shaped in _at(span, point, str(number) if is_result else None)
        if names & {*shaped.fields}
    ]
    yield from (f"  ← {shaped.hook} at {shaped.point}" for shaped in writers)
    if not writers:
        came = f"it came: {told_input(one.step)}" if one.step else "it was at the start"
        yield f"  as {came}"


def _value(one: Stored, name: str) -> str:
    """A field as text."""
    if name == "content":
        name = "text" if hasattr(one.message, "text") else "parts"
    if not hasattr(one.message, name):
        unknown(f"a {type(one.message).__name__} has no {name!r}")
    return str(getattr(one.message, name))


SHAPING: Final = (
    "after_model_call",
    "prepare_tool_call",
    "before_tool_call",
    "after_tool_call",
    "after_tool_result",
)
WRITTEN_AS: Final = {"outcome": "is_error", "parts": "content", "text": "content"}
