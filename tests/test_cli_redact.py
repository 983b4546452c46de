"""`--redact`: what a command records does not have it, and is gone on with all the same."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from shutil import copy

import pytest

from loopcore.journal import Journal, backtest, check, verify
from tests.cli import PAY, Shell, shell

SECRET = "sk-abc123"  # noqa: S105  # it opens nothing
PATTERN = r"sk-\w+"
RECORD = ("--journal", "r.jsonl", "--redact", PATTERN)
APP = """
SECRET = "sk-abc123"
model = ScriptedModel(call("look", key=SECRET), f"{SECRET} it is.")

@tool
def look(key: str) -> str:
    "Look."
    return f"found {key}"

config = LoopConfig(model=model, tools=[look], system=f"The key is {SECRET}.")
interpreter = Interpreter(model, look)
"""


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    with shell(tmp_path, monkeypatch) as one:
        one.app(f"None, None\n{APP}")
        yield one


COMMANDS = {"run": ("run", "app", f"Say {SECRET}"), "chat": ("chat", "app")}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_what_is_redacted_is_nowhere_in_the_record(
    sh: Shell, words: tuple[str, ...]
) -> None:
    """In what was said, in calls and results, in the configuration, after a resumption."""
    more = ("--redact", "Lo+k")
    told = sh.loopcore(*words, *RECORD, *more, typed=f"Say {SECRET}\n")
    assert SECRET in told.out

    text = (sh.folder / "r.jsonl").read_text()
    assert SECRET not in text
    assert "Look" not in text
    assert "Say [redacted]" in text
    assert verify(sh.folder / "r.jsonl").unwrap()


def test_the_command_that_goes_on_redacts_too(sh: Shell) -> None:
    sh.app(PAY)
    told = sh.loopcore(*("run", "app", "Pay."), *RECORD)

    assert "loopcore run app --resume r.jsonl --redact 'sk-\\w+'" in told.out


@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_redacted_record_is_gone_on_with(sh: Shell, command: str) -> None:
    """Its configuration has the secret, so that it is hidden there before they compare."""
    sh.loopcore(*("run", "app", SECRET), *RECORD)
    file = sh.folder / "r.jsonl"
    before = len(Journal.read(file).unwrap().entries)

    words = ("app", f"Say {SECRET}") if command == "run" else ("app",)
    resumed = ("--resume", "r.jsonl", "--redact", PATTERN)
    told = sh.loopcore(command, *words, *resumed, typed=f"Say {SECRET}\n")

    assert 0 == told.code, told
    assert 2 * before == len(Journal.read(file).unwrap().entries)
    assert SECRET not in file.read_text()


@pytest.mark.parametrize("command", ["run", "chat"])
@pytest.mark.parametrize("pattern", ["(", ""])
def test_what_is_no_pattern_is_told_before_anything_is_said(
    sh: Shell, command: str, pattern: str
) -> None:
    words = (command, "app", *(["Hi."] if command == "run" else []))
    told = sh.loopcore(*words, "--journal", "r.jsonl", "--redact", pattern)

    assert 2 == told.code
    assert f"Invalid value for '--redact': {pattern!r} is" in told.err
    assert not (sh.folder / "r.jsonl").exists()


@pytest.mark.parametrize("command", ["run", "chat"])
@pytest.mark.parametrize("kept", [(), ("--save", "r.json")], ids=["nowhere", "saved"])
def test_it_needs_a_record(sh: Shell, command: str, kept: tuple[str, ...]) -> None:
    """A saved run is whole, or it could not go on: nothing of it may seem redacted."""
    words = (command, "app", *(["Hi."] if command == "run" else []))
    told = sh.loopcore(*words, *kept, "--redact", PATTERN)

    assert 2 == told.code
    assert "Error: --redact is about what --journal records" in told.err


def test_a_saved_run_is_gone_on_with_into_a_record(sh: Shell) -> None:
    sh.loopcore("run", "app", SECRET, "--save", "r.json")
    told = sh.loopcore(*("run", "app", SECRET, "--resume", "r.json"), *RECORD)

    assert 0 == told.code, told
    assert SECRET not in (sh.folder / "r.jsonl").read_text()


JUDGED = {
    "replay": ("replay", "app", "r.jsonl"),
    "check": ("check", "app", "r.jsonl", "--workers", "1"),
    "backtest": ("backtest", "r.jsonl", "--old", "app", "--new", "app"),
    "diff": ("diff", "app", "r.jsonl", "r.jsonl"),
    "explain": ("explain", "app", "r.jsonl", "request", "r.1.1.model.1"),
    "fork": ("fork", "app", "r.jsonl", "--turn", "1"),
    "shrink": ("shrink", "app", "r.jsonl", "--fails", "app:always"),
    "view": ("view", "app", "r.jsonl"),
    "a page": ("view", "app", "r.jsonl", "--html", "r.html"),
}


@pytest.mark.parametrize("words", JUDGED.values(), ids=JUDGED)
def test_what_is_redacted_replays_under_an_app_that_says_it(
    sh: Shell, words: tuple[str, ...]
) -> None:
    """Else nothing could be done with such a journal from a shell."""
    sh.app(f"None, None\n{APP}\ndef always(replay):\n    return True\n")
    sh.loopcore("run", "app", f"Say {SECRET}", *RECORD, "--run-id", "r")

    assert sh.loopcore(*words, "--redact", PATTERN).code == 0


def test_pages_of_a_backtest_replay_what_is_redacted(sh: Shell) -> None:
    """What its old configuration hid is no change, and no page says that it diverged."""
    more = (
        "import attrs\nfrom loopcore.policies import limits\nfrom app import config\n"
    )
    sh.module(f"{more}limited = attrs.evolve(config, hooks=[limits(turns=1)])", "more")
    sh.loopcore("run", "app", f"Say {SECRET}", *RECORD)
    words = ("backtest", "r.jsonl", "--old", "app", "--new", "more:limited")

    told = sh.loopcore(*words, "--html", "out", "--redact", PATTERN)

    assert "by hook:  limits 1" in told.out
    page = (sh.folder / "out/0000.html").read_text("utf-8")
    assert "differs in system" not in page


def test_a_pattern_that_is_none_is_told_for_a_record_too(sh: Shell) -> None:
    told = sh.loopcore("replay", "app", "r.jsonl", "--redact", "(")

    assert "'(' is no regular expression" in told.err
    assert told.code == 2


@pytest.mark.parametrize(
    "words", ["check app runs", "backtest runs --old app --new app"]
)
def test_many_redacted_journals_are_read_by_several_processes(
    sh: Shell, words: str
) -> None:
    """What hides is a function, which cannot be sent to another process."""
    sh.loopcore("run", "app", f"Say {SECRET}", *RECORD)
    (sh.folder / "runs").mkdir()
    for n in range(5):
        copy(sh.folder / "r.jsonl", sh.folder / f"runs/{n}.jsonl")

    told = sh.loopcore(*words.split(), "--workers", "2", "--redact", PATTERN)

    assert (told.lines[0][:10], told.code) == ("5 journals", 0)


def test_redacted_journals_that_were_read_are_tested_by_several_processes(
    sh: Shell,
) -> None:
    sh.loopcore("run", "app", f"Say {SECRET}", *RECORD)
    past = Journal.read(sh.folder / "r.jsonl", redact=PATTERN).unwrap()
    config = import_module("app").config

    assert check(config, [past] * 5, workers=2).same == 5
    assert len(backtest([past] * 5, old=config, new=config, workers=2).same) == 5
