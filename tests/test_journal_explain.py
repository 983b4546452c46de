"""What `explain` says of messages whose way was not straight: each statement is true."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loopcore import (
    Abort,
    Answer,
    AssistantMessage,
    FollowUp,
    Interpreter,
    LoopConfig,
    State,
    Steer,
    ToolCall,
    UserMessage,
    run_sync,
    tool,
)
from loopcore.hooks import (
    Allow,
    Hooks,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from loopcore.journal import Journal, Recorder, explain
from loopcore.journal.explain.past import folded
from loopcore.policies import sliding_window
from loopcore.testing import ScriptedModel
from tests.counting import calls as calls_to


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"seen: {at}"


@tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay."""
    return f"paid {cents}"


def config(*hooks: Hooks, tools: Any = (look, pay)) -> LoopConfig:
    return LoopConfig(model="test:script", tools=tools, hooks=hooks)


def calls(*given: ToolCall) -> AssistantMessage:
    return AssistantMessage(list(given), finish="tools")


def looking(at: str) -> AssistantMessage:
    return calls(ToolCall("look", {"at": at}, f"c-{at}"))


Lines = Callable[[int | str], dict[str, str]]


def lines(under: LoopConfig, journal: Journal, what: int | str) -> dict[str, str]:
    """What is said of a message, by the word before it; the headline under ""."""
    said = explain(under, journal, what).splitlines()
    pairs = (line.strip().partition("  ") for line in said if line.strip())
    return {"": said[0], **{word: text.strip() for word, _, text in pairs}}


def recorded(
    under: LoopConfig, path: Path, *replies: Any, given: tuple[Any, ...] = ("Hi!",)
) -> State:
    interpreter = Interpreter(ScriptedModel(*replies), look, pay)
    return run_sync(under, interpreter, *given, run_id="r1", journal=path).state


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.jsonl"


# Nested runs.


def inside(_: ToolCallView) -> Allow:
    return Allow()


def shaped(view: ToolResultView) -> ToolResultUpdate:
    return ToolResultUpdate(content=f"{view.text}!")


@pytest.fixture
def nested(path: Path) -> Lines:
    hooks = Hooks("within", before_tool_call=inside, after_tool_result=shaped)
    helper = LoopConfig(model="test:helper", tools=[look], hooks=[hooks])
    under = config(tools=[look, helper.as_tool("ask", "Ask a helper.")])
    both = calls(
        ToolCall("ask", {"prompt": "look"}, "c1"), ToolCall("look", {"at": "a"}, "c2")
    )
    models = (
        ScriptedModel(both, "done"),
        ScriptedModel(looking("b"), "it is b", id="test:helper"),
    )
    run_sync(
        under, Interpreter(*models, look), "Hi!", run_id="r1", journal=path
    ).unwrap()
    journal = Journal.read(path).unwrap()
    return lambda what: lines(under, journal, what)


def test_the_result_of_a_nested_run_is_that_runs(nested: Lines) -> None:
    """What its own tools did, and its own hooks wrote, is about other messages."""
    said = nested(3)

    assert said["performed"] == "r1.1.1.run.0, a run of its own"
    assert said["ended"] == "done (input 6, answer to r1.1.1.run.0.1.2.model.1)"
    assert said["allowed"] == "no hook had an opinion"
    assert "shaped by" not in said


def test_a_result_beside_a_nested_run_is_its_own_tools(nested: Lines) -> None:
    assert nested(4)["performed"].startswith("r1.1.1.run.1 RunTool")


def test_the_requests_of_a_nested_run_show_other_messages(nested: Lines) -> None:
    assert nested(1)["shown in"] == "requests 1, 2"
    assert nested(3)["shown in"] == "requests 2"


# Transcripts that were rewritten.


def summed(view: TurnView) -> TurnUpdate | None:
    if view.turn != 2:  # after the second turn
        return None
    first, *rest = view.transcript
    return TurnUpdate(transcript=[first, UserMessage("a summary"), *rest[2:]])


def test_a_message_has_the_number_that_it_has_in_the_transcript(path: Path) -> None:
    under = config(Hooks("summed", prepare_next_turn=summed))
    state = recorded(under, path, looking("a"), looking("b"), looking("c"), "end")
    journal = Journal.read(path).unwrap()

    messages = folded(under, journal).messages
    assert [one.message for one in messages] == list(state.transcript)
    assert lines(under, journal, 2)["written by"] == (
        "summed, into the transcript (input 5, answer to r1.1.2.run.0)"
    )
    assert lines(under, journal, 4)[""] == (
        'message 4 · result of look {"at":"b"} · turn 2 · ok'
    )
    assert (
        lines(under, journal, "message 2.text")["← summed, into the transcript"] == ""
    )


# Who said what.


def injecting(view: TurnView) -> TurnUpdate | None:
    return TurnUpdate(inject=[UserMessage("injected")]) if view.turn == 1 else None


def test_a_message_is_of_the_input_that_brought_it(path: Path) -> None:
    """And not of the one at which it was stored."""
    under = config(Hooks("adds", prepare_next_turn=injecting))
    given = "Hi!", FollowUp("later"), Steer("now")
    recorded(under, path, looking("a"), "one", "two", given=given)
    journal = Journal.read(path).unwrap()

    said = [lines(under, journal, number)["said by"] for number in (1, 4, 5, 7)]

    assert said == [
        "input 1, Prompt",
        "adds, which injected it (input 5, answer to r1.1.1.run.0)",
        "input 3, Steer; stored at input 5, answer to r1.1.1.run.0",
        "input 2, FollowUp; stored at input 6, answer to r1.1.2.model.1",
    ]
    assert (
        "as it came: input 2, FollowUp; stored at input 6, answer to r1.1.2.model.1"
        in (lines(under, journal, "message 7.text"))
    )


