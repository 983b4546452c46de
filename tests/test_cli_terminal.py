"""The command line at a real terminal: what a person is asked, and Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import pytest

from loopcore.cli.past import progress
from tests.cli import HEAD, PAY, Shell, shell
from tests.typing_person import PATIENCE, Person, at_a_terminal, listening

SLOW: Final = f'''{HEAD}
async def slow(effect, tell):
    """Begin to say something, and go on for ever; after that, answer at once."""
    if len(effect.messages) > 1:
        return AssistantMessage("Here again.")
    tell("One moment")
    await asyncio.Event().wait()

model = Model("test:slow", slow)
config, interpreter = LoopConfig(model=model), Interpreter(model)
'''

STUBBORN: Final = f'''{HEAD}
@tool
async def hold_on() -> str:
    """Never end, whatever one is told."""
    print("begun", flush=True)
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            print("holding on", flush=True)

config, interpreter = app(call("hold_on"), tools=[hold_on])
'''


HEEDING: Final = f'''{HEAD}
@tool
def clean_up(context: ToolContext) -> str:
    """Stop when told, after some cleaning up."""
    print("begun", flush=True)
    context.cancelled.wait()
    asyncio.run(asyncio.sleep(0.05))
    print("cleaned", flush=True)

config, interpreter = app(call("clean_up"), tools=[clean_up])
'''


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A folder for apps."""
    with shell(tmp_path, monkeypatch) as one:
        yield one


def person(sh: Shell, *words: str) -> AbstractContextManager[Person]:
    """A person who gives this command."""
    return at_a_terminal(*words, folder=sh.folder)


def test_a_person_approves(sh: Shell) -> None:
    sh.app(PAY)

    with person(sh, "run", "app", "Pay.") as one:
        one.answers(r"Run transfer\?  \[y\]es  \[n\]o  \[e\]dit  \[l\]ater  ", "y")
        assert 0 == one.leaves()

    assert "→ transfer  to='ACME' cents=4900" in one.shown
    assert "\x1b[33mneeds approval" in one.shown
    assert " 2  Paid." in one.shown


def test_a_person_sees_that_a_journal_is_being_shrunk(sh: Shell) -> None:
    """It may be tried many hundred times."""
    sh.module(
        f"{HEAD}\nconfig, interpreter = {PAY}\ndef yes(_):\n    return True\n", "app"
    )
    sh.loopcore("run", "app", "Pay.", "--journal", "r.jsonl")

    with person(sh, "shrink", "app", "r.jsonl", "--fails", "app:yes") as one:
        one.sees("shrinking")
        one.sees("2 inputs → 1 input")
        assert 0 == one.leaves()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("replay app r.jsonl", "same"),
        ("explain app r.jsonl message 1", "message 1 ·"),
        ("diff app r.jsonl r.jsonl", "equal"),
        ("fork app r.jsonl --at 1", "saved to"),
        ("view app r.jsonl --html r.html", "saved to"),
    ],
)
def test_a_person_sees_that_a_long_journal_is_being_folded(
    sh: Shell, command: str, said: str
) -> None:
    sh.app(PAY)
    sh.loopcore("run", "app", "Pay.", "--journal", "r.jsonl")

    with person(sh, *command.split()) as one:
        one.sees("replaying")
        one.sees(said)
        assert 0 == one.leaves()


