"""Hooks that are wrong, each in one way that people really fall into."""

import os
import random
import time
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from loopcore.hooks import (
    Block,
    ContextUpdate,
    ContextView,
    ErrorView,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)


def last_four(view: ContextView) -> Any:
    """A window that cuts a pair."""
    return view.messages[-4:]


def last_fifty(view: ContextView) -> Any:
    """The same, where only a long run shows it."""
    return view.messages[-50:]


def overdue(view: TurnView) -> bool:
    """Reads the clock, and gives the same answer for a long time."""
    return len(view.results) > time.time()


def rotate(view: ErrorView) -> RetryUpdate:
    """Draws a random number."""
    delay = random.random() * view.attempt  # noqa: S311  # what is wrong with it
    return RetryUpdate(retry=True, delay=delay)


def tag(view: ToolCallView) -> None:
    """Edits its view through a list in it."""
    view.arguments["tags"].append("seen")


def shout(view: ToolCallView) -> None:
    """Edits its view through an object in it."""
    view.arguments["loud"] = True


def tidy(view: ToolResultView) -> None:
    """Sets a field of its view."""
    view.parts = ()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]  # the mistake


def force(view: ToolCallView) -> None:
    """Gets round the freezing of its view."""
    object.__setattr__(view, "arguments", {"forced": True})


def remember(view: TurnView) -> StopUpdate:
    """Keeps all that was ever said."""
    return StopUpdate(memo=[*(view.memo or ()), view.message.text])


calls = 0


def every_hundredth(view: TurnView) -> bool:
    """Counts in a global of its module."""
    global calls  # noqa: PLW0603  # what is wrong with it
    calls += 1
    return calls % 100 == len(view.message.text)


seen: list[str] = []


def unseen(view: TurnView) -> None:
    """Fills a list of its module."""
    seen.append(view.message.text)


def label(view: ContextView) -> ContextUpdate:
    """Depends on the order of a set."""
    words = {"alpha", "beta", "gamma", "delta", *view.system.split()}
    return ContextUpdate(system=" ".join(words))


def newest(view: ContextView) -> ContextUpdate:
    """Does not think of an empty transcript."""
    return ContextUpdate(system=view.messages[-1].text)


def rules(view: ContextView) -> ContextUpdate:
    """Reads a file."""
    text = Path(__file__).read_text(encoding="utf-8")
    return ContextUpdate(system=text[: len(view.system)])


def region(view: ContextView) -> ContextUpdate:
    """Reads the environment."""
    return ContextUpdate(system=view.system + os.environ.get("REGION", "")[:0])


def note(view: TurnView) -> None:
    """Prints."""
    print(view.turn, end="")  # noqa: T201  # what is wrong with it


def confused(view: TurnView) -> Any:
    """Returns the update of another point."""
    return TurnUpdate("go on") if view.results else False


def urls(view: TurnView) -> StopUpdate:
    """Remembers what JSON does not have."""
    return StopUpdate(memo={"urls": {view.message.text}})


def same(view: ToolCallView) -> Block | None:
    """Compares with `is` what is equal."""
    first = view.call is view.message.calls[0]
    return Block("the first is refused") if first else None


def budget(view: ToolResultView) -> ToolResultUpdate | None:
    """A limit, as a value."""
    return ToolResultUpdate(terminate=True) if view.seconds is None else None


def again(view: ToolResultView) -> ToolResultUpdate:
    """Lifts it."""
    return ToolResultUpdate(terminate=view.is_error)


def no_zero(view: ToolCallView) -> Block | None:
    """A guard that looks at arguments."""
    return Block("not zero") if view.arguments.get("x") == 0 else None


def to_zero(view: ToolCallView) -> ToolCallUpdate:
    """Changes them after it has looked."""
    return ToolCallUpdate(arguments={**view.arguments, "x": 0})


def worn_out(view: ContextView) -> None:
    """Fails once a history is long."""
    if len(view.transcript) > 60:
        message = "too long for me"
        raise ValueError(message)


def only_reading(view: TurnView) -> TurnUpdate:
    """A limit, as a list of tools."""
    return TurnUpdate(tools=[tool for tool in view.tools if tool.name == "look"])


def all_tools(view: TurnView) -> TurnUpdate:
    """Gives back what another one took away."""
    return TurnUpdate(tools=view.state.settings.tools)


def nosy(view: ToolCallView) -> Block | None:
    """Says something about tools that are not its own."""
    return Block("no") if view.turn else None


def cents(view: ToolCallView) -> Block | None:
    """Takes for granted what a tool is given."""
    return Block("too much") if view.arguments["cents"] > 100 else None


@cache
def _first_of(turn: int) -> list[str]:
    """Remembers behind a library's back."""
    return [""] * (turn < 0)


def keep_first(view: TurnView) -> str:
    """Says what it was first shown in a turn, in whichever run that was."""
    kept = _first_of(view.turn)
    if not kept:
        kept.append(view.message.text)
    return kept[0]


longest = SimpleNamespace(text="")


def outgrow(view: ContextView) -> ContextUpdate:
    """Remembers the longest transcript of any run."""
    longest.text = max(longest.text, "x" * len(view.transcript), key=len)
    return ContextUpdate(system=longest.text)


def cached(view: TurnView, known: dict[int, str] = {}) -> None:  # noqa: B006  # what is wrong with it
    """Fills its own default."""
    known[len(known)] = view.message.text
