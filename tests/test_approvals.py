"""People decide about calls: approve, edit, reject, respond, in any order."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from loopcore import (
    Abort,
    Answer,
    Consult,
    Continue,
    LoopConfig,
    RequestApproval,
    RunTool,
    State,
    ToolOutput,
    advance,
)
from loopcore.events import Ended, Started
from loopcore.hooks import (
    Allow,
    Ask,
    Block,
    Hooks,
    Need,
    ToolCallUpdate,
    ToolCallView,
)
from tests.driving import Run, Spy, begin, call, config, spec, typed

PAY = typed("pay", "to", "cents", to="string", cents="integer")
ASK = Hooks("ask", before_tool_call=Spy(Ask("sure?")))


def asked(*names: str, **more: Any) -> Run:
    return begin(config(ASK, tools=names, **more)).says(*map(call, names))


def test_a_question_says_what_is_asked_about() -> None:
    """The call as written, the arguments as validated, the tool and the question."""
    made = config(ASK, tools=[PAY])
    run = begin(made).says(call("pay", "c1", to="ACME", cents="4900"))
    (ask,) = run.state.approvals

    assert ask == RequestApproval(
        "r.1.1.ask.0",
        call("pay", "c1", to="ACME", cents="4900"),
        PAY,
        call("pay", to="ACME", cents=4900).arguments,
        "sure?",
    )
    assert run.state.phase == "asking"
    assert [e.effect for e in run.events(Started)][-1] == ask
    assert repr(run.state) == (
        "<run r: paused: pay(to='ACME', cents=4900) needs approval; turn 1, 2 messages>"
    )


def test_a_tool_may_always_want_a_person() -> None:
    run = begin(config(tools=[spec("a", needs_approval=True), "b"]))
    run = run.says(call("a"), call("b"))

    assert (run.started, len(run.state.approvals)) == (["b"], 1)


DECISIONS: dict[str, Callable[[RequestApproval], Answer]] = {
    "a": lambda ask: ask.approve(),
    "b": lambda ask: ask.edit(n=2),
    "c": lambda ask: ask.reject("no"),
    "d": lambda ask: ask.respond("by hand"),
}


@pytest.mark.parametrize("order", ["".join(p) for p in permutations("abcd")][::5])
def test_the_order_of_decisions_does_not_show(order: str) -> None:
    """In the transcript, nor in what the tools were given."""
    run = asked(*"abcd")
    for name in order:
        run = run.give(DECISIONS[name](run.asked(name)))
    given = {e.call.id: dict(e.arguments) for e in run.all(RunTool)}
    run = run.ran("b", "B").ran("a", "A")

    assert given == {"a": {}, "b": {"n": 2}}
    assert run.script[2:] == ["a ok: A", "b ok: B", "c rejected: no", "d ok: by hand"]


def test_decisions_may_be_given_at_once() -> None:
    run = asked("a", "b")
    run = run.give(*(ask.reject("no") for ask in run.state.approvals))

    assert run.outcomes == {"a": "rejected", "b": "rejected"}


def test_each_question_ends_once() -> None:
    run = asked("a", "b")
    run = run.give(run.asked("a").approve(), run.asked("b").edit(n=1))
    ended = [e.effect.id for e in run.events(Ended)]

    assert ended == ["r.1.1.model.1", "r.1.1.ask.0", "r.1.1.ask.1"]
    assert run.refuses(run.performed[1].fail("late")).kind == "duplicate"


def test_an_edit_keeps_the_arguments_it_does_not_name() -> None:
    run = begin(config(ASK, tools=[PAY])).says(call("pay", to="ACME", cents=4900))
    run = run.give(run.asked("pay").edit(cents=100))

    assert run.tool("pay").arguments == {"to": "ACME", "cents": 100}
    assert run.tool("pay").call.arguments == {"to": "ACME", "cents": 4900}


def test_an_edited_call_is_gated_once_more_and_no_oftener() -> None:
    """A gate that always asks does not ask for ever."""
    gate = Spy(Ask("sure?"))
    run = begin(config(Hooks("gate", before_tool_call=gate))).says(call("a"))
    run = run.give(run.asked("a").edit(n=1))

    assert [view.approved for view in gate.views] == [False, True]
    assert run.started == ["a"]


def test_an_approved_call_is_not_gated_again() -> None:
    """The person saw what runs."""
    gate = Spy(Ask("sure?"))
    run = begin(config(Hooks("gate", before_tool_call=gate))).says(call("a"))

    assert run.give(run.asked("a").approve()).started == ["a"]
    assert len(gate.views) == 1


def test_the_second_passage_of_a_gate_may_change_the_arguments() -> None:
    """And its wish to end the run is kept."""

    def gate(view: ToolCallView) -> Any:
        if not view.approved:
            return ToolCallUpdate(Ask(), terminate=True)
        return ToolCallUpdate(arguments={**view.arguments, "safe": True})

    run = begin(config(Hooks("gate", before_tool_call=gate))).says(call("a"))
    run = run.give(run.asked("a").edit(n=1))

    assert run.tool("a").arguments == {"n": 1, "safe": True}
    assert run.ran("a").reason == "terminated"


@pytest.mark.parametrize("decide", DECISIONS.values(), ids=DECISIONS)
def test_a_wish_to_end_survives_every_decision(
    decide: Callable[[RequestApproval], Answer],
) -> None:
    gate = Spy(ToolCallUpdate(Ask(), terminate=True))
    run = begin(config(Hooks("gate", before_tool_call=gate))).says(call("a"))
    run = run.give(decide(run.asked("a")))
    run = run.ran("a") if run.started else run

    assert run.reason == "terminated"


def test_the_second_passage_may_need_an_answer() -> None:
    """Its effect's id says that it is the second."""
    gate = Spy(
        lambda view: Need.service("k", "policy") if not view.answers else Ask("sure?")
    )
    run = begin(config(Hooks("gate", before_tool_call=gate), tools="ab"))
    run = run.says(call("a"), call("b"))
    ids: list[str] = []
    for _ in range(2):
        ids.append(run.one(Consult).id)
        run = run.give(run.one(Consult).reply(1))
    run = run.give(run.asked("a").approve()).give(run.asked("b").edit(n=1))
    ids.append(run.one(Consult).id)

    assert ids == [
        "r.1.1.before_tool_call.0.gate.k",
        "r.1.1.before_tool_call.1.gate.k",
        "r.1.1.before_tool_call.1.edited.gate.k",
    ]
    run = run.ran("a", "A")
    assert run.results == ()
    run = run.give(run.one(Consult).reply(1)).ran("b", "B")
    assert run.script[2:] == ["a ok: A", "b ok: B"]