def test_a_bar_has_no_thread_beside_which_no_process_could_be_forked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a terminal many journals were looked at by one process alone."""
    monkeypatch.setenv("FORCE_COLOR", "1")  # so that rich takes it for a terminal
    before = threading.active_count()

    with progress("replaying") as told:
        told(1, 2)
        assert threading.active_count() == before


def test_a_person_edits_what_a_tool_is_given(sh: Shell) -> None:
    sh.app(PAY)

    with person(sh, "run", "app", "Pay.") as one:
        one.answers("ater  ", "e")
        one.answers(r"to \[ACME\]:  ", "")
        # JSON, but not what the tool takes
        one.answers(r"cents \[4900\]:  ", '"many"')
        one.sees("Cannot take this edit")
        one.answers("ater  ", "e")
        one.answers("to .*:  ", "")
        one.answers("cents .*:  ", "1")
        assert 0 == one.leaves()

    assert "→ transfer  to='ACME' cents=1 " in one.shown


def test_a_person_decides_on_each_call(sh: Shell) -> None:
    sh.app(
        'app([call("transfer", to="A", cents=1), call("transfer", to="B", cents=2),'
        ' call("transfer", to="C", cents=3)], "Paid.")'
    )

    with person(sh, "run", "app", "Pay.", "--save", "pay.json") as one:
        one.sees("to='A'")
        one.answers("ater  ", "y")
        one.sees("to='B'")
        one.answers("ater  ", "n")
        one.answers("Why not", "too much")
        one.sees("to='C'")
        one.answers("ater  ", "l")
        one.sees("to='A' cents=1 .*ok")
        assert 0 == one.leaves()
    assert "loopcore run app --resume pay.json" in one.shown

    with person(sh, "run", "app", "--resume", "pay.json") as one:
        one.sees("to='C'")
        one.sees("ater  ")
        one.types("\x04")  # the input ends: later again
        assert 0 == one.leaves()
    assert "to='A'" not in one.shown


def test_ctrl_c_aborts_a_run_and_keeps_what_was_said(sh: Shell) -> None:
    sh.module(SLOW, "app")

    with person(sh, "run", "app", "Hi!", "--save", "kept.json") as one:
        one.sees("One moment")
        one.interrupts()
        one.sees("aborted · 1 turn")
        assert 130 == one.leaves()

    assert '"One moment"' in (sh.folder / "kept.json").read_text()


def test_ctrl_c_waits_for_a_tool_that_heeds_it_and_accuses_nobody(sh: Shell) -> None:
    sh.module(HEEDING, "app")

    with person(sh, "run", "app", "Hi!") as one:
        one.sees("begun")
        one.interrupts()
        one.sees("cleaned")
        one.sees("aborted · 1 turn")
        assert 130 == one.leaves()

    assert "told to stop" not in one.shown


def test_a_second_ctrl_c_ends_what_does_not_stop(sh: Shell) -> None:
    sh.module(STUBBORN, "app")

    with person(sh, "run", "app", "Hi!") as one:
        one.sees("begun")
        one.interrupts()
        one.sees("holding on")
        one.interrupts()
        assert -signal.SIGINT == one.leaves()


def test_ctrl_c_stops_a_reply_and_not_the_conversation(sh: Shell) -> None:
    sh.module(SLOW, "app")

    with person(sh, "chat", "app") as one:
        one.answers("> ", "Hi!")
        one.sees("One moment")
        one.interrupts()
        one.sees("aborted · 1 turn")
        one.answers("> ", "Are you there?")
        one.sees("Here again.")
        one.sees("> ")
        one.types("\x04")
        assert 0 == one.leaves()


def test_what_was_put_off_is_asked_again_before_the_next_prompt(sh: Shell) -> None:
    sh.app(PAY.replace('"Paid."', '"Paid.", "Bye."'))

    with person(sh, "chat", "app") as one:
        one.answers("> ", "Pay.")
        one.answers("ater  ", "l")
        one.answers("> ", "Thanks, bye.")
        one.answers("ater  ", "y")
        one.sees("Paid.")
        one.sees("Bye.")
        one.answers("> ", "/quit")
        assert 0 == one.leaves()


def test_a_reader_that_goes_away_ends_the_run_without_a_word(sh: Shell) -> None:
    sh.module(TALKATIVE, "app")

    with listening("run", "app", "Hi!", folder=sh.folder) as program:
        assert program.stdout is not None
        program.stdout.readline()
        program.stdout.close()
        _, said = program.communicate(b"go on\n", PATIENCE)

    assert (b"", 1) == (said, program.returncode)


TALKATIVE: Final = f'''{HEAD}
async def talk(effect, tell):
    """Say something when somebody has typed a line."""
    await asyncio.to_thread(input)
    tell("More.")
    await asyncio.Event().wait()

model = Model("test:talk", talk)
config, interpreter = LoopConfig(model=model), Interpreter(model)
'''
