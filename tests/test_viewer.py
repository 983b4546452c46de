"""The view of a journal, without a browser: what a timeline and a page's data say."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from attrs import evolve

from loopcore import (
    Abort,
    AssistantMessage,
    CallModel,
    Image,
    LoopConfig,
    Prompt,
    State,
    Text,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    Usage,
    UserMessage,
    advance,
)
from loopcore.hooks import (
    ContextUpdate,
    ContextView,
    Hooks,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from loopcore.journal import Journal
from loopcore.policies import redact, sliding_window
from loopcore_adapters.viewer import Seen, Timeline, differences, page, timeline
from loopcore_adapters.viewer.lanes import runs
from loopcore_adapters.viewer.page import embedded
from loopcore_adapters.viewer.standing import standing
from tests import golden
from tests.view_reading import Reading, data_of, plainly, said
from tests.viewing import CONFIG, FILES, MODEL, reordered, shopping

LOOK = ToolSpec("look", "Look.", {"type": "object"})


def config(*hooks: Hooks, tools: Any = (LOOK,), **more: Any) -> LoopConfig:
    return LoopConfig(model=MODEL, tools=tools, hooks=hooks, **more)


def journal_of(under: LoopConfig, *replies: Any) -> Journal:
    """The journal of a run: a prompt, then what answers each effect that waits."""
    state = State.start(under, run_id="r")
    given: list[Any] = [Prompt("Go.")]
    state, _ = advance(under, state, given[0]).unwrap()
    for reply in replies:
        effect: Any = state.waiting[0]
        given.append(effect.reply(reply))
        state, _ = advance(under, state, given[-1]).unwrap()
    return Journal.of(under, State.start(under, run_id="r"), given).unwrap()


def looks(*ids: str, said: str = "") -> AssistantMessage:
    """A reply that asks for looks."""
    calls = [ToolCall("look", {}, id) for id in ids]  # noqa: A001  # as calls have it
    return AssistantMessage([Text(said), *calls], finish="tools")


def golden_journals() -> Iterable[tuple[str, LoopConfig, Journal]]:
    for name, scene in golden.SCENES.items():
        journal = Journal.read(golden.FOLDER / f"{name}.jsonl").unwrap()
        yield name, scene.config, journal


GOLDEN = {name: (config, journal) for name, config, journal in golden_journals()}


def wrote(past: Timeline, at: int) -> list[tuple[str, str, int, tuple[str, ...]]]:
    return [(w.hook, w.point, w.place, tuple(w.fields)) for w in past.points[at].wrote]


# Timelines.


def test_a_timeline_has_a_point_for_the_beginning_and_each_input() -> None:
    past = timeline(CONFIG, shopping())

    assert list(range(16)) == [point.number for point in past.points]
    assert past.points[0].input is None
    assert "<timeline of kettle: 15 inputs>" == repr(past)


def test_an_update_is_told_with_the_call_that_it_was_about() -> None:
    """A hook that speaks of the second call of a batch is not seen at the first."""

    def second(view: ToolResultView) -> ToolResultUpdate | None:
        return ToolResultUpdate("mended") if view.call.id == "b" else None

    under = config(Hooks("mend", after_tool_result=second))
    past = timeline(under, journal_of(under, looks("a", "b"), "one", "two", "Done."))

    assert [("mend", "after_tool_result", 1, ("content",))] == wrote(past, 4)
    assert ("mend", "after_tool_result") in past.points[4].silent


def test_calls_that_share_an_id_are_told_apart_by_their_places() -> None:
    seen: list[str] = []

    def odd(view: ToolResultView) -> ToolResultUpdate | None:
        seen.append(view.text)
        return ToolResultUpdate("mended") if view.text == "two" else None

    under = config(Hooks("mend", after_tool_result=odd))
    past = timeline(under, journal_of(under, looks("a", "a"), "one", "two", "Done."))

    assert [("mend", "after_tool_result", 1, ("content",))] == wrote(past, 4)


def test_watching_hooks_does_not_change_what_a_failing_one_says() -> None:
    """A stop names the file and the line of the hook, not of whoever watches it."""

    def fails(_: ContextView) -> None:
        raise RuntimeError("no")

    under = config(Hooks("fails", transform_context=fails))
    past = timeline(under, journal_of(under))

    assert past.divergence is None
    assert "test_viewer.py" in str(past.points[1].state.stop)


class Called:
    """A hook that is an object."""

    def __call__(self, view: ContextView) -> list[Any]:
        return list(view.messages)[-1:]

    def method(self, view: ContextView) -> list[Any]:
        """The same as a method."""
        return self(view)


@pytest.mark.parametrize(
    "function", [Called(), Called().method, partial(Called.__call__, Called())]
)
def test_hooks_of_any_kind_are_watched(function: Any) -> None:
    under = config(Hooks("one", transform_context=function))
    past = timeline(under, journal_of(under, looks("a"), "one", "Done."))

    assert past.divergence is None
    assert [("one", "transform_context", -1, ("messages",))] == wrote(past, 3)


def test_hooks_of_nested_runs_are_watched_too() -> None:
    under, journal = GOLDEN["nested"]
    past = timeline(under, journal)

    assert past.divergence is None
    assert any(len(list(runs(point.state))) > 1 for point in past.points)


@pytest.mark.parametrize("name", GOLDEN)
def test_a_timeline_of_a_golden_journal_ends_where_it_ended(name: str) -> None:
    under, journal = GOLDEN[name]
    past = timeline(under, journal)
    events = [event for point in past.points for event in point.effects.tell]

    assert past.divergence is None
    assert len(journal.entries) == past.last
    assert sum(type(e).__name__ == "HookWrote" for e in events) == sum(
        len(point.wrote) for point in past.points
    )


def test_where_a_journal_does_not_replay_the_timeline_says_so_and_goes_on() -> None:
    """What came before is known, what came later as it was recorded."""
    under = config()
    journal = journal_of(under, looks("a"), "one", "Done.")
    past = timeline(config(redact("one")), journal)

    assert past.divergence
    assert 3 == past.divergence.number
    assert [True, True, True, True, False] == [point.folded for point in past.points]
    assert journal.entries[3].input == past.points[4].input


def test_an_input_that_is_refused_now_ends_what_is_known() -> None:
    under = config()
    journal = journal_of(under, looks("a"), "one", "Done.")
    stopped = evolve(under, tools=())
    past = timeline(stopped, journal)

    assert past.divergence
    assert len(journal.entries) == past.last


# What the model was shown.


def fates(seen: Seen, at: int) -> list[tuple[str, tuple[str, ...]]]:
    shown = seen.shown(at)
    assert shown
    return [(mark.fate, mark.by) for mark in shown.marks]


def test_each_stored_message_is_shown_left_out_or_rewritten_and_by_whom() -> None:
    def shout(view: ContextView) -> list[Any]:
        return [
            UserMessage(m.text.upper()) if isinstance(m, UserMessage) else m
            for m in view.messages
        ]

    hooks = [sliding_window(3), Hooks("shout", transform_context=shout)]
    under = config(*hooks)
    journal = journal_of(under, looks("a"), "one", looks("b"), "two", "Done.")
    seen = Seen(timeline(under, journal))

    assert [
        ("rewritten", ("shout",)),
        ("left out", ("sliding_window",)),
        ("left out", ("sliding_window",)),
        ("shown", ()),
        ("shown", ()),
    ] == fates(seen, 5)


def test_a_message_that_is_rewritten_twice_names_both() -> None:
    def more(name: str) -> Hooks:
        def add(view: ContextView) -> list[Any]:
            return [
                UserMessage(m.text + name) if isinstance(m, UserMessage) else m
                for m in view.messages
            ]

        return Hooks(name, transform_context=add)

    under = config(more("a"), more("b"))
    seen = Seen(timeline(under, journal_of(under, "Done.")))

    assert [("rewritten", ("a", "b"))] == fates(seen, 1)


def test_a_message_that_is_only_shown_stands_for_none_of_the_stored() -> None:
    def first(view: ContextView) -> list[Any]:
        return [UserMessage("A summary of all that was."), *list(view.messages)[-1:]]

    under = config(Hooks("sum", transform_context=first))
    journal = journal_of(under, looks("a"), "one", "Done.")
    seen = Seen(timeline(under, journal))
    shown = seen.shown(3)

    assert shown
    assert ["left out", "left out", "shown"] == [mark.fate for mark in shown.marks]
    assert 2 == shown.total


def test_an_equal_message_that_a_hook_makes_anew_is_the_same() -> None:
    def again(view: ContextView) -> list[Any]:
        return [
            UserMessage(m.text) if isinstance(m, UserMessage) else m
            for m in view.messages
        ]

    under = config(Hooks("again", transform_context=again))
    seen = Seen(timeline(under, journal_of(under, "Done.")))

    assert [("shown", ())] == fates(seen, 1)


def test_a_question_that_a_hook_asks_a_model_is_no_request_of_the_run() -> None:
    under, journal = GOLDEN["needs"]
    past = timeline(under, journal)
    seen = Seen(past)
    shown = seen.shown(past.last)

    assert shown
    assert ".model." in shown.request.id


def test_a_result_is_told_with_the_hooks_that_shaped_it_and_how_it_was() -> None:
    past = timeline(CONFIG, shopping())
    seen = Seen(past)
    result = past.points[4].state.transcript[3]

    assert ["soften"] == [w.hook for w in seen.shaped(result)]
    assert "timeout" == seen.outcome_before(result)


# Pages.


@pytest.mark.parametrize("name", GOLDEN)
def test_a_page_tells_each_point_of_a_golden_journal_as_it_is(name: str) -> None:
    under, journal = GOLDEN[name]
    past, read = timeline(under, journal), Reading.of(page(under, journal))

    for point in past.points:
        assert plainly(standing(point.state)) == read.stand(point.number)
        for run in runs(point.state):
            told = read.transcript(run.run_id, point.number)
            assert [said(message) for message in run.transcript] == told


@pytest.mark.parametrize("name", GOLDEN)
def test_a_page_tells_what_each_request_of_a_golden_journal_shows(name: str) -> None:
    under, journal = GOLDEN[name]
    read = Reading.of(page(under, journal))
    asked = [
        effect
        for point in timeline(under, journal).points
        for effect in point.effects.perform
        if isinstance(effect, CallModel)
    ]

    for n, effect in enumerate(asked):
        assert effect.id == read.side["requests"][n]["id"]
        assert [said(message) for message in effect.messages] == read.shown(n)


def test_a_transcript_that_a_hook_rewrites_is_told_as_it_then_is() -> None:
    def forget(view: TurnView) -> TurnUpdate | None:
        return TurnUpdate(transcript=list(view.transcript)[-1:]) if view.turn else None

    under = config(Hooks("forget", prepare_next_turn=forget))
    under = evolve(under, hooks=[Hooks("keep", prepare_next_turn=_keep)])
    journal = journal_of(under, looks("a"), "one", looks("b"), "two", "Done.")
    past, read = timeline(under, journal), Reading.of(page(under, journal))

    for point in past.points:
        told = read.transcript("r", point.number)
        assert [said(message) for message in point.state.transcript] == told
    assert any("=" in turning for _, turning in read.side["lanes"][0][1])


def _keep(view: TurnView) -> TurnUpdate | None:
    """Keep the first message and the newest round, the first one shortened."""
    messages = list(view.transcript)
    if len(messages) < 5:
        return None
    return TurnUpdate(transcript=[UserMessage("Go"), *messages[-2:]])


def test_a_page_says_each_text_once() -> None:
    secret = "no two of these " * 20
    under = config(sliding_window(20))
    journal = journal_of(
        under, looks("a", said=secret), secret, looks("b"), secret, "x"
    )
    text = page(under, journal)

    assert 1 == text.count(secret)


def size(turns: int, *hooks: Hooks) -> int:
    under = config(*hooks)
    replies: list[Any] = []
    for n in range(turns):
        replies += [looks(f"c{n}", said=f"Turn {n:5}."), f"secret-{n:5}"]
    return len(page(under, journal_of(under, *replies, "Done.")))


def _again(view: ContextView) -> ContextUpdate:
    """Show each result otherwise, and remember something of each request."""
    shown = [
        ToolResultMessage(m.call_id, m.name, f"{m.text}!")
        if isinstance(m, ToolResultMessage)
        else m
        for m in view.messages
    ]
    return ContextUpdate(shown, memo=[*(view.memo or ()), len(shown)])


@pytest.mark.parametrize(
    "hooks",
    [
        (),
        (sliding_window(6),),
        (redact("secret-1"),),
        (Hooks("again", transform_context=_again),),
    ],
    ids=["none", "window", "redact", "all shown otherwise, a memory that grows"],
)
def test_a_page_grows_with_its_journal_and_no_faster(hooks: tuple[Hooks, ...]) -> None:
    """What is shown and remembered is told by what changed in it."""
    one, two, four = (size(turns, *hooks) for turns in (20, 40, 80))

    assert (four - two) / (two - one) < 2.3


def test_two_runs_know_which_of_their_messages_are_equal() -> None:
    past = shopping()
    told = data_of(page(CONFIG, past, reordered(past)))
    one, other = (
        [message["same"] for message in side["messages"]] for side in told["sides"]
    )

    assert 9 == len(set(one) & set(other))


def test_the_kept_journals_are_what_the_story_comes_to() -> None:
    """The picture of the view is made of them."""
    past = shopping()
    made = [past, reordered(past)]
    kept = [Journal.read(file).unwrap() for file in FILES]

    assert [one.entries for one in made] == [one.entries for one in kept]
    assert [one.start for one in made] == [one.start for one in kept]


# What a page is made of.


def test_nothing_in_a_page_can_end_its_data() -> None:
    hostile = "</script><script>alert(1)</script><!-- ]]> \u2028 & <img onerror=x>"
    under = config(system=hostile)
    journal = journal_of(under, hostile)
    text = page(under, journal)

    assert 2 == text.count("</script>")
    assert "<!--" not in text
    assert "alert(1)</script>" not in text
    assert "\u2028" not in text
    assert hostile == data_of(text)["texts"][0]


def test_a_page_can_be_written_down_whatever_is_in_it() -> None:
    under = config(system="\ud800 alone", tools=[ToolSpec("t", "\udfff\x00")])
    journal = journal_of(under, "Done.")
    text = page(under, journal)

    assert text.encode() == text.encode("utf-8", "strict")
    assert "\x00" not in text


def test_the_policy_lets_in_the_pages_own_script_and_style_and_nothing_else() -> None:
    text = page(CONFIG, shopping())
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    assert "'none'" == rules["default-src"]
    assert re.fullmatch(r"'sha256-[\w+/=]+'", rules["script-src"])
    assert re.fullmatch(r"'sha256-[\w+/=]+'", rules["style-src"])
    assert "data:" == rules["img-src"]


def test_a_page_names_no_address() -> None:
    """But for the names of SVG and of what the run itself says."""
    under = config()
    text = page(under, journal_of(under, "Done."))

    assert {"http://www.w3.org/2000/svg"} == set(
        re.findall(r"https?://[^\s\"'<]+", text)
    )


def test_what_fills_a_slot_is_not_filled_again() -> None:
    under = config()
    start = State.start(under, run_id="{{data}} {{script}}")
    journal = Journal.of(under, start, [Prompt("{{style}}"), Abort()]).unwrap()
    text = page(under, journal)

    assert "<title>{{data}} {{script}} · loopcore</title>" in text
    assert '"{{style}}"' in text


def test_markup_in_a_run_id_is_text() -> None:
    under = config()
    start = State.start(under, run_id="</title><script>x</script>")
    journal = Journal.of(under, start, [Prompt("Go.")]).unwrap()

    assert "&lt;/title&gt;&lt;script&gt;" in page(under, journal)


def test_numbers_are_told_as_they_are() -> None:
    """A browser would print 1.0 as 1, and 2**60 as another number."""
    exact = {"a": 1.0, "b": 2**60, "c": 0.1, "d": True, "e": None}

    assert exact == plainly(exact)


def test_any_key_can_be_told() -> None:
    odd = {"$": 1, "#": "2", "o": [3], "__proto__": {"m": 4}, "10": 1, "9": 2}

    assert odd == plainly(odd)
    assert list(odd) == list(plainly(odd))


def test_embedded_data_has_no_character_that_markup_or_files_do_not_take() -> None:
    assert '"\\u003c\\u0026\\u003e\\u2028\\ud800\\ufeff"' == embedded(
        "<&>\u2028\ud800\ufeff"
    )


def test_differences_go_down_to_what_differs() -> None:
    found = list(differences({"a": {"b": 1, "c": 2}, "d": 1}, {"a": {"b": 1, "c": 3}}))

    assert [("a", "c"), ("d",)] == [path for path, _, _ in found]


def test_usage_is_told_turn_by_turn() -> None:
    under = config()
    reply = AssistantMessage("Done.", usage=Usage(10, 2, 3, 4, 1, cost=0.5))
    told = data_of(page(under, journal_of(under, reply)))

    assert [[2, 1, 1, [10, 2, 3, 4, 1, 0.5]]] == told["sides"][0]["turns"]


def test_pictures_are_in_the_page() -> None:
    under = config()
    reply = AssistantMessage([Image("QUJD" * 40, "image/png")])
    told = data_of(page(under, journal_of(under, reply)))

    assert {"image": {"$": 0}, "mime": "image/png"} in told["sides"][0]["messages"][1][
        "p"
    ]
    assert "QUJD" * 40 == told["texts"][0]
