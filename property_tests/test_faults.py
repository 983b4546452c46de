"""The seeding of faults itself: three are caught here, all by `property_tests.faults`."""

from pathlib import Path
from typing import Final

import pytest

from property_tests.faults.fault import Fault, Patch, copied, judged, seeded, stale
from property_tests.faults.table import FAULTS

THREE: Final = (
    "results are stored backwards",
    "a call that was rejected runs",
    "an abort goes on with the calls that wait",
)


@pytest.fixture(scope="module", name="copy")
def _copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("copy"))


@pytest.mark.parametrize("name", THREE)
def test_a_seeded_fault_is_caught(name: str, copy: Path) -> None:
    one = next(fault for fault in FAULTS if fault.name == name)
    with seeded(one, copy):
        found = judged(copy, one.tests)

    assert found.how == "caught"
    assert one.tests[0].endswith(found.by)


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


def test_the_names_of_faults_tell_them_apart() -> None:
    names = [one.name for one in FAULTS]

    assert len(set(names)) == len(names) >= 28


def test_every_patch_fits_the_code_as_it_is() -> None:
    assert [] == [one.name for one in FAULTS if stale(one)]
