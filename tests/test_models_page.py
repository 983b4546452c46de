"""The page about connecting models says what `connect` knows."""

from typing import Final

import pytest

from loopcore import CallModel, UserMessage
from loopcore.messages import FAULTS
from loopcore_adapters.connect import WIRES
from loopcore_adapters.providers import PROVIDERS
from tests.test_docs import table_of, text_of

PAGE: Final = "models.md"


def test_every_provider_is_on_the_page_with_its_key_and_its_wires() -> None:
    rows = {row[0]: row[1:] for row in table_of(PAGE, "provider")}

    assert rows == {
        name: [f"`{one.key}`" if one.key else "", ", ".join(one.wires)]
        for name, one in PROVIDERS.items()
    }


@pytest.mark.parametrize("wire", WIRES)
def test_every_wire_is_on_the_page_with_its_path(wire: str) -> None:
    rows = {row[0].strip('"'): row[2].strip("`…") for row in table_of(PAGE, "`wire=`")}

    call = CallModel("i", "t:m", [UserMessage("hi")])
    assert WIRES[wire].encoder({})(call).path.startswith(rows[wire])
    assert rows.keys() == WIRES.keys()


def test_every_kind_of_fault_is_on_the_page() -> None:
    said = " ".join(row[0] for row in table_of(PAGE, "kind"))

    assert {*FAULTS} == set(said.replace("`", "").replace(",", "").split())


def test_the_page_has_a_place_for_each_wish_over_each_wire() -> None:
    head = next(
        line for line in text_of(PAGE).splitlines() if line.startswith("| wanted")
    )

    assert [*WIRES] == [cell.strip() for cell in head.strip("|").split("|")[1:]]
