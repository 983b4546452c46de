"""The small pools that programs are drawn from, the simplest first so that they shrink."""

from typing import Any, Final, cast

from pyrsistent import pvector

from loopcore import (
    AssistantMessage,
    CustomMessage,
    LoopConfig,
    ModelError,
    Stop,
    Text,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from loopcore.hooks import (
    Allow,
    Ask,
    Block,
    ContextUpdate,
    Need,
    RawCallUpdate,
    ReplyUpdate,
    RetryUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
    TurnUpdate,
)
from property_tests.table import (
    After,
    Count,
    Deed,
    Edited,
    Entry,
    Fail,
    PointName,
    Say,
)

X: Final = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
}

ADD: Final = ToolSpec("add", "Adds.", X)
NOTE: Final = ToolSpec("note", "Notes.")
SLOW: Final = ToolSpec("slow", "One by one.", execution="sequential")
PAY: Final = ToolSpec("pay", "Pays.", X, needs_approval=True)
LAST: Final = ToolSpec(
    "last", "Asks, one by one.", needs_approval=True, execution="sequential"
)
BROKEN: Final = ToolSpec("broken", "Bad schema.", {"type": "nonsense"})
TOOLS: Final = (ADD, NOTE, SLOW, PAY, LAST, BROKEN)

CHILD: Final = "child"
TIMED: Final = "timed"
GUARDED: Final = "guarded"


def inner(name: str, config: LoopConfig) -> Any:  # a Nested
    """A configuration as one of three tools."""
    timeout = 5.0 if name == TIMED else None
    return config.as_tool(
        name, "Asks another.", timeout=timeout, needs_approval=name == GUARDED
    )


CALLS: Final = (
    ToolCall("add", {"x": 1}, "c1"),
    ToolCall("note", {}, "c2"),
    ToolCall("slow", {}, "c3"),
    ToolCall("pay", {"x": 5}, "c4"),
    ToolCall("last", {}, "c5"),
    ToolCall(CHILD, {"prompt": "dig"}, "c6"),
    ToolCall(TIMED, {"prompt": "dig"}, "c7"),
    ToolCall(GUARDED, {"prompt": "dig"}, "c8"),
    ToolCall("add", {"x": 2}, "c1"),
    ToolCall("add", {"x": "3"}, "c9"),
    ToolCall("pay", {"x": "6"}, ""),
    ToolCall("add", {"x": None}, "c10"),
    ToolCall.parse("note", "[1", "c11"),
    ToolCall("nope", {}, "c12"),
    ToolCall("broken", {}, ""),
)

USAGES: Final = (Usage(), Usage(1, 1), Usage(4, 2, 1, cost=0.5))

PARTIALS: Final = (
    None,
    AssistantMessage("half", usage=Usage(0, 1)),
    AssistantMessage((Text("half"), CALLS[0]), usage=Usage(2, 1, cost=0.25)),
)
ERRORS: Final = (
    ModelError("down", "network"),
    ModelError("busy", "overloaded", retry_after=2.0),
    ModelError("cut", "cut_stream", partial=PARTIALS[2]),
    ModelError("no", "auth"),
)
OUTPUTS: Final = (
    ToolOutput("2"),
    ToolOutput("bye", terminate=True),
    ToolOutput(""),
    ToolOutput("no", outcome="error", details={"code": 1}),
    ToolOutput("died", outcome="raised", terminate=True),
    ToolOutput("late", outcome="timeout"),
    ToolOutput("gone", outcome="cancelled"),
)
FOUND: Final = ("yes", None, {"ok": True})

SERVICE: Final = Need.service("seen", "policy", {"q": 1})
OTHER: Final = Need.service("more", "policy")
MODEL: Final = Need.model("sum", pvector([UserMessage("Shorten.")]), model="test:small")

SHOWN: Final[tuple[object, ...]] = (
    [UserMessage("shown")],
    pvector([UserMessage("shown in a vector of C, where there is one")]),
    ContextUpdate(system="another"),
    ContextUpdate(tools=[ADD, SLOW]),
    ContextUpdate(tools=[]),
    ContextUpdate(model="test:other", thinking="low", options={"t": 1}),
    ContextUpdate([], system=""),
)
"""What transform_context may change without ending a run."""

HELD: Final[tuple[object, ...]] = (
    ToolCallUpdate(arguments={"x": 7}),
    ToolCallUpdate(arguments={"x": "8"}),
    ToolCallUpdate(arguments={"x": []}),
    ToolCallUpdate(terminate=True),
    ToolCallUpdate(terminate=False),
    ToolCallUpdate(decision=Block("stop"), terminate=True),
    ToolCallUpdate(decision=Ask("sure?"), arguments={"x": 9}),
)
SHAPED: Final[tuple[object, ...]] = (
    ToolResultUpdate("shaped"),
    ToolResultUpdate(is_error=False),
    ToolResultUpdate(is_error=True),
    ToolResultUpdate(terminate=True),
    ToolResultUpdate(terminate=False),
    ToolResultUpdate(details={"d": 1}),
    ToolResultUpdate("", details=None),
)
"""What the two points of a result may change."""

