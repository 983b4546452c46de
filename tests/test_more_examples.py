"""More of the code that users are shown: typed outputs, run as the files have it."""

import asyncio
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

import pytest

from loopcore import Model
from loopcore.testing import ScriptedModel

EXAMPLES: Final = Path(__file__).parent / "examples"
Load: TypeAlias = Callable[..., Any]
"""Imports an example, whose model says these."""


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Import examples, fresh, with a model that has a script."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def loaded(name: str, *replies: str) -> Any:
        def connect(model: str) -> Model:
            return ScriptedModel(*replies, id=model)

        stand_in = ModuleType("loopcore_adapters")
        stand_in.__dict__["connect"] = connect
        monkeypatch.setitem(sys.modules, "loopcore_adapters", stand_in)
        return importlib.import_module(name)

    yield loaded
    for file in EXAMPLES.glob("*.py"):
        sys.modules.pop(file.stem, None)


PASTA: Final = '{"title": "Pasta", "minutes": 12, "steps": ["boil"]}'
AT_ONCE: Final = '{"title": "Pasta", "minutes": 0, "steps": []}'


@pytest.mark.parametrize(
    "replies",
    [
        pytest.param((PASTA,), id="at once"),
        pytest.param(("Pasta!", AT_ONCE, PASTA), id="after two repairs"),
    ],
)
def test_a_run_comes_to_a_recipe(
    load: Load, capsys: pytest.CaptureFixture[str], replies: tuple[str, ...]
) -> None:
    typed = load("typed", *replies)

    assert typed.Recipe("Pasta", 12, ["boil"]) == typed.recipe
    assert "Pasta 12\n" == capsys.readouterr().out


def test_a_run_that_comes_to_none_says_why_and_loses_nothing(
    load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    load("typed", "Pasta!", AT_ONCE, AT_ONCE)

    why, kept = capsys.readouterr().out.splitlines()
    assert "output_error: " in why
    assert "'minutes' must be > 0" in why
    assert "(after 2 repairs)" in why
    assert kept.count("AssistantMessage") == 3


def test_a_run_comes_to_a_model_of_pydantic(load: Load) -> None:
    typed = load("typed_pydantic", '{"name": "Da Ugo", "dishes": ["pasta"]}')

    wanted = typed.Restaurant(name="Da Ugo", dishes=["pasta"])
    assert wanted == asyncio.run(typed.pick())


def test_a_list_that_may_not_be_empty_is_asked_for_again(load: Load) -> None:
    bad = '{"name": "Da Ugo", "dishes": []}'
    typed = load("typed_pydantic", bad, bad, bad)

    assert None is asyncio.run(typed.pick())
    said = [message.text for message in typed.model.requests[-1].messages]
    assert "dishes" in said[-1]
