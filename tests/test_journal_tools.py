"""What can be made of journals: backtests, diffs, explanations, smaller ones, checks."""

import json
import multiprocessing
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from returns.result import Failure

from loopcore import (
    Continue,
    FollowUp,
    Interpreter,
    LoopConfig,
    Prompt,
    RunResult,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    run_sync,
    tool,
)
from loopcore.hooks import (
    Block,
    ContextView,
    Hooks,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
)
from loopcore.journal import (
    Backtest,
    Journal,
    Replay,
    Unknown,
    backtest,
    check,
    diff,
    explain,
    fork,
    replay,
    shrink,
    verify,
)
from loopcore.journal.tables import backtest_json
from loopcore.policies import (
    ask_before,
    limits,
    redact,
    sliding_window,
    truncate_results,
)
from loopcore.testing import ScriptedModel


@tool
def fetch(url: str) -> str:
    """Fetch a page."""
    return f"the page of {url}"


def config(*hooks: Hooks, **more: Any) -> LoopConfig:
    settings: dict[str, Any] = {"model": "test:script", "tools": [fetch], **more}
    return LoopConfig(hooks=hooks, **settings)


def got(url: str, id: str = "c1") -> ToolCall:  # noqa: A002  # as calls have it
    return ToolCall("fetch", {"url": url}, id)


def recorded(
    path: Path, *replies: Any, under: LoopConfig | None = None, given: Any = ("Go!",)
) -> RunResult:
    interpreter = Interpreter(ScriptedModel(*replies), fetch)
    return run_sync(
        under or config(), interpreter, *given, run_id=path.stem, journal=path
    )


def https_only(view: ToolCallView) -> Block | None:
    url = str(view.arguments.get("url", ""))
    return Block("use https") if url.startswith("http:") else None