VALUES: Final[dict[PointName, tuple[object, ...]]] = {
    "transform_context": (
        *SHOWN,
        ContextUpdate(stop=True),
        ContextUpdate(stop="enough"),
        ContextUpdate(stop=Stop("limit", "spent")),
    ),
    "after_model_call": (
        AssistantMessage("replaced"),
        AssistantMessage(CALLS[:2], finish="tools"),
        AssistantMessage((), finish="length"),
        AssistantMessage(CALLS[0], finish="refusal"),
        ReplyUpdate(AssistantMessage((CALLS[0],), finish="error")),
    ),
    "on_model_error": (
        RetryUpdate(retry=True),
        RetryUpdate(retry=True, delay=2.5),
        RetryUpdate(retry=True, model="test:fallback", thinking=None),
        RetryUpdate(retry=False),
        RetryUpdate(delay=1.5),
    ),
    "prepare_tool_call": (
        RawCallUpdate(name="add"),
        RawCallUpdate(arguments={"x": 4}),
        RawCallUpdate(arguments={"x": "bad"}),
        RawCallUpdate(name="nope"),
    ),
    "before_tool_call": (Allow(), Block("no"), Ask("ok?"), Ask(), Block(), *HELD),
    "after_tool_call": SHAPED,
    "after_tool_result": SHAPED,
    "prepare_next_turn": (
        TurnUpdate("and then?"),
        TurnUpdate(model="test:next", thinking="high", system="anew"),
        TurnUpdate(tools=[ADD, PAY]),
        TurnUpdate(transcript=[UserMessage("all over")]),
        TurnUpdate(transcript=pvector([UserMessage("in C")]), inject=pvector()),
        TurnUpdate([CustomMessage("mark", 1), UserMessage("go")], tools=[]),
    ),
    "should_stop_after_turn": (False, True, "enough", Stop("limit", "spent"), ""),
}
"""What a hook may return."""


def _misuse(kind: Any, field_name: str, value: object) -> object:
    """An update with a field of a wrong type, or the error its class gives at once."""
    try:
        return kind(**{field_name: value})
    except (TypeError, ValueError):
        return 3


WRONG: Final[dict[PointName, tuple[object, ...]]] = {
    "transform_context": (
        3,
        [3],
        _misuse(ContextUpdate, "system", 5),
        _misuse(ContextUpdate, "thinking", 5),
        _misuse(ContextUpdate, "stop", 5),
        ContextUpdate(memo={1}),
    ),
    "after_model_call": (
        3,
        "text",
        _misuse(ReplyUpdate, "message", "text"),
        ReplyUpdate(memo={1}),
    ),
    "on_model_error": (
        True,
        _misuse(RetryUpdate, "delay", "soon"),
        _misuse(RetryUpdate, "delay", float("nan")),
        _misuse(RetryUpdate, "delay", None),
        _misuse(RetryUpdate, "retry", "yes"),
    ),
    "prepare_tool_call": (
        "add",
        _misuse(RawCallUpdate, "name", None),
        RawCallUpdate(memo={1}),
    ),
    "before_tool_call": (
        "no",
        False,
        _misuse(ToolCallUpdate, "decision", "no"),
        _misuse(ToolCallUpdate, "decision", None),
        _misuse(ToolCallUpdate, "terminate", "x"),
    ),
    "after_tool_call": ("text", _misuse(ToolResultUpdate, "is_error", "x")),
    "after_tool_result": ("text", _misuse(ToolResultUpdate, "terminate", None)),
    "prepare_next_turn": (
        "and then?",
        TurnUpdate(transcript=[ToolResultMessage("c1", "add", "stray")]),
        TurnUpdate(AssistantMessage("said by nobody")),
        _misuse(TurnUpdate, "system", None),
        _misuse(TurnUpdate, "thinking", 5),
        _misuse(TurnUpdate, "inject", 5),
    ),
    "should_stop_after_turn": (3, [], RetryUpdate(retry=True)),
}
"""What no hook may return: each is a hook_error, none of it may break a step."""


def calm(point: PointName) -> tuple[Entry, ...]:
    """Entries of this point that neither need anything nor fail."""
    return tuple((point, Say(value)) for value in VALUES[point])


def wild(point: PointName) -> tuple[Entry, ...]:
    """All entries of this point."""
    first = Say(VALUES[point][0])
    needy: tuple[Deed, ...] = (
        After(SERVICE, first),
        After(MODEL, Count()),
        After(SERVICE, After(OTHER, first)),
        After(SERVICE, Fail()),
        After(SERVICE, Say(SERVICE)),
    )
    if point == "before_tool_call":
        needy = (*needy, Edited(Fail()), Edited(Say(Block("not so"))))
    broken = tuple(map(Say, WRONG[point]))
    others = cast("tuple[Deed, ...]", (Count(), *needy, Fail(), *broken))
    return (*calm(point), *((point, deed) for deed in others))
