"""Journals: what is written, what is read again, and what a replay makes of it."""

import asyncio
import json
import os
import pickle
import re
import resource
import signal
import stat
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from returns.primitives.exceptions import UnwrapFailedError
from returns.result import Failure, Success

from loopcore import (
    Abort,
    Answer,
    Continue,
    Interpreter,
    LoopConfig,
    ModelError,
    Prompt,
    RunResult,
    State,
    Steer,
    Tool,
    ToolCall,
    ToolOutput,
    deliver,
    run,
    run_sync,
    tool,
)
from loopcore.hooks import (
    Ask,
    Block,
    ContextUpdate,
    ContextView,
    Hooks,
    ToolCallView,
    ToolResultUpdate,
)
from loopcore.journal import (
    Divergence,
    Journal,
    JournalError,
    Recorder,
    TornLine,
    fork,
    refold,
    replay,
)
from loopcore.journal.lines import Chain
from loopcore.policies import redact, sliding_window
from loopcore.testing import ScriptedModel

CALL = ToolCall("weather", {"city": "Paris"}, "c1")


@tool
def weather(city: str) -> str:
    """Say the weather."""
    return f"{city}: 17 °C"


def config(*hooks: Hooks, tools: Any = (weather,), **more: Any) -> LoopConfig:
    return LoopConfig(model="test:script", tools=tools, hooks=hooks, **more)


def recorded(
    path: Path,
    *given: Any,
    under: LoopConfig | None = None,
    replies: Any = (CALL, "Take one."),
    journal: Any = None,
    **more: Any,
) -> RunResult:
    """A run that was recorded there."""
    interpreter = Interpreter(ScriptedModel(*replies), weather)
    return run_sync(
        under or config(),
        interpreter,
        *(given or (() if "state" in more else ("Umbrella?",))),
        journal=journal or path,
        **more,
    )


def read(path: Path) -> Journal:
    return Journal.read(path).unwrap()


def diverged(under: LoopConfig, journal: Journal) -> Divergence:
    match replay(under, journal):
        case Failure(divergence):
            return divergence
        case _:
            raise AssertionError


def error(path: Path) -> JournalError:
    match Journal.read(path):
        case Failure(problem):
            return problem
        case _:
            raise AssertionError


def kinds(path: Path) -> list[str]:
    """What each line of a file is."""
    lines = map(json.loads, path.read_text().splitlines())
    return [next(k for k in ("format", "input", "note") if k in line) for line in lines]


# Recording.


