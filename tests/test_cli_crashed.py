"""A run whose program died while a tool was under way, gone on with from a shell: D82."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from loopcore import AssistantMessage, CallModel, State, ToolCall
from loopcore.cli.app import configuration
from loopcore.journal import Journal, Recorder, replay
from tests.cli import Shell, shell

APP = """
from pathlib import Path

@tool{}
def charge(cents: int) -> str:
    "Charge."
    with Path("charged").open("a") as file:
        file.write(f"{{cents}};")
    return "charged"

config, interpreter = app("Done.", "Well.", tools=[charge])
"""


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    with shell(tmp_path, monkeypatch) as one:
        yield one


def crashed(sh: Shell, how: str = "") -> None:
    """A run of an app that died after it had charged, and before it could say so."""
    sh.app(f"None, None\n{APP.format(how)}")
    config = configuration("app")
    (sh.folder / "charged").write_text("5;")
    state = State.start(config, run_id="r")
    with Recorder("r.jsonl").open(config, state) as recording:
        state, effects = recording.advance(config, state, "Charge 5!").unwrap()
        (request,) = effects.perform
        assert isinstance(request, CallModel)
        said = AssistantMessage([ToolCall("charge", {"cents": 5}, "c1")])
        call = request.reply(said)
        state, effects = recording.advance(config, state, call).unwrap()
        recording.started([effect.id for effect in effects.perform])


COMMANDS = {
    "run": ("run", "app", "--resume", "r.jsonl"),
    "chat": ("chat", "app", "--resume", "r.jsonl"),
}
FILES = {
    "into the same file": (),
    "into the same file by name": ("--journal", "r.jsonl"),
    "by another name": ("--journal", "./r.jsonl"),
    "into another file": ("--journal", "other.jsonl"),
    "saved besides": ("--journal", "other.jsonl", "--save", "r.json"),
}


@pytest.mark.parametrize("more", FILES.values(), ids=FILES)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_nobody_is_charged_twice(
    sh: Shell, command: tuple[str, ...], more: tuple[str, ...]
) -> None:
    """The tool is reported as interrupted, wherever the run is recorded further."""
    crashed(sh)

    told = sh.loopcore(*command, *more)

    assert (sh.folder / "charged").read_text() == "5;"
    assert "interrupted" in told.out
    assert "Done." in told.out


def test_what_is_recorded_elsewhere_replays(sh: Shell) -> None:
    crashed(sh)

    sh.loopcore(*COMMANDS["run"], "--journal", "other.jsonl")

    config = configuration("app")
    past = Journal.read("other.jsonl").unwrap()
    state = replay(config, past).unwrap().result.state
    assert [getattr(m, "outcome", "") for m in state.transcript][2] == "interrupted"
    assert len(Journal.read("r.jsonl").unwrap().entries) == 2


@pytest.mark.parametrize("more", [(), ("--journal", "other.jsonl")])
def test_what_may_be_run_again_is(sh: Shell, more: tuple[str, ...]) -> None:
    crashed(sh, '(on_interrupt="retry")')

    sh.loopcore(*COMMANDS["run"], *more)

    assert (sh.folder / "charged").read_text() == "5;5;"
