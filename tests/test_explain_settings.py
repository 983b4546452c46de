"""`explain` says of each setting who set it, when, from what to what."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import attrs
import pytest

from loopcore import (
    Continue,
    Interpreter,
    LoopConfig,
    ModelError,
    Prompt,
    State,
    Steer,
    ToolCall,
    run_sync,
    tool,
)
from loopcore.hooks import Hooks, TurnUpdate
from loopcore.journal import Journal, explain, fork
from loopcore.testing import ScriptedModel


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"seen: {at}"


@tool
def pay(cents: int) -> str:
    """Pay."""
    return f"paid {cents}"


CHANGES: Final[dict[str, tuple[Any, str, str]]] = {
    "model": ("test:other", "test:script", "test:other"),
    "system": ("Be brief.", "Be kind.", "Be brief."),
    "tools": ([look], "look, pay", "look"),
    "thinking": ("high", "none", "high"),
}
"""Every setting that an input or a hook can change: to what, and both as they are told."""

Told = Callable[[str], list[str]]
by_setting = pytest.mark.parametrize("name", CHANGES)


def config(*hooks: Hooks) -> LoopConfig:
    return LoopConfig(
        model="test:script", system="Be kind.", tools=[look, pay], hooks=hooks
    )


LOOKING: Final = ToolCall("look", {"at": "a"}, "c1")
DOWN: Final = ModelError("down")


def played(path: Path, under: LoopConfig, *runs: Prompt | Continue | str) -> Told:
    """What explain says of runs, each given one input, with one journal for all.

    One that another goes on with has called a tool when its model is down.
    """
    state = None
    for n, given in enumerate(runs, 1):
        goes_on = isinstance([*runs, None][n], Continue)
        said = [LOOKING, DOWN] if goes_on else ["Done."]
        models = [ScriptedModel(*said, id=f"test:{n}") for n in ("script", "other")]
        new: Any = {"run_id": "r1"} if state is None else {"state": state}
        interpreter = Interpreter(*models, look, pay)
        state = run_sync(under, interpreter, given, journal=path, **new).state
    journal = Journal.read(path).unwrap()
    return lambda what: explain(under, journal, what).splitlines()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "r.jsonl"


def test_every_setting_that_an_input_can_change_is_tried() -> None:
    assert {field.name for field in attrs.fields(Continue)} == set(CHANGES)


@by_setting
def test_a_continue_says_from_what_to_what(name: str, path: Path) -> None:
    to, was, now = CHANGES[name]
    again = Continue(), Continue()
    told = played(path, config(), "Hi!", Continue(**{name: to}), *again)

    assert [
        f"setting {name}: {now}",
        f"  ← input 5, Continue: from {was} to {now}",
    ] == told(f"setting {name}")


@by_setting
def test_a_prompt_says_from_what_to_what(name: str, path: Path) -> None:
    to, was, now = CHANGES[name]
    told = played(path, config(), Prompt("Hi!", **{name: to}))

    assert f"  ← input 1, Prompt: from {was} to {now}" == told(f"setting {name}")[1]


@by_setting
def test_the_next_prompt_sets_it_back_to_the_configurations(
    name: str, path: Path
) -> None:
    to, was, now = CHANGES[name]
    told = played(path, config(), Prompt("Hi!", **{name: to}), "And?")

    assert [
        f"setting {name}: {was}",
        f"  ← the configuration (input 3, Prompt): from {now} to {was}",
    ] == told(f"setting {name}")


@by_setting
def test_what_is_set_to_what_it_was_is_told_as_set(name: str, path: Path) -> None:
    to, _, now = CHANGES[name]
    set_twice = Prompt("Hi!", **{name: to}), Continue(**{name: to})
    told = played(path, config(), *set_twice)

    assert [
        f"setting {name}: {now}",
        "  ← input 5, Continue, as it was before",
    ] == told(f"setting {name}")


@by_setting
def test_a_hook_between_turns_says_from_what_to_what(name: str, path: Path) -> None:
    to, was, now = CHANGES[name]
    sets = Hooks("sets", prepare_next_turn=lambda _: TurnUpdate(**{name: to}))
    told = played(path, config(sets), "Hi!")

    assert [
        f"setting {name}: {now}",
        (
            "  ← sets at prepare_next_turn (input 2, answer to r1.1.1.model.1): "
            f"from {was} to {now}"
        ),
    ] == told(f"setting {name}")


@by_setting
def test_an_input_after_a_hook_is_told(name: str, path: Path) -> None:
    to, was, now = CHANGES[name]
    sets = Hooks(
        "sets",
        prepare_next_turn=lambda view: (
            TurnUpdate(**{name: to}) if view.state.run == 1 else None
        ),
    )
    back = getattr(config(), name)
    told = played(path, config(sets), "Hi!", Continue(**{name: back}))

    number = 7 if name == "model" else 5  # another model has a call of its own
    assert (
        f"  ← input {number}, Continue: from {now} to {was}"
        == (told(f"setting {name}")[1])
    )


@by_setting
def test_a_request_says_which_input_set_it(name: str, path: Path) -> None:
    """What a request shows came from the same place."""
    to, _, now = CHANGES[name]
    told = played(path, config(), "Hi!", Continue(**{name: to}))

    first = told(f"request r1.1.1.model.1 {name}")
    later = told(f"request r1.2.1.model.1 {name}")
    assert "  ← the configuration" in first[2]
    assert f"{name:<10}  {now}  ← input 5, Continue" == later[2].strip()


def test_the_options_are_the_configurations(path: Path) -> None:
    told = played(path, config(), "Hi!", Continue(model="test:other"))

    assert (
        "  ← the configuration (input 1, Prompt), as it was before"
        == (told("setting options")[1])
    )


def test_what_was_set_before_the_journal_began_is_told_so(path: Path) -> None:
    told = played(path, config(), Prompt("Hi!", model="test:other"))
    past = Journal.read(path).unwrap()
    state = fork(config(), past, run_id="r2", turn=1).unwrap()
    later = Journal.of(config(), state, [Steer("More?"), Continue()]).unwrap()

    assert "test:other" in told("setting model")[0]
    assert [
        "setting model: test:other",
        "  ← it was so when the journal began",
    ] == explain(config(), later, "setting model").splitlines()


def test_a_nested_runs_request_has_its_own_configurations(path: Path) -> None:
    helper = LoopConfig(model="test:helper", system="Help.").as_tool("ask", "Ask.")
    under = LoopConfig(model="test:script", tools=[helper])
    asks = ScriptedModel(ToolCall("ask", {"prompt": "?"}, "c"), "Done.")
    models = asks, ScriptedModel("Yes.", id="test:helper")
    given = Prompt("Hi!", system="Be brief.")
    run_sync(under, Interpreter(*models), given, run_id="r1", journal=path).unwrap()

    journal = Journal.read(path).unwrap()
    said = explain(under, journal, "request r1.1.1.run.0.1.1.model.1 system")
    assert "Help.  ← the configuration" in said


def test_before_any_input_it_was_so() -> None:
    journal = Journal.of(config(), State.start(config(), run_id="r1"), []).unwrap()
    said = explain(config(), journal, "setting model")

    assert said.endswith("  ← it was so when the journal began")
