"""`loopcore view`: a journal in a terminal, printed, as JSON and as a page."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve
from rich.cells import cell_len

from loopcore import CustomMessage, Message, Prompt, State, SystemMessage
from loopcore.cli.view.keys import named
from loopcore.cli.view.loop import Visit, moved
from loopcore.cli.view.screen import Look, screen
from loopcore.journal import Journal
from loopcore_adapters.viewer import Seen, timeline
from tests import golden
from tests.cli import Shell, shell
from tests.typing_person import at_a_terminal
from tests.viewing import CONFIG, FILES, reordered, shopping

APP: Final = "from tests.viewing import CONFIG as config\n"
STRICTER: Final = f"""{APP}
from attrs import evolve
from loopcore.policies import redact
config = evolve(config, hooks=[*config.hooks, redact("Steamer").named("hide")])
"""


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A folder with an app and its journals."""
    with shell(tmp_path, monkeypatch) as one:
        one.module(APP, "app")
        for file in FILES:
            (tmp_path / file.name).write_bytes(file.read_bytes())
        yield one


@pytest.fixture
def visit() -> Visit:
    """A visit to the shopping run, with its fork beside it."""
    past = shopping()
    seen = Seen(timeline(CONFIG, past))
    return Visit("app", CONFIG, past, seen, reordered(past))


def drawn(visit: Visit, look: Look, width: int = 110, height: int = 24) -> str:
    return screen(visit.seen, look, width, height).plain


def after(visit: Visit, look: Look, *keys: str) -> Look:
    """Where one looks after these keys, none of which says to go."""
    for key in keys:
        now = moved(visit, look, key)
        assert now
        look = now
    return look


# The screen.


def test_a_screen_tells_what_the_input_led_to(visit: Visit) -> None:
    shown = drawn(visit, Look(4))

    assert "┌ kettle · 15 inputs ─" in shown
    assert "turn 2 of 5" in shown
    assert "input 4 of 15 · answer to kettle.1.1.run.1, fetch" in shown
    assert "▸    4 result    timeout → ok · soften · No answer" in shown
    assert "phase    tools → model" in shown
    assert "soften: content, is_error" in shown
    assert "perform  kettle.1.2.model.1 CallModel acme:swift-2, 4 messages" in joined(
        shown
    )
    assert "waiting  kettle.1.2.model.1" in shown
    assert "shown to the model (4 of 4)" in shown
    assert "memory  at_most {search: 1, fetch: 1}" in shown


def joined(shown: str) -> str:
    """The right pane, its broken lines put together again."""
    lines = [line.split("│")[-2] for line in shown.splitlines() if line.count("│") == 3]
    return "".join(
        line[10:].rstrip() if line.startswith("          ") else f"\n{line.rstrip()}"
        for line in lines
    )


@pytest.mark.parametrize("size", [(60, 12), (80, 24), (200, 60), (1, 1)])
@pytest.mark.parametrize("at", range(16))
def test_a_screen_has_just_the_size_that_is_wanted(
    visit: Visit, size: tuple[int, int], at: int
) -> None:
    """At least 60 columns and 12 lines."""
    lines = drawn(visit, Look(at, hooks=True), *size).split("\n")

    assert max(size[1], 12) == len(lines)
    assert {max(size[0], 60)} == {cell_len(line) for line in lines}


@pytest.mark.parametrize("name", golden.SCENES)
def test_every_point_of_a_golden_journal_has_a_screen(name: str) -> None:
    config = golden.SCENES[name].config
    journal = Journal.read(golden.FOLDER / f"{name}.jsonl").unwrap()
    seen = Seen(timeline(config, journal))
    for at in range(len(journal.entries) + 1):
        for look in (Look(at), Look(at, hooks=True), Look(at, diff=True)):
            assert 24 == screen(seen, look, 100, 24).plain.count("\n") + 1


def test_wide_and_hostile_characters_keep_the_frame() -> None:
    odd = "漢字 \x1b[2J \u202e שלום \x00 \t tab"
    history: list[Message] = [SystemMessage(odd), CustomMessage(odd, odd)]
    start = State.start(CONFIG, run_id=odd.replace(".", ""), transcript=history)
    journal = Journal.of(CONFIG, start, [Prompt(odd * 40)]).unwrap()
    seen = Seen(timeline(CONFIG, journal))
    for message in (1, 2, 3):
        lines = screen(seen, Look(1, message=message), 80, 20).plain.split("\n")
        assert {80} == {cell_len(line) for line in lines}
        assert "\x1b" not in "".join(lines)
        assert "\u202e" not in "".join(lines)


