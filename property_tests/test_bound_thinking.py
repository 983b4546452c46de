"""Messages: what came before a thought is sent again as it was.

The newest models of Claude bind a thought to every word before it, and refuse it, or drop
it, where these are told otherwise later:
https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
"""

import json
from itertools import groupby, product
from typing import Any, Final, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
)
from loopcore_adapters.messages import Encoder
from tests.messages_rules import problems

MODEL: Final = "anthropic:claude-opus-5-5"
TOOLS: Final = (ToolSpec("look", "Looks."),)
PICTURE: Final = Image("Y2F0", "image/png")
PEOPLE: Final[tuple[tuple[Message, ...], ...]] = (
    (),
    (),
    (UserMessage("Hello."),),
    (UserMessage(" "),),
    (SystemMessage("Be brief."),),
    (UserMessage([Text("See:"), PICTURE]), SystemMessage("Be brief.")),
)
# Short lists are drawn much more often than long ones: so all are named.
SHAPES: Final = tuple(
    shape
    for length in range(1, 4)
    for shape in product(("thought", "text", "blank"), repeat=length)
)
RESULTS: Final = (
    *((), (), ("Done.",), ("",), ("picture",)),
    *(("picture", "Done."), ("failed", "")),
)
TURN: Final = st.tuples(
    st.sampled_from(PEOPLE),
    st.sampled_from((MODEL, MODEL, MODEL, "openai:gpt-5")),
    st.sampled_from(SHAPES),
    st.sampled_from(RESULTS),
)
TURNS: Final = st.integers(1, 5).flatmap(
    lambda count: st.lists(TURN, min_size=count, max_size=count)
)

Turn: TypeAlias = tuple[tuple[Message, ...], str, tuple[str, ...], tuple[str, ...]]
Block: TypeAlias = tuple[str, dict[str, Any]]


def signature(at: int, place: int) -> str:
    """A thought has its place in the history as its signature."""
    return f"sig-{at}-{place}"


def replied(
    at: int, model: str, shape: tuple[str, ...], calls: int
) -> AssistantMessage:
    """A reply of this shape; the ids of its calls are those of every other reply's."""
    said = [
        Thinking("Hm.", signature(at, place))
        if part == "thought"
        else Text("So." if part == "text" else " ")
        for place, part in enumerate(shape)
    ]
    called = [ToolCall.parse("look", "{}", f"c|{n}") for n in range(calls)]
    return AssistantMessage(
        [*said, *called], model=model, finish="tools" if calls else "end"
    )


def answered(call: ToolCall, result: str) -> Message:
    """Its result."""
    if result == "failed":
        return ToolResultMessage(call.id, "look", [PICTURE], "error")
    return ToolResultMessage(
        call.id, "look", [PICTURE] if result == "picture" else result
    )


def unmarked(found: dict[str, Any]) -> dict[str, Any]:
    """The same without the mark of the cache, which moves from call to call."""
    return {name: of for name, of in found.items() if name != "cache_control"}


def asked(encoder: Encoder, history: list[Message]) -> tuple[Any, list[Block]]:
    """What is said of system and tools, and then all blocks; each with who says it."""
    request = encoder(CallModel("i", MODEL, tuple(history), "You help.", TOOLS))
    assert problems(request.body) == []
    body = json.loads(request.body)
    said = [(m["role"], unmarked(b)) for m in body["messages"] for b in m["content"]]
    return (body["system"], body["tools"]), said


def expected(at: int, shape: tuple[str, ...], calls: int) -> list[str]:
    """The signatures that a reply of this shape is sent with.

    Of thoughts in a row all are sent; but none that nothing follows, or that stand beside
    others once the blank text between is gone.
    """
    runs, found, parted = groupby(enumerate(shape), lambda one: one[1]), [""], True
    for part, run in runs:
        if part == "text":
            parted = True
        elif part == "thought" and parted:
            found += [signature(at, place) for place, _ in run]
            parted = False
    last = max((n for n, part in enumerate(shape) if part == "text"), default=-1)
    return [one for one in found[1:] if calls or int(one.rpartition("-")[2]) < last]


@given(TURNS)
def test_what_was_before_a_thought_is_before_it_in_every_later_call(
    turns: list[Turn],
) -> None:
    """Also of what one encoder kept of earlier calls; and no thought is lost."""
    encoder, history = Encoder(), list[Message]()
    before, thoughts = dict[int, tuple[Any, list[Block]]](), list[str]()
    for people, model, shape, results in turns:
        history += people
        at = len(history)
        if model == MODEL:
            before[at] = asked(encoder, history)
            thoughts += expected(at, shape, len(results))
        reply = replied(at, model, shape, len(results))
        history.append(reply)
        history += map(answered, reply.calls, results)
    history.append(UserMessage("And now?"))

    for used in (encoder, Encoder()):
        top, later = asked(used, history)
        signed = [
            (n, b["signature"]) for n, (_, b) in enumerate(later) if "signature" in b
        ]
        assert [one for _, one in signed] == thoughts
        for place, one in signed:
            known, said = before[int(one.split("-")[1])]
            assert (top, later[: len(said)]) == (known, said)
            # Only the model's own words are between its prompt and its thought.
            assert {role for role, _ in later[len(said) : place]} <= {"assistant"}
