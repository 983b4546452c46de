"""Agent core rows about aborts: whenever they come, every call has its result."""

from loopcore import Abort, AssistantMessage, Text, ToolOutput
from loopcore.events import TurnEnd
from loopcore.hooks import Hooks, Need, RetryUpdate
from loopcore.messages import Part
from tests.driving import Run, Spy, begin, call, config

ABORT = Abort("a key was pressed")


def aborted(run: Run, *parts: Part) -> Run:
    """The run, aborted while its model had said this."""
    said = AssistantMessage(parts)
    return run.give(Abort("enough", partials={run.state.waiting[0].id: said}))


def test_an_abort_before_the_first_request_makes_none() -> None:
    """Row 68: no reply is stored either, and the turn is closed (D20)."""
    shown = Hooks("shown", transform_context=Spy(Need.service("q", "oracle")))
    run = begin(config(shown)).give(ABORT)

    assert (run.script, run.requests, run.reason) == (["user: go"], (), "aborted")
    assert len(run.events(TurnEnd)) == 1


def test_an_abort_in_mid_text_keeps_the_text() -> None:
    """Row 69: as an aborted reply; no further request."""
    run = aborted(begin(config()), Text("Once upon"))

    reply = run.state.new[-1]
    assert isinstance(reply, AssistantMessage)
    assert (reply.text, reply.finish) == ("Once upon", "aborted")
    assert (len(run.requests), run.reason) == (1, "aborted")


def test_an_abort_in_mid_call_answers_the_call() -> None:
    """Row 70: it is not run (D25)."""
    run = aborted(begin(config()), Text("Let me see"), call("a"))

    assert (run.started, run.outcomes) == ([], {"a": "truncated"})


def test_an_abort_in_the_only_tool_makes_no_request() -> None:
    """Row 71: the tool's own late answer is not taken any more (T4)."""
    run = begin(config()).says(call("a"))
    late = run.tool("a").reply("A")
    run = run.give(ABORT)

    assert (run.outcomes, len(run.requests)) == ({"a": "cancelled"}, 1)
    assert run.refuses(late).kind == "stranger"


def three(*hooks: Hooks, parallel: bool = True) -> Run:
    """A run whose reply called three tools."""
    ids = ("1", "2", "3")
    return begin(config(*hooks, parallel=parallel)).says(*(call("a", i) for i in ids))


def test_an_abort_in_a_sequential_batch_gives_three_results() -> None:
    """Row 72: two of them for calls that never started (T4)."""
    run = three(parallel=False).give(ABORT)

    assert run.started == ["1"]
    assert run.outcomes == dict.fromkeys(("1", "2", "3"), "cancelled")


def test_an_abort_at_a_gate_lets_nothing_run() -> None:
    """Row 73: of three calls all are answered, for starting comes after all gates (D21)."""
    gate = Hooks("gate", before_tool_call=Spy(None, Need.service("q", "policy")))
    run = three(gate).give(ABORT)

    assert run.started == []
    assert run.outcomes == dict.fromkeys(("1", "2", "3"), "cancelled")


def test_a_provider_that_says_aborted_has_failed() -> None:
    """Row 75: nobody aborted, so it is an error (T5)."""
    run = begin(config()).says("so f", finish="aborted")

    reply = run.state.new[-1]
    assert isinstance(reply, AssistantMessage)
    assert (reply.finish, run.reason) == ("error", "model_error")


def test_an_abort_while_a_retry_waits_ends_the_run_at_once() -> None:
    """Row 123: the pause is cancelled, no further attempt is made (D24)."""
    again = Hooks("again", on_model_error=Spy(RetryUpdate(retry=True, delay=60)))
    run = begin(config(again)).fails("it broke")
    waited = run.state.phase
    run = run.give(ABORT)

    assert (waited, run.cancelled) == ("sleeping", ("r.1.1.sleep.1",))
    assert (run.reason, len(run.requests)) == ("aborted", 1)


def test_what_a_tool_gave_before_the_abort_is_kept() -> None:
    """Row 130: an ended sibling is in the state, whatever becomes of the other."""
    run = begin(config()).says(call("a"), call("b"))
    run = run.ran("b", ToolOutput("B", details={"x": 1})).give(ABORT)

    assert run.outcomes == {"a": "cancelled", "b": "ok"}
    assert run.results[1].details == {"x": 1}