def test_what_a_request_left_out_is_marked(visit: Visit) -> None:
    shown = drawn(visit, Look(11))

    assert "○   2 assistant" in shown
    assert "○   4 result" in shown
    assert "shown to the model (6 of 9)" in shown


def test_of_a_long_transcript_what_is_around_the_message_is_shown(visit: Visit) -> None:
    newest, first = (
        drawn(visit, Look(15), 80, 12),
        drawn(visit, Look(15, message=1), 80, 12),
    )

    assert "▸   12 assistant" in newest
    assert "   1 user" not in newest
    assert "▸    1 user" in first
    assert "  12 assistant" not in first


# Keys.


def test_keys_are_told_by_what_terminals_send() -> None:
    sent = "\x1b[D\x1bOC\x1b[1~\x1b[4~t?\x1b"

    assert ["left", "right", "home", "end", "t", "?", "escape"] == list(named(sent))


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        (["left"], 14),
        (["right"], 15),
        (["home"], 0),
        (["home", "left"], 0),
        (["home", "right", "right"], 2),
        (["home", "t"], 4),
        (["home", "t", "t", "t", "t", "t", "t"], 15),
        (["T"], 14),
        (["home", "T"], 0),
        (["end"], 15),
        (["x"], 15),
    ],
)
def test_a_key_goes_to_an_input(visit: Visit, keys: list[str], at: int) -> None:
    assert at == after(visit, Look(15), *keys).at


def test_q_goes(visit: Visit) -> None:
    assert moved(visit, Look(3), "q") is None


def test_h_tells_hooks_in_detail_and_d_what_changed(visit: Visit) -> None:
    hooks = drawn(visit, after(visit, Look(4), "h"))
    changed = drawn(visit, after(visit, Look(11), "d"))

    assert "soften at after_tool_call call 1" in hooks
    assert "is_error = False" in hooks
    assert "silent   soften at after_tool_call" in joined(hooks)
    assert "changed by input 11" in changed
    assert "phase:   'sleeping' → 'model'" in changed


def test_arrows_up_and_down_choose_a_message_and_stop_at_the_ends(visit: Visit) -> None:
    assert "▸   11 result" in drawn(visit, after(visit, Look(15), "up"))
    assert "▸   12 assistant" in drawn(
        visit, after(visit, Look(15), "up", "down", "down")
    )
    assert "▸    1 user" in drawn(visit, after(visit, Look(15), *["up"] * 20))


def test_e_explains_the_message_that_is_chosen(visit: Visit) -> None:
    look = after(visit, Look(4), "e")
    shown = drawn(visit, look)

    assert "├ explain message 4 ─" in shown
    assert "soften" in shown

    assert "├ transcript ─" in drawn(visit, after(visit, look, "escape"))


def test_o_tells_how_the_other_run_is_different(visit: Visit) -> None:
    shown = drawn(visit, after(visit, Look(15), "o"), 140, 40)

    assert "├ other run kettle-deep ─" in shown
    assert "kettle-deep" in shown

    alone = evolve(visit, other=None)

    assert "no other run" in drawn(alone, after(alone, Look(15), "o"))


def test_a_question_mark_tells_the_keys(visit: Visit) -> None:
    assert "the end of the next turn" in drawn(visit, after(visit, Look(0), "?"))


