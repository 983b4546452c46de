"""`loopcore chat`: one prompt after the other, and what else can be said."""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopcore import Event, State
from loopcore.cli.chat import Chat
from loopcore.cli.options import Options
from loopcore.cli.person import Ask
from loopcore.cli.session import opened
from loopcore.events import Delta
from tests import standing_in
from tests.cli import PAY, Shell, shell


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A shell, where `connect` gives models that need nothing."""
    monkeypatch.setitem(sys.modules, "loopcore_adapters", standing_in)
    with shell(tmp_path, monkeypatch) as one:
        yield one


HI = (
    'app(AssistantMessage("Hi.", usage=Usage(10, 1)),'
    ' lambda effect: f"{len(effect.messages)} messages.", "Three.")'
)


def test_a_model_remembers_what_was_said(sh: Shell) -> None:
    sh.app(HI)

    told = sh.loopcore("chat", "app", typed="Hi!\n\nHow many?\n")

    assert [
        "chat R · test:script · 2 tools · /help",
        " 1  Hi.",
        "done · 1 turn · 10 tokens in, 1 out · 0 s",
        " 1  3 messages.",
        "done · 1 turn · 0 s",
    ] == told.lines
    assert 0 == told.code


def test_the_commands_are_listed(sh: Shell) -> None:
    sh.app(HI)

    lines = sh.loopcore("chat", "app", typed="/help\n").lines[1:]

    assert ["/help", "/model", "/save", "/usage", "/quit", "Ctrl-C", "Ctrl-D"] == [
        line.split()[0] for line in lines
    ]
    words = [line.split()[1] for line in lines]
    assert {13} == {
        line.index(f" {word}") + 1 for line, word in zip(lines, words, strict=True)
    }


def test_quit_ends_it(sh: Shell) -> None:
    sh.app(HI)

    assert 1 == len(sh.loopcore("chat", "app", typed="/quit\nHi!\n").lines)


def test_an_unknown_command_is_no_prompt(sh: Shell) -> None:
    sh.app(HI)

    told = sh.loopcore("chat", "app", typed="/sav\n/zzz now\n")

    assert [
        "    There is no command /sav. Did you mean /save?",
        "    There is no command /zzz. /help lists them.",
    ] == told.lines[1:]


def test_a_path_is_no_command(sh: Shell) -> None:
    sh.app(HI)

    told = sh.loopcore("chat", "app", typed="/etc/hosts, what is it?\n")

    assert " 1  Hi." == told.lines[1]


def test_another_model_is_asked_from_then_on(sh: Shell) -> None:
    sh.app('app("Hi.", tools=[])')

    told = sh.loopcore("chat", "app", typed="Hi!\n/model x:y\n/model\nWho?\nAnd now?\n")

    assert [
        " 1  Hi.",
        "    x:y",
        "    x:y",
        f" 1  {standing_in.ANSWER}",
        f" 1  {standing_in.ANSWER}",
    ] == [line for line in told.lines[1:] if not line.startswith("done")]


def test_tokens_are_counted_over_all_prompts(sh: Shell) -> None:
    sh.app('app(*[AssistantMessage("Hi.", usage=Usage(10, 1))] * 2)')

    told = sh.loopcore("chat", "app", typed="Hi!\nHi!\n/usage\n")

    assert "    20 tokens in, 2 out" == told.lines[-1]


def test_a_conversation_is_saved_and_goes_on(sh: Shell) -> None:
    sh.app(HI)
    sh.loopcore("chat", "app", typed="Hi!\n/save talk.json\n")
    sh.app('app(lambda effect: f"{len(effect.messages)} messages.")')

    told = sh.loopcore("chat", "app", "--resume", "talk.json", typed="How many?\n")

    assert [" 1  3 messages.", "done · 1 turn · 0 s"] == told.lines[1:3]
    saved = json.loads((sh.folder / "talk.json").read_text())
    assert 4 == len(saved["state"]["transcript"])


def test_a_file_is_saved_over_only_if_it_is_ones_own(sh: Shell) -> None:
    sh.app(HI)

    told = sh.loopcore(
        "chat", "app", typed="/save a.json\n/save\n/save a.json\n/save app.py\n"
    )

    saved = ["    saved to a.json"] * 3
    refused = "    app.py exists already; give /save another path, or remove it."
    assert [*saved, refused] == told.lines[1:]


def test_without_a_name_it_is_saved_under_the_runs(sh: Shell) -> None:
    sh.app(HI)

    assert "    saved to R.json" == sh.loopcore("chat", "app", typed="/save\n").lines[1]


KEPT = {
    "by default": ((), "/save\n", ["R.json"]),
    "by name": ((), "/save pay.json\n", ["pay.json"]),
    "by name, twice": ((), "/save pay.json\n/save\n", ["pay.json"]),
    "twice": ((), "/save\n/save\n", ["R.json"]),
    "--save": (("--save", "kept.json"), "/save\n", ["kept.json"]),
    "--save, and by name": (
        ("--save", "kept.json"),
        "/save pay.json\n",
        ["kept.json", "pay.json"],
    ),
    "--journal": (("--journal", "kept.jsonl"), "/save\n", ["kept.jsonl"]),
    "--journal, by its name": (
        ("--journal", "kept.jsonl"),
        "/save kept.jsonl\n",
        ["kept.jsonl"],
    ),
    "a second name": ((), "/save a.json\n/save b.json\n", ["a.json", "b.json"]),
    "a name that is refused": ((), "/save app.py\n/save\n", ["R.json"]),
}


@pytest.mark.parametrize("said_first", [True, False])
@pytest.mark.parametrize(("options", "typed", "kept"), KEPT.values(), ids=KEPT)
def test_a_conversation_that_waits_has_one_file_unless_others_are_named(
    sh: Shell,
    options: tuple[str, ...],
    typed: str,
    kept: list[str],
    said_first: bool,  # noqa: FBT001  # a parameter of the test
) -> None:
    """Saved on the way, and again where it pauses at the end: the last name counts."""
    sh.app(PAY)
    lines = ("Pay.\n", typed) if said_first else (typed, "Pay.\n")

    told = sh.loopcore("chat", "app", *options, typed="".join(lines))

    files = [
        re.sub("^[0-9a-f]{16}", "R", file.name) for file in sh.folder.glob("*.js*")
    ]
    assert kept == sorted(files)
    goes_on = kept[0] if options else kept[-1]
    assert f"loopcore chat app --resume {goes_on}" in told.lines[-1]


@pytest.mark.parametrize("name", ["", "pay.json"])
def test_the_one_file_goes_on_where_it_paused(sh: Shell, name: str) -> None:
    sh.app(PAY)
    sh.loopcore("chat", "app", typed=f"/save {name}\nPay.\n")

    (file,) = sh.folder.glob("*.json")
    assert 1 == len(State.loads(file.read_bytes()).unwrap().approvals)


def test_what_is_recorded_is_not_saved_besides(sh: Shell) -> None:
    sh.app(HI)
    told = sh.loopcore("chat", "app", "--journal", "r.jsonl", typed="Hi!\n/save\n")

    assert "    recorded in r.jsonl" == told.lines[-1]


def test_a_mistake_does_not_end_it(sh: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "loopcore_adapters")
    sh.app(HI)

    told = sh.loopcore("chat", "app", typed="/model antropic:x\nHi!\n")

    assert told.lines[1].startswith("    connect('antropic:x'): no provider")
    assert " 1  Hi." == told.lines[2]


def test_a_failed_reply_does_not_end_it(sh: Shell) -> None:
    sh.app('app(ModelError("busy", "overloaded"), "Hi.")')

    told = sh.loopcore("chat", "app", typed="Hi!\nHi!\n")

    assert "model_error · 1 turn · 0 s" == told.lines[2]
    assert " 1  Hi." == told.lines[3]
    assert 0 == told.code


def test_an_approval_stays_open_where_nobody_can_decide(sh: Shell) -> None:
    sh.app(PAY)

    told = sh.loopcore("chat", "app", typed="Pay.\nHello?\n")

    assert [
        " 1  → transfer  to='ACME' cents=4900                        needs approval",
        "paused",
        "paused",
        "paused · saved to R.json · go on with:  loopcore chat app --resume R.json",
    ] == told.lines[1:]


def test_programs_get_json_lines_here_too(sh: Shell) -> None:
    sh.app(HI)

    told = sh.loopcore("chat", "app", "--json", typed="Hi!\n/help\nHow many?\n")

    results = [line["output"] for line in told.json if line["type"] == "Result"]
    assert ["Hi.", "3 messages."] == results


def test_a_conversation_is_recorded_in_one_journal(sh: Shell) -> None:
    sh.app(HI)

    sh.loopcore("chat", "app", "--journal", "r.jsonl", typed="Hi!\nHow many?\n")

    lines = (sh.folder / "r.jsonl").read_text().splitlines()
    assert 5 == len(lines)


def person(*answers: str | type[BaseException]) -> Ask:
    """A person who answers questions like this; Ctrl-C and Ctrl-D are exceptions."""
    left = iter(answers)

    def ask(_question: str) -> str:
        answer = next(left)
        if isinstance(answer, str):
            return answer
        raise answer

    return ask


def test_ctrl_c_at_a_prompt_says_how_to_leave(
    sh: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    sh.app(HI)

    with asyncio.Runner() as runner:
        session = opened("chat", "app", Options(), runner)
        Chat(session, person(KeyboardInterrupt, EOFError)).talk()

    assert "    Ctrl-D or /quit ends the conversation.\n" == capsys.readouterr().out


def test_ctrl_c_at_a_question_aborts(
    sh: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    sh.app(PAY)

    with asyncio.Runner() as runner:
        session = opened("run", "app", Options(), runner)
        session.conversation.ask = person(KeyboardInterrupt)
        session.say("Pay.")
        session.finish()

    assert 130 == session.exit_code
    assert ["needs approval", "cancelled", "aborted"] == [
        line.split("  ")[-1].split(" · ")[0]
        for line in capsys.readouterr().out.splitlines()
    ]


def test_a_person_puts_it_off(sh: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    sh.app(PAY)

    with asyncio.Runner() as runner:
        session = opened("run", "app", Options(), runner)
        session.conversation.ask = person("l")
        session.say("Pay.")

    assert 1 == len(session.state.approvals)
    assert 1 == capsys.readouterr().out.count("needs approval")


def test_what_was_put_off_is_asked_when_a_conversation_goes_on(
    sh: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    sh.app(PAY)
    sh.loopcore("chat", "app", typed="Pay.\n/save pay.json\n")
    sh.app('app("Paid.")')

    with asyncio.Runner() as runner:
        session = opened("chat", "app", Options(resume=Path("pay.json")), runner)
        session.conversation.ask = person("y")
        session.show.begin(session.state, "chat")
        Chat(session, person(EOFError)).talk()

    assert " 2  Paid." in capsys.readouterr().out


def test_a_person_decides_until_a_tool_takes_it(
    sh: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    sh.app(PAY)

    with asyncio.Runner() as runner:
        session = opened("run", "app", Options(), runner)
        session.conversation.ask = person("e", "", '"many"', "e", "", "1")
        session.say("Pay.")

    assert "Paid." == session.conversation.ending.result.output
    shown = capsys.readouterr().out
    assert "    Cannot take this edit of " in shown
    assert "→ transfer  to='ACME' cents=1 " in shown


def test_what_is_in_flight_is_cancelled_when_it_cannot_be_shown(sh: Shell) -> None:
    sh.module(CANCELLED, "app")

    with asyncio.Runner() as runner:
        session = opened("run", "app", Options(), runner)
        session.show.event = fail  # type: ignore[method-assign]
        with pytest.raises(BrokenPipeError):
            session.say("Hi!")

    assert ["begun", "cancelled"] == sys.modules["app"].said


def fail(event: Event) -> None:
    """Show nothing: whoever read it has gone."""
    if isinstance(event, Delta):
        raise BrokenPipeError


CANCELLED = """
import asyncio
from loopcore import *

said = []

async def wait(effect, tell):
    said.append("begun")
    tell("One moment")
    try:
        await asyncio.Event().wait()
    finally:
        said.append("cancelled")

model = Model("test:wait", wait)
config, interpreter = LoopConfig(model=model), Interpreter(model)
"""
