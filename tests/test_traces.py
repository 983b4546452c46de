"""Every recorded lifecycle trace, played through loopcore and compared.

Equal but for the T rows of the decisions. A second implementation of the source engine
says what each row makes of a trace: without any it has to give the recording itself.
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from loopcore.frozen import Json
from tests.traces.allowed import ALLOWED, NOT_MET
from tests.traces.compared import compared
from tests.traces.player import play
from tests.traces.source_engine import source_engine

RECORDED: Final = Path(__file__).parent / "data" / "lifecycle.jsonl.gz"
ROWS: Final[dict[str, Json]] = {
    row["id"]: row
    for row in map(json.loads, gzip.decompress(RECORDED.read_bytes()).splitlines())
}
DECISIONS: Final = tuple(f"T{number}" for number in range(1, 19))


def rows(name: str) -> list[str]:
    """The T rows that explain a scenario's differences."""
    return ALLOWED[name][0].split() if name in ALLOWED else []


def recorded(name: str) -> Json:
    """What the source engine was seen to do."""
    return compared(ROWS[name]["trace"], ROWS[name]["scenario"])


def modelled(name: str, *decided: str) -> Json:
    """What the source engine would do if it had decided so."""
    scenario = ROWS[name]["scenario"]
    return compared(source_engine(scenario, decided), scenario)


@cache
def played(name: str) -> Json:
    """What loopcore does."""
    scenario = ROWS[name]["scenario"]
    return compared(play(scenario), scenario)


def test_all_326_scenarios_are_here() -> None:
    assert len(ROWS) == 326
    assert ALLOWED.keys() <= ROWS.keys()


@pytest.mark.parametrize("name", ROWS)
def test_loopcore_does_what_was_recorded_or_decided(name: str) -> None:
    expected = modelled(name, *rows(name)) if name in ALLOWED else recorded(name)

    assert expected == played(name)


@pytest.mark.parametrize("name", ROWS)
def test_without_decisions_the_second_implementation_gives_the_recording(
    name: str,
) -> None:
    assert recorded(name) == modelled(name)


@pytest.mark.parametrize("name", ROWS)
def test_no_decision_that_is_not_listed_changes_a_scenario(name: str) -> None:
    assert modelled(name, *rows(name)) == modelled(name, *DECISIONS)


@pytest.mark.parametrize("name", ALLOWED)
def test_a_listed_difference_is_in_exactly_these_parts(name: str) -> None:
    before, after = recorded(name), played(name)

    assert ALLOWED[name][1].split() == [k for k in before if before[k] != after[k]]


@pytest.mark.parametrize(
    ("name", "row"), [(name, row) for name in ALLOWED for row in rows(name)]
)
def test_no_listed_decision_is_idle(name: str, row: str) -> None:
    others = [other for other in rows(name) if other != row]

    assert modelled(name, *others) != modelled(name, *rows(name))


def test_every_decision_explains_a_difference_or_says_why_no_trace_shows_it() -> None:
    met = {row for name in ALLOWED for row in rows(name)}

    assert (set(DECISIONS), set[str]()) == (met | NOT_MET.keys(), met & NOT_MET.keys())