def test_each_input_is_a_line_and_so_is_the_start_of_a_tool(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"

    recorded(path)

    assert kinds(path) == ["format", "input", "input", "note", "input", "input"]


def test_a_replay_leads_to_the_state_that_was_left(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    result = recorded(path, run_id="r1")

    again = replay(config(), read(path)).unwrap()

    assert again.result.state == result.state
    assert again.result.output == "Take one."
    assert [step.number for step in again.steps] == [1, 2, 3, 4]


def test_a_run_goes_on_in_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    first = recorded(path)

    second = recorded(path, "More?", replies=("No.",), state=first.state)

    assert replay(config(), read(path)).unwrap().result.state == second.state


def test_a_run_goes_on_from_the_state_that_its_file_replays_to(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    window = config(sliding_window(2))
    recorded(path, under=window)
    state = replay(window, read(path)).unwrap().result.state

    recorded(path, "More?", under=window, replies=(CALL, "No."), state=state)

    assert len(replay(window, read(path)).unwrap().steps) == 8


def test_a_file_that_ends_elsewhere_is_refused_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    first = recorded(path)
    recorded(path, "More?", replies=("No.",), state=first.state)
    before = path.read_bytes()

    with pytest.raises(
        JournalError, match="inputs taken: 6 in the file, 4 in the state"
    ):
        recorded(path, "And?", replies=("No.",), state=first.state)

    assert path.read_bytes() == before


def test_a_file_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, run_id="r1")
    other = run_sync(
        config(), Interpreter(ScriptedModel("Hi."), weather), "Hi!", run_id="r2"
    )

    with pytest.raises(JournalError, match="run: r1 in the file, r2 in the state"):
        recorded(path, "More?", state=other.state)


def test_a_state_that_has_other_messages_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    result = recorded(path, replies=("Yes.",), run_id="r1")
    other = recorded(tmp_path / "s.jsonl", replies=("No.",), run_id="r1")
    state = evolve(other.state, now=result.state.now)

    with pytest.raises(JournalError, match="it has other messages"):
        recorded(path, "More?", state=state)


def test_a_new_run_does_not_touch_a_file_that_exists(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, run_id="r1")
    before = path.read_bytes()

    with pytest.raises(
        FileExistsError, match="exists already, and a journal is of one run"
    ):
        recorded(path, run_id="r1")

    assert path.read_bytes() == before


def test_two_writers_of_one_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    start = State.start(config(), run_id="r1")
    with Recorder(path).open(config(), start) as first:
        state, _ = first.advance(config(), start, "Hi!").unwrap()

        with pytest.raises(JournalError, match="somebody else writes to it"):
            Recorder(path).open(config(), state)


@pytest.mark.parametrize("flush", ["input", "turn", "none"])
def test_a_second_new_run_is_refused_before_it_does_anything(
    tmp_path: Path, flush: Any
) -> None:
    """Whenever lines are written: from its first input on, a file has its writer."""
    path = tmp_path / "r.jsonl"
    one, other = (State.start(config(), run_id=name) for name in ("r1", "r2"))
    first, second = (
        Recorder(path, flush=flush).open(config(), state) for state in (one, other)
    )
    with first, second:
        first.advance(config(), one, "Hi!").unwrap()

        with pytest.raises((JournalError, FileExistsError)):
            second.advance(config(), other, "Hi!")

    assert read(path).run_id == "r1"


def test_an_empty_file_is_free(tmp_path: Path) -> None:
    """A process that is killed before its first write leaves one."""
    path = tmp_path / "r.jsonl"
    path.touch()

    result = recorded(path)

    assert replay(config(), read(path)).unwrap().result.state == result.state


def test_a_recording_that_took_nothing_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    state = State.start(config(), run_id="r1")

    with Recorder(path, flush="none").open(config(), state) as recording:
        assert isinstance(recording.advance(config(), state, Continue()), Failure)

    assert not path.exists()


def test_what_could_not_be_written_is_not_tried_again_when_it_is_closed(
    tmp_path: Path,
) -> None:
    """Its input was refused with the error; a second one would hide that."""
    path = tmp_path / "r.jsonl"
    start = State.start(config(), run_id="r1")
    recording = Recorder(path).open(config(), start)
    state, effects = recording.advance(config(), start, "Hi!").unwrap()
    recording.close()
    path.rename(tmp_path / "elsewhere.jsonl")

    with pytest.raises(FileNotFoundError):
        recording.advance(config(), state, effects.perform[0].fail("no"))
    recording.close()

    assert [file.name for file in tmp_path.iterdir()] == ["elsewhere.jsonl"]


def test_a_new_file_is_on_the_disk_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where `fsync` is asked for: a file whose folder is not written is lost, too."""
    synced, really = list[bool](), os.fsync

    def sync(file: int) -> None:
        synced.append(stat.S_ISDIR(os.fstat(file).st_mode))
        really(file)

    monkeypatch.setattr(os, "fsync", sync)

    recorded(tmp_path / "r.jsonl", journal=Recorder(tmp_path / "r.jsonl", fsync=True))

    assert synced[:3] == [False, True, False]
    assert synced.count(True) == 1


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_process_that_was_forked_meanwhile_does_not_keep_the_file(
    tmp_path: Path,
) -> None:
    """Pools of processes are, on Linux, and live on: a run could not go on in its file."""
    path = tmp_path / "r.jsonl"
    start = State.start(config(), run_id="r1")
    read, write = os.pipe()
    with Recorder(path).open(config(), start) as recording:
        state, _ = recording.advance(config(), start, "Hi!").unwrap()
        if not (child := os.fork()):
            os.close(write)
            os.read(read, 1)  # until it is told that it may end
            os._exit(0)

    try:
        Recorder(path).open(config(), state).close()
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


def test_a_file_that_was_changed_while_its_run_rested_is_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "r.jsonl"
    start = State.start(config(), run_id="r1")
    recording = Recorder(path).open(config(), start)
    state, effects = recording.advance(config(), start, "Hi!").unwrap()
    recording.close()
    path.write_bytes(path.read_bytes() + b"more\n")

    with pytest.raises(JournalError, match="while this run rested"):
        recording.advance(config(), state, effects.perform[0].fail("no"))


def test_a_run_driven_by_hand_is_recorded_too(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    state = State.start(config(), run_id="r1")
    with Recorder(path).open(config(), state) as recording:
        for given in ("Hi!", Answer("r1.1.1.model.1", ModelError("no", "auth"))):
            state, _ = recording.advance(config(), state, given, at=1.5).unwrap()

    assert replay(config(), read(path)).unwrap().result.state == state


def test_what_is_refused_is_not_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    state = State.start(config(), run_id="r1")
    with Recorder(path).open(config(), state) as recording:
        refused = recording.advance(config(), state, "Hi!", Prompt("again"))

    assert isinstance(refused, Failure)
    assert list(tmp_path.iterdir()) == []


def test_an_input_that_was_delivered_and_not_stepped_is_recorded(
    tmp_path: Path,
) -> None:
    path = tmp_path / "r.jsonl"
    state = deliver(State.start(config(), run_id="r1"), "Hi!", at=5.0).unwrap()

    result = recorded(path, Steer("briefly"), replies=("Hi.", "Hi."), state=state)

    assert replay(config(), read(path)).unwrap().result.state == result.state


@pytest.mark.parametrize("flush", ["input", "turn", "none"])
def test_every_flush_policy_writes_the_whole_run(tmp_path: Path, flush: Any) -> None:
    path = tmp_path / "r.jsonl"

    result = recorded(path, journal=Recorder(path, flush=flush, fsync=True))

    assert replay(config(), read(path)).unwrap().result.state == result.state


@pytest.mark.parametrize(
    ("flush", "lines"), [("input", [2, 4]), ("turn", [0, 0]), ("none", [0, 0])]
)
def test_a_flush_policy_says_when_lines_are_in_the_file(
    tmp_path: Path, flush: Any, lines: list[int]
) -> None:
    path = tmp_path / "r.jsonl"
    seen: list[int] = []

    def count(_: Any = None) -> int:
        return len(path.read_text().splitlines()) if path.exists() else 0

    @tool
    def look() -> str:
        """Look into the file."""
        seen.append(count())
        return "seen"

    def reply(_: Any) -> Any:
        seen.append(count())
        return ToolCall("look")

    model = ScriptedModel(reply, "done")
    journal = Recorder(path, flush=flush)
    run_sync(config(tools=(look,)), Interpreter(model, look), "go", journal=journal)

    assert seen == lines
    assert count() == 6


def test_a_flush_policy_that_does_not_exist_is_refused() -> None:
    never: Any = "never"

    with pytest.raises(ValueError, match=r"takes one of 'input', 'turn', 'none'"):
        Recorder("r.jsonl", flush=never)


def test_lines_end_with_lf_alone(tmp_path: Path) -> None:
    """Report 155."""
    path = tmp_path / "r.jsonl"

    recorded(path, "a\r\nb\u2028c\x85d", replies=("x\ry",))

    data = path.read_bytes()
    assert b"\r" not in data
    assert len(data.splitlines()) == data.count(b"\n") == 3
    assert replay(config(), read(path)).unwrap().result.output == "x\ry"


# Disks.


def test_a_full_disk_performs_nothing_and_leaves_no_half_line(tmp_path: Path) -> None:
    """Each input is written before it is acted on: a write that fails acts on nothing."""
    path, ran = tmp_path / "r.jsonl", list[str]()

    @tool
    def act() -> str:
        """Act."""
        ran.append("act")
        return "acted"

    def reply(_: Any) -> Any:
        limited(path.stat().st_size + 100)
        return ToolCall("act")

    model = ScriptedModel(reply, "done")
    try:
        with pytest.raises(OSError, match=r"File too large: '.*r\.jsonl'"):
            run_sync(config(tools=(act,)), Interpreter(model, act), "go", journal=path)
    finally:
        limited(None)

    assert ran == []
    assert [kind for kind in kinds(path) if kind != "note"] == ["format", "input"]
    state = replay(config(tools=(act,)), read(path)).unwrap().result.state
    model = ScriptedModel(ToolCall("act"), "done")
    result = run_sync(
        config(tools=(act,)), Interpreter(model, act), state=state, journal=path
    )
    assert (ran, result.output) == (["act"], "done")


def limited(size: int | None) -> None:
    """Let this process write files of at most this size; None lifts the limit."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    soft = hard if size is None else size
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("flush", ["input", "turn", "none"])
def test_a_file_that_somebody_removed_keeps_nothing_and_that_is_said(
    tmp_path: Path, flush: Any
) -> None:
    """It would be written to the end, and be gone with the last line."""
    path = tmp_path / "r.jsonl"

    @tool
    def clean() -> None:
        """Remove what is there."""
        path.unlink(missing_ok=True)

    model = ScriptedModel(ToolCall("clean"), "done")
    made = LoopConfig(model=model, tools=[clean])
    journal = Recorder(path, flush=flush)

    with pytest.raises(JournalError, match="somebody removed it while it was written"):
        run_sync(made, Interpreter(model, clean), "go", journal=journal)


def test_a_disk_that_is_full_at_first_is_not_in_the_way_later(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    start = State.start(config(), run_id="r1")
    recording = Recorder(path).open(config(), start)
    try:
        limited(10)
        with pytest.raises(OSError, match="File too large"):
            recording.advance(config(), start, "Hi!")
    finally:
        limited(None)
    assert not path.exists()

    state, _ = recording.advance(config(), start, "Hello!").unwrap()
    recording.close()

    assert replay(config(), read(path)).unwrap().result.state == state


# Damage.


def test_a_torn_last_line_is_cut_with_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    result = recorded(path)
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.warns(TornLine, match="the last line was not written whole"):
        journal = read(path)

    state = replay(config(), journal).unwrap().result.state
    assert len(journal.entries) == 3
    go_on = recorded(path, replies=("Take one.",), state=state)
    assert [m.text for m in go_on.state.transcript] == [
        m.text for m in result.state.transcript
    ]


@pytest.mark.parametrize("torn", range(1, 200, 13))
def test_wherever_it_is_torn_the_rest_replays(tmp_path: Path, torn: int) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path)
    path.write_bytes(path.read_bytes()[:-torn])

    with pytest.warns(TornLine) if torn > 1 else not_warned():
        journal = read(path)

    assert isinstance(replay(config(), journal), Success)


def not_warned() -> Any:
    return nullcontext()


def test_a_line_that_lacks_its_lf_alone_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    result = recorded(path)
    path.write_bytes(path.read_bytes()[:-1])

    assert len(read(path).entries) == 4
    recorded(path, "More?", replies=("No.",), state=result.state)
    assert len(read(path).entries) == 6


def test_zeros_at_the_end_are_a_torn_line(tmp_path: Path) -> None:
    """What a file system leaves after a crash."""
    path = tmp_path / "r.jsonl"
    recorded(path)
    path.write_bytes(path.read_bytes() + b"\0" * 512)

    with pytest.warns(TornLine, match="512 bytes"):
        assert len(read(path).entries) == 4


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], int, str]] = {
    "a changed word": (
        lambda d: d.replace(b"Umbrella", b"Sunshine"),
        2,
        "its chain does",
    ),
    "a missing line": (lambda d: _without(d, 2), 3, "a line before it is missing"),
    "two lines swapped": (lambda d: _swapped(d, 2, 3), 3, "its chain does not hold"),
    "no JSON": (lambda d: _with(d, 3, b"{oh no}"), 4, "it is not JSON"),
    "no object": (lambda d: _with(d, 3, b"[1]"), 4, "it does not end with its chain"),
    "no UTF-8": (lambda d: _with(d, 2, b'{"a":"\xff"}'), 3, "it is not UTF-8"),
    "an empty line": (lambda d: _with(d, 2, b""), 3, "it is empty"),
    "deep nesting": (lambda d: _with(d, 2, b"[" * 99999), 3, "it is nested too deeply"),
    "no journal": (lambda _: b'{"a":1}\n', 1, "it is no journal"),
    "another file": (lambda _: b"\x89PNG\r\n\x1a\n", 1, "it is no journal"),
    "nothing": (lambda _: b"", 1, "it is empty"),
    "half a header": (lambda d: d[:60], 1, "its first line was not written whole"),
}


