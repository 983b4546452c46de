"""The page of a journal in a real browser: what is to be seen, and which keys it heeds."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from attrs import evolve

from loopcore import (
    AssistantMessage,
    CustomMessage,
    Image,
    LoopConfig,
    Message,
    Prompt,
    State,
    Text,
    Thinking,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
    advance,
)
from loopcore.hooks import ContextView, Hooks
from loopcore.journal import Journal
from loopcore.policies import redact
from loopcore_adapters.viewer import page
from tests import golden, pictures
from tests.browser import Browser, Tab, browsing, chromium
from tests.viewing import CONFIG, MODEL, reordered, shopping

pytestmark = pytest.mark.real

Opens: TypeAlias = Callable[..., Tab]
"""Open a page: its text, and the input that its address names."""

LOOK = ToolSpec("look", "Look.", {"type": "object"})
CARD = "#rows .card"


@pytest.fixture(scope="module")
def browser(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Browser]:
    """A browser for all of these."""
    program = chromium(Path(request.config.cache.mkdir("chromium")))
    with browsing(program, tmp_path_factory.mktemp("profile")) as one:
        yield one


@pytest.fixture
def opens(browser: Browser, tmp_path: Path) -> Iterator[Opens]:
    """Open a page in a tab of its own. No page may ask for anything or break a rule."""
    tab = browser.tab()

    def open_(text: str, at: str = "") -> Tab:
        file = tmp_path / "page.html"
        file.write_text(text, encoding="utf-8", newline="\n")
        tab.opens(file, at)
        return tab

    yield open_
    assert {"violations": [], "errors": []} == tab.does("window.seen")
    assert [] == [one for one in tab.asked[1:] if not one.startswith("data:")]
    assert [] == tab.dialogs
    tab.send("Page.close")


@pytest.fixture
def kettle(opens: Opens) -> Tab:
    """The page of the shopping run, at its last input."""
    return opens(page(CONFIG, shopping()))


@pytest.fixture
def both(opens: Opens) -> Tab:
    """The same beside its fork."""
    past = shopping()
    return opens(page(CONFIG, past, reordered(past)))


def at(tab: Tab) -> int:
    """At which input the page stands."""
    return int(tab.does("document.documentElement.dataset.at"))


def drags(tab: Tab, to: int) -> None:
    """Move the slider, as a hand does."""
    tab.does(
        "(() => { const s = document.querySelector('#slider');"
        f"s.value = {to}; s.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
    )
    tab.settles()


def goes(tab: Tab, to: int) -> None:
    """Go to an input by its address."""
    tab.does(f"location.hash = '{to}'")
    tab.settles()


def config(*hooks: Hooks, **more: Any) -> LoopConfig:
    return LoopConfig(model=MODEL, tools=[LOOK], hooks=hooks, **more)


def journal_of(
    under: LoopConfig, *replies: Any, run_id: str = "r", history: Iterable[Message] = ()
) -> Journal:
    """The journal of a run: a prompt, then what answers each effect that waits."""
    start = State.start(under, run_id=run_id, transcript=history)
    given: list[Any] = [Prompt("Go.")]
    state, _ = advance(under, start, given[0]).unwrap()
    for reply in replies:
        effect: Any = state.waiting[0]
        given.append(effect.reply(reply))
        state, _ = advance(under, state, given[-1]).unwrap()
    return Journal.of(under, start, given).unwrap()


# The slider.


def test_the_page_opens_at_the_last_input(kettle: Tab) -> None:
    assert 15 == at(kettle)
    assert "kettle" == kettle.text("#title")
    assert "15 inputs · 5 turns · done" in kettle.text("#facts")
    assert "Done: the blue Boil-O 2" in kettle.texts(CARD)[-1]


def test_the_page_opens_where_it_is_told_to(opens: Opens) -> None:
    assert 4 == at(opens(page(CONFIG, shopping(), at=4)))


def test_an_address_may_name_an_input(opens: Opens) -> None:
    assert 7 == at(opens(page(CONFIG, shopping(), at=4), "#7"))


def test_an_address_that_names_none_opens_the_page_all_the_same(opens: Opens) -> None:
    assert 0 == at(opens(page(CONFIG, shopping()), "#nonsense"))


def test_the_slider_goes_to_an_input(kettle: Tab) -> None:
    drags(kettle, 4)

    assert 4 == at(kettle)
    assert "#4" == kettle.does("location.hash")
    assert "input 4 of 15" in kettle.text("#where")
    assert 4 == kettle.count(CARD)
    assert "timeout → ok" in kettle.texts(CARD)[3]


def test_the_slider_stops_at_both_ends(kettle: Tab) -> None:
    kettle.presses("Home", "ArrowLeft")

    assert 0 == at(kettle)
    assert 0 == kettle.count(CARD)
    assert kettle.does("document.querySelector('#back').disabled")

    kettle.presses("End", "ArrowRight")

    assert 15 == at(kettle)
    assert kettle.does("document.querySelector('#on').disabled")


def test_each_point_is_the_same_from_whichever_side_one_comes(kettle: Tab) -> None:
    """What is told by what changed comes out alike forwards, backwards and at a jump."""
    shown = "['#panels', '#rows'].map((s) => document.querySelector(s).innerText)"
    forwards, jumps = list[Any](), dict[int, Any]()
    kettle.presses("Home")
    for _ in range(16):
        forwards.append(kettle.does(shown))
        kettle.presses("ArrowRight")
    for point in (5, 15, 0, 11, 3, 14, 2, 9, 8, 1, 13, 4, 12, 6, 10, 7):
        goes(kettle, point)
        jumps[point] = kettle.does(shown)

    assert forwards == [jumps[point] for point in range(16)]


def test_the_buttons_beside_the_slider_step(kettle: Tab) -> None:
    kettle.clicks("#back")
    kettle.clicks("#back")
    kettle.clicks("#on")

    assert 14 == at(kettle)


# Keys.


def test_arrows_go_to_the_next_input_and_the_one_before(kettle: Tab) -> None:
    kettle.presses("ArrowLeft", "ArrowLeft", "ArrowRight")

    assert 14 == at(kettle)


def test_arrows_step_once_on_the_slider_too(kettle: Tab) -> None:
    kettle.does("document.querySelector('#slider').focus()")
    kettle.presses("ArrowLeft")

    assert 14 == at(kettle)


def test_t_goes_from_turn_to_turn(kettle: Tab) -> None:
    kettle.presses("Home")
    ends = list[int]()
    for _ in range(6):
        kettle.presses("t")
        ends.append(at(kettle))

    assert [4, 7, 9, 14, 15, 15] == ends

    kettle.presses("T")

    assert 14 == at(kettle)


def test_h_folds_the_hooks_away_and_back(kettle: Tab) -> None:
    goes(kettle, 4)

    assert "soften" in kettle.text("#panel-hooks")

    kettle.presses("h")

    assert "soften" not in kettle.text("#panel-hooks")
    assert "false" == kettle.does(
        "document.querySelector('#panel-hooks button').getAttribute('aria-expanded')"
    )

    kettle.presses("h")

    assert "soften" in kettle.text("#panel-hooks")


def test_a_question_mark_tells_the_keys_and_escape_goes_back(kettle: Tab) -> None:
    kettle.presses("?")

    assert kettle.does("document.querySelector('#help').open")
    assert "the end of the next turn" in kettle.text("#help")

    kettle.presses("ArrowLeft")

    assert 15 == at(kettle)

    kettle.presses("Escape")

    assert not kettle.does("document.querySelector('#help').open")


def test_what_is_typed_to_be_found_is_no_key(kettle: Tab) -> None:
    kettle.presses("/")
    kettle.types("Boil-O")
    kettle.presses("h", "ArrowLeft")

    assert 15 == at(kettle)
    assert "Boil-Oh" == kettle.does("document.querySelector('#find').value")


def test_a_text_is_found_and_the_next_one_that_has_it(kettle: Tab) -> None:
    kettle.presses("/")
    kettle.types("steamer")

    assert "1 of 3" == kettle.text("#found")
    assert "Ten hits" in kettle.text(".card.hit")

    kettle.presses("Enter")

    assert "2 of 3" == kettle.text("#found")
    assert "I check the other one" in kettle.text(".card.hit")

    kettle.presses("Escape", "n", "n")

    assert "1 of 3" == kettle.text("#found")


def test_the_focus_can_be_seen(kettle: Tab) -> None:
    kettle.presses("Tab")

    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert "solid" == kettle.does(outline)


def test_whoever_cannot_see_is_told_where_the_page_stands(kettle: Tab) -> None:
    kettle.presses("ArrowLeft")

    assert "input 14 of 15: answer to kettle.1.4.run.0" in kettle.text("#live")
    assert "14 of 15: answer to" in kettle.does(
        "document.querySelector('#slider').getAttribute('aria-valuetext')"
    )
    roles = (
        "[...document.querySelectorAll('#rows [role=article]')].map((e) => "
        "[e.getAttribute('aria-posinset'), e.getAttribute('aria-setsize')])"
    )
    assert ["11", "11"] == kettle.does(roles)[-1]


# What is to be seen at a point.


def test_hooks_are_told_field_by_field_with_who_wrote_nothing(kettle: Tab) -> None:
    goes(kettle, 4)
    told = kettle.text("#panel-hooks")

    assert "redact after_tool_result call 0 search" in told
    assert "soften after_tool_call call 1 fetch" in told
    assert "No answer in time; carry on without it." in told
    assert "is_error\nfalse" in told
    assert "asked, and wrote nothing: soften at after_tool_call" in told


def test_a_message_tells_what_hooks_made_of_it_and_of_what(kettle: Tab) -> None:
    goes(kettle, 4)
    card = kettle.texts(CARD)[2]

    assert "[customer]" in card
    assert "before hooks:" in card
    assert "customer 4711" in card


def test_effects_that_were_asked_are_told_and_those_that_wait(kettle: Tab) -> None:
    goes(kettle, 2)

    assert "kettle.1.1.run.0" in kettle.text("#panel-effects")
    assert "2 asked, 0 cancelled" in kettle.text("#panel-effects")
    assert "kettle.1.1.run.1" in kettle.text("#panel-waiting")

    goes(kettle, 3)

    assert "kettle.1.1.run.0" not in kettle.text("#panel-waiting")
    assert "kettle.1.1.run.1" in kettle.text("#panel-waiting")


def test_effects_that_were_cancelled_are_told(opens: Opens) -> None:
    scene = golden.SCENES["abort"]
    journal = Journal.read(golden.FOLDER / "abort.jsonl").unwrap()
    tab = opens(page(scene.config, journal))
    told = list[str]()
    for point in range(len(journal.entries) + 1):
        goes(tab, point)
        told.append(tab.text("#panel-effects"))

    assert any("cancelled" in text.splitlines()[-1] for text in told)


def test_what_waits_for_a_gap_is_told(kettle: Tab) -> None:
    goes(kettle, 6)

    assert "queued: steering" in kettle.text("#panel-waiting")
    assert "Only in blue, please." in kettle.text("#panel-waiting")


def test_memories_are_told_and_which_is_new(kettle: Tab) -> None:
    goes(kettle, 5)

    assert "search: 1, fetch: 2" in kettle.text("#panel-memory")
    assert "new" in kettle.text("#panel-memory")

    goes(kettle, 6)

    assert "new" not in kettle.text("#panel-memory")


def test_what_was_left_out_of_a_request_is_marked_with_who_did_it(kettle: Tab) -> None:
    goes(kettle, 11)

    assert "6 shown of 9 stored · 3 left out by sliding_window" in kettle.text("#sum")
    left = kettle.texts(".card.left-out")
    assert all("left out\nsliding_window" in text for text in left)
    assert left


def test_s_lists_what_the_model_was_shown(kettle: Tab) -> None:
    goes(kettle, 11)
    kettle.presses("s")

    assert 6 == kettle.count(CARD)
    assert ["3 messages left out by sliding_window"] == kettle.texts("#rows .gap")
    assert "true" == kettle.does(
        "document.querySelector('#view-shown').getAttribute('aria-pressed')"
    )

    kettle.presses("s")

    assert 0 == kettle.count("#rows .gap")


def test_what_was_shown_otherwise_stands_above_what_is_stored(opens: Opens) -> None:
    def shout(view: ContextView) -> list[Any]:
        return [
            UserMessage(m.text.upper()) if isinstance(m, UserMessage) else m
            for m in view.messages
        ]

    under = config(Hooks("shout", transform_context=shout))
    tab = opens(page(under, journal_of(under, "Done.")), "#1")

    assert "rewritten by shout" in tab.text("#sum")

    tab.presses("s")

    assert "GO.\n" in tab.text("#rows")
    assert "stored as:\nGo." in tab.text("#rows")


def test_the_newest_request_tells_its_settings_and_who_chose_them(kettle: Tab) -> None:
    told = kettle.text("#panel-shown")

    assert "acme:swift-2" in told
    assert "search, fetch, order" in told
    assert "You help with shopping. Be brief.\nbrief" in told


def test_usage_is_drawn_turn_by_turn_and_a_bar_goes_there(kettle: Tab) -> None:
    bars = kettle.does(
        "[...document.querySelectorAll('#panel-usage .hit-area title')]"
        ".map((e) => e.textContent)"
    )

    assert "turn 1: 310 + 0 + 0 tokens in" == bars[0]
    assert "turn 5: 24 tokens out" == bars[-1]

    kettle.clicks("#panel-usage .hit-area")

    assert 4 == at(kettle)


def test_d_tells_what_an_input_changed(kettle: Tab) -> None:
    goes(kettle, 11)
    kettle.presses("d")
    lines = kettle.texts("#panel-diff li")

    assert 'phase "sleeping" "model"' in lines
    assert "attempt 1 2" in lines
    assert "requests 4 5" in lines
    assert '"sleeping"' == kettle.texts("#panel-diff .old")[0]


def test_messages_that_an_input_brought_are_marked(kettle: Tab) -> None:
    goes(kettle, 4)

    assert 2 == kettle.count(".card.fresh")


def test_nested_runs_have_their_own_transcripts(opens: Opens) -> None:
    scene = golden.SCENES["nested"]
    journal = Journal.read(golden.FOLDER / "nested.jsonl").unwrap()
    tab = opens(page(scene.config, journal))
    names = tab.texts("#run option")

    assert len(names) > 1
    outer = tab.text("#rows")
    tab.does(
        "(() => { const r = document.querySelector('#run');"
        f"r.value = '{names[1]}'; r.dispatchEvent(new Event('change')); }})()"
    )
    tab.settles()
    assert outer != tab.text("#rows")
    assert tab.count(CARD) > 0


@pytest.mark.parametrize("name", golden.SCENES)
def test_every_point_of_a_golden_journal_can_be_looked_at(
    opens: Opens, name: str
) -> None:
    """In each of the lists, and with all panels open."""
    journal = Journal.read(golden.FOLDER / f"{name}.jsonl").unwrap()
    tab = opens(page(golden.SCENES[name].config, journal))
    tab.presses("d")
    for keys in (["Home"], ["s", "Home"]):
        tab.presses(*keys, *["ArrowRight"] * len(journal.entries))
        assert len(journal.entries) == at(tab)


# Two runs.


def test_another_run_stands_beside_the_first(both: Tab) -> None:
    assert "kettle-deep at its input 4 of 4" in both.text("#sum")
    assert "3 messages of 12 not the same" in both.text("#sum")
    pairs = both.texts("#rows .pair")

    assert "The Boil-O 2 in blue is the one." in pairs[-3]
    assert "The Steamer is larger than it looks" in pairs[-3]
    assert 6 == both.count(".card.differs")


def test_what_is_otherwise_in_the_other_run_is_told(both: Tab) -> None:
    told = both.texts("#panel-other li")

    assert any('model "acme:swift-2" "acme:deep-1"' in line for line in told)
    assert "turn 5 2" in told


def test_a_fork_stands_beside_the_input_that_it_begins_at(both: Tab) -> None:
    """Inputs are counted on over a fork; before it there is only its beginning."""
    goes(both, 11)  # to let go of what was asked was an input too

    assert "kettle-deep at its input 1 of 4" in both.text("#sum")

    goes(both, 4)

    assert "kettle-deep at its input 0 of 4" in both.text("#sum")


def test_o_puts_the_other_run_away_and_back(both: Tab) -> None:
    both.presses("o")

    assert 0 == both.count("#rows .pair")

    both.presses("o")

    assert both.count("#rows .pair") > 0


def test_what_only_one_run_has_stands_alone(opens: Opens) -> None:
    under = config()
    look = AssistantMessage([ToolCall("look", {}, "a")], finish="tools")
    one = journal_of(under, look, "seen", "Done.", run_id="one")
    other = journal_of(under, "Done.", run_id="other")
    tab = opens(page(under, one, other))

    assert 2 == tab.count(".card.none")
    assert "2 messages of 4 not the same" in tab.text("#sum")


# A journal that does not replay.


def test_a_divergence_is_told_and_what_is_known_is_shown(opens: Opens) -> None:
    under = config()
    look = AssistantMessage([ToolCall("look", {}, "a")], finish="tools")
    journal = journal_of(under, look, "a secret", "Done.")
    tab = opens(page(config(redact("secret")), journal))

    assert "This record does not replay." in tab.text("#divergence")
    assert "redact" in tab.text("#divergence")
    assert "only what was recorded is known" in tab.text("#panel-input")
    assert "Done." in tab.text("#panel-input")

    goes(tab, 3)

    assert "diverged" in tab.text("#panel-input")
    assert 'recorded\n"a secret"\nnow\n"a [redacted]"' in tab.text("#panel-input")


# Light and dark.


def luminance(tab: Tab, what: str) -> float:
    """How light the page's ground or ink is, from 0 to 255."""
    colour = tab.does(f"getComputedStyle(document.body).{what}")
    red, green, blue = (int(n) for n in colour[4:-1].split(","))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_page_is_light_for_whoever_prefers_that_and_dark_for_others(
    kettle: Tab,
) -> None:
    kettle.prefers("light")

    assert luminance(kettle, "backgroundColor") > 220
    assert luminance(kettle, "color") < 60

    kettle.prefers("dark")

    assert luminance(kettle, "backgroundColor") < 40
    assert luminance(kettle, "color") > 200


