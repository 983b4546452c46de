"""Forks: no tool may take what a fork asks for what its past had asked."""

from typing import Any

import attrs
import pytest

from loopcore import (
    Abort,
    Answer,
    Approve,
    AssistantMessage,
    Input,
    LoopConfig,
    ModelError,
    Prompt,
    RequestApproval,
    RunTool,
    Sleep,
    State,
    Steer,
    ToolCall,
    ToolOutput,
    ToolSpec,
    Usage,
    advance,
)
from loopcore.journal import Journal, fork, refold
from loopcore.policies import retry
from loopcore.state import Closed

ANY = {"type": "object"}
LOOK = ToolSpec("look", "Look.", ANY)
PAY = ToolSpec("pay", "Pay.", ANY, needs_approval=True, on_interrupt="retry")
INNER = LoopConfig(model="test:small", tools=[LOOK, PAY])
CONFIG = LoopConfig(
    model="test:big",
    tools=[LOOK, PAY, INNER.as_tool("ask", "Ask.", timeout=60)],
)
BEGUN = State.start(CONFIG, run_id="r1")


def says(*calls: ToolCall, text: str = "") -> AssistantMessage:
    return AssistantMessage(calls or text, model="test:big")


def call(name: str, n: int = 0, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, f"c{n}")


def past(*inputs: Input, start: State = BEGUN) -> Journal:
    return Journal.of(CONFIG, start, inputs).unwrap()


def taken(state: State, *inputs: Input) -> State:
    return advance(CONFIG, state, *inputs).unwrap()[0]


def ids(state: State) -> list[str]:
    return [effect.id for effect in state.waiting]


PAYING: tuple[Input, ...] = (
    Prompt("Pay!"),
    Answer("r1.1.1.model.1", says(call("pay", cents=5))),
    Answer("r1.1.1.ask.0", Approve()),
    Answer("r1.1.1.run.0", ToolOutput("paid")),
    Answer("r1.1.2.model.1", says(text="Done.")),
)
ASKING: tuple[Input, ...] = (
    Prompt("Ask!"),
    Answer("r1.1.1.model.1", says(call("look"), call("ask", 1, prompt="Look!"))),
    Answer("r1.1.1.run.1.1.1.model.1", says(call("look", 2))),
    Answer("r1.1.1.run.1.1.1.run.0", ToolOutput("seen")),
    Answer("r1.1.1.run.1.1.2.model.1", says(text="Found.")),
    Answer("r1.1.1.run.0", ToolOutput("seen, too")),
    Answer("r1.1.2.model.1", says(text="Done.")),
)


def test_what_a_replaced_reply_calls_is_not_what_the_past_had_called() -> None:
    """Ids are idempotency keys: another payment has another one."""
    more = Answer("r1.1.1.model.1", says(call("look", cents=900)))

    state = fork(CONFIG, past(*PAYING), at=2, replace=more, run_id="r2").unwrap()

    (effect,) = state.waiting
    assert isinstance(effect, RunTool)
    assert (effect.id, effect.arguments) == ("r2.1.1.run.0", {"cents": 900})


def test_an_approval_that_is_edited_pays_under_a_key_of_its_own() -> None:
    (asked,) = taken(BEGUN, *PAYING[:2]).waiting
    assert isinstance(asked, RequestApproval)

    state = fork(
        CONFIG, past(*PAYING), at=3, replace=asked.edit(cents=4), run_id="r2"
    ).unwrap()

    assert ids(state) == ["r2.1.1.run.0"]


def test_what_still_fits_after_a_replaced_input_is_not_asked_again() -> None:
    """Continuing costs only what changed."""
    again = fork(CONFIG, past(*PAYING), at=1, replace=PAYING[0], run_id="r2")

    assert again.unwrap().transcript == taken(BEGUN, *PAYING).transcript
    assert again.unwrap().waiting == ()


def test_the_same_input_instead_of_any_leads_to_the_same_end() -> None:
    """In a nested run, too."""
    journal, end = past(*ASKING), taken(BEGUN, *ASKING)

    forks = [
        fork(CONFIG, journal, at=at, replace=one, run_id="r2").unwrap()
        for at, one in enumerate(ASKING, 1)
    ]

    assert [(state.transcript, state.waiting) for state in forks] == [
        (end.transcript, ())
    ] * len(ASKING)


