"""Agent core rows about one call: lookup, arguments, hooks, result."""

import pytest
from returns.result import Success

from loopcore import Abort, RunTool, ToolOutput, ToolSpec
from loopcore.arguments import arguments_for
from loopcore.frozen import freeze_object
from loopcore.hooks import (
    Ask,
    Block,
    Hooks,
    RawCallUpdate,
    ToolCallUpdate,
    ToolResultUpdate,
)
from tests.driving import Run, Spy, begin, call, config, typed
from tests.hooked import raises

COUNT = typed("count", "n", n="integer")


def gated(*answers: object) -> Run:
    """A run of two calls whose gate answers so."""
    gate = Hooks("gate", before_tool_call=Spy(*answers))
    return begin(config(gate)).says(call("a"), call("b"))


def shaped(*answers: object, output: object = "A") -> Run:
    """A run of one call whose after-hook answers so."""
    after = Hooks("after", after_tool_call=Spy(*answers))
    return begin(config(after)).says(call("a")).ran("a", output)


def test_an_unknown_tool_is_an_error_result() -> None:
    """Row 9: the run goes on."""
    run = begin(config()).says(call("ghost"))

    assert (run.outcomes, len(run.requests)) == ({"ghost": "unknown_tool"}, 2)


def test_arguments_that_do_not_fit_are_an_error_result() -> None:
    """Row 10: the path is named; neither the tool nor its after-hook is asked."""
    after = Spy()
    cfg = config(Hooks("after", after_tool_call=after), tools=[COUNT])
    run = begin(cfg).says(call("count", n="many"))

    assert run.outcomes == {"count": "invalid_arguments"}
    assert "n" in run.results[0].text
    assert (run.started, after.views) == ([], [])


def test_arguments_are_coerced_for_the_tool_and_not_in_the_transcript() -> None:
    """Row 11: "5" becomes 5."""
    run = begin(config(tools=[COUNT])).says(call("count", n="5"))

    effect = run.one(RunTool)
    assert (effect.arguments, effect.call.arguments) == ({"n": 5}, {"n": "5"})


def test_an_old_shape_of_arguments_can_be_mended() -> None:
    """Row 12: validation sees the new shape, the effect still has the old."""
    mend = Spy(lambda view: RawCallUpdate(arguments={"n": view.arguments["number"]}))
    cfg = config(Hooks("mend", prepare_tool_call=mend), tools=[COUNT])
    effect = begin(cfg).says(call("count", number=5)).one(RunTool)

    assert (effect.arguments, effect.call.arguments) == ({"n": 5}, {"number": 5})


def test_a_mend_that_raises_spoils_its_own_call_alone() -> None:
    """Row 13: an error result; siblings run (D44)."""
    mend = Hooks("mend", prepare_tool_call=Spy(raises, None))
    run = begin(config(mend)).says(call("a"), call("b"))

    assert run.started == ["b"]
    assert run.ran("b").outcomes == {"a": "invalid_arguments", "b": "ok"}


def test_arguments_of_a_wrong_type_never_reach_a_tool() -> None:
    """Row 14: a gate gives new ones, which are validated again (T10, D43)."""
    write = Hooks("write", before_tool_call=Spy(ToolCallUpdate(arguments={"n": "x"})))
    run = begin(config(write, tools=[COUNT])).says(call("count", n=1))

    assert (run.started, run.outcomes) == ([], {"count": "invalid_arguments"})


@pytest.mark.parametrize(
    ("reason", "text"),
    [("too late", "too late"), ("", "This call of a was blocked.")],
)
def test_a_blocked_call_is_answered_with_its_reason(reason: str, text: str) -> None:
    """Row 15: or with a text of its own; it does not run."""
    run = gated(Block(reason), None)

    assert run.started == ["b"]
    assert run.ran("b").results[0].text == text


def test_a_gate_that_raises_lets_nothing_run() -> None:
    """Row 16: it fails closed; here the run stops and says so (T1, D40)."""
    run = gated(raises)

    assert (run.started, run.reason) == ([], "hook_error")
    assert run.outcomes == {"a": "cancelled", "b": "cancelled"}