# Content from outside.

DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA"
    "AABJRU5ErkJggg=="
)
"""A picture of one point."""

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "javascript:alert(1)",
    "<!-- --> ]]> <![CDATA[",
    "${alert(1)} {{data}} `${1}`",
    "&lt;b&gt; &amp;",
    "'\"><iframe src=https://example.com>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_is_text_wherever_it_comes_from(opens: Opens, text: str) -> None:
    """In messages, names, ids, arguments, memories, settings, hooks and errors."""
    hook = Hooks(
        text.replace(".", "_"),
        memo={text: text},
        transform_context=lambda view: [
            *view.messages,
            CustomMessage(text, {text: text}),
        ],
    )
    under = LoopConfig(
        model=f"x:{text}", system=text, tools=[ToolSpec(text, text)], hooks=[hook]
    )
    reply = AssistantMessage(
        [
            Text(text),
            Thinking(text),
            Image(text, text),
            ToolCall(text, {text: text}, text),
        ],
        model=text,
        finish="tools",
    )
    journal = journal_of(
        under, reply, ToolOutput(text, details={text: text}), run_id=text
    )
    tab = opens(page(under, journal))
    for key in ("d", "Home", "ArrowRight", "s", "ArrowRight", "ArrowRight", "s"):
        tab.presses(key)

    assert text == tab.text("#title")
    assert 2 == tab.count("script")
    assert 0 == tab.count("iframe, #rows svg, img[src=x], [onerror], [onload]")
    assert text in tab.texts("#rows .text")