STRICT = Hooks(before_tool_call=https_only)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs; in one of them an address is fetched that is not safe."""
    recorded(tmp_path / "a.jsonl", got("https://x"), "done")
    recorded(tmp_path / "b.jsonl", got("https://x"), got("http://y"), "done")
    recorded(tmp_path / "c.jsonl", "done")
    return tmp_path


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def read(path: Path) -> Journal:
    return Journal.read(path).unwrap()


def backtested(folder: Path, *hooks: Hooks, **more: Any) -> Backtest:
    changes = {name: more.pop(name) for name in ("model", "system") if name in more}
    new = config(*hooks, **changes)
    return backtest(files(folder), old=config(), new=new, **more)


# Backtests.


def test_a_new_rule_shows_where_it_would_have_held(folder: Path) -> None:
    """Api 1.18."""
    found = backtested(folder, STRICT)

    (change,) = found.changed
    assert (Path(change.journal).stem, change.turn, change.hook) == (
        "b",
        2,
        "https_only",
    )
    assert change.what == "fetch(url='http://y')"
    assert (change.old, change.new) == ("runs", "blocked: 'use https'")
    assert [Path(name).stem for name in found.same] == ["a", "c"]
    assert found.by_hook == {"https_only": 1}


def test_a_backtest_is_a_table(folder: Path) -> None:
    lines = backtested(folder, STRICT).table().splitlines()

    assert lines[0] == (
        "3 journals · 12 inputs · 6 turns · no model, no tool, no network"
    )
    assert lines[1:5] == [
        "  same            2",
        "  changed         1  by hook:  https_only 1",
        "  stale           0  (not reproduced by the old configuration)",
        "  broken          0  (cannot be read)",
    ]
    assert [re.split(r" {2,}", line.strip()) for line in lines[6:]] == [
        ["run", "turn", "what", "old → new", "hook"],
        [
            "b",
            "2",
            "fetch(url='http://y')",
            "runs → blocked: 'use https'",
            "https_only",
        ],
    ]


def test_a_long_table_says_how_much_is_left_out(folder: Path) -> None:
    found = backtested(folder, system="Be brief.", lenient=True)

    assert found.table(most=2).splitlines()[-1] == "  … 1 more"
    assert len(found.table(most=None).splitlines()) == 6 + 1 + 3


def test_a_backtest_is_json(folder: Path) -> None:
    told = json.loads(json.dumps(backtest_json(backtested(folder, STRICT))))

    assert (told["journals"], told["same"], told["by_hook"]) == (
        3,
        2,
        {"https_only": 1},
    )
    assert told["changed"][0]["new"] == "blocked: 'use https'"


def shorter(_: ToolResultView) -> ToolResultUpdate:
    return ToolResultUpdate("short")


def redirected(view: ToolCallView) -> ToolCallUpdate:
    return ToolCallUpdate(arguments={"url": f"{view.arguments['url']}/index"})


CHANGES: dict[str, tuple[dict[str, Any], tuple[str, str, str, str]]] = {
    "a result": (
        {"hook": Hooks(after_tool_result=shorter)},
        ("result of fetch", "the page of https://x", "short", "shorter"),
    ),
    "arguments": (
        {"hook": Hooks(before_tool_call=redirected)},
        (
            "fetch(url='https://x')",
            '{"url":"https://x"}',
            '{"url":"https://x/index"}',
            "redirected",
        ),
    ),
    "a question": (
        {"hook": ask_before()},
        ("fetch(url='https://x')", "runs", "asks", "ask_before"),
    ),
    "a window": (
        {"hook": sliding_window(1)},
        ("shown to the model", "5 messages", "3 messages", "sliding_window"),
    ),
    "a limit": (
        {"hook": limits(turns=1)},
        ("stop", "done", "limit: 1 turn (hook 'limits')", "limits"),
    ),
    "the system prompt": (
        {"system": "Be brief."},
        ("request: system", "none", "Be brief.", ""),
    ),
    "the model": (
        {"model": "test:other"},
        ("request: model", "test:script", "test:other", ""),
    ),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_whatever_a_configuration_does_otherwise_is_told(
    tmp_path: Path, kind: str
) -> None:
    recorded(tmp_path / "a.jsonl", got("https://x"), got("https://x"), "done")
    settings, expected = CHANGES[kind]
    more = dict(settings)
    hooks = [more.pop("hook")] if "hook" in more else []

    change = backtested(tmp_path, *hooks, **more).changed[0]

    told = change.what, change.old, change.new, change.hook
    if kind == "a limit":
        assert (told[:2], told[2][:5], told[3]) == (expected[:2], "limit", "limits")
    else:
        assert told == expected


def test_what_only_follows_from_a_change_is_not_told(folder: Path) -> None:
    """A shorter result is one change, though each later request shows it."""
    found = backtested(folder, truncate_results(3), lenient=True)

    assert {change.what for change in found.changed} == {"result of fetch"}


def test_what_would_have_to_be_asked_again_ends_what_is_known(folder: Path) -> None:
    strict = backtested(folder, Hooks(after_tool_result=shorter))
    lenient = backtested(folder, Hooks(after_tool_result=shorter), lenient=True)

    assert [f.again for f in strict.findings] == ["a.1.2.model.1", "b.1.2.model.1", ""]
    assert [f.again for f in lenient.findings] == ["", "", ""]
    assert (len(strict.changed), len(lenient.changed)) == (2, 3)


def test_a_journal_that_the_old_configuration_does_not_reproduce_is_stale(
    folder: Path,
) -> None:
    recorded(folder / "d.jsonl", "done", under=config(system="Other."))

    found = backtested(folder, STRICT)

    assert [one.field for one in found.stale] == ["system"]
    assert "stale\n  Diverged at input 1 of" in found.table()
    assert len(found.same) == 2


def test_a_journal_that_cannot_be_read_is_broken_and_stops_nothing(
    folder: Path,
) -> None:
    (folder / "d.jsonl").write_text("{}\n")

    found = backtested(folder, STRICT)

    assert [problem.line for problem in found.broken] == [1]
    assert len(found.changed) == 1


@pytest.mark.parametrize("kind", [str, Path])
def test_one_path_is_no_list_of_journals(folder: Path, kind: Any) -> None:
    said = r"Write \[path\] for one file, and Path\('.*'\).glob\('\*.jsonl'\)"

    with pytest.raises(TypeError, match=rf"backtest\(\) takes journals.*{said}"):
        backtest(kind(folder), old=config(), new=config())
    with pytest.raises(TypeError, match=rf"check\(\) takes journals.*{said}"):
        check(config(), kind(folder))


def test_many_journals_are_tested_by_several_processes(tmp_path: Path) -> None:
    past = tmp_path / "a.jsonl"
    recorded(past, got("http://x"), "done")
    journal, told = read(past), list[tuple[int, int]]()

    found = backtest(
        [journal] * 100,
        old=config(),
        new=config(STRICT),
        workers=2,
        progress=lambda done, of: told.append((done, of)),
    )

    alone = backtest([journal] * 100, old=config(), new=config(STRICT), workers=1)
    assert "fork" in multiprocessing.get_all_start_methods()
    assert found == alone
    assert told == [(n, 100) for n in range(1, 101)]


# Diffs.


def test_a_fork_and_its_past_differ_from_the_fork_on(tmp_path: Path) -> None:
    path, other = tmp_path / "a.jsonl", tmp_path / "a2.jsonl"
    recorded(path, got("https://x"), "one")
    state = fork(config(), read(path), turn=1, run_id="a2").unwrap()
    strong = ScriptedModel("two", id="test:strong")
    interpreter = Interpreter(ScriptedModel(), strong, fetch)
    run_sync(config(), interpreter, Continue(model=strong), state=state, journal=other)

    found = diff(config(), read(path), read(other))

    assert [(line.mark, line.message.text) for line in found.differing] == [
        ("-", "one"),
        ("+", "two"),
    ]
    assert found.settings == (("model", "test:script", "test:strong"),)
    assert [line[:6] for line in str(found).splitlines()[-3:]] == [
        *("     3", "-    4", "+    4")
    ]


def test_a_run_does_not_differ_from_itself(folder: Path) -> None:
    journal = read(folder / "b.jsonl")

    found = diff(config(), journal, journal)

    assert found.is_same
    assert found.common == len(journal.entries)
    assert str(found).splitlines()[2:] == [
        "the first 6 inputs lead to the same",
        "  … 6 equal",
    ]


def test_runs_that_end_otherwise_are_told_apart(tmp_path: Path) -> None:
    once = config(limits(turns=1))
    recorded(tmp_path / "a.jsonl", got("https://x"), "done")
    recorded(tmp_path / "b.jsonl", got("https://x"), under=once)

    found = diff(config(), read(tmp_path / "a.jsonl"), read(tmp_path / "b.jsonl"))

    assert not found.is_same
    assert found.common == 3  # up to where the second was stopped
    assert "stop: done → None" in str(found)


# Explanations.


@pytest.fixture
def told(tmp_path: Path) -> Callable[[int | str], list[str]]:
    """A run with an approval, a result that was softened, and a window."""

    @tool
    def look(at: str) -> ToolOutput:
        """Look."""
        return ToolOutput("", outcome="timeout") if at == "prices" else ToolOutput(at)

    def soften(view: ToolResultView) -> ToolResultUpdate | None:
        return ToolResultUpdate("carry on", is_error=False) if view.is_error else None

    def hint(_: ContextView) -> Any:
        return None

    path = tmp_path / "r7.jsonl"
    under = LoopConfig(
        model="test:script",
        tools=[look],
        hooks=[
            ask_before(when=lambda view: view.arguments["at"] == "prices"),
            Hooks(after_tool_call=soften),
            sliding_window(2),
            Hooks(transform_context=hint),
            limits(turns=3, tool_calls=50),
        ],
    )
    calls = (
        ToolCall("look", {"at": "prices"}, "c1"),
        ToolCall("look", {"at": "b"}, "c2"),
    )
    model = ScriptedModel(calls[0], calls[1], calls[1])
    interpreter = Interpreter(model, look, approve=lambda asked: asked.approve())
    given = "Compare", FollowUp("And?")
    run_sync(under, interpreter, *given, run_id="r7", journal=path)
    journal = read(path)
    return lambda what: explain(under, journal, what).splitlines()


def test_a_message_is_explained_from_its_call_to_where_it_is_shown(
    told: Callable[[int | str], list[str]],
) -> None:
    lines = told("message 3")

    performed = lines.pop(4)
    assert lines == [
        'message 3 · result of look {"at":"prices"} · turn 1 · timeout, stored as ok',
        "",
        "  asked       message 2 (input 3, answer to r7.1.1.model.1)",
        "  allowed     ask_before: Ask() · a person: approve (input 4)",
        "  ended       timeout, no text (input 5, answer to r7.1.1.run.0)",
        "  shaped by   soften at after_tool_call: content, is_error",
        "  shown in    requests 2 (left out of 3 by sliding_window)",
    ]
    assert performed.startswith("  performed   r7.1.1.run.0 RunTool, ")


EXPLAINED: dict[str | int, str] = {
    1: "message 1 · user  Compare · turn 1",
    "message 2": 'message 2 · assistant  → look {"at":"prices"} · turn 1',
    "message 3.content": "message 3.content: carry on",
    "message 3.is_error": "message 3.is_error: False",
    "request r7.1.1.model.1": "request r7.1.1.model.1 · test:script · 1 messages",
    "memory limits": "memory of limits: ",
    "setting model": "setting model: test:script",
    "setting tools": "setting tools: look",
}


@pytest.mark.parametrize("what", EXPLAINED)
def test_each_thing_can_be_explained(
    told: Callable[[int | str], list[str]], what: int | str
) -> None:
    assert told(what)[0].startswith(EXPLAINED[what])


def test_the_stop_is_explained(told: Callable[[int | str], list[str]]) -> None:
    lines = told("stop")

    assert lines[0].startswith("limit: ")
    assert "hook limits at should_stop_after_turn, turn 3" in lines[0]
    assert lines[-1] == "  still queued  0 steering, 1 follow-ups"


def test_a_field_names_its_writer(told: Callable[[int | str], list[str]]) -> None:
    assert told("message 3.content")[1:] == ["  ← soften at after_tool_call"]
    assert told("message 5.content")[1:] == [
        "  as it came: input 7, answer to r7.1.2.run.0"
    ]


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("message 99", "there is no message 99: it has 1 to 7"),
        ("message 0", "there is no message 0: it has 1 to 7"),
        ("message x", "a message has a number, from 1; this is 'x'"),
        ("message 1.colour", "a UserMessage has no 'colour'"),
        ("message 1.__class__", "a UserMessage has no '__class__'"),
        ("setting __class__", "there is no setting '__class__'"),
        ("request r1", "there is no request 'r1': it has r7.1.1.model.1"),
        ("memory none", "no hook 'none' has a memory: there are "),
        ("setting colour", "there is no setting 'colour'"),
    ],
)
def test_what_is_not_there_cannot_be_explained(
    told: Callable[[int | str], list[str]], what: str, said: str
) -> None:
    with pytest.raises(Unknown) as problem:
        told(what)

    assert said in str(problem.value)


def test_what_nobody_can_explain_is_refused(
    told: Callable[[int | str], list[str]],
) -> None:
    with pytest.raises(ValueError, match=r'explain\(\) tells of "stop", "message 3"'):
        told("everything")


# Smaller ones.


def fetched_unsafely(again: Replay[Any]) -> bool:
    return any(
        isinstance(message, ToolResultMessage) and "http://y" in message.text
        for message in again.result.state.transcript
    )


def test_a_journal_shrinks_to_what_matters(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    hooks = sliding_window(9), truncate_results(400), redact("secret")
    many = [got("https://x", "c1"), got("http://y", "c2"), got("https://z", "c3")]
    recorded(
        path, got("https://x"), many, got("https://x"), "done", under=config(*hooks)
    )

    small = shrink(config(*hooks), read(path), fetched_unsafely)

    assert dict(small.hooks) == {}
    assert len(small.entries) == 3
    again = replay(config(), small).unwrap()
    assert fetched_unsafely(again)
    assert [len(m.text) for m in again.result.state.transcript] == [1, 0, 20]


def test_calls_that_are_left_keep_their_own_results(tmp_path: Path) -> None:
    """A call that is left out moves those behind it up; so do their answers."""
    path = tmp_path / "a.jsonl"
    urls = "https://x", "https://y", "https://z"
    recorded(path, [got(url, f"c{n}") for n, url in enumerate(urls)], "done")

    def two_are_left(again: Replay[Any]) -> bool:
        found = again.result.state.transcript
        results = [m for m in found if isinstance(m, ToolResultMessage)]
        return len(results) > 1 and "://z" in results[-1].text

    small = shrink(config(), read(path), two_are_left)

    found = replay(config(), small).unwrap().result.state.transcript
    assert [m.call_id for m in found if isinstance(m, ToolResultMessage)] == [
        "c1",
        "c2",
    ]
    assert found[-1].text.endswith("https://z")


@pytest.mark.parametrize("turns", [5, 20])
def test_what_cannot_be_smaller_is_not_tried_again_and_again(
    tmp_path: Path, turns: int
) -> None:
    """So many tries as there are things to leave out, and not the square of that."""
    path, tries = tmp_path / "a.jsonl", list[int]()
    calls = [got("x", f"c{n}") for n in range(turns)]
    recorded(path, *calls, "d")

    def all_are_there(again: Replay[Any]) -> bool:
        tries.append(len(again.steps))
        return len(again.steps) >= 2 * turns

    small = shrink(config(), read(path), all_are_there)

    assert len(small.entries) == 2 * turns
    assert len(tries) < 25 * turns


def test_a_hook_that_matters_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    hooks = sliding_window(9), STRICT
    recorded(path, got("http://y"), "done", under=config(*hooks))

    def was_blocked(again: Replay[Any]) -> bool:
        results = again.result.state.transcript
        return any(getattr(m, "outcome", "") == "blocked" for m in results)

    small = shrink(config(*hooks), read(path), was_blocked)

    assert list(small.hooks) == ["https_only"]


def test_a_journal_of_which_it_does_not_hold_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="it said no"):
        shrink(config(), read(folder / "c.jsonl"), fetched_unsafely)


def test_a_journal_that_does_not_replay_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="a journal that replays: Diverged at input 1"):
        shrink(config(system="Other."), read(folder / "c.jsonl"), fetched_unsafely)


# Checks.


def test_a_file_is_verified_line_by_line(folder: Path) -> None:
    path = folder / "b.jsonl"

    assert verify(path).unwrap() == len(path.read_bytes().splitlines())


def test_a_byte_that_changed_is_named_by_its_line(folder: Path) -> None:
    path = folder / "b.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"Go!"', b'"No!"'))

    problem = verify(path).failure()

    assert (problem.line, "its chain does not hold" in str(problem)) == (2, True)


def test_a_torn_line_is_damage_to_who_verifies(folder: Path) -> None:
    path = folder / "b.jsonl"
    path.write_bytes(path.read_bytes()[:-9])

    assert isinstance(verify(path), Failure)


def test_a_file_that_is_not_there_cannot_be_verified(tmp_path: Path) -> None:
    assert "it cannot be read" in str(verify(tmp_path / "none").failure())


def test_a_folder_is_checked_with_todays_code(folder: Path) -> None:
    (folder / "d.jsonl").write_text("")

    found = check(config(redact("page")), files(folder))

    assert (found.same, len(found.journals)) == (1, 4)
    assert [type(problem).__name__ for problem in found.problems] == [
        *("Divergence", "Divergence", "JournalError")
    ]


def test_a_prompt_with_settings_is_part_of_the_record(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    recorded(path, "done", given=(Prompt("Go!", system="Be brief."),))

    journal = read(path)

    assert check(config(), [journal]).same == 1
    assert evolve(journal, path="").run_id == "a"
