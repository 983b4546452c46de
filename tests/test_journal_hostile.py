"""Journals that somebody made: their chains hold, and what they say is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from returns.result import Failure

from loopcore import Interpreter, LoopConfig, Prompt, State, ToolCall, run_sync, tool
from loopcore.frozen import freeze_object
from loopcore.hooks import Hooks, ToolCallView
from loopcore.journal import Journal, JournalError, replay, verify
from loopcore.journal.lines import Chain, Entry
from loopcore.journal.pieces import whole
from loopcore.policies import sliding_window
from loopcore.testing import ScriptedModel

CALL = ToolCall("weather", {"city": "Paris"}, "c1")


@tool
def weather(city: str) -> str:
    """Say the weather."""
    return f"{city}: 17 °C"


def seen(view: ToolCallView) -> None:
    """Have no opinion."""


def config(*hooks: Hooks) -> LoopConfig:
    window = sliding_window(3)
    return LoopConfig(model="test:script", tools=[weather], hooks=[*hooks, window])


def lines_of(path: Path) -> list[Any]:
    """What the lines of a recorded run say, without their chains."""
    model = ScriptedModel(CALL, CALL, "Take one.")
    given = "Umbrella?"
    run_sync(config(), Interpreter(model, weather), given, run_id="r1", journal=path)
    found = list(map(json.loads, path.read_text().splitlines()))
    for line in found:
        del line["chain"]
    return found


def chained(path: Path, lines: list[Any]) -> Path:
    """A file that says this, with a chain that holds."""
    chain, text = Chain(), ""
    for line in lines:
        chain, added = chain.add(line)
        text += added
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def problem_of(path: Path) -> str:
    match Journal.read(path):
        case Failure(JournalError() as problem):
            return str(problem).removeprefix(f"{path}, ")
        case _:
            raise AssertionError


def asked(**changed: Any) -> Callable[[Any], Any]:
    """A line whose first effect says this, too; None leaves a field out."""

    def change(line: Any) -> Any:
        effect = {**line["led"]["ask"][0], **changed}
        kept = {name: value for name, value in effect.items() if value is not None}
        return {**line, "led": {**line["led"], "ask": [kept]}}

    return change


def led(**changed: Any) -> Callable[[Any], Any]:
    """A line that led to this, too."""
    return changing("led", changed)


def changing(name: str, changed: dict[str, Any]) -> Callable[[Any], Any]:
    return lambda line: {**line, name: {**line[name], **changed}}


def wrote(*hints: Any) -> Callable[[Any], Any]:
    """A line in which hooks wrote this."""
    return lambda line: {**line, "wrote": hints}


NOTHING: dict[str, Any] = {}
PIECES: list[Any] = [[0], [0, 1, 2], [-1, 1], [0, 0], [0, -1], [0, 1.0], [0, None], {}]
WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no object": (lambda line: {**line, "led": []}, "'led' must be an object"),
    "unknown": (led(more=["x"]), "unknown field 'led.more'"),
    "no list": (led(added="abc"), "'led.added' must be an array of one or more"),
    "nothing": (led(cancel=[]), "'led.cancel' must be an array of one or more"),
    "a number": (led(added=["x", 1]), "'led.added[1]' must be a str, is an int"),
    "null": (led(cancel=[None]), "'led.cancel[0]' must be a str, is null"),
    "replaced": (led(replaced=[["x"]]), "'led.replaced[0]' must be a str, is an array"),
    "no effect": (led(ask=["x"]), "'led.ask[0]' must be an object, is a str"),
    "no id": (asked(id=None), "missing field 'led.ask[0].id'"),
    "no kind": (asked(kind=None), "missing field 'led.ask[0].kind'"),
    "kind": (asked(kind="Buy"), "'led.ask[0].kind' is no effect: 'Buy'"),
    "id": (asked(id=7), "'led.ask[0].id' cannot be an int"),
    "model": (asked(model={}), "'led.ask[0].model' cannot be an object"),
    "seconds": (asked(seconds=True), "'led.ask[0].seconds' cannot be a bool"),
    "field": (asked(color="red"), "unknown field 'led.ask[0].color'"),
    "pieces": (asked(messages=1), "'led.ask[0].messages' must be an array, is an int"),
    **{
        f"piece {piece}": (
            asked(messages=["x", piece]),
            "'led.ask[0].messages[1]' must be a digest, or where and how many",
        )
        for piece in PIECES
    },
    "stop": (led(stop=["x"]), "'led.stop[0]' must be an object"),
    "reason": (led(stop=[NOTHING]), "missing field 'led.stop[0].reason'"),
    "bad reason": (led(stop=[{"reason": "bored"}]), "'led.stop[0]"),
    "detail": (led(stop=[{"reason": "done", "detail": 1}]), "'led.stop[0].detail'"),
    "wrote": (wrote("x"), "'wrote[0]' must be a hook, a point and its fields"),
    "short": (wrote(["a", "b"]), "'wrote[0]' must be"),
    "hook": (wrote([1, "b", {}]), "'wrote[0]' must be"),
}


@pytest.mark.parametrize("change", WRONG)
def test_a_line_that_no_recorder_writes_is_named(tmp_path: Path, change: str) -> None:
    """A chain that holds proves that nobody changed a line, and not that it makes sense."""
    lines = lines_of(tmp_path / "r.jsonl")
    changed, said = WRONG[change]
    lines[1] = changed(lines[1])

    path = chained(tmp_path / "wrong.jsonl", lines)

    assert problem_of(path).startswith(f"line 2: {said}")
    assert verify(path).unwrap() == len(lines)


def test_the_same_told_in_other_pieces_is_a_divergence(tmp_path: Path) -> None:
    """No recorder tells it so; the replay says that the request is another one."""
    lines = lines_of(tmp_path / "r.jsonl")
    place = next(n for n, line in enumerate(lines) if '"messages"' in json.dumps(line))
    effect = lines[place]["led"]["ask"][0]
    first, count = effect["messages"][0]
    effect["messages"][:1] = [[first + n, 1] for n in range(count)]
    effect["messages"].append([900, 10**9])

    journal = Journal.read(chained(tmp_path / "wrong.jsonl", lines)).unwrap()

    match replay(config(), journal):
        case Failure(divergence):
            assert divergence.effect == effect["id"]
        case _:
            raise AssertionError


def test_pieces_that_tell_of_a_huge_list_are_not_made_at_once() -> None:
    base, told = ["a"] * 1_000, [(0, 1_000)] * 1_000_000

    found = whole(base, told)

    assert [next(found) for _ in range(3)] == ["a", "a", "a"]


FORMS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "mark": (
        lambda text: b"\xef\xbb\xbf" + text,
        "line 1: it begins with a byte order",
    ),
    "crlf": (lambda text: text.replace(b"\n", b"\r\n"), "line 1: it ends with CR LF"),
    "text": (
        lambda _: b"hello\n",
        "line 1: it is no journal (it is not JSON: Expecting",
    ),
    "empty line": (lambda text: text + b"\n", "line 7: it is empty"),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_an_editor_does_to_a_file_is_named(tmp_path: Path, form: str) -> None:
    path = tmp_path / "r.jsonl"
    start = State.start(config(), run_id="r1")
    entries = [Entry(Prompt("Hi!"), 1.0, freeze_object({"added": ["x"]}))] * 5
    Journal(start, tuple(entries)).write(path)
    change, said = FORMS[form]

    path.write_bytes(change(path.read_bytes()))

    assert problem_of(path).startswith(said)


def test_a_path_that_no_file_can_have_is_an_error() -> None:
    assert "it cannot be read" in str(Journal.read("a\0b").failure())
    assert "it cannot be read" in str(verify("a\0b").failure())


def test_an_empty_file_is_no_whole_journal(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.touch()

    assert str(verify(path).failure()) == f"{path}, line 1: it is empty"