def test_a_line_of_a_million_characters_is_cut_and_can_be_read_on(opens: Opens) -> None:
    under = config()
    tab = opens(page(under, journal_of(under, "x" * 1_000_000 + "the end")))

    assert len(tab.text("#rows")) < 10_000
    assert "Read all 1,000,007 characters" in tab.text("#rows")

    tab.clicks("#rows .more")

    assert "page 1 of 51" in tab.text("#reader")
    for _ in range(51):
        tab.clicks("#reader button:nth-of-type(2)")
    assert "the end" in tab.text("#reader .text")

    tab.presses("Escape")

    assert not tab.does("document.querySelector('#reader').open")


def test_a_text_of_many_lines_is_cut_and_no_character_is_halved(opens: Opens) -> None:
    under = config()
    lines, halved = "line\n" * 5000, "a" * 1599 + "\U0001f600" * 100
    reply = AssistantMessage([Text(lines), Text(halved)])
    tab = opens(page(under, journal_of(under, reply)))

    assert tab.text("#rows").count("line") < 40
    assert "\\ud83d" not in tab.text("#rows")


def test_what_cannot_be_seen_is_made_visible(opens: Opens) -> None:
    under = config()
    odd = "a\x00b\x1bc\u202ed\u2028e\u200ff\ufeffg\x7fh"
    tab = opens(page(under, journal_of(under, odd)))

    assert "a␀b␛c\\u202ed\\u2028e\\u200ff\\ufeffg␡h" in tab.text("#rows")


