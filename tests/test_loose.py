"""JSON that cannot be trusted is read and shown, however deep it is."""

import pytest

from loopcore_adapters.loose import Json, dump, parse


def test_json_that_is_too_deep_to_read_is_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parse("[" * 100_000 + "]" * 100_000)


def test_json_that_is_too_deep_to_write_says_so() -> None:
    value: Json = []
    for _ in range(100_000):
        value = [value]
    assert dump(value) == '"nested too deeply"'