def _with(data: bytes, place: int, line: bytes) -> bytes:
    lines = data.split(b"\n")
    return b"\n".join([*lines[:place], line, *lines[place + 1 :]])


def _without(data: bytes, place: int) -> bytes:
    lines = data.split(b"\n")
    return b"\n".join([*lines[:place], *lines[place + 1 :]])


def _swapped(data: bytes, one: int, other: int) -> bytes:
    lines = data.split(b"\n")
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


@pytest.mark.parametrize("damage", DAMAGES)
def test_any_other_damage_names_the_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path)
    change, line, said = DAMAGES[damage]
    path.write_bytes(change(path.read_bytes()))

    problem = error(path)

    assert problem.line == line
    assert said in str(problem)
    assert str(problem).startswith(f"{path}, line {line}: ")


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert "it cannot be read: No such file" in str(error(tmp_path / "none.jsonl"))


def rewritten(path: Path, change: Any) -> None:
    """The file with its lines changed and chained anew: as another version writes them."""
    chain, text = Chain(), ""
    for line in path.read_text().splitlines():
        data = json.loads(line)
        del data["chain"]
        chain, said = chain.add(change(data))
        text += said
    path.write_text(text)


UNKNOWN: list[tuple[Callable[[dict[str, Any]], dict[str, Any]], int, str]] = [
    (
        lambda d: d | {"version": 2} if "version" in d else d,
        1,
        "was written in journal format 2; this loopcore reads 1 to 1. Upgrade loopcore.",
    ),
    (lambda d: d | {"more": 1}, 1, "unknown field 'more'"),
    (lambda d: d | {"more": 1} if "input" in d else d, 2, "unknown field 'more'"),
    (lambda d: {k: d[k] for k in d if k != "input"}, 2, "missing field 'input'"),
    (
        lambda d: d | {"note": {"paused": True}} if "note" in d else d,
        4,
        "unknown field 'note.paused'",
    ),
]