def test_a_lone_surrogate_is_shown_as_the_mark_in_its_place(opens: Opens) -> None:
    """No record holds one: no encoding has it."""
    under = config()
    tab = opens(page(under, journal_of(under, AssistantMessage("x", model="a\ud800b"))))

    assert "a\ufffdb" in tab.text("#rows")


def test_what_is_read_from_right_to_left_does_not_turn_the_rest(opens: Opens) -> None:
    under = config()
    tab = opens(page(under, journal_of(under, "שלום עולם, 123")))

    assert "rtl" == tab.does(
        "(() => { const e = [...document.querySelectorAll('#rows .text')].at(-1);"
        "return e.matches(':dir(rtl)') ? 'rtl' : 'ltr'; })()"
    )
    assert "ltr" == tab.does(
        "getComputedStyle(document.querySelector('.who')).direction"
    )


def test_numbers_and_keys_are_shown_as_they_are(opens: Opens) -> None:
    under = config()
    call = ToolCall("look", {"b": 1.0, "a": 2**60, "10": 1, "9": None}, "c")
    tab = opens(
        page(under, journal_of(under, AssistantMessage([call], finish="tools")))
    )

    assert "look b=1.0 a=1152921504606846976 10=1 9=null" in tab.text("#rows")


def test_a_picture_is_shown_and_what_is_none_is_named(opens: Opens) -> None:
    under = config()
    parts = [Image(DOT, "image/png"), Image("PHN2Zz4=", "image/svg+xml")]
    tab = opens(page(under, journal_of(under, AssistantMessage(parts))))

    assert 1 == tab.count("#rows img")
    assert 1 == tab.does(
        "(async () => { const img = document.querySelector('#rows img');"
        "await img.decode(); return img.naturalWidth; })()"
    )
    assert "picture: image/svg+xml" in tab.text("#rows")