def test_f_saves_a_fork_that_can_be_gone_on_with(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    look = after(visit, Look(9), "f")

    assert (
        "saved to kettle-9.json · go on with:  loopcore run app --resume" in look.note
    )
    state = State.loads((tmp_path / "kettle-9.json").read_bytes()).unwrap()
    assert "kettle-9" == state.run_id
    assert visit.seen.timeline.points[9].state.waiting == state.waiting

    assert "exists already" in after(visit, look, "f").note


# The command.


def test_without_a_terminal_one_input_is_printed(sh: Shell) -> None:
    told = sh.loopcore("view", "app", "kettle.jsonl")

    assert 0 == told.code
    assert "input 15 of 15" in told.out
    assert 30 == len(told.out.splitlines())

    assert (
        "input 4 of 15" in sh.loopcore("view", "app", "kettle.jsonl", "--at", "4").out
    )


def test_an_input_is_told_as_json(sh: Shell) -> None:
    (told,) = sh.loopcore("view", "app", "kettle.jsonl", "--json", "--at", "4").json

    assert ("kettle", 15, 4, "model") == tuple(
        told[key] for key in ("run_id", "inputs", "at", "phase")
    )
    assert ["redact", "soften"] == [wrote["hook"] for wrote in told["hooks"]]
    assert {"call": 1, "point": "after_tool_call"}.items() <= told["hooks"][1].items()
    assert ["kettle.1.2.model.1"] == [asked["id"] for asked in told["asked"]]
    assert {"messages": 4, "stored": 4, "shown": 4}.items() <= told["shown"].items()


@pytest.mark.parametrize("at", range(16))
def test_every_input_can_be_told_as_json(sh: Shell, at: int) -> None:
    (told,) = sh.loopcore("view", "app", "kettle.jsonl", "--json", "--at", str(at)).json

    assert at == told["at"]


def test_a_page_is_written_and_written_anew(sh: Shell) -> None:
    first = sh.loopcore("view", "app", "kettle.jsonl", "--html", "k.html")

    assert 0 == first.code
    assert "kettle · 15 inputs · " in first.out
    assert "saved to k.html" in first.out

    more = ("--other", "kettle-deep.jsonl", "--at", "3", "--json")
    (told,) = sh.loopcore("view", "app", "kettle.jsonl", "--html", "k.html", *more).json

    assert {"saved": "k.html", "inputs": 15, "divergence": None} == told
    text = (sh.folder / "k.html").read_text(encoding="utf-8")
    assert "kettle-deep" in text
    assert '"at":3' in text


def test_what_is_no_page_is_not_written_over(sh: Shell) -> None:
    """A slip of the fingers costs no journal."""
    before = (sh.folder / "kettle.jsonl").read_bytes()
    told = sh.loopcore("view", "app", "kettle.jsonl", "--html", "kettle.jsonl")

    assert 2 == told.code
    assert "kettle.jsonl exists already; give --html another path" in told.err
    assert before == (sh.folder / "kettle.jsonl").read_bytes()


def test_an_input_that_is_not_there_is_a_mistake(sh: Shell) -> None:
    told = sh.loopcore("view", "app", "kettle.jsonl", "--at", "16")

    assert 2 == told.code
    assert "the journal has the inputs 1 to 15" in told.err


def test_a_journal_that_does_not_replay_is_shown_and_said_to_be_so(sh: Shell) -> None:
    sh.module(STRICTER, "strict")
    told = sh.loopcore("view", "strict", "kettle.jsonl", "--at", "3")
    page = sh.loopcore("view", "strict", "kettle.jsonl", "--html", "s.html")
    (json_,) = sh.loopcore("view", "strict", "kettle.jsonl", "--json").json

    assert (1, 1) == (told.code, page.code)
    assert "Diverged at input 4" in page.out
    assert (sh.folder / "s.html").exists()
    assert not json_["folded"]
    assert "Diverged at input 4" in json_["divergence"]
    assert "DIVERGED" in sh.loopcore("view", "strict", "kettle.jsonl", "--at", "4").out


@pytest.mark.parametrize("words", [["nothing.jsonl"], ["app.py"]])
def test_what_is_no_journal_is_a_mistake(sh: Shell, words: list[str]) -> None:
    told = sh.loopcore("view", "app", *words)

    assert 2 == told.code
    assert "Traceback" not in told.err


def test_a_person_goes_through_a_journal_key_by_key(sh: Shell) -> None:
    with at_a_terminal("view", "app", "kettle.jsonl", folder=sh.folder) as one:
        one.sees("input 15 of 15")
        one.types("\x1b[D")
        one.sees("input 14 of 15")
        one.types("\x1b[H")
        one.sees("input 0 of 15")
        one.types("tth")
        one.sees("input 7 of 15")
        one.types("h?")
        one.sees("the end of the next turn")
        one.types("\x1b")
        one.sees("transcript")
        one.types("f")
        one.sees("kettle-7.json")
        one.types("q")
        assert 0 == one.leaves()

    assert (sh.folder / "kettle-7.json").is_file()
    assert "\x1b[?1049l" in one.shown  # the screen is as it was before


def test_ctrl_c_leaves_the_view_and_the_terminal_as_it_was(sh: Shell) -> None:
    with at_a_terminal("view", "app", "kettle.jsonl", folder=sh.folder) as one:
        one.sees("input 15 of 15")
        one.interrupts()
        assert 130 == one.leaves()

    assert "\x1b[?1049l" in one.shown
    assert "Traceback" not in one.shown


def test_the_help_names_what_can_be_given(sh: Shell) -> None:
    told = sh.loopcore("view", "--help").out
    names: list[Any] = ["--html", "--other", "--at", "--json"]

    assert all(name in told for name in names)


def test_json_is_one_line_in_ascii(sh: Shell) -> None:
    out = sh.loopcore("view", "app", "kettle.jsonl", "--json").out

    assert out.isascii()
    assert 1 == len(out.splitlines())
    assert "done" == json.loads(out)["stop"]["reason"]
