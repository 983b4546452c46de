"""Inputs that say less: with fewer parts, plainer texts and smaller numbers; or with more.

All that can be left out of a record is left out by its fields, so a new kind of input or
message needs nothing here.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs

from loopcore.frozen import FrozenDict, evolve
from loopcore.inputs import (
    Answer,
    Approve,
    Edit,
    FollowUp,
    Input,
    Prompt,
    Reject,
    Respond,
    Steer,
)
from loopcore.messages import AssistantMessage, ModelError, ToolCall
from loopcore.tools import ToolOutput

OK: Final = ToolOutput("ok")
PLAIN: Final = "done"


def simpler_inputs(given: Input) -> Iterator[Input]:
    """Inputs that say less than this one, the plainest first; of what is plain, none."""
    if is_plain(given):
        return
    yield from plainest(given)
    yield from _otherwise(given)
    if isinstance(given, Answer):
        for value in simpler(given.value):
            yield evolve(given, value=value)
        if given.seconds is not None:
            yield evolve(given, seconds=None)
    else:
        yield from simpler(given)


def plainest(given: Input) -> Iterator[Input]:
    """The plainest input of its kind, if it has one."""
    match given:
        case Prompt() | Steer() | FollowUp():
            yield type(given)("go")
        case Answer(value=AssistantMessage() as said):
            reply = AssistantMessage(PLAIN, model=said.model)
            yield Answer(given.effect_id, reply)
        case Answer(value=ToolOutput()):
            yield Answer(given.effect_id, OK)
        case _:
            return


def _otherwise(given: Input) -> Iterator[Input]:
    """Another answer to the same: one of another kind may end it sooner."""
    match given:
        case Answer(value=AssistantMessage()):
            yield evolve(given, value=ModelError(""))
        case Answer(value=Approve() | Edit() | Respond()):
            yield evolve(given, value=Reject())
            yield evolve(given, value=Approve())
        case _:
            return


def is_plain(given: Input) -> bool:
    """Whether nothing is plainer."""
    return given in plainest(given)


def simpler(value: Any) -> Iterator[Any]:  # noqa: ANN401  # anything that inputs hold
    """Values that say less than this one, those that say the least first."""
    kind: type[Any] = value.__class__
    if attrs.has(kind):
        yield from _records(value)
    elif issubclass(kind, tuple):
        yield from _shorter(value)
    elif issubclass(kind, Mapping):
        yield from _emptier(value)
    elif kind is str:
        yield from _texts(value)
    elif kind in (bool, int, float):
        smaller = (kind(0), kind(1), kind(value / 2))
        yield from (number for number in smaller if abs(number) < abs(value))


def _texts(text: str) -> Iterator[str]:
    shorter = ("", "x", text[: len(text) // 2])
    return (less for less in shorter if (len(less), less) < (len(text), text))


def _records(record: Any) -> Iterator[Any]:  # noqa: ANN401  # of any kind
    """With what a field is by default, then with less in it; what is refused is not had."""
    kind: type[Any] = record.__class__
    for one in attrs.fields(kind):
        value, default = getattr(record, one.name), one.default
        plain = default.factory() if isinstance(default, attrs.Factory) else default  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]  # attrs calls it a function
        if plain is not attrs.NOTHING and value != plain:
            yield from _changed(record, one.alias, plain)
        for less in simpler(value):
            yield from _changed(record, one.alias, less)


def _changed(record: Any, name: str, value: object) -> Iterator[Any]:  # noqa: ANN401  # as above
    try:
        yield attrs.evolve(record, **{name: value})
    except Exception:  # noqa: BLE001  # whatever its checks say
        return


def _shorter(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield from without_some(items)
    for place, item in enumerate(items):
        for less in simpler(item):
            yield (*items[:place], less, *items[place + 1 :])


def without_some(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Fewer of these: without a half, a quarter, and so on down to one."""
    size = (len(items) + 1) // 2
    while size:
        for start in range(0, len(items), size):
            yield (*items[:start], *items[start + size :])
        size //= 2


def _emptier(items: Mapping[str, Any]) -> Iterator[FrozenDict[Any]]:
    for key, value in items.items():
        yield FrozenDict({k: v for k, v in items.items() if k != key})
        for less in simpler(value):
            yield FrozenDict({**items, key: less})


TIMES: Final = (1, 2, 3)


def bigger(given: Input) -> Iterator[Input]:
    """Inputs that say the same more often: one of them may do what took several."""
    match given:
        case Prompt() | Steer() | FollowUp():
            yield from (evolve(given, say=given.say * (n + 1)) for n in TIMES)
        case Answer(value=AssistantMessage() as reply):
            yield from (evolve(given, value=_with_calls(reply, n)) for n in TIMES)
        case _:
            return


def _with_calls(reply: AssistantMessage, count: int) -> AssistantMessage:
    """With more calls, the like of its last, or of a tool that there is not."""
    like = reply.calls[-1] if reply.calls else ToolCall("x")
    more = (attrs.evolve(like, id=f"more{n}") for n in range(count))
    return evolve(reply, content=(*reply.parts, *more))