# A long run.


def looked(first: int, last: int) -> Iterator[tuple[AssistantMessage, str]]:
    """Replies that ask for a look, and what was seen."""
    for n in range(first, last):
        call = ToolCall("look", {"n": n}, f"c{n}")
        said = Text(f"Look number {n}. " * (n % 12))
        yield AssistantMessage([said, call], finish="tools"), f"seen {n}"


def long_run(turns: int, before: int = 0) -> tuple[LoopConfig, Journal]:
    """A run of so many turns, and so many in its history."""
    under = config()
    history = [
        message
        for reply, seen in looked(0, before)
        for message in (reply, ToolResultMessage(reply.calls[0].id, "look", seen))
    ]
    replies = [one for pair in looked(before, before + turns) for one in pair]
    return under, journal_of(under, *replies, "Done.", history=history)


def test_of_ten_thousand_messages_only_what_is_seen_is_drawn(opens: Opens) -> None:
    """As many rows as fit, wherever the slider stands and however far one scrolls."""
    under, journal = long_run(1_000, before=4_000)
    tab = opens(page(under, journal))

    assert 10_002 == int(tab.does("document.documentElement.dataset.rows"))
    assert "Done." in tab.texts(CARD)[-1]
    for point in (0, 1_000, 2_002, 1_999, 3, 777):
        drags(tab, point)
        assert point == at(tab)
        assert 0 < tab.count(CARD) <= 60
    drags(tab, 2_002)
    for place in (0, 200_000, 500_000, 10**9):
        tab.does(f"document.querySelector('#rows').scrollTop = {place}")
        tab.settles()
        assert 0 < tab.count(CARD) <= 60
    assert "10002" in tab.texts("#rows .place")

    tab.presses("/")
    tab.types("seen 4321")

    assert "1 of 1" == tab.text("#found")
    assert "seen 4321" in tab.text(".card.hit")
    assert tab.count("*") < 3_000


