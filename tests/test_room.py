"""`fit` shows what fits: results are cut, rounds left out, and what is stored stays whole."""

from hypothesis import given
from hypothesis import strategies as st

from loopcore import (
    AssistantMessage,
    LoopConfig,
    Message,
    ModelError,
    State,
    SystemMessage,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
    repair,
)
from loopcore.hooks import ContextView, apply
from loopcore.policies import estimate, fit, retry
from loopcore.testing import check_hooks
from tests.driving import MODEL, begin, call, config, words

OVERFLOW = ModelError("too long", "context_overflow")


def shown(window: int, *said: Message) -> list[Message]:
    """What the first request shows of this history."""
    state = State.start(LoopConfig(model=MODEL), run_id="r", transcript=said)
    view = ContextView(state=state, messages=said, model=MODEL)
    return list(apply([fit(window)], view).view.messages)


def round_of(name: str, size: int) -> list[Message]:
    """A call and a result of so many characters."""
    return [
        AssistantMessage([ToolCall("a", {}, name)], finish="tools"),
        ToolResultMessage(name, "a", "x" * size),
    ]


def test_what_fits_is_shown_as_it_is() -> None:
    said = [UserMessage("hi"), *round_of("1", 400)]

    assert shown(200, *said) == said


def test_old_rounds_are_left_out_where_cutting_is_not_enough() -> None:
    """The task, what the system said and the newest round stay."""
    rounds = [m for n in range(9) for m in round_of(str(n), 4_000)]
    said = [UserMessage("task"), SystemMessage("rule"), *rounds, UserMessage("now?")]

    seen = shown(500, *said)

    assert words(seen[:2]) == ["user: task", "system: rule"]
    assert seen[-1] == said[-1]
    assert sum(map(estimate, seen)) <= 500
    assert tuple(repair(seen)) == tuple(seen)
    assert len(seen) < len(said)


def test_what_was_left_out_stays_so_until_it_is_too_much_again() -> None:
    """The beginning of a request stays the same, and so does the prompt that is cached."""
    run = begin(config(fit(1_000), tools="a"), "question")
    lengths = list[list[int]]()
    for n in range(4):
        run = run.says(call("a", str(n)), finish="tools").ran(str(n), "x" * 1_500)
        lengths.append([len(m.text) for m in run.requests[-1].messages])

    before, cut, after = lengths[1], lengths[2], lengths[3]
    assert before == [8, 0, 1_500, 0, 1_500]
    assert cut[2] < 1_500
    assert after[: len(cut)] == cut


def test_a_model_may_be_asked_again_in_the_next_run() -> None:
    run = begin(config(fit(), tools="a"), "question").says(call("a"), finish="tools")
    run = run.ran("a", "x" * 9_000).fails(OVERFLOW).woke().says("done")
    first = len(run.requests[-1].messages[2].text)

    run = run.give("more").fails(OVERFLOW).woke()

    assert len(run.requests[-1].messages[2].text) < first
    assert run.says("done").reason == "done"


def test_other_faults_are_left_to_other_rules() -> None:
    run = begin(config(fit(), retry(3)), "hi").fails(ModelError("busy", "overloaded"))

    assert run.woke().requests[-1].messages == run.requests[0].messages
    assert begin(config(fit()), "hi").fails(ModelError("no", "auth")).reason == (
        "model_error"
    )


def test_a_cut_reply_with_calls_goes_on_by_itself() -> None:
    """Its calls are not run, and the model is asked again; nothing is said for it."""
    run = begin(config(fit(1_000), tools="a"), "hi")
    run = run.says(call("a"), finish="length", usage=Usage(995, 0))

    assert run.outcomes == {"a": "truncated"}
    assert words(run.requests[-1].messages)[-1].startswith("a truncated: ")


def test_it_keeps_the_laws_of_hooks() -> None:
    checked = check_hooks(fit(60, longest=20), examples=20)

    assert sum(checked.wrote.values()) > 0


SIZES = st.lists(st.integers(0, 3_000), max_size=8)


@given(SIZES, st.integers(1, 3_000))
def test_what_is_shown_is_whole_rounds_and_never_more(
    sizes: list[int], window: int
) -> None:
    """The newest round and the task apart, it fits; and the same is shown of the same."""
    rounds = [m for n, size in enumerate(sizes) for m in round_of(str(n), size)]
    said = [UserMessage("task"), *rounds]

    seen = shown(window, *said)

    assert seen == shown(window, *said)
    assert tuple(repair(seen)) == tuple(seen)
    assert seen[0] == said[0]
    assert [m.call_id for m in seen if isinstance(m, ToolResultMessage)][-1:] == (
        [str(len(sizes) - 1)] if sizes else []
    )
    least = sum(map(estimate, said[:1])) + (150 if sizes else 0)
    assert sum(map(estimate, seen)) <= max(window, least)