def test_a_turn_is_the_one_in_which_a_message_was_stored(path: Path) -> None:
    under = config()
    state = recorded(under, path, looking("a"), "one")
    interpreter = Interpreter(ScriptedModel("two"), look, pay)
    run_sync(under, interpreter, "More?", state=state, journal=path).unwrap()
    journal = Journal.read(path).unwrap()

    turns = [lines(under, journal, n)[""].split(" · ")[-1] for n in (1, 4, 5, 6)]

    assert turns == ["turn 1", "turn 2", "turn 1", "turn 1"]


# Calls.


@pytest.fixture
def decided(path: Path) -> Lines:
    under = config()
    asked = [ToolCall("pay", {"cents": n}, f"p{n}") for n in (1, 2, 3)]
    state = recorded(under, path, calls(ToolCall("look", {"at": "a"}, "c1"), *asked))
    edited, told, refused = state.approvals
    answers = edited.edit(cents=9), told.respond("paid already"), refused.reject("no")
    interpreter = Interpreter(ScriptedModel("done"), look, pay)
    run_sync(under, interpreter, *answers, state=state, journal=path).unwrap()
    journal = Journal.read(path).unwrap()
    return lambda what: lines(under, journal, what)


def test_a_tool_that_was_run_with_other_arguments_says_with_which(
    decided: Lines,
) -> None:
    assert decided(4)["allowed"] == "a person: edit (input 4)"
    assert decided(4)["performed"].startswith('r1.1.1.run.1 RunTool with {"cents":9}')
    assert "with" not in decided(3)["performed"]


@pytest.mark.parametrize(
    ("what", "came"),
    [
        ("message 3.text", "as it came: input 3, answer to r1.1.1.run.0"),
        ("message 4.text", "as it came: input 7, answer to r1.1.1.run.1"),
        ("message 5.text", "as it came: input 5, answer to r1.1.1.ask.2"),
        ("message 6.outcome", "as it came: input 6, answer to r1.1.1.ask.3"),
        ("message 2.text", "as it came: input 2, answer to r1.1.1.model.1"),
        ("message 1.text", "as it came: input 1, Prompt"),
    ],
)
def test_a_field_came_with_the_input_that_had_it(
    decided: Lines, what: str, came: str
) -> None:
    """A batch is stored together, at the last of its answers."""
    assert came in decided(what)


def test_a_call_that_was_cancelled_is_explained(path: Path) -> None:
    under = config()
    state = State.start(under, run_id="r1")
    with Recorder(path).open(under, state) as recording:
        for given in ("Hi!", Answer("r1.1.1.model.1", looking("a")), Abort("enough")):
            state, _ = recording.advance(under, state, given).unwrap()
    journal = Journal.read(path).unwrap()

    said = lines(under, journal, 3)

    assert said[""] == 'message 3 · result of look {"at":"a"} · turn 1 · cancelled'
    assert said["ended"] == "cancelled (input 3, Abort)"


# Another configuration than the one that was recorded.


@pytest.mark.parametrize("what", ["message 2", "stop", "request r1.1.1.model.1"])
@pytest.mark.parametrize(
    ("under", "noted"),
    [
        (config(), []),
        (config(Hooks("brief", transform_context=lambda _: [UserMessage("Hm.")])), [1]),
    ],
    ids=["the same", "another"],
)
def test_what_another_configuration_makes_of_a_record_is_told_as_such(
    path: Path, what: str, under: LoopConfig, noted: list[int]
) -> None:
    recorded(config(), path, looking("a"), "done")

    said = explain(under, Journal.read(path).unwrap(), what).splitlines()

    assert [
        f"(input {number} led elsewhere when this was recorded: what is told is what "
        "comes of it now)"
        for number in noted
    ] == [line for line in said if line.startswith("(input")]


def long(path: Path, turns: int, *hooks: Hooks) -> Journal:
    """A run in which something was looked at so many times."""
    recorded(config(*hooks), path, *map(looking, map(str, range(turns))), "Done.")
    return Journal.read(path).unwrap()


def test_many_requests_are_told_by_the_first_and_the_last(tmp_path: Path) -> None:
    """A line for each would be a page: a few lines are promised."""
    window = sliding_window(4)

    seen = lines(config(), long(tmp_path / "1", 9), "message 3")
    left = lines(config(window), long(tmp_path / "2", 9, window), "message 3")

    assert seen["shown in"] == "requests 2 to 10"
    assert left["shown in"] == "requests 2, 3 (left out of 4 to 10 by sliding_window)"


def test_a_message_far_back_is_explained_as_soon_as_the_first(tmp_path: Path) -> None:
    """No request is searched for it from its beginning: that would be quadratic."""
    journal = long(tmp_path / "r", 60)
    explain(config(), journal, "message 2")  # what is done once is done

    first = calls_to(lambda: explain(config(), journal, "message 2"))
    later = calls_to(lambda: explain(config(), journal, "message 60"))

    assert later < 1.05 * first
