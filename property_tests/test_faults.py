"""Seeded faults: the kit catches each of them, by a law that it names."""

from pathlib import Path

import pytest

from property_tests.faults.fault import Fault, Patch, copied, judged, seeded, stale
from property_tests.faults.kit import BY_OTHERS, CAUGHT
from property_tests.faults.table import FAULTS


@pytest.fixture(scope="module", name="copy")
def _copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("copy"))


def fault_of(name: str) -> Fault:
    """The fault of this name."""
    return next(fault for fault in FAULTS if fault.name == name)


@pytest.mark.parametrize("name", CAUGHT)
def test_a_seeded_fault_is_caught_by_the_kit_and_named(name: str, copy: Path) -> None:
    caught = CAUGHT[name]
    with seeded(fault_of(name), copy):
        found = judged(copy, [caught.test], caught.law)

    assert (found.how, found.by) == ("caught", caught.law)
    assert found.seconds < 60


def test_a_fault_that_breaks_another_law_is_not_taken_for_caught(copy: Path) -> None:
    name = "results are stored backwards"
    with seeded(fault_of(name), copy):
        found = judged(copy, [CAUGHT[name].test], "99: no such law")

    assert found.how == "otherwise"


def test_a_fault_is_taken_out_again(copy: Path) -> None:
    file = FAULTS[0].patches[0].file
    before = (copy / file).read_text()
    with seeded(FAULTS[0], copy):
        assert (copy / file).read_text() != before

    assert (copy / file).read_text() == before


def test_a_patch_that_does_not_fit_exactly_once_is_stale(copy: Path) -> None:
    file = FAULTS[0].patches[0].file
    never = Fault("never", (Patch(file, "no such text", ""),), ())
    often = Fault("often", (Patch(file, "return", ""),), ())

    assert (stale(never, copy), stale(often, copy)) == ([file], [file])


def test_the_kit_catches_every_fault_but_those_that_say_why_not() -> None:
    names = [one.name for one in FAULTS]

    assert len(set(names)) == len(names)
    assert len(CAUGHT) >= 60
    assert {*names} == {*CAUGHT, *BY_OTHERS}


def test_every_patch_fits_the_code_as_it_is() -> None:
    assert [] == [one.name for one in FAULTS if stale(one)]
