"""The commands about journals: api 5.2."""

import fcntl
import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopcore.journal import Journal
from tests.cli import Shell, Told, shell

RAIN = 'app(call("weather", city="Paris"), "Take one.")'
MORE = """
import attrs
from loopcore.policies import *
from app import config, interpreter

redacted = attrs.evolve(config, hooks=[redact("rain")])
asking = attrs.evolve(config, hooks=[ask_before()])

def rained(replay):
    return any("rain" in getattr(m, "text", "") for m in replay.result.state.transcript)

nothing = 3
"""


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    with shell(tmp_path, monkeypatch) as sh:
        yield sh


@pytest.fixture
def past(sh: Shell) -> Shell:
    """A folder with an app, other configurations of it, and a journal."""
    sh.app(RAIN)
    sh.module(MORE, "more")
    sh.loopcore("run", "app", "Umbrella?", "--journal", "runs/r1.jsonl")
    return sh


def plain(told: Told) -> list[str]:
    """The lines, with every duration as 0."""
    return [re.sub(r"\d[\d.e-]* (ms|s)\b", r"0 \1", line) for line in told.lines]


def test_a_replay_is_the_same(past: Shell) -> None:
    told = past.loopcore("replay", "app", "runs/r1.jsonl")

    assert (plain(told), told.code) == (
        ["same · 4 inputs · 2 turns · 3 effects · 0 ms"],
        0,
    )


def test_a_replay_tells_where_it_diverged(past: Shell) -> None:
    told = past.loopcore("replay", "more:redacted", "runs/r1.jsonl")

    assert told.lines == [
        "DIVERGED at input 3 of 4 · answer to R.1.1.run.0 · turn 1",
        "  R.1.2.model.1 CallModel.messages[2]",
        "    recorded   Paris: rain",
        "    now        Paris: [redacted]",
        "  written by   redact · after_tool_result   not in the recorded configuration",
        "  1 of the 1 inputs after it still fit; to be asked again first: R.1.2.model.1",
    ]
    assert told.code == 1


def test_a_replay_tells_which_effect_is_another_one(past: Shell) -> None:
    told = past.loopcore("replay", "more:asking", "runs/r1.jsonl")

    assert told.lines[1:] == [
        "  R.1.1.run.0 RunTool",
        "    recorded   R.1.1.run.0",
        "    now        R.1.1.ask.0",
        "  written by   ask_before · before_tool_call   not in the recorded configuration",
        "  0 of the 2 inputs after it still fit; to be asked again first: R.1.1.ask.0",
    ]


def test_a_folder_is_checked(past: Shell) -> None:
    past.loopcore("run", "app", "And now?", "--journal", "runs/deeper/r2.jsonl")

    same = past.loopcore("check", "app", "runs")
    other = past.loopcore("check", "more:redacted", "runs")

    assert (same.lines, same.code) == (["2 journals · 2 same"], 0)
    assert (other.lines[0], other.code) == ("2 journals · 0 same", 1)
    assert [line.split(" (")[0] for line in other.lines[1:]] == [
        "  Diverged at input 3 of runs/deeper/r2.jsonl",
        "  Diverged at input 3 of runs/r1.jsonl",
    ]


def test_a_backtest_is_shown_as_a_table(past: Shell) -> None:
    told = past.loopcore("backtest", "runs", "--old", "app", "--new", "more:asking")

    assert told.lines == [
        "1 journal · 4 inputs · 2 turns · no model, no tool, no network",
        "  same            0",
        "  changed         1  by hook:  ask_before 1",
        "  stale           0  (not reproduced by the old configuration)",
        "  broken          0  (cannot be read)",
        "",
        "  run  turn  what                   old → new    hook",
        "  r1   1     weather(city='Paris')  runs → asks  ask_before",
    ]
    assert told.code == 1


def test_a_backtest_is_written_as_pages(past: Shell) -> None:
    command = "backtest runs --old app --new more:asking --html out"

    told = past.loopcore(*command.split())

    assert told.lines[-1] == "out/index.html"
    pages = sorted(page.name for page in (past.folder / "out").iterdir())
    assert pages == ["0000.html", "index.html"]


BACKTEST = ("backtest", "runs", "--old", "app", "--new", "more:asking")