@pytest.mark.parametrize(("change", "line", "said"), UNKNOWN)
def test_what_is_not_known_is_an_error(
    tmp_path: Path, change: Any, line: int, said: str
) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path)
    rewritten(path, change)

    problem = error(path)

    assert (problem.line, problem.sentence) == (line, said)


def test_a_journal_is_written_as_it_was_read(tmp_path: Path) -> None:
    path, other = tmp_path / "r.jsonl", tmp_path / "s.jsonl"
    first = recorded(path)
    recorded(path, "More?", replies=(CALL, "No."), state=first.state)

    read(path).write(other)

    assert other.read_bytes() == path.read_bytes()
    with pytest.raises(FileExistsError):
        read(path).write(other)


def test_a_journal_can_be_made_of_what_happened(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path)
    past = read(path)

    made = Journal.of(config(), past.start, past.entries).unwrap()

    assert made.entries == past.entries


# Replay.


def test_a_redaction_is_seen_where_a_request_shows_it(tmp_path: Path) -> None:
    """Mistake 15."""
    path = tmp_path / "r.jsonl"
    recorded(path, run_id="r1")

    found = diverged(config(redact("17")), read(path))

    assert str(found) == (
        f"Diverged at input 3 of {path} (answer to r1.1.1.run.0, turn 1): the request "
        "r1.1.2.model.1 differs in messages[2]: recorded 'Paris: 17 °C', now "
        "'Paris: [redacted] °C'. Written by hook 'redact' at after_tool_result, which "
        "is not in the recorded configuration. To see what would have changed "
        "elsewhere: `loopcore backtest`."
    )
    assert found.recorded == "Paris: 17 °C"
    assert found.now == "Paris: [redacted] °C"