def test_a_hook_that_fails_at_the_second_passage_stops_what_runs() -> None:
    """The sibling in flight is cancelled, the edited call never ran."""
    gate = Spy(
        lambda v: 1 / 0 if v.approved else Ask() if v.call.id == "a" else Allow()
    )
    run = begin(config(Hooks("gate", before_tool_call=gate))).says(call("a"), call("b"))
    run = run.give(run.asked("a").edit(n=1))

    assert (run.reason, run.stop.hook) == ("hook_error", "gate")
    assert run.cancelled == ("r.1.1.run.1",)
    assert run.outcomes == {"a": "cancelled", "b": "cancelled"}


def test_sequential_questions_come_one_by_one() -> None:
    run = asked("a", "b", parallel=False)

    assert [ask.call.id for ask in run.state.approvals] == ["a"]
    run = run.give(run.asked("a").reject("no"))
    assert [ask.call.id for ask in run.state.approvals] == ["b"]
    run = run.give(run.asked("b").edit(n=1)).ran("b", "B")
    assert run.script[2:] == ["a rejected: no", "b ok: B"]


def test_nobody_there_is_a_rejection() -> None:
    """Every effect can fail: of an approval, it is a reject."""
    run = asked("a")

    assert run.give(run.asked("a").fail("nobody there")).script[2] == (
        "a rejected: nobody there"
    )


def test_a_persons_own_answer_may_end_the_run() -> None:
    run = asked("a")
    run = run.give(run.asked("a").respond(ToolOutput("paid", terminate=True)))

    assert run.reason == "terminated"


def test_a_person_may_answer_with_a_failure() -> None:
    run = asked("a")
    run = run.give(run.asked("a").respond(ToolOutput("no money", outcome="error")))

    assert run.script[2] == "a error: no money"


def test_a_paused_run_is_its_state() -> None:
    """Another process goes on from it, with a configuration of the same shape."""
    run = asked("a")
    state = State.loads(run.state.dumps()).unwrap()
    again = LoopConfig(
        model="test:model",
        tools=[spec("a")],
        hooks=[Hooks("ask", before_tool_call=Spy(Ask("sure?")))],
    )
    state, effects = advance(again, state, state.approvals[0].approve()).unwrap()

    assert state == run.give(run.asked("a").approve()).state
    assert [effect.id for effect in effects.perform] == ["r.1.1.run.0"]


def test_an_edit_that_waits_is_saved_with_its_state() -> None:
    run = asked("a", "b")
    run = run.give(run.asked("a").edit(n=1))
    loaded = State.loads(run.state.dumps()).unwrap()

    assert loaded == run.state
    state, _ = advance(run.config, loaded, run.asked("b").approve()).unwrap()
    assert state == run.give(run.asked("b").approve()).state


def test_an_aborted_question_is_asked_no_more() -> None:
    """Going on asks the model, not the person."""
    run = asked("a")
    ask = run.asked("a")
    run = run.give(Abort())

    assert run.refuses(ask.approve()).kind == "stranger"
    run = run.give(Continue())
    assert (run.state.approvals, run.one_request.id) == ((), "r.2.1.model.1")


def test_a_blocked_sibling_is_not_part_of_the_question() -> None:
    gate = Spy(lambda v: Block("no") if v.call.id == "b" else Ask())
    run = begin(config(Hooks("gate", before_tool_call=gate))).says(call("a"), call("b"))

    assert [ask.call.id for ask in run.state.approvals] == ["a"]
    assert run.give(run.asked("a").approve()).ran("a", "A").script[3] == "b blocked: no"