def test_a_journal_that_is_named_twice_is_tested_once(past: Shell) -> None:
    told = past.loopcore(*BACKTEST, "runs/r1.jsonl", "runs", "--html", "out")

    assert told.lines[0].startswith("1 journal · ")
    assert (past.folder / "out/index.html").exists()


def test_a_torn_journal_has_a_page_and_no_warning(past: Shell) -> None:
    path = past.folder / "runs/r1.jsonl"
    path.write_bytes(path.read_bytes()[:-3])

    told = past.loopcore(*BACKTEST, "--html", "out")

    assert (told.err, told.lines[-1]) == ("", "out/index.html")


@pytest.mark.parametrize("name", ["index.html", "0000.html"])
def test_pages_that_are_there_are_kept_and_told_of_first(
    past: Shell, name: str
) -> None:
    """Before anything is looked at, which may take long and would be lost."""
    (past.folder / "out").mkdir()
    (past.folder / "out" / name).write_text("mine")

    told = past.loopcore(
        "backtest", "runs", "--old", "app", "--new", "app", "--html", "out"
    )

    said = f"Error: out/{name} exists already; give --html another path, or remove it."
    assert (told.err.splitlines(), told.code) == ([said], 2)
    assert (past.folder / "out" / name).read_text() == "mine"


def test_pages_that_cannot_be_written_are_told_of_first(past: Shell) -> None:
    (past.folder / "out").write_text("mine")

    told = past.loopcore(*BACKTEST, "--html", "out")

    assert told.err.startswith("Error: Cannot write out/index.html: ")
    assert (told.out, told.code) == ("", 2)


@pytest.mark.parametrize(
    "words",
    [(*BACKTEST, "--html", "out"), ("view", "app", "runs/r1.jsonl", "--html", "v")],
)
def test_a_page_is_its_owners_alone(past: Shell, words: tuple[str, ...]) -> None:
    """It says all that the journal says."""
    past.loopcore(*words)

    pages = [*past.folder.glob("out/*"), *past.folder.glob("v")]
    assert {stat.S_IMODE(page.stat().st_mode) for page in pages} == {0o600}


def test_a_backtest_that_changes_nothing_is_fine(past: Shell) -> None:
    told = past.loopcore("backtest", "runs", "--old", "app", "--new", "app")

    assert (told.lines[1], told.code) == ("  same            1", 0)


def test_two_journals_are_compared(past: Shell) -> None:
    past.loopcore("run", "app", "Sun hat?", "--journal", "runs/r2.jsonl")

    told = past.loopcore("diff", "app", "runs/r1.jsonl", "runs/r2.jsonl")
    same = past.loopcore("diff", "app", "runs/r1.jsonl", "runs/r1.jsonl")

    assert told.lines[2:] == [
        "already the first input leads elsewhere",
        "-    1 user  Umbrella?",
        "+    1 user  Sun hat?",
        '     2 assistant  → weather {"city":"Paris"}',
        "  … 2 equal",
    ]
    assert (told.code, same.code) == (1, 0)


def test_a_message_is_explained(past: Shell) -> None:
    told = past.loopcore("explain", "app", "runs/r1.jsonl", "message", "3")

    assert plain(told)[2:] == [
        "  asked       message 2 (input 2, answer to R.1.1.model.1)",
        "  allowed     no hook had an opinion",
        "  performed   R.1.1.run.0 RunTool, 0 s",
        "  ended       ok (input 3, answer to R.1.1.run.0)",
        "  shown in    requests 2",
    ]


def test_the_stop_is_explained(past: Shell) -> None:
    told = past.loopcore("explain", "app", "runs/r1.jsonl", "stop")

    assert told.lines == [
        "done, turn 2",
        "  led to by   input 4, answer to R.1.2.model.1",
    ]


def test_a_file_is_verified(past: Shell) -> None:
    told = past.loopcore("verify", "runs")

    assert (told.lines, told.code) == (["runs/r1.jsonl: 6 lines, whole"], 0)


def test_a_file_that_was_changed_is_named(past: Shell) -> None:
    file = past.folder / "runs" / "r1.jsonl"
    file.write_bytes(file.read_bytes().replace(b"Umbrella", b"Sun hat!"))

    told = past.loopcore("verify", "runs")

    assert told.lines[0].startswith("runs/r1.jsonl, line 2: its chain does not hold")
    assert told.code == 1