def test_a_divergence_is_told_by_who_insists_that_there_is_none(tmp_path: Path) -> None:
    """Mistake 15: a bare record would be a traceback without a word."""
    path = tmp_path / "r.jsonl"
    recorded(path)
    failed = replay(config(redact("17")), read(path))

    with pytest.raises(UnwrapFailedError) as raised:
        failed.unwrap()

    assert raised.value.__cause__ == failed.failure()


def test_what_an_impure_hook_wrote_then_and_now_is_told(tmp_path: Path) -> None:
    """Each fold makes another value, so no digest leads to one."""
    times = count(1)

    def tell(_: ContextView) -> ContextUpdate:
        return ContextUpdate(system=f"At {next(times)}")

    clock = Hooks("clock", transform_context=tell)
    path = tmp_path / "r.jsonl"
    recorded(path, under=config(clock))

    found = diverged(config(clock), read(path))

    assert (found.field, found.recorded) == ("system", "At 1")
    assert re.fullmatch(r"At [2-9]", found.now)


def test_a_divergence_is_equal_to_its_copy_from_another_process(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path)

    found = diverged(config(redact("17")), read(path))

    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301  # our own bytes


def blocked(_: ToolCallView) -> Block:
    return Block("no")


def softened(_: Any) -> ToolResultUpdate:
    return ToolResultUpdate("all is well")


def shortened(view: ContextView) -> Any:
    return view.messages[-1:]


def asked(_: ToolCallView) -> Ask:
    return Ask("Sure?")