def test_rows_stand_below_each_other_without_gaps(opens: Opens) -> None:
    """Heights that were guessed come right, also after scrolling."""
    under, journal = long_run(300)
    tab = opens(page(under, journal))
    for place in (0, 5_000, 11_111, 10**9):
        tab.does(f"document.querySelector('#rows').scrollTop = {place}")
        tab.settles()
        edges = tab.does(
            "[...document.querySelectorAll('#rows .row')].map((e) => "
            "[e.offsetTop, e.offsetTop + e.offsetHeight])"
        )
        assert [b for _, b in edges[:-1]] == [a for a, _ in edges[1:]]


def test_a_narrow_window_can_be_used_too(kettle: Tab) -> None:
    kettle.is_sized(420, 800)

    assert kettle.does("document.documentElement.scrollWidth") <= 420
    assert kettle.count(CARD) > 0


def test_a_page_of_a_run_that_has_not_begun_is_a_page(opens: Opens) -> None:
    under = config()
    empty = Journal(State.start(under, run_id="new"))
    tab = opens(page(under, empty))

    assert 0 == at(tab)
    assert "Nothing has happened yet" in tab.text("#panel-input")


def test_the_page_of_a_configuration_that_is_gone_tells_what_is_left(
    opens: Opens,
) -> None:
    """Nothing fits any more, and there is still something to look at."""
    past = shopping()
    gone = evolve(CONFIG, model="other:model", tools=(), hooks=())
    tab = opens(page(gone, past))

    assert "This record does not replay." in tab.text("#divergence")
    goes(tab, 2)
    assert "I look at two shops." in tab.text("#panel-input")


# The README's pictures.


def test_the_pictures_of_the_readme_can_be_made(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    kept = Path(request.config.cache.mkdir("chromium"))
    pictures.make("view", to=tmp_path, kept=kept)
    made = (tmp_path / "view.png").read_bytes()

    assert b"\x89PNG" == made[:4]
    assert [1600, 1000] == [int.from_bytes(made[n : n + 4]) for n in (16, 20)]
    assert (pictures.PICTURES / "view.png").is_file()