def test_a_nested_retry_costs_a_fork_nothing_of_its_record() -> None:
    """How long it waits comes of the run's name: all after it was asked again."""
    config = attrs.evolve(
        CONFIG, tools=[attrs.evolve(INNER, hooks=[retry()]).as_tool("ask", "Ask.")]
    )
    happened = (
        Prompt("Ask!"),
        Answer("r1.1.1.model.1", says(call("ask", prompt="Look!"))),
        Answer("r1.1.1.run.0.1.1.model.1", ModelError("busy", "overloaded")),
        Answer("r1.1.1.run.0.1.1.sleep.1", None),
        Answer("r1.1.1.run.0.1.1.model.2", says(text="Found.")),
        Answer("r1.1.2.model.1", says(text="Done.")),
    )
    journal = Journal.of(config, State.start(config, run_id="r1"), happened).unwrap()

    tells = refold(config, journal, at=1, replace=happened[0]).unwrap()
    state = fork(config, journal, run_id="r2", at=1, replace=happened[0]).unwrap()

    assert (5, tells.state.transcript) == (tells.kept, state.transcript)


def test_a_recorded_abort_keeps_what_was_streamed_under_the_other_name() -> None:
    streamed = says(text="I w")
    stopped = Abort("no", partials={"r1.1.1.model.1": streamed})

    state = fork(
        CONFIG, past(PAYING[0], stopped), at=1, replace="Hm?", run_id="r2"
    ).unwrap()

    assert [message.text for message in state.transcript] == ["Hm?", "I w"]


@pytest.mark.parametrize("at", [1, 2])
def test_a_fork_that_is_aborted_keeps_what_was_streamed_for_its_past(at: int) -> None:
    """D25: in a nested run, too; what waits keeps the id that it had."""
    state = fork(CONFIG, past(*ASKING), at=at, run_id="r2").unwrap()
    streamed = AssistantMessage("I w", usage=Usage(3, 4))

    state = taken(state, Abort("no", partials={ids(state)[0]: streamed}))

    assert state.usage == Usage(3, 4)


def test_a_nested_run_asks_under_the_name_of_the_fork() -> None:
    state = fork(CONFIG, past(*ASKING), at=3, run_id="r2").unwrap()
    waited = ids(state)

    state = taken(state, Answer("r1.1.1.run.1.1.1.run.0", ToolOutput("seen")))

    assert waited == ["r1.1.1.run.1.1.1.run.0", "r1.1.1.run.0", "r1.1.1.run.1"]
    assert ids(state)[0] == "r2.1.1.run.1.1.2.model.1"


def test_a_nested_run_of_a_fork_comes_to_its_end_and_its_timer_goes() -> None:
    state = fork(CONFIG, past(*ASKING), at=4, run_id="r2").unwrap()

    state = taken(state, Answer("r1.1.1.run.1.1.2.model.1", says(text="Found.")))

    assert ids(state) == ["r1.1.1.run.0"]
    assert state.closed["r1.1.1.run.1"] == Closed(
        "cancelled", state.inputs, "the end of its run"
    )


def test_a_nested_run_of_a_fork_can_pass_its_time() -> None:
    state = fork(CONFIG, past(*ASKING), at=4, run_id="r2").unwrap()
    timer = next(effect for effect in state.waiting if isinstance(effect, Sleep))

    state = taken(state, timer.done())

    assert ids(state) == ["r1.1.1.run.0"]


@pytest.mark.parametrize(("n", "kind"), [(2, "duplicate"), (4, "stranger")])
def test_what_the_past_was_answered_is_refused(n: int, kind: str) -> None:
    """Of a turn that was over, it is of another run now, as far as its name tells."""
    state = fork(CONFIG, past(*ASKING), at=4, run_id="r2").unwrap()

    refused = advance(CONFIG, state, ASKING[n - 1]).failure()

    assert refused.kind == kind


def test_a_fork_of_a_fork_has_its_own_name_too() -> None:
    first = fork(CONFIG, past(*ASKING), at=3, run_id="r2").unwrap()
    seen = Answer("r1.1.1.run.1.1.1.run.0", ToolOutput("seen"))

    second = fork(CONFIG, past(seen, start=first), at=1, run_id="r3").unwrap()
    state = taken(second, Answer(ids(second)[0], says(call("look", 3))))

    assert ids(second)[0] == "r2.1.1.run.1.1.2.model.1"
    assert ids(state)[0] == "r3.1.1.run.1.1.2.run.0"


@pytest.mark.parametrize("at", [1, 2])
def test_what_waited_as_a_journal_began_still_fits(at: int) -> None:
    """Its answer was recorded: it is not to be asked again."""
    first = fork(CONFIG, past(*ASKING), at=3, run_id="r2").unwrap()
    inputs = (Steer("a"), Steer("b"), Answer("r1.1.1.run.0", ToolOutput("seen, too")))

    found = refold(
        CONFIG, past(*inputs, start=first), at=at, replace=Steer("c")
    ).unwrap()

    assert (found.valid, found.dropped) == (("r1.1.1.run.0",), ())