STOP = ToolCallUpdate(Block("enough"), terminate=True)


def test_blocks_may_end_the_run() -> None:
    """Row 17: every call was blocked so (D60)."""
    run = gated(STOP)

    assert (run.reason, len(run.requests)) == ("terminated", 1)


def test_one_block_of_two_does_not_end_the_run() -> None:
    """Row 18: the other call did not ask for it (D60)."""
    run = gated(STOP, None).ran("b")

    assert (run.reason, len(run.requests)) == ("", 2)


@pytest.mark.parametrize(
    ("update", "changed"),
    [
        (ToolResultUpdate(content="B"), {"text": "B"}),
        (ToolResultUpdate(details={"x": 2}), {"details": {"x": 2}}),
        (ToolResultUpdate(is_error=True), {"outcome": "error"}),
    ],
)
def test_an_after_hook_changes_what_it_names(
    update: ToolResultUpdate, changed: dict[str, object]
) -> None:
    """Row 19: the other fields stay; it had seen what the tool gave."""
    after = Spy(update)
    run = begin(config(Hooks("after", after_tool_call=after))).says(call("a"))
    (result,) = run.ran("a", ToolOutput("A", details={"x": 1})).results

    before: dict[str, object] = {"text": "A", "details": {"x": 1}, "outcome": "ok"}
    assert {name: getattr(after.views[0], name) for name in before} == before
    assert {name: getattr(result, name) for name in before} == before | changed


def test_an_after_hook_may_call_a_raise_a_success() -> None:
    """Row 20: the text is kept (D45)."""
    raised = ToolOutput("KeyError: 'x'", outcome="raised")
    run = shaped(ToolResultUpdate(is_error=False), output=raised)

    assert run.script[-1] == "a ok: KeyError: 'x'"


def test_an_after_hook_that_raises_loses_no_output() -> None:
    """Row 21: what the tool did is not hidden from the model; the run stops (D41)."""
    after = Hooks("after", after_tool_call=Spy(raises, None))
    run = begin(config(after)).says(call("a"), call("b")).ran("a", "A").ran("b", "B")

    assert run.script[2:] == ["a ok: A", "b ok: B"]
    assert run.reason == "hook_error"


def test_an_after_hook_may_end_the_run() -> None:
    """Row 22: on the only result."""
    run = shaped(ToolResultUpdate(terminate=True))

    assert (run.reason, len(run.requests)) == ("terminated", 1)


def test_a_tool_that_raised_is_an_error_result() -> None:
    """Row 23: with the exception's text; the next request is made."""
    run = shaped(None, output=ToolOutput("KeyError: 'x'", outcome="raised"))

    assert (run.script[-1], len(run.requests)) == ("a raised: KeyError: 'x'", 2)


def test_a_tool_that_gave_nothing_has_an_empty_result() -> None:
    """Row 24: no content is no part (D78)."""
    run = shaped(None, output=None)

    assert (run.results[0].parts, run.results[0].outcome) == ((), "ok")


def test_null_stays_null_where_the_schema_allows_it() -> None:
    """Row 125: it is no text."""
    schema = {"type": "object", "properties": {"x": {"type": ["string", "null"]}}}
    given = freeze_object({"x": None})

    assert arguments_for(ToolSpec("a", "", schema), given) == Success(given)


def test_the_word_true_is_a_boolean_and_the_digit_is_not() -> None:
    """Row 126: "1" for a boolean is a guess."""
    switch = typed("switch", on="boolean")
    word, digit = (
        arguments_for(switch, freeze_object({"on": said})) for said in ("true", "1")
    )

    assert word == Success({"on": True})
    assert not isinstance(digit, Success)


def test_a_call_that_waits_for_a_person_does_not_run() -> None:
    """Row 74: an abort while the approval is open leaves it at that (D24)."""
    run = gated(Ask("really?"), None)
    asked = run.asked("a")
    run = run.ran("b", "B").give(Abort())

    assert (run.started, run.outcomes) == (["b"], {"a": "cancelled", "b": "ok"})
    assert run.refuses(asked.approve()).kind == "stranger"
