"""The pages on hooks and on proving them: every class with all its fields, and pasteable."""

import re
from typing import Any

import attrs

from loopcore import State
from loopcore.hooks.points import POINTS
from loopcore.hooks.views import View
from tests.test_docs import table_of, text_of

SHARED = {f.name for f in attrs.fields(View)}


def properties(kind: type) -> list[str]:
    """What a class has beside its fields."""
    held: dict[str, Any] = dict(vars(kind))
    return [n for n, v in held.items() if isinstance(v, property) and n != "transcript"]


def fields_of(kind: type[Any], *, shared: bool = False) -> list[str]:
    """All names that one can read of a record."""
    names = [str(f.name) for f in attrs.fields(kind)]
    return [n for n in names if shared or n not in SHARED] + properties(kind)


def listed(cell: str) -> list[str]:
    """Names in a cell, without what is said of them."""
    return re.findall(r"\w+", re.sub(r"\([^)]*\)", "", cell))


def test_every_view_is_on_the_page_with_its_points_and_all_its_fields() -> None:
    rows = {
        row[0]: (listed(row[1]), listed(row[2])) for row in table_of("hooks.md", "view")
    }
    views = {point.view for point in POINTS.values()}

    assert {view.__name__ for view in views} == set(rows)
    for view in views:
        points = [name for name, point in POINTS.items() if point.view is view]
        assert (points, fields_of(view)) == rows[view.__name__]


def test_every_update_is_on_the_page_with_its_points_and_all_its_fields() -> None:
    rows = {
        row[0]: (listed(row[1]), listed(row[2]))
        for row in table_of("hooks.md", "update")
    }
    updates = {point.update for point in POINTS.values()}

    assert {update.__name__ for update in updates} == set(rows)
    for update in updates:
        points = [name for name, point in POINTS.items() if point.update is update]
        fields = [n for n in fields_of(update) if n != "written"]
        assert (points, fields) == rows[update.__name__]


def test_every_field_of_a_state_is_on_the_page() -> None:
    said = [n for row in table_of("hooks.md", "state's field") for n in listed(row[0])]

    assert set(fields_of(State, shared=True)) == set(said)
    assert len(said) == len(set(said))


def test_the_page_on_proving_names_no_file_so_that_its_code_can_be_pasted() -> None:
    code = re.findall(r"```python\n(.*?)```", text_of("proving.md"), re.DOTALL)

    assert not [block for block in code if ".md" in block]
