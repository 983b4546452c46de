"""Loops that use everything, each with what may happen to it: for `explore`."""

from typing import Any, Final

from attrs import field, frozen

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    Continue,
    FollowUp,
    LoopConfig,
    ModelError,
    Prompt,
    RequestApproval,
    Steer,
    ToolCall,
    ToolOutput,
    ToolSpec,
    Usage,
    Withdraw,
)
from loopcore.hooks import (
    Allow,
    Ask,
    Block,
    ContextUpdate,
    ContextView,
    ErrorView,
    Hooks,
    Need,
    RawCallUpdate,
    RawCallView,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)

X: Final = {
    "type": "object",
    "properties": {"x": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}
ADD: Final = ToolSpec("add", "Adds.", X)
PAY: Final = ToolSpec("pay", "Pays.", X, needs_approval=True)
SLOW: Final = ToolSpec("slow", "One by one.", X, execution="sequential")
USED: Final = Usage(3, 2)


def says(*calls: ToolCall, text: str = "", **more: Any) -> AssistantMessage:
    """A reply that was paid for."""
    parts = [*calls] if calls else text
    finish = more.pop("finish", "tools" if calls else "end")
    return AssistantMessage(parts, finish=finish, usage=USED, **more)


def call(name: str, n: int, **arguments: Any) -> ToolCall:
    """A call, by its number in its reply."""
    return ToolCall(name, arguments or {"x": n}, f"c{n}")


DONE: Final = says(text="done")


@frozen
class Loop:
    """A configuration, what it is given, and what may happen to it."""

    config: LoopConfig
    replies: list[Any]
    tools: dict[str, list[Any]] = field(factory=dict[str, list[Any]])
    also: tuple[Any, ...] = ()
    more: dict[str, Any] = field(factory=dict[str, Any])


def config(*hooks: Hooks, **more: Any) -> LoopConfig:
    """A configuration with these hooks."""
    more.setdefault("tools", [ADD, PAY, SLOW])
    return LoopConfig(model="test:m", system="Be kind.", hooks=hooks, **more)


TWO: Final = {"add": ["2", ToolOutput("bye", terminate=True), TimeoutError()]}


def batch(**more: Any) -> Loop:
    """Calls side by side, one of a tool that is not there, steered and stopped."""
    replies = [says(call("add", 1), call("nope", 2), call("add", 3)), DONE]
    also = (Steer("hurry"), FollowUp("and then?"), Abort("enough"))
    return Loop(config(**more), replies, TWO, also)


def streamed() -> Loop:
    """Stopped while a model speaks, in the first turn or in the second."""
    half = {f"r.1.{turn}.model.1": says(text="half") for turn in (1, 2)}
    replies = [says(call("add", 1)), DONE]
    return Loop(config(), replies, TWO, (Abort(partials=half), Steer("hurry")))


def one_by_one() -> Loop:
    """A tool that wants to be alone makes the whole batch wait."""
    replies = [says(call("add", 1), call("slow", 2), call("add", 3)), DONE]
    tools: dict[str, list[Any]] = {"add": ["2"], "slow": ["3", OSError("no")]}
    return Loop(config(), replies, tools, (Abort(), Steer("hurry")))


def strict(view: ToolCallView) -> Block | Ask | None:
    """The first calls are allowed, the second asked about, the third blocked."""
    verdicts: dict[int, Block | Ask] = {2: Ask("sure?"), 3: Block("no")}
    return verdicts.get(view.arguments["x"])


def kind(view: ToolCallView) -> ToolCallUpdate | Allow | None:
    """Says yes to everything, also to what others forbid."""
    if view.arguments["x"] == 1:
        return ToolCallUpdate(decision=Allow(), arguments={"x": 7}, terminate=False)
    return Allow()


def adds_only(view: ToolCallView) -> ToolCallUpdate | None:
    """Counts the calls of one tool."""
    return ToolCallUpdate(memo=[*(view.memo or []), view.tool])


def mends(view: RawCallView) -> RawCallUpdate | None:
    """Gives a misspelt call its name."""
    return RawCallUpdate(name="add") if view.name == "ad" else None


STRICT: Final = Hooks("strict", before_tool_call=strict)
KIND: Final = Hooks("kind", before_tool_call=kind)
COUNTS: Final = Hooks("counts", before_tool_call=adds_only, tools=["add"])
MENDS: Final = Hooks("mends", prepare_tool_call=mends)


def edit(asked: RequestApproval) -> Answer:
    """Another number."""
    return asked.edit(x=8)


def misedit(asked: RequestApproval) -> Answer:
    """What is no number."""
    return asked.edit(x=None)


def respond(asked: RequestApproval) -> Answer:
    """What the tool would have given."""
    return asked.respond("by hand")


DECISIONS: Final = (
    RequestApproval.approve,
    RequestApproval.reject,
    edit,
    misedit,
    respond,
)


def gates(*order: Hooks) -> Loop:
    """Calls that are blocked, asked about, let through, mended and edited."""
    replies = [
        says(call("ad", 1), call("pay", 2), call("add", 3), call("pay", 4)),
        DONE,
    ]
    hooks = order or (MENDS, STRICT, COUNTS, KIND)
    tools: dict[str, list[Any]] = {"add": ["2"], "pay": ["paid"]}
    return Loop(config(*hooks), replies, tools, (), {"decisions": DECISIONS})


def approvals() -> Loop:
    """A tool that needs approval beside one that a hook asks about again, stopped."""
    replies = [says(call("pay", 1), call("pay", 2)), DONE]
    tools: dict[str, list[Any]] = {"pay": ["paid", OSError("no")]}
    again = Hooks("strict", before_tool_call=strict)
    more = {"decisions": (edit, misedit, RequestApproval.reject)}
    return Loop(config(again), replies, tools, (Abort(),), more)


def nested(*hooks: Hooks) -> Loop:
    """Runs inside, with a tool and a timer of their own, beside a tool, stopped."""
    inside = config(tools=[ADD]).as_tool("ask", "Asks.", timeout=9.0)
    outer = config(*hooks, tools=[ADD, inside])
    asked = [says(call("ask", 1, prompt="dig"), call("add", 2)), DONE]
    said = [says(call("add", 1)), says(text="found"), ModelError("down")]
    return Loop(
        outer,
        asked,
        {"add": ["2"], "ask": said},
        (Abort(), Steer("hurry")),
        {"bound": 400},
    )


def patient(view: ErrorView) -> RetryUpdate | None:
    """Tries again twice, then with another model."""
    if view.error.kind != "overloaded":
        return None
    model = "test:other" if view.attempt == 2 else None
    changed: dict[str, Any] = {"model": model} if model else {}
    return RetryUpdate(retry=view.attempt < 3, delay=2.0, **changed)


def never_twice(view: ErrorView) -> RetryUpdate | None:
    """A budget: the second failure in a run is the last."""
    failed = (view.memo or 0) + 1
    return (
        RetryUpdate(memo=failed, retry=False)
        if failed > 2
        else RetryUpdate(memo=failed)
    )


def retries(*order: str) -> Loop:
    """Failed attempts, tried again with pauses and on another model."""
    rules = {
        "patient": Hooks("patient", on_model_error=patient),
        "budget": Hooks("budget", on_model_error=never_twice),
    }
    busy = ModelError("busy", "overloaded", partial=says(text="hal"))
    replies = [busy, busy, says(call("add", 1)), busy, DONE]
    hooks = (rules[name] for name in order or ("patient",))
    return Loop(config(*hooks), replies, TWO, (Abort(), Steer("hurry")))


def more_once(view: TurnView) -> TurnUpdate | None:
    """After the first turn there is something to add."""
    changed: dict[str, Any] = {"model": "test:next", "thinking": "high"}
    return TurnUpdate("and this", **changed) if view.turn == 1 else None


def late(view: TurnView) -> StopUpdate | None:
    """No run has more than two turns."""
    return StopUpdate("late") if view.turn == 2 else None


MORE: Final = Hooks("more", prepare_next_turn=more_once)
LATE: Final = Hooks("late", should_stop_after_turn=late)
FIRST: Final = Hooks("first", should_stop_after_turn=lambda _: StopUpdate("at once"))
SECOND: Final = Hooks("second", should_stop_after_turn=lambda _: StopUpdate("as well"))


def ends(*hooks: Hooks, **more: Any) -> Loop:
    """Queues of both kinds, messages that hooks add, stops, and a batch that ends it."""
    also = (Steer("one", "a"), Steer("two", "b"), FollowUp("three", "a"), Withdraw("a"))
    return Loop(config(*hooks, **more), [says(call("add", 1)), DONE], TWO, also)


def outputs() -> Loop:
    """A run that wants a number, and gets words, a refusal, then a number."""
    replies = [says(text="seven"), says(text="sieben"), says(text="7")]
    return Loop(
        config(output=int, repairs=1), replies, {}, (Steer("now"), FollowUp("?"))
    )


def refusals() -> Loop:
    """A run that wants a number, and is refused."""
    refusal = says(text="no", finish="refusal")
    return Loop(config(output=int), [refusal], {}, (Steer("now"),))


def needy(view: ToolCallView) -> Need | Block | ToolCallUpdate | None:
    """Asks a service and a model about each call."""
    if "verdict" not in view.answers:
        return Need.service("verdict", "policy", {"x": view.arguments["x"]})
    fine = view.answers["verdict"].value_or(False)  # noqa: FBT003
    return ToolCallUpdate(memo=view.arguments["x"]) if fine else Block("forbidden")


def noting(view: ToolCallView) -> ToolCallUpdate:
    """Counts what it is asked: an abandoned pass does not count."""
    return ToolCallUpdate(memo=(view.memo or 0) + 1)


def needs() -> Loop:
    """Hooks that ask a service first; the passes until then are abandoned."""
    hooks = (
        Hooks("noting", before_tool_call=noting),
        Hooks("needy", before_tool_call=needy),
    )
    replies = [says(call("add", 1), call("add", 2)), DONE]
    more = {"services": {"policy": [True, False, OSError("down")]}}
    return Loop(
        config(*hooks), replies, {"add": ["2"]}, (Abort(), Steer("hurry")), more
    )


def breaks(view: ToolResultView) -> None:
    """A guard that fails at what it should look at."""
    if view.text.lower() == "secret":
        raise ValueError(view.text)


def edited_breaks(view: ToolCallView) -> Ask | None:
    """A gate that asks, and fails at what a person edited."""
    if view.approved:
        message = "an edited call"
        raise ValueError(message)
    return Ask()


def guards(*, fail_closed: bool) -> Loop:
    """Hooks that fail, when a result is looked at."""
    hook = Hooks("breaks", fail_closed=fail_closed, after_tool_result=breaks)
    shouts = Hooks("shouts", after_tool_call=lambda v: ToolResultUpdate(v.text.upper()))
    replies = [says(call("add", 1), call("add", 2), call("nope", 3)), DONE]
    tools: dict[str, list[Any]] = {"add": ["2", "secret"]}
    return Loop(config(hook, shouts), replies, tools, (Abort(),), FAILING)


FAILING: Final = {"hooks_may_fail": True}
"""Some hooks here fail on purpose."""


def edits() -> Loop:
    """A gate that fails at an edited call while another call is run."""
    hook = Hooks("breaks", before_tool_call=edited_breaks, tools=["pay"])
    replies = [says(call("pay", 1), call("add", 2)), DONE]
    tools: dict[str, list[Any]] = {"add": ["2"], "pay": ["paid"]}
    more: dict[str, Any] = {"decisions": DECISIONS, **FAILING}
    return Loop(config(hook), replies, tools, (Steer("now"),), more)


def shows(view: ContextView) -> ContextUpdate | None:
    """Shows the newest message alone, to another model."""
    newest = view.messages[len(view.messages) - 1]
    return ContextUpdate([newest], model="test:shown", system="Only this.", tools=[ADD])


def settings() -> Loop:
    """Requests that show something else, and prompts that change what they start from."""
    hook = Hooks("shows", transform_context=shows)
    again = Prompt("again", model="test:asked", system="Now so.")
    also = (again, FollowUp("more"), Continue(thinking="low"), Abort())
    replies = [says(call("add", 1)), DONE]
    return Loop(config(hook, MORE), replies, {"add": ["2"]}, also, {"bound": 400})


def cut() -> Loop:
    """Replies that were cut, refused and failed, with calls."""
    replies = [
        says(call("add", 1), call("add", 2), finish="length"),
        says(call("add", 1), finish="refusal"),
    ]
    return Loop(config(), replies, TWO, (Steer("more"), FollowUp("more"), Abort()))


def forgets(view: TurnView) -> TurnUpdate | None:
    """Wants to store a history in which a call has no result."""
    said = [m for m in view.transcript if isinstance(m, AssistantMessage)]
    return TurnUpdate(transcript=said) if view.turn == 1 and said[0].calls else None


def unpaired() -> Loop:
    """A hook that would store calls without their results."""
    hook = Hooks("forgets", prepare_next_turn=forgets)
    replies = [says(call("add", 1)), DONE]
    return Loop(config(hook), replies, {"add": ["2"]}, (), FAILING)


LOOPS: Final = {
    "batch": batch(),
    "batch, all at once": batch(steering="all", follow_ups="all"),
    "batch, one by one": batch(parallel=False),
    "streamed": streamed(),
    "one by one": one_by_one(),
    "gates": gates(),
    "gates, kind first": gates(MENDS, COUNTS, KIND, STRICT),
    "approvals": approvals(),
    "nested": nested(),
    "retries": retries(),
    "retries, budget": retries("patient", "budget"),
    "retries, budget first": retries("budget", "patient"),
    "ends": ends(),
    "ends, more": ends(MORE),
    "ends, late": ends(MORE, LATE, steering="all"),
    "ends, two stops": ends(FIRST, SECOND),
    "ends, more and stop": ends(MORE, FIRST),
    "outputs": outputs(),
    "refusals": refusals(),
    "needs": needs(),
    "guards": guards(fail_closed=False),
    "guards, closed": guards(fail_closed=True),
    "edits": edits(),
    "settings": settings(),
    "cut": cut(),
    "unpaired": unpaired(),
}