def pay_for(paid: list[str], started: asyncio.Event | None = None, **more: Any) -> Tool:
    started = started or asyncio.Event()

    @tool(name="pay", **more)
    async def pay() -> str:
        """Pay."""
        paid.append("paid")
        started.set()
        await asyncio.Event().wait()
        return ""

    return pay


CHANGES: dict[str, tuple[LoopConfig, dict[str, Any]]] = {
    "another system prompt": (
        config(system="Be brief."),
        {"number": 1, "field": "system", "recorded": None, "now": "Be brief."},
    ),
    "no tools": (
        config(tools=()),
        {"number": 1, "field": "tools", "now": None},
    ),
    "other tools": (
        config(tools=(weather, pay_for([]))),
        {"number": 1, "field": "tools", "is_new": False},
    ),
    "options": (
        config(options={"temperature": 0}),
        {"number": 1, "recorded": None, "now": {"temperature": 0}},
    ),
    "thinking": (
        config(thinking="high"),
        {"number": 1, "field": "thinking", "recorded": None, "now": "high"},
    ),
    "a window": (
        config(Hooks("shortened", transform_context=shortened)),
        {
            "number": 2 + 1,
            "field": "messages[0]",
            "recorded": "Umbrella?",
            "now": "Paris: 17 °C",
            "hook": "shortened",
            "point": "transform_context",
            "is_new": True,
        },
    ),
    "a block": (
        config(Hooks(before_tool_call=blocked)),
        {"number": 2, "now": "no", "hook": "blocked", "point": "before_tool_call"},
    ),
    "a result": (
        config(Hooks(after_tool_result=softened)),
        {
            "number": 3,
            "recorded": "Paris: 17 °C",
            "now": "all is well",
            "hook": "softened",
        },
    ),
    "a question": (
        config(Hooks(before_tool_call=asked)),
        {"number": 2, "kind": "RunTool", "hook": "asked", "effect": "r1.1.1.run.0"},
    ),
    "a stop": (
        config(Hooks(should_stop_after_turn=lambda _: "enough").named("brief")),
        {"number": 3, "hook": "brief"},
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_replay_tells_what_differs_first(tmp_path: Path, change: str) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, run_id="r1")
    under, expected = CHANGES[change]

    found = diverged(under, read(path))

    assert {name: getattr(found, name) for name in expected} == expected


def test_an_answer_that_nobody_waits_for_is_a_divergence(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, run_id="r1")
    past = read(path)
    leftover = evolve(past, entries=(*past.entries, past.entries[-1]))

    found = diverged(config(), leftover)

    assert found.number == 5
    assert "it is refused now. r1.1.2.model.1 was answered already" in str(found)


def test_a_hook_that_fails_may_stand_in_another_line(tmp_path: Path) -> None:
    """A stop tells where a hook failed; code that moves is no difference."""

    def fails(_: Any) -> Any:
        raise ValueError

    def elsewhere(_: Any) -> Any:
        # two lines
        # further down
        raise ValueError

    path = tmp_path / "r.jsonl"
    recorded(path, under=config(Hooks("rule", after_tool_result=fails)))

    again = replay(config(Hooks("rule", after_tool_result=elsewhere)), read(path))

    assert str(again.unwrap().result.stop).startswith("hook_error")


def test_a_hook_that_is_gone_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, under=config(Hooks(after_tool_result=softened)))

    found = diverged(config(), read(path))

    assert (found.hook, found.is_new) == ("softened", False)


def test_the_same_request_twice_may_have_two_answers(tmp_path: Path) -> None:
    """Recorded runs are sequences."""
    path = tmp_path / "r.jsonl"
    result = recorded(path, replies=("One.",))
    for reply in ("Two.", "Three."):
        state = evolve(result.state)
        result = recorded(path, "Umbrella?", replies=(reply,), state=state)

    texts = [
        m.text for m in replay(config(), read(path)).unwrap().result.state.transcript
    ]

    assert texts[1::2] == ["One.", "Two.", "Three."]


# Redaction.


def test_what_is_redacted_is_nowhere_in_the_file_and_a_replay_verifies(
    tmp_path: Path,
) -> None:
    path = tmp_path / "r.jsonl"
    call = ToolCall("weather", {"city": "sk-123abc"}, "c-sk-123abc")
    journal = Recorder(path, redact=r"sk-[0-9a-z]+")
    error_ = ModelError("sk-123abc is no key", "auth")

    recorded(path, "My key is sk-123abc", replies=(call, "sk-123abc!"), journal=journal)
    first = replay(config(), read(path)).unwrap().result
    recorded(path, "Go on", replies=(error_,), journal=journal, state=first.state)

    assert b"123abc" not in path.read_bytes()
    texts = [
        m.text for m in replay(config(), read(path)).unwrap().result.state.transcript
    ]
    assert texts[:4] == ["My key is [redacted]", "", "[redacted]: 17 °C", "[redacted]!"]


