"""What the walks that vectors are made of have in common: tools, scripts, people."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen

from loopcore.effects import RequestApproval
from loopcore.frozen import EMPTY
from loopcore.inputs import FollowUp, Input, Prompt, Steer, Withdraw
from loopcore.messages import (
    AssistantMessage,
    CustomMessage,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from loopcore.testing.doubles.scripted import Reply
from loopcore.testing.explore.choices import BOTH, Decide
from loopcore.testing.vectors.form import Form, Rule
from loopcore.tools import ToolOutput, ToolSpec


@frozen(eq=False)
class Walk:
    """A configuration, what its model may say, and what else happens."""

    form: Form
    scripts: tuple[tuple[Reply, ...], ...]
    beside: tuple[Input, ...] = ()
    tools: Mapping[str, Any] = EMPTY
    services: Mapping[str, Any] = EMPTY
    decisions: tuple[Decide, ...] = BOTH
    given: tuple[Input, ...] = field(default=(Prompt("go"),))


MODEL: Final = "test:model"
NUMBER: Final = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
}
A: Final = ToolSpec("a", "Takes a number.", NUMBER)
B: Final = ToolSpec("b", "Takes nothing.")
PAY: Final = ToolSpec("pay", "Pays.", NUMBER, needs_approval=True)
SLOW: Final = ToolSpec("slow", "Has a timeout.", timeout=5.0)
ALONE: Final = ToolSpec("alone", "Runs alone.", execution="sequential")
AWAY: Final = ToolSpec("away", "Somebody else answers.", elsewhere=True)


def call(name: str, id: str, **arguments: object) -> ToolCall:  # noqa: A002  # what it is
    """A call of a tool."""
    return ToolCall(name, arguments, id)


def rule(name: str, point: Any, **more: Any) -> Rule:  # noqa: ANN401  # a rule's own fields
    """A rule at a point."""
    return Rule(name, point, **more)


def words(text: str) -> list[Any]:
    """A text as parts in JSON."""
    return [{"type": "Text", "text": text}]


def said(text: str) -> list[Any]:
    """A text as messages in JSON."""
    return [{"type": "UserMessage", "parts": words(text)}]


AB: Final = (call("a", "c1", x=1), call("b", "c2"))
SPENT: Final = Usage(7, 3, cost=0.25)
TWO: Final[tuple[Reply, ...]] = (AB, "done")
TOOLS: Final[Mapping[str, Any]] = {
    "a": ["one", ToolOutput("bad", outcome="error"), TimeoutError("late")],
    "b": [{"c": 3}, ToolOutput("last", terminate=True), ""],
    "pay": ["paid"],
    "slow": ["slowly"],
    "alone": ["alone"],
    "away": ["from away"],
}
QUEUES: Final[tuple[Input, ...]] = (
    Steer("hurry", "k1"),
    FollowUp("and then?", "k2"),
    Steer((SystemMessage("be brief"), CustomMessage("mark", {"n": 1}))),
    Withdraw("k2"),
    FollowUp("last one"),
)
COUNTED: Final = AssistantMessage("counted", model=MODEL, usage=SPENT)
ALLOW: Final = {"decision": {"type": "Allow"}}
RENAME: Final = {"name": "a", "arguments": {"x": "8"}}
LIMIT: Final = {"reason": "limit", "detail": "too many"}
LESS: Final = {"tools": [{"name": "b"}], "thinking": "high"}
SWITCH: Final = {"model": "test:other", "system": "New.", "thinking": "high"}
UNPAIRED: Final = [
    {"type": "AssistantMessage", "parts": [{"type": "ToolCall", "name": "b"}]}
]
BLOCK: Final = {"decision": {"type": "Block", "reason": "not that"}}
ASK: Final = {"decision": {"type": "Ask", "question": "really?"}}
REPLY: Final = {"parts": [{"type": "Text", "text": "rewritten"}], "model": MODEL}


def edit(asked: RequestApproval) -> Any:  # noqa: ANN401  # an answer
    """A person changes the number."""
    return asked.edit(x=5)


def misedit(asked: RequestApproval) -> Any:  # noqa: ANN401  # an answer
    """A person writes what does not fit."""
    return asked.edit(x="many")


def reject(asked: RequestApproval) -> Any:  # noqa: ANN401  # an answer
    """A person says no, and why."""
    return asked.reject("too much")


def respond(asked: RequestApproval) -> Any:  # noqa: ANN401  # an answer
    """A person answers in its place."""
    return asked.respond("by hand")


PEOPLE: Final = (RequestApproval.approve, edit, misedit, reject, respond)
CALLS: Final[tuple[tuple[Reply, ...], ...]] = (
    TWO,
    ("just text",),
    ("",),
    ((call("a", "c1", x="3"), call("none", "c2"), call("a", "c3", y=1)), "done"),
    ((ToolCall.parse("a", "{broken", "c1"), call("b", "c1")), "done"),
    (AssistantMessage([Text("So"), *AB], model=MODEL, finish="length"), "done"),
    (AssistantMessage("I will not.", model=MODEL, finish="refusal"),),
    ((Thinking("hm", "sig"), "Well.", *AB, call("a", "c3", x=2)), AB, "done"),
    (COUNTED,),
)
