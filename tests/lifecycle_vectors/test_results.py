"""Lifecycle vectors about results: what a tool gave, and what after-hooks make of it."""

from loopcore import ToolOutput
from loopcore.hooks import Block, Hooks, ToolResultUpdate
from tests.driving import Run, Spy, begin, call, config
from tests.hooked import raises


def after(*updates: object) -> Hooks:
    """An after-hook that answers so."""
    return Hooks("after", after_tool_call=Spy(*updates))


def one_call(hook: Hooks, output: object) -> Run:
    """A run in which one tool gave this."""
    return begin(config(hook)).says(call("a")).ran("a", output)


FAILED = ToolOutput("disk full", details={"code": 28}, outcome="error")


def test_fields_that_an_after_hook_does_not_write_stay() -> None:
    """Vector 10: content and terminate are written, outcome and details stay."""
    run = one_call(after(ToolResultUpdate(content="sorry", terminate=True)), FAILED)

    (result,) = run.results
    assert (result.text, result.outcome, result.details) == (
        "sorry",
        "error",
        {"code": 28},
    )
    assert (run.reason, len(run.requests)) == ("terminated", 1)


def test_an_after_hook_may_write_everything() -> None:
    """Vector 11: no content, no error, other details, and the end."""
    update = ToolResultUpdate(content=[], is_error=False, details=[], terminate=True)
    run = one_call(after(update), FAILED)

    (result,) = run.results
    assert (result.parts, result.outcome, result.details) == ((), "ok", ())
    assert (run.reason, len(run.requests)) == ("terminated", 1)


def test_an_update_that_writes_nothing_is_nothing() -> None:
    """Vector 12: the states are equal, and the events are."""
    silent, empty = (one_call(after(said), "A") for said in (None, ToolResultUpdate()))

    assert (silent.state, silent.told) == (empty.state, empty.told)


def test_an_after_hook_may_take_back_the_end() -> None:
    """Vector 13: the tool asked for it, the run goes on."""
    run = one_call(
        after(ToolResultUpdate(terminate=False)), ToolOutput("A", terminate=True)
    )

    assert (run.reason, len(run.requests)) == ("", 2)


def test_an_after_hook_may_call_a_success_an_error() -> None:
    """Vector 14: the model reads it as one."""
    run = one_call(after(ToolResultUpdate(is_error=True)), "A")

    assert run.script[-1] == "a error: A"


def test_after_hooks_are_asked_about_what_ran() -> None:
    """Vector 15: errors and panics too; not blocked, unknown, invalid or cancelled."""
    seen = Spy()
    no = Hooks("no", before_tool_call=Spy(Block("no"))).for_tools("b")
    run = begin(config(Hooks("seen", after_tool_call=seen), no))
    run = run.says(call("a", "1"), call("b", "2"), call("ghost", "3"), call("a", "4"))
    run = run.ran("1", FAILED).ran("4", ToolOutput("panic", outcome="raised"))

    assert seen.calls == ["1", "4"]


def test_a_failing_tool_may_ask_for_the_end() -> None:
    """Vector 21: the older engine drops the flag, the newer keeps it (T7)."""
    failed = ToolOutput("disk full", outcome="error", terminate=True)

    assert one_call(after(), failed).reason == "terminated"


def test_a_failing_tool_keeps_its_own_content() -> None:
    """Vector 22: content of its own, and it is an error."""
    assert one_call(after(), FAILED).script[-1] == "a error: disk full"


def test_an_after_hook_that_raises_loses_no_result() -> None:
    """Vector 60: both tools ran, so both results are stored (T1, D41)."""
    run = begin(config(after(raises, None))).says(call("a"), call("b"))
    run = run.ran("a", "A").ran("b", "B")

    assert run.script[2:] == ["a ok: A", "b ok: B"]
    assert run.reason == "hook_error"