def test_one_may_go_on_in_a_redacted_file_with_the_state_itself(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    journal = Recorder(path, redact=[re.compile("Paris")])
    result = recorded(path, journal=journal)

    recorded(
        path, "More?", replies=("No, Paris.",), journal=journal, state=result.state
    )

    assert b"Paris" not in path.read_bytes()
    assert isinstance(replay(config(), read(path)), Success)


# Resuming.


def crashed(path: Path, paid: list[str], **more: Any) -> None:
    """A run whose task was cancelled while it paid."""

    async def main() -> None:
        started = asyncio.Event()
        pay = pay_for(paid, started, **more)
        model = ScriptedModel(ToolCall("pay", id="c1"))
        going = run(config(tools=[pay]), Interpreter(model, pay), "Pay!", journal=path)
        task = asyncio.create_task(going)
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def resumed(path: Path, paid: list[str], **more: Any) -> RunResult:
    """The same run, gone on with in another process, where payment is quick."""

    @tool(name="pay", **more)
    def pay() -> str:
        """Pay."""
        paid.append("paid again")
        return "ok"

    under = config(tools=[pay])
    state = replay(under, read(path)).unwrap().result.state
    model = ScriptedModel("Done.")
    return run_sync(under, Interpreter(model, pay), state=state, journal=path)


def test_a_tool_that_was_under_way_is_reported_as_interrupted(tmp_path: Path) -> None:
    """D82: `report` answers it, and the model is told that the outcome is not known."""
    path, paid = tmp_path / "r.jsonl", list[str]()
    crashed(path, paid)

    result = resumed(path, paid)

    told = result.state.transcript[2]
    assert (paid, result.output) == (["paid"], "Done.")
    assert getattr(told, "outcome", "") == "interrupted"
    assert "whether it took effect is not known" in getattr(told, "text", "")
    assert isinstance(replay(config(tools=[pay_for([])]), read(path)), Success)


def test_a_tool_that_may_be_run_again_is(tmp_path: Path) -> None:
    """D82: `retry` performs it again, under the same id."""
    path, paid = tmp_path / "r.jsonl", list[str]()
    crashed(path, paid, on_interrupt="retry")

    result = resumed(path, paid, on_interrupt="retry")

    assert (paid, result.output) == (["paid", "paid again"], "Done.")
    notes = [note.started for _, note in read(path).notes if note.started]
    assert len(notes) == 2
    assert notes[0] == notes[1]


def test_a_tool_that_was_not_started_is_performed(tmp_path: Path) -> None:
    """D82: without a note it was not under way."""
    path, paid = tmp_path / "r.jsonl", list[str]()
    under = config(tools=[pay_for([])])
    state = State.start(under, run_id="r1")
    with Recorder(path).open(under, state) as recording:
        state, effects = recording.advance(under, state, "Pay!").unwrap()
        said = ScriptedModel(ToolCall("pay", id="c1"))
        answer = asyncio.run(Interpreter(said).perform(effects.perform[0]))
        assert answer
        recording.advance(under, state, answer).unwrap()

    result = resumed(path, paid)

    assert (paid, result.output) == (["paid again"], "Done.")


def test_the_journal_of_a_task_that_was_cancelled_resumes(tmp_path: Path) -> None:
    """D84: a cancelled task is a crash, not an abort."""
    path, paid = tmp_path / "r.jsonl", list[str]()

    crashed(path, paid)

    assert read(path).inputs[-1] != Abort()
    assert resumed(path, paid).output == "Done."


def test_a_tool_that_somebody_else_answers_was_not_started(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"

    @tool(elsewhere=True)
    def ask_bob() -> str:
        """Ask Bob."""
        raise AssertionError

    under = config(tools=[ask_bob])
    model = ScriptedModel(ToolCall("ask_bob", id="c1"), "Done.")
    paused = run_sync(under, Interpreter(model, ask_bob), "Ask!", journal=path)
    state = replay(under, read(path)).unwrap().result.state

    again = run_sync(under, Interpreter(model, ask_bob), state=state, journal=path)

    assert [e.id for e in again.waiting] == [e.id for e in paused.waiting]


# Forks.


def test_a_fork_after_a_turn_goes_on_with_another_model(tmp_path: Path) -> None:
    """api 1.17."""
    path = tmp_path / "r.jsonl"
    recorded(path, run_id="r1")
    strong = ScriptedModel("No, two.", id="test:strong")
    interpreter = Interpreter(ScriptedModel(), strong, weather)

    state = fork(config(), read(path), turn=1, run_id="r2").unwrap()
    result = run_sync(
        config(),
        interpreter,
        Continue(model=strong),
        state=state,
        journal=tmp_path / "s",
    )

    assert (str(state.stop), result.output) == ("forked: after turn 1", "No, two.")
    assert [m.text for m in result.state.transcript] == [
        *("Umbrella?", "", "Paris: 17 °C", "No, two.")
    ]
    assert strong.requests[0].id == "r2.2.1.model.1"
    assert isinstance(replay(config(), read(tmp_path / "s")), Success)


def test_a_fork_shares_its_messages_with_the_past(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path)
    past = replay(config(), read(path)).unwrap()

    state = fork(config(), read(path), turn=1, run_id="r2").unwrap()

    assert state.transcript == past.steps[2].state.transcript


@pytest.mark.parametrize("at", [0, 1, 2, 3, 4])
def test_a_fork_after_an_input_waits_as_the_run_did(tmp_path: Path, at: int) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path)
    past = read(path)
    states = [past.start, *(s.state for s in replay(config(), past).unwrap().steps)]

    state = fork(config(), past, at=at, run_id="r2").unwrap()

    assert state == evolve(states[at], run_id="r2")


def test_a_fork_in_mid_turn_is_performed_under_the_old_id(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, run_id="r1")
    state = fork(config(), read(path), at=2, run_id="r2").unwrap()
    ids: list[str] = []

    async def around(effect: Any, tell: Any, inner: Any) -> Any:
        ids.append(effect.id)
        return await inner(effect, tell)

    interpreter = Interpreter(ScriptedModel("Two."), weather).wrap(around)
    result = run_sync(config(), interpreter, state=state)

    assert (ids, result.output) == (["r1.1.1.run.0", "r2.1.2.model.1"], "Two.")


def test_a_fork_does_not_take_the_name_of_its_past(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path, run_id="r1")

    with pytest.raises(ValueError, match="another run_id than that of the past, 'r1'"):
        fork(config(), read(path), turn=1, run_id="r1")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"turn": 7}, "no turn 7 came to its end in it"),
        ({"at": 5}, "it has no input 5: its inputs are 1 to 4"),
        ({"at": 0, "replace": "Hi!"}, "it has no input 0: its inputs are 1 to 4"),
        ({"at": 1, "replace": Abort()}, "input 1: Cannot take an Abort"),
    ],
)
def test_a_fork_at_no_point_is_an_error(tmp_path: Path, where: Any, said: str) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path)

    match fork(config(), read(path), run_id="r2", **where):
        case Failure(problem):
            assert said in str(problem)
        case _:
            raise AssertionError


