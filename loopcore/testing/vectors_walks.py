"""The configurations that vectors are made of, and what happens to them."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen

from loopcore.effects import RequestApproval
from loopcore.frozen import EMPTY
from loopcore.inputs import Abort, Continue, FollowUp, Input, Prompt, Steer, Withdraw
from loopcore.messages import (
    AssistantMessage,
    CustomMessage,
    SystemMessage,
    Text,
    Thinking,
    ToolCall,
    Usage,
    UserMessage,
)
from loopcore.testing.doubles import Reply
from loopcore.testing.explore_choices import BOTH, Decide
from loopcore.testing.vectors_form import Form, Inner, Rule
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
INJECT: Final = {
    "inject": [{"type": "UserMessage", "parts": [{"type": "Text", "text": "go on"}]}]
}


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

WALKS: Final[Mapping[str, Walk]] = {
    "plain": Walk(
        Form(MODEL, "You help.", (A, B), thinking="low", options={"temperature": 0}),
        CALLS,
        (Abort("enough"),),
    ),
    "queues": Walk(Form(MODEL, tools=(A, B)), (TWO, ("text",)), QUEUES),
    "queues all at once": Walk(
        Form(MODEL, tools=(A, B), steering="all", follow_ups="all"),
        (TWO, ("text",)),
        (*QUEUES, Steer("now")),
    ),
    "one by one": Walk(
        Form(MODEL, tools=(A, B), parallel=False), CALLS, (Steer("hurry"), Abort())
    ),
    "alone": Walk(
        Form(MODEL, tools=(A, B, ALONE)),
        (((*AB, call("alone", "c3")), "done"), TWO),
        (Abort("enough"),),
    ),
    "people": Walk(
        Form(MODEL, tools=(A, PAY)),
        (((call("pay", "c1", x=9), call("a", "c2", x=1)), "done"),),
        (Abort(), Steer("hurry")),
        decisions=PEOPLE,
    ),
    "people, one by one": Walk(
        Form(MODEL, tools=(PAY, B), parallel=False),
        (((call("b", "c1"), call("pay", "c2", x=9), call("pay", "c3", x=8)), "done"),),
        (Abort(),),
        decisions=PEOPLE,
    ),
    "elsewhere": Walk(
        Form(MODEL, tools=(AWAY, SLOW, A)),
        (((call("away", "c1"), call("slow", "c2"), call("a", "c3", x=1)), "done"),),
        (Abort(),),
    ),
    "gates": Walk(
        Form(
            MODEL,
            tools=(A, B, PAY),
            rules=(
                rule("renames", "prepare_tool_call", says=RENAME, tool="none"),
                rule("asks", "before_tool_call", says=ASK, tool="a", turn=1),
                rule(
                    "changes",
                    "before_tool_call",
                    says={"arguments": {"x": "4"}},
                    tool="a",
                ),
                rule("ends", "before_tool_call", says={"terminate": True}, tool="pay"),
                rule("allows", "before_tool_call", says=ALLOW, tool="pay"),
            ),
        ),
        (
            TWO,
            ((call("none", "c1"), call("pay", "c2", x=1)), "done"),
            (call("pay", "c1", x=1), "done"),
        ),
        (Abort(),),
        decisions=PEOPLE,
    ),
    "blocks": Walk(
        Form(
            MODEL,
            tools=(A, B),
            rules=(
                rule("asks", "before_tool_call", says=ASK, tool="b"),
                rule("blocks", "before_tool_call", says=BLOCK, tool="b"),
                rule("allows", "before_tool_call", says=ALLOW),
                rule("counts", "before_tool_call", counts=True),
            ),
        ),
        (TWO, (call("b", "c1"), "done")),
        (Abort(),),
    ),
    "arguments that do not fit": Walk(
        Form(
            MODEL,
            tools=(A,),
            rules=(rule("breaks", "before_tool_call", says={"arguments": {"x": "?"}}),),
        ),
        ((call("a", "c1", x=1), "done"),),
    ),
    "results": Walk(
        Form(
            MODEL,
            tools=(A, B),
            rules=(
                rule(
                    "shortens",
                    "after_tool_call",
                    says={"content": words("short")},
                    tool="a",
                ),
                rule("marks", "after_tool_result", says={"details": {"seen": True}}),
                rule("forgives", "after_tool_result", says={"is_error": False}, turn=2),
                rule("ends", "after_tool_result", says={"terminate": True}, turn=3),
            ),
        ),
        (TWO, (AB, AB, AB, "never"), ((call("none", "c1"),), "done")),
        (Abort(),),
    ),
    "replies": Walk(
        Form(
            MODEL,
            tools=(A, B),
            rules=(
                rule("rewrites", "after_model_call", says={"message": REPLY}, turn=2),
                rule("counts", "after_model_call", counts=True),
            ),
        ),
        (TWO, (AB, AB, "done"), (COUNTED,)),
        (Abort("enough"),),
    ),
    "what is shown": Walk(
        Form(
            MODEL,
            "Old.",
            (A, B),
            (
                rule(
                    "words",
                    "transform_context",
                    says={"messages": said("only this")},
                    turn=1,
                ),
                rule(
                    "shows",
                    "transform_context",
                    says={"system": "New.", "options": {"n": 1}},
                ),
                rule("less", "transform_context", says=LESS, turn=2),
                rule("stops", "transform_context", says={"stop": LIMIT}, turn=3),
                rule("stops too", "transform_context", says={"stop": "later"}, turn=3),
            ),
        ),
        ((AB, AB, AB, "never"), TWO),
    ),
    "again": Walk(
        Form(
            MODEL,
            tools=(A,),
            rules=(
                rule("again", "on_model_error", says={"retry": True, "delay": 3}),
                rule(
                    "elsewhere", "on_model_error", says={"model": "test:other"}, turn=1
                ),
                rule("gives up", "on_model_error", says={"retry": False}, turn=2),
            ),
        ),
        ((call("a", "c1", x=1), "done"), ("text",)),
        (Abort("enough"), Steer("hurry")),
    ),
    "turns": Walk(
        Form(
            MODEL,
            "Old.",
            (A, B),
            (
                rule(
                    "injects",
                    "prepare_next_turn",
                    says={"inject": said("go on")},
                    turn=1,
                ),
                rule("switches", "prepare_next_turn", says=SWITCH, turn=2),
                rule(
                    "rewrites",
                    "prepare_next_turn",
                    says={"transcript": said("in short")},
                    turn=3,
                ),
                rule(
                    "stops",
                    "should_stop_after_turn",
                    says={"stop": "that will do"},
                    turn=4,
                ),
                rule(
                    "stops too", "should_stop_after_turn", says={"stop": LIMIT}, turn=4
                ),
            ),
        ),
        (TWO, ("text",), (AB, AB, AB, AB, "never"), (call("b", "c1"), "done")),
        (Steer("hurry"), FollowUp("more"), Continue(system="Continued.")),
    ),
    "inject and stop": Walk(
        Form(
            MODEL,
            tools=(B,),
            rules=(
                rule("injects", "prepare_next_turn", says={"inject": said("go on")}),
                rule("stops", "should_stop_after_turn", says={"stop": True}, turn=2),
            ),
        ),
        (("text", "more"), (call("b", "c1"), "done")),
        tools={**TOOLS, "b": [ToolOutput("last", terminate=True)]},
    ),
    "history that does not pair": Walk(
        Form(
            MODEL,
            tools=(B,),
            rules=(rule("breaks", "prepare_next_turn", says={"transcript": UNPAIRED}),),
        ),
        ((call("b", "c1"), "done"),),
    ),
    "needs": Walk(
        Form(
            MODEL,
            tools=(A, B),
            rules=(
                rule("counts", "transform_context", counts=True),
                rule(
                    "looks up",
                    "transform_context",
                    says={"system": "Read."},
                    needs="law",
                ),
                rule(
                    "asks first",
                    "before_tool_call",
                    says=BLOCK,
                    tool="b",
                    needs="police",
                ),
                rule(
                    "checks",
                    "after_tool_result",
                    says={"details": 1},
                    tool="a",
                    needs="law",
                ),
                rule(
                    "thinks",
                    "should_stop_after_turn",
                    needs="law",
                    says={"stop": False},
                ),
            ),
        ),
        (TWO,),
        (Abort("enough"), Steer("hurry")),
        services={"law": [{"allowed": True}, OSError("away")], "police": [None]},
    ),
    "failing rules": Walk(
        Form(
            MODEL,
            tools=(A, B),
            rules=(
                rule("counts", "before_tool_call", counts=True),
                rule("breaks", "before_tool_call", tool="b", turn=1, fails=True),
                rule("breaks later", "after_tool_call", turn=2, fails=True),
            ),
        ),
        (TWO, ((call("a", "c1", x=1),), AB, "never"), ("text",)),
    ),
    "failing guards": Walk(
        Form(
            MODEL,
            tools=(A, B),
            rules=(
                rule("guards", "after_tool_result", tool="b", fails=True, closed=True),
            ),
        ),
        (TWO, (call("b", "c1"), "never")),
    ),
    "nested": Walk(
        Form(
            "test:outer",
            tools=(Inner("ask", Form(MODEL, "Inner.", (A, PAY)), timeout=500.0), B),
        ),
        (((call("ask", "c1", prompt="?"), call("b", "c2")), "done"),),
        (Abort("enough"), Steer("hurry")),
        {**TOOLS, "ask": [(call("a", "i1", x=1), call("pay", "i2", x=2)), COUNTED]},
        decisions=PEOPLE,
    ),
    "a conversation": Walk(
        Form(MODEL, tools=(A, B)),
        (TWO, ("text",)),
        (
            Prompt("and again"),
            Continue(),
            Prompt("once more", system="Be brief."),
            FollowUp("later"),
            Continue(thinking="high"),
        ),
        given=(Prompt((UserMessage("go"),), model="test:other", tools=(B,)),),
    ),
}
"""Every configuration by its name."""
