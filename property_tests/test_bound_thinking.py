"""Messages: what came before a thought is sent again as it was.

The newest models of Claude bind a thought to every word before it, and refuse
it, or drop it, where these are told otherwise later.
"""

import json
from typing import Any, Final, TypeAlias, TypeVar

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
from loopcore_adapters.messages import encode

MODEL: Final = "anthropic:claude-opus-5-5"
PICTURE: Final = Image("Y2F0", "image/png")

OF_A_PERSON: Final[st.SearchStrategy[Message]] = st.sampled_from(
    (
        UserMessage("Hello."),
        UserMessage(" "),
        UserMessage([Text("See:"), PICTURE]),
        SystemMessage("Be brief."),
    )
)

# A thought has its place in the history as its signature.
PART: Final = st.sampled_from(("thought", "text", "blank"))
RESULT: Final = st.sampled_from(("Done.", "", "picture"))

Block: TypeAlias = tuple[str, dict[str, Any]]
T = TypeVar("T")


def some(one: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(one, max_size=2)


TURNS: Final = st.lists(
    st.tuples(
        some(OF_A_PERSON),
        st.sampled_from((MODEL, MODEL, "openai:gpt-5")),
        st.lists(PART, max_size=3),
        some(RESULT),
    ),
    min_size=1,
    max_size=5,
)


def replied(at: int, model: str, parts: list[str], calls: int) -> AssistantMessage:
    said = [
        Thinking("Hm.", f"sig-{at}-{index}")
        if part == "thought"
        else Text("So." if part == "text" else " ")
        for index, part in enumerate(parts)
    ]
    return AssistantMessage(
        [*said, *(ToolCall.parse("look", "{}", f"c{at}_{n}") for n in range(calls))],
        model=model,
        finish="tools" if calls else "end",
    )


def unmarked(found: dict[str, Any]) -> dict[str, Any]:
    """The same without the mark of the cache, which moves from call to call."""
    return {name: of for name, of in found.items() if name != "cache_control"}


def blocks(history: list[Message]) -> list[Block]:
    tools = (ToolSpec("look", "Looks."),)
    order = CallModel("i", MODEL, tuple(history), "You help.", tools)
    body = json.loads(encode(order).body)
    return [(m["role"], unmarked(b)) for m in body["messages"] for b in m["content"]]


def signed(block: Block) -> str:
    return str(block[1].get("signature", ""))


@given(TURNS)
def test_what_was_before_a_thought_is_before_it_in_every_later_call(
    turns: list[tuple[list[Message], str, list[str], list[str]]],
) -> None:
    history: list[Message] = []
    asked: dict[str, list[Block]] = {}
    for said, model, parts, results in turns:
        history += said
        at = len(history)
        if model == MODEL:
            asked[f"sig-{at}-"] = blocks(history)
        reply = replied(at, model, parts, len(results))
        history.append(reply)
        for call, result in zip(reply.calls, results, strict=True):
            given = [PICTURE] if result == "picture" else result
            history.append(ToolResultMessage(call.id, "look", given))
    history.append(UserMessage("And now?"))

    later = blocks(history)
    for place, block in enumerate(later):
        own = [
            before for mark, before in asked.items() if signed(block).startswith(mark)
        ]
        for before in own:
            assert later[: len(before)] == before
            # Only the model's own words are between its prompt and its thought.
            assert all(role == "assistant" for role, _ in later[len(before) : place])