def test_a_fork_under_a_configuration_that_does_not_fit_is_an_error(
    tmp_path: Path,
) -> None:
    path = tmp_path / "r.jsonl"
    recorded(path)

    match fork(config(system="Hm."), read(path), turn=1, run_id="r2"):
        case Failure(problem):
            assert "input 1 does not lead where it led: see replay()" in str(problem)
        case _:
            raise AssertionError


def test_a_replaced_input_says_what_still_fits(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    calls = [CALL, ToolCall("weather", {"city": "Rome"}, "c2")]
    recorded(path, replies=(calls, "Both."), run_id="r1")
    past = read(path)
    snow = Answer("r1.1.1.run.0", ToolOutput("Snow!"))

    found = refold(config(), past, at=3, replace=snow).unwrap()

    assert found.valid == ("r1.1.1.run.1",)
    assert found.again == ("r1.1.2.model.1",)
    assert (found.kept, found.dropped) == (1, (5,))
    forked = fork(config(), past, at=3, replace=snow, run_id="r2").unwrap()
    assert forked.transcript == found.state.transcript
    assert [effect.id for effect in forked.waiting] == ["r2.1.2.model.1"]


def test_the_time_of_a_run_is_in_its_journal(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"

    state = recorded(path).state

    assert read(path).entries[-1].at == state.now
