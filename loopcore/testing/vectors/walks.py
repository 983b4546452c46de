"""The configurations that vectors are made of, and what happens to them."""

from collections.abc import Mapping
from typing import Final

from loopcore.inputs import Abort, Continue, FollowUp, Prompt, Steer
from loopcore.messages import UserMessage
from loopcore.testing.vectors.form import Form, Inner
from loopcore.testing.vectors.ruled import RULED
from loopcore.testing.vectors.words import (
    AB,
    ALONE,
    AWAY,
    CALLS,
    COUNTED,
    MODEL,
    PAY,
    PEOPLE,
    QUEUES,
    SLOW,
    TOOLS,
    TWO,
    A,
    B,
    Walk,
    call,
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
    **RULED,
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
"""Every configuration, by its name."""
