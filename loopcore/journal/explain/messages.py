"""Where a message came from: said, asked, allowed, performed, shaped, shown."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from loopcore.inputs import FollowUp, Input, Prompt, Steer
from loopcore.journal.diff import said
from loopcore.journal.explain.past import (
    WIDE,
    Past,
    aligned,
    has_field,
    told_input,
    unknown,
)
from loopcore.journal.explain.results import (
    at,
    between,
    call_of,
    end_of,
    place_of,
    result,
    run_of,
    shaped_by,
)
from loopcore.journal.folding import Step
from loopcore.journal.history import Stored, requests
from loopcore.journal.tables import short
from loopcore.messages import AssistantMessage, Message, ToolResultMessage


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
    turn = f" · turn {one.turn}" if one.step else " · from the start"
    match one.message:
        case ToolResultMessage() as answer:
            call = call_of(past, one)
            named = f"{call.name} {short(call.text, 40)}" if call else answer.name
            ran = run_of(past, one)
            was = getattr(ran.value, "outcome", answer.outcome) if ran else ""
            became = f"{was}, stored as " if was not in ("", answer.outcome) else ""
            return f"result of {named}{turn} · {became}{answer.outcome}"
        case message:
            return f"{short(said(message), WIDE)}{turn}"


def _origin(past: Past, one: Stored) -> Iterator[tuple[str, str]]:
    step = one.step
    if step is None:
        yield "was there", f"when the journal began (run {past.journal.start.run})"
    elif one.hook:
        yield "written by", f"{one.hook}, into the transcript ({told_input(step)})"
    elif isinstance(one.message, ToolResultMessage):
        yield from result(past, one)
    elif isinstance(one.message, AssistantMessage):
        yield "answers", told_input(step)
        yield from shaped_by(past, [step], "after_model_call", None)
    else:
        yield "said by", _sayer(past, one, step)


def _sayer(past: Past, one: Stored, step: Step) -> str:
    """The input that brought a message, or the hook that injected it."""
    for earlier in past.steps[: step.number]:
        if any(message is one.message for message in _said_in(earlier.input)):
            stored = "" if earlier is step else f"; stored at {told_input(step)}"
            return f"{told_input(earlier)}{stored}"
    for shaped in at(past, [step], "prepare_next_turn", None):
        inject: tuple[object, ...] = shaped.update.inject or ()
        if any(message is one.message for message in inject):
            return f"{shaped.hook}, which injected it ({told_input(step)})"
    return told_input(step)


def _said_in(given: Input) -> tuple[Message, ...]:
    return given.say if isinstance(given, Prompt | Steer | FollowUp) else ()


def _showing(past: Past, one: Stored) -> Iterator[tuple[str, str]]:
    """In which requests it was shown, and by whom it was left out of others."""
    shown, left = list[int](), dict[str, list[int]]()
    after = one.step.number if one.step else 0
    own = requests(past.steps, past.journal.run_id)
    for number, (step, request) in enumerate(own, 1):
        if step.number < after:
            continue
        if _is_shown(one, request.messages):
            shown.append(number)
        else:
            left.setdefault(request.by.get("messages", ""), []).append(number)
    outs = [
        f"left out of {spans(n)}{f' by {hook}' if hook else ''}"
        for hook, n in left.items()
    ]
    inside = f"requests {spans(shown)}" if shown else "no request"
    yield "shown in", f"{inside}{f' ({chr(59).join(outs)})' if outs else ''}"


def _is_shown(one: Stored, messages: Sequence[Message]) -> bool:
    """Whether it is among these: mostly where it is stored, which is looked at first."""
    stands = one.place < len(messages) and messages[one.place] is one.message
    return stands or any(message == one.message for message in messages)


def spans(numbers: Sequence[int]) -> str:
    """Numbers in a line; of many that follow each other, the first and the last.

    >>> spans([1, 2, 3, 5, 6, 7, 8])
    '1, 2, 3, 5 to 8'
    """
    apart = groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    return ", ".join(_span([number for _, number in group]) for _, group in apart)


def _span(numbers: Sequence[int]) -> str:
    if len(numbers) <= FEW:
        return ", ".join(map(str, numbers))
    return f"{numbers[0]} to {numbers[-1]}"


FEW: Final = 3
"""So many numbers are sooner read one by one."""


def _one_field(past: Past, one: Stored, name: str) -> Iterator[str]:
    yield f"message {one.place + 1}.{name}: {short(_value(one, name), WIDE)}"
    is_result = isinstance(one.message, ToolResultMessage)
    number, asked = place_of(past, one)
    span = between(past, asked, one) if is_result else [one.step] if one.step else []
    names = {name, WRITTEN_AS.get(name, name)}
    writers = [
        shaped
        for point in SHAPING
        for shaped in at(past, span, point, str(number) if is_result else None)
        if names & {*shaped.fields}
    ]
    yield from (f"  ← {shaped.hook} at {shaped.point}" for shaped in writers)
    if one.hook:
        yield f"  ← {one.hook}, into the transcript"
    elif not writers:
        came = f"it came: {_came(past, one)}" if one.step else "it was at the start"
        yield f"  as {came}"


def _came(past: Past, one: Stored) -> str:
    """How a message that no hook shaped came to be what it is."""
    assert one.step is not None  # noqa: S101  # such a one was there from the start
    match one.message:
        case ToolResultMessage():
            return told_input(end_of(past, one) or one.step)
        case AssistantMessage():
            return told_input(one.step)
        case _:
            return _sayer(past, one, one.step)


def _value(one: Stored, name: str) -> str:
    """A field as text."""
    if name == "content":
        name = "text" if hasattr(one.message, "text") else "parts"
    if not has_field(one.message, name):
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
