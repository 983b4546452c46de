"""Agent core rows about the calls of one reply."""

from loopcore import Consult, FollowUp, RunTool, Steer, ToolOutput
from loopcore.events import Ended
from loopcore.hooks import Block, Hooks, Need, ToolCallView, ToolResultView
from tests.driving import Run, Spy, begin, call, config, spec, words

END = ToolOutput("A", terminate=True)


def called(*ids: str, hook: Hooks | None = None, parallel: bool = True) -> Run:
    """A run whose reply called the tool a, under each of these ids."""
    hooks = [hook] if hook else []
    return begin(config(*hooks, parallel=parallel)).says(*(call("a", i) for i in ids))


def test_a_tool_that_asks_for_the_end_gets_it() -> None:
    """Row 25: no request follows by itself."""
    run = called("1").ran("1", END)

    assert (run.reason, len(run.requests)) == ("terminated", 1)


def test_one_of_two_that_asks_for_the_end_does_not() -> None:
    """Row 26: a second request."""
    run = called("1", "2").ran("1", END).ran("2")

    assert (run.reason, len(run.requests)) == ("", 2)


def test_a_steer_goes_on_after_the_end() -> None:
    """Row 27: one more turn has it."""
    run = called("1").give(Steer("wait")).ran("1", END)

    assert words(run.requests[1].messages)[-1] == "user: wait"


def test_a_follow_up_goes_on_after_the_end() -> None:
    """Row 28: one more turn has it."""
    run = called("1").give(FollowUp("more")).ran("1", END)

    assert words(run.requests[1].messages)[-1] == "user: more"


def ended(run: Run) -> list[str]:
    """The calls whose tools ended, in order."""
    ends = (e.effect for e in run.events(Ended))
    return [effect.call.id for effect in ends if isinstance(effect, RunTool)]


def test_ends_come_as_they_come_and_results_in_source_order() -> None:
    """Row 29: the second call is faster."""
    run = called("1", "2").ran("2", "B").ran("1", "A")

    assert ended(run) == ["2", "1"]
    assert run.script[2:] == ["1 ok: A", "2 ok: B"]


def test_an_unknown_tool_waits_for_nobody_and_keeps_its_place() -> None:
    """Row 30: it has its answer before its sibling starts (D72)."""
    run = begin(config()).says(call("ghost"), call("a"))

    assert run.started == ["a"]
    assert list(run.ran("a").outcomes) == ["ghost", "a"]


def at_once(run: Run, *ids: str) -> list[int]:
    """How many tools run, while these calls are answered in turn."""
    counted = [len(run.all(RunTool))]
    for call_id in ids:
        run = run.ran(call_id)
        counted.append(len(run.all(RunTool)))
    return counted


def test_one_sequential_tool_makes_the_batch_sequential() -> None:
    """Row 31: of three calls, never two at once."""
    tools = ["a", "b", spec("s", execution="sequential")]
    run = begin(config(tools=tools)).says(call("a"), call("s"), call("b"))

    assert at_once(run, "a", "s", "b") == [1, 1, 1, 0]


def test_a_sequential_run_finishes_each_call_before_the_next() -> None:
    """Row 32: gate, tool and after-hook of one, then of the other."""
    order: list[str] = []

    def note(view: ToolCallView | ToolResultView) -> None:
        order.append(view.call.id)

    hook = Hooks("note", before_tool_call=note, after_tool_call=note)
    called("1", "2", hook=hook, parallel=False).ran("1").ran("2")

    assert order == ["1", "1", "2", "2"]


def test_tools_run_together_unless_the_run_is_sequential() -> None:
    """Row 33: the second starts before the first ends, or after it."""
    assert at_once(called("1", "2"), "1", "2") == [2, 1, 0]
    assert at_once(called("1", "2", parallel=False), "1", "2") == [1, 1, 0]


def test_no_call_starts_before_all_gates_have_spoken() -> None:
    """Row 34: the second gate needs an answer first."""
    gate = Spy(None, Need.service("verdict", "policy"), None, None)
    run = called("1", "2", hook=Hooks("gate", before_tool_call=gate))
    before = run.started
    run = run.give(run.one(Consult).reply("fine"))

    assert (before, run.started) == ([], ["1", "2"])


def test_calls_of_one_id_are_told_apart_by_their_place() -> None:
    """Row 37: two runs under two effect ids, two results (D67)."""
    run = called("x", "x")
    ids = [effect.id for effect in run.all(RunTool)]
    run = run.give(*(effect.reply(effect.id) for effect in run.all(RunTool)))

    assert ids == ["r.1.1.run.0", "r.1.1.run.1"]
    assert run.script[2:] == [f"x ok: {effect_id}" for effect_id in ids]


def unless_steered(view: ToolCallView) -> Block | None:
    return Block("Skipped: something was said.") if view.state.steering else None


def test_a_rule_may_let_a_steer_interrupt_a_sequential_batch() -> None:
    """Row 40: what had not started is skipped; each call has its result."""
    hook = Hooks(before_tool_call=unless_steered)
    run = called("1", "2", hook=hook, parallel=False).give(Steer("stop that")).ran("1")

    assert run.outcomes == {"1": "ok", "2": "blocked"}
    assert words(run.requests[1].messages)[-1] == "user: stop that"
