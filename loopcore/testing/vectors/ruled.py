"""Configurations with rules, that vectors are made of."""

from collections.abc import Mapping
from typing import Final

from loopcore.inputs import Abort, Continue, FollowUp, Steer
from loopcore.testing.vectors.form import Form
from loopcore.testing.vectors.words import (
    AB,
    ALLOW,
    ASK,
    BLOCK,
    COUNTED,
    LESS,
    LIMIT,
    MODEL,
    PAY,
    PEOPLE,
    RENAME,
    REPLY,
    SWITCH,
    TOOLS,
    TWO,
    UNPAIRED,
    A,
    B,
    Walk,
    call,
    rule,
    said,
    words,
)
from loopcore.tools import ToolOutput

RULED: Final[Mapping[str, Walk]] = {
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
}
"""Every configuration with rules, by its name."""