def test_a_fork_is_saved_and_gone_on_with(past: Shell) -> None:
    told = past.loopcore(
        "fork", "app", "runs/r1.jsonl", "--turn", "1", "--run-id", "r2"
    )

    assert told.lines == [
        "<run r2: forked: after turn 1; turn 2, 3 messages>",
        "saved to r2.json · go on with:  loopcore run app --resume r2.json",
    ]
    past.app('app("Two.")')
    again = past.loopcore("run", "app", "--resume", "r2.json")
    assert again.lines[:2] == ["run r2 · test:script · 2 tools", " 1  Two."]


def test_a_fork_may_begin_with_another_prompt(past: Shell) -> None:
    told = past.loopcore("fork", "app", "runs/r1.jsonl", "--at", "1", "--say", "Hat?")

    assert told.lines[0].endswith(
        "-fork: waiting for R-fork.1.1.model.1; turn 1, 1 messages>"
    )


def test_a_smaller_journal_is_written(past: Shell) -> None:
    told = past.loopcore("shrink", "app", "runs/r1.jsonl", "--fails", "more:rained")

    assert told.lines == [
        "4 inputs → 3 inputs · no hooks · saved to runs/r1.small.jsonl"
    ]
    small = Journal.read(past.folder / "runs/r1.small.jsonl").unwrap()
    assert len(small.entries) == 3


def test_a_paused_run_is_gone_on_with_in_its_journal(sh: Shell) -> None:
    sh.app('app(call("transfer", to="ACME", cents=4900), "Paid.")')
    paused = sh.loopcore("run", "app", "Pay.", "--journal", "p.jsonl")

    again = sh.loopcore("run", "app", "--resume", "p.jsonl")

    go_on = "go on with:  loopcore run app --resume p.jsonl"
    assert paused.lines[-1] == f"paused · saved to p.jsonl · {go_on}"
    assert again.lines[-1] == paused.lines[-1]
    assert [path.name for path in sh.folder.glob("*.json*")] == ["p.jsonl"]


def test_a_journal_that_is_being_written_is_refused_in_a_sentence(past: Shell) -> None:
    path = past.folder / "runs/r1.jsonl"
    with path.open("r+b") as other:
        fcntl.flock(other, fcntl.LOCK_EX)

        told = past.loopcore("run", "app", "More?", "--resume", "runs/r1.jsonl")

    said = "Error: runs/r1.jsonl: somebody else writes to it. A journal has one writer:"
    assert told.err.startswith(said)
    assert "--debug" not in told.err
    assert told.code == 2


def test_a_run_that_is_over_goes_on_in_its_journal(past: Shell) -> None:
    past.app('app("No.")')

    told = past.loopcore("run", "app", "More?", "--resume", "runs/r1.jsonl")

    assert told.lines[-1].startswith("done · 1 turn")
    journal = Journal.read(past.folder / "runs/r1.jsonl").unwrap()
    assert len(journal.entries) == 6


JSON: dict[str, dict[str, Any]] = {
    "replay app runs/r1.jsonl": {"same": True, "inputs": 4},
    "check app runs": {"journals": 1, "same": 1, "problems": []},
    "verify runs": {"whole": 1, "broken": {}},
    "explain app runs/r1.jsonl setting model": {
        "what": "setting model",
        "lines": [
            "setting model: test:script",
            "  ← the configuration (input 1, Prompt), as it was before",
        ],
    },
    "shrink app runs/r1.jsonl --fails more:rained": {
        "saved": "runs/r1.small.jsonl",
        "inputs": 3,
        "hooks": [],
    },
}


@pytest.mark.parametrize("command", JSON)
def test_every_command_can_tell_in_json(past: Shell, command: str) -> None:
    told = past.loopcore(*command.split(), "--json")

    assert json.loads(told.out) == JSON[command]


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        (
            "replay more:redacted runs/r1.jsonl",
            {"number", "recorded", "now", "sentence"},
        ),
        ("backtest runs --old app --new more:asking", {"changed", "same", "by_hook"}),
        ("diff app runs/r1.jsonl runs/r1.jsonl", {"same", "messages", "common_inputs"}),
        ("fork app runs/r1.jsonl --turn 1", {"run_id", "saved", "state"}),
    ],
)
def test_what_is_longer_is_json_too(past: Shell, command: str, keys: set[str]) -> None:
    told = past.loopcore(*command.split(), "--json")

    assert keys <= json.loads(told.out).keys()


