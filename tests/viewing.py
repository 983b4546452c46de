"""A run that has something of everything, for the view of it: made by hand, recorded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from loopcore import (
    Answer,
    AssistantMessage,
    CallModel,
    Continue,
    Given,
    LoopConfig,
    ModelError,
    Prompt,
    RequestApproval,
    RunTool,
    Sleep,
    State,
    Steer,
    Text,
    Thinking,
    ToolCall,
    ToolOutput,
    ToolSpec,
    Usage,
    advance,
)
from loopcore.hooks import (
    Block,
    ContextUpdate,
    ContextView,
    Hooks,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
)
from loopcore.journal import Entry, Journal, fork
from loopcore.messages import Finish
from loopcore.policies import ask_before, redact, retry, sliding_window

MODEL: Final = "acme:swift-2"
STRONG: Final = "acme:deep-1"
NOON: Final = 1_764_590_400.0
"""When it begins."""


def spec(name: str, said: str, **kinds: str) -> ToolSpec:
    """A tool that takes these, all required."""
    properties = {key: {"type": kind} for key, kind in kinds.items()}
    schema = {"type": "object", "properties": properties, "required": [*kinds]}
    return ToolSpec(name, said, schema)


TOOLS: Final = (
    spec("search", "Find pages about something.", query="string"),
    spec("fetch", "Get a page.", url="string"),
    spec("order", "Order something.", item="string", cents="integer"),
)


def _soften(view: ToolResultView) -> ToolResultUpdate | None:
    if view.outcome != "timeout":
        return None
    said = "No answer in time; carry on without it."
    return ToolResultUpdate(said, is_error=False)


def _count(view: ToolCallView) -> ToolCallUpdate:
    counts = {**view.memo, view.spec.name: view.memo.get(view.spec.name, 0) + 1}
    if counts[view.spec.name] > 4:
        return ToolCallUpdate(Block(f"{view.spec.name} was called often enough."))
    return ToolCallUpdate(memo=counts)


def _brief(view: ContextView) -> ContextUpdate | None:
    late = view.turn > 4
    return ContextUpdate(system=f"{view.system} Be brief.") if late else None


CONFIG: Final = LoopConfig(
    model=MODEL,
    system="You help with shopping.",
    tools=TOOLS,
    hooks=[
        Hooks("soften", after_tool_call=_soften),
        Hooks("at_most", memo={}, before_tool_call=_count),
        redact(r"customer \d+", replacement="[customer]").named("redact"),
        sliding_window(6),
        Hooks("brief", transform_context=_brief),
        ask_before("order"),
        retry(2),
    ],
)


def says(*parts: Any, fed: int, said: int, cached: int = 0, **more: Any) -> Any:
    """A reply of these parts, and what it used."""
    content = [Text(part) if isinstance(part, str) else part for part in parts]
    usage = Usage(fed, said, cached, cost=round(fed * 3e-6 + said * 15e-6, 6))
    calls = any(isinstance(part, ToolCall) for part in parts)
    finish: Finish = "tools" if calls else "end"
    return AssistantMessage(content, usage=usage, finish=finish, **more)


def call(name: str, id: str, **arguments: Any) -> ToolCall:  # noqa: A002
    """A call."""
    return ToolCall(name, arguments, id)


SHOPS: Final = "https://shop.example/kettles"
STORY: Final[tuple[Any, ...]] = (
    Prompt("Compare the prices of kettles, and order the best one below 50 euros."),
    says(
        Thinking("Two shops should do."),
        "I look at two shops.",
        call("search", "c1", query="kettle prices"),
        call("fetch", "c2", url=f"{SHOPS}?page=1"),
        fed=310,
        said=48,
    ),
    ("c1", "Ten hits. Best: the Boil-O 2 (39.90), the Steamer (44.00). customer 4711"),
    ("c2", ToolOutput("", outcome="timeout")),
    says(call("fetch", "c3", url=f"{SHOPS}/boil-o-2"), fed=120, said=31, cached=310),
    Steer("Only in blue, please."),
    ("c3", "Boil-O 2, 1.7 l. 39.90. Colours: white, blue. Seen by customer 1204."),
    says(
        "It comes in blue. I check the other one.",
        call("fetch", "c4", url=f"{SHOPS}/steamer"),
        fed=160,
        said=40,
        cached=430,
    ),
    ("c4", "Steamer, 1.5 l. 44.00. Colours: black."),
    ModelError("Too many requests.", "rate_limit", retry_after=2.0, status=429),
    None,
    says(
        "The Boil-O 2 in blue is the one.",
        call("order", "c5", item="Boil-O 2, blue", cents=3990),
        fed=210,
        said=52,
        cached=560,
    ),
    "edit",
    ("c5", "Ordered: number 88-1."),
    says("Done: the blue Boil-O 2 for 39.90, order 88-1.", fed=90, said=24, cached=700),
)

OTHERWISE: Final[tuple[Any, ...]] = (
    Continue(model=STRONG),
    says(
        "The Steamer is larger than it looks, so I order that.",
        call("order", "c9", item="Steamer", cents=4400),
        fed=640,
        said=61,
    ),
    "reject",
    says("Then I order nothing.", fed=60, said=9, cached=640),
)


def answer(state: State, one: Any) -> Given:
    """What happens next: an input, a call's output, or the answer to what waits."""
    match one:
        case Prompt() | Steer() | Continue():
            return one
        case (str(id), output):
            tools = (e for e in state.waiting if isinstance(e, RunTool))
            return _took(next(e for e in tools if e.call.id == id).reply(output), 0.4)
        case "edit":
            return _asked(state).edit(cents=3990)
        case "reject":
            return _asked(state).reject("Not that one.")
        case None:
            return next(e for e in state.waiting if isinstance(e, Sleep)).done()
        case _:
            model = next(e for e in state.waiting if isinstance(e, CallModel))
            fails = isinstance(one, ModelError)
            return _took(model.fail(one) if fails else model.reply(one), 1.2)


def _asked(state: State) -> RequestApproval:
    return next(e for e in state.waiting if isinstance(e, RequestApproval))


def _took(answer: Answer, seconds: float) -> Answer:
    return Answer(answer.effect_id, answer.value, seconds)


def told(
    config: LoopConfig, start: State, story: tuple[Any, ...], began: float = NOON
) -> Journal:
    """The journal of a run to which all this happened, two seconds apart."""
    return Journal.of(
        config, start, list(_happened(config, start, story, began))
    ).unwrap()


def _happened(
    config: LoopConfig, state: State, story: tuple[Any, ...], began: float
) -> Iterator[Entry]:
    for n, one in enumerate(story):
        given: Any = answer(state, one)
        yield Entry(given, began + 2 * n)
        state, _ = advance(config, state, given, at=began + 2 * n).unwrap()


def shopping() -> Journal:
    """The run."""
    return told(CONFIG, State.start(CONFIG, run_id="kettle"), STORY)


def reordered(past: Journal) -> Journal:
    """The same run from its third turn on, with another model."""
    start = fork(CONFIG, past, turn=3, run_id="kettle-deep").unwrap()
    return told(CONFIG, start, OTHERWISE, NOON + 60)


GOLDEN: Final = Path(__file__).parent / "data" / "view"
"""Where both are kept: `python -m tests.viewing` writes them, if they are not there."""

FILES: Final = GOLDEN / "kettle.jsonl", GOLDEN / "kettle-deep.jsonl"

if __name__ == "__main__":
    journal = shopping()
    journal.write(FILES[0])
    reordered(journal).write(FILES[1])
