"""Agent core rows about mending history before it is shown."""

from loopcore import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    project,
    repair,
)
from loopcore.frozen import vector
from loopcore.hooks import ContextView, Hooks
from loopcore.messages import Finish, Outcome
from tests.driving import begin, call, config, words


def asks(*ids: str, finish: Finish = "tools") -> AssistantMessage:
    """A reply that calls these."""
    return AssistantMessage([ToolCall("a", id=i) for i in ids], finish=finish)


def gives(call_id: str, text: str = "A", outcome: Outcome = "ok") -> ToolResultMessage:
    """A result."""
    return ToolResultMessage(call_id, "a", text, outcome)


GO = UserMessage("go")
BUT = UserMessage("but")


def mended(*history: Message) -> list[str]:
    """What repair makes of this."""
    return words(repair(history))


def test_a_call_at_the_end_gets_a_result() -> None:
    """Row 101: one that says that none was recorded."""
    assert mended(GO, asks("1"))[2:] == [
        "1 interrupted: No result of this call was recorded."
    ]


def test_a_missing_result_is_made_beside_the_others() -> None:
    """Row 102: before the user speaks again."""
    made = mended(GO, asks("1", "2"), gives("1"), BUT)

    assert made[2] == "1 ok: A"
    assert made[3].startswith("2 interrupted")
    assert made[4] == "user: but"


def test_a_failed_reply_goes_with_its_results() -> None:
    """Row 103: no result is left without its call."""
    history = (GO, asks("1", finish="error"), gives("1"), BUT)

    assert words(project(history)) == ["user: go", "user: but"]


def test_a_late_result_is_moved_to_its_call() -> None:
    """Row 104: what was said between comes after it."""
    made = mended(GO, asks("1"), BUT, gives("1"))

    assert made[2:] == ["1 ok: A", "user: but"]


def test_a_blank_message_between_is_no_reason_to_invent_a_result() -> None:
    """Row 105: the real one is there."""
    made = mended(asks("1"), UserMessage(" "), gives("1"))

    assert made[1:] == ["1 ok: A", "user:  "]


def test_a_history_without_a_fault_is_the_same_object() -> None:
    """Row 106: and so are the messages before the first fault."""
    history: list[Message] = [GO, asks("1"), gives("1"), BUT]
    whole = vector(history)
    broken = (*whole, asks("2"))

    assert repair(whole) is whole
    assert project(whole) is whole
    kept = tuple(repair(broken))[: len(whole)]
    assert all(one is other for one, other in zip(kept, whole, strict=True))


def test_strange_and_second_results_are_left_out() -> None:
    """Row 131: the first one of a call stays."""
    made = mended(asks("1"), gives("1"), gives("1", "B"), gives("9"), BUT)

    assert made[1:] == ["1 ok: A", "user: but"]


def test_a_stand_in_that_stood_right_is_kept() -> None:
    """Row 132: what was sent before stays as it was, so the cache of its prefix holds."""
    stand_in = gives("1", "unknown", "interrupted")
    made = mended(asks("1"), stand_in, BUT, asks("2"))

    assert made[1] == "1 interrupted: unknown"


def test_the_first_result_of_a_call_stays_though_it_be_a_stand_in() -> None:
    """Row 132: the other engine lets a later real one win where it mends anyway."""
    stand_in = gives("1", "unknown", "interrupted")
    made = mended(asks("1", "2"), stand_in, BUT, gives("1"), gives("2"))

    assert made[1:] == ["1 interrupted: unknown", "2 ok: A", "user: but"]


def test_calls_that_nobody_answered_are_answered_for_every_wire() -> None:
    """Row 133: one function mends, so no wire repair has to invent anything (row 101)."""
    made = mended(asks("1", "2"))

    assert [said.split(":")[0] for said in made[1:]] == [
        "1 interrupted",
        "2 interrupted",
    ]


def between(view: ContextView) -> list[Message]:
    shown = list(view.messages)
    return [*shown[:-1], UserMessage("psst"), *shown[-1:]]


def test_what_a_hook_puts_between_call_and_result_is_moved() -> None:
    """Row 134: a request is mended after its hooks; one in order passes as it is."""
    run = begin(config(Hooks(transform_context=between))).says(call("a")).ran("a", "A")

    shown = run.requests[1].messages
    assert words(shown)[-2:] == ["user: psst", "a ok: A"]
    assert words(project(shown))[-2:] == ["a ok: A", "user: psst"]