MISTAKES = {
    "replay app none.jsonl": "none.jsonl: it cannot be read: No such file",
    "replay app app.py": "app.py, line 1: it is no journal",
    "replay nosuch runs/r1.jsonl": "There is no module 'nosuch' here.",
    "replay more:nothing runs/r1.jsonl": "'nothing' of 'more' is a int, not LoopConfig",
    "check app nowhere": "There is no nowhere here. Give a journal, or a folder of them.",
    "check app empty": "There is no journal in empty; they are files that end in .jsonl.",
    "backtest runs --old app --new nosuch": "There is no module 'nosuch' here.",
    "explain app runs/r1.jsonl message 9": "there is no message 9: it has 1 to 4",
    "explain app runs/r1.jsonl all": 'explain() tells of "stop", "message 3"',
    "fork app runs/r1.jsonl --turn 9": "runs/r1.jsonl: no turn 9 came to its end in it",
    "fork app runs/r1.jsonl --turn 1 --at 1": "fork() takes turn= or at=, not both",
    "fork app runs/r1.jsonl --save app.py": "app.py exists already; give --save another",
    "shrink app runs/r1.jsonl --fails more:nothing": "'nothing' of 'more' is a int.",
    "shrink app runs/r1.jsonl --fails nosuch:f": "There is no module for 'nosuch:f' here.",
}


@pytest.mark.parametrize("command", MISTAKES)
def test_a_mistake_is_a_sentence(past: Shell, command: str) -> None:
    (past.folder / "empty").mkdir()

    told = past.loopcore(*command.split())

    assert told.err.splitlines()[-1].startswith(f"Error: {MISTAKES[command]}")
    assert told.code == 2


def test_what_takes_no_prompt_does_not_speak_of_one(past: Shell) -> None:
    told = past.loopcore("replay", "nosuch", "runs/r1.jsonl")

    assert told.err.splitlines()[-1].endswith("An APP is an import path such as 'app'.")


def test_what_is_no_file_in_a_folder_is_not_waited_for(past: Shell) -> None:
    """A pipe without a writer would be, for ever. A link to nowhere is told of."""
    runs = past.folder / "runs"
    os.mkfifo(runs / "pipe.jsonl")
    (runs / "folder.jsonl").mkdir()
    (runs / "link.jsonl").symlink_to("nowhere")

    told = past.loopcore("check", "app", "runs")

    assert told.code == 1
    assert "runs/link.jsonl: it cannot be read: No such file or directory" in told.out
    assert "pipe" not in told.out
    assert "folder" not in told.out


INTERRUPTED = """
import os, signal, threading, time
from loopcore.journal.many import each

ends = threading.Timer(0.3, lambda: os.killpg(0, signal.SIGINT))

def begun(*_):
    if not ends.is_alive():
        ends.start()

try:
    each(time.sleep, [0, 30, 30, 30], 2, begun)
except KeyboardInterrupt:
    print("ended")
"""


def test_ctrl_c_ends_many_processes_without_a_word() -> None:
    """Their parent hears it and ends them: none of them has to complain."""
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=25,
        check=False,
    )

    assert (done.stdout, done.stderr, done.returncode) == ("ended\n", "", 0)


def test_what_a_journal_holds_cannot_steer_a_terminal(sh: Shell) -> None:
    sh.app('app("\\x1b[2J\\u202egone")')
    sh.loopcore("run", "app", "Hi!", "--journal", "r.jsonl")

    for command in ("explain app r.jsonl message 2", "diff app r.jsonl r.jsonl"):
        assert "\x1b" not in sh.loopcore(*command.split()).out


def test_a_torn_line_is_told_and_the_rest_replayed(past: Shell) -> None:
    file = past.folder / "runs" / "r1.jsonl"
    file.write_bytes(file.read_bytes()[:-30])

    told = past.loopcore("replay", "app", "runs/r1.jsonl")

    assert "the last line was not written whole" in told.err
    assert (plain(told), told.code) == (
        ["same · 3 inputs · 1 turn · 3 effects · 0 ms"],
        0,
    )


def test_a_journal_is_found_from_anywhere(past: Shell, tmp_path: Path) -> None:
    told = past.loopcore("verify", str((past.folder / "runs").resolve()))

    assert told.code == 0
    assert tmp_path.exists()
