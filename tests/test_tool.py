"""`@tool`: a schema from types, a description from the docstring, values from JSON."""

import enum
import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal, TypedDict

import attrs
import msgspec
import pydantic
import pytest

from loopcore.frozen import FrozenDict, freeze_object
from loopcore.runtime.context import ToolContext
from loopcore.runtime.parameters import Misfit
from loopcore.runtime.tool import Tool, tool
from loopcore.tools import ToolSpec

CONTEXT = ToolContext("r1.1.1.run.0")
SOME: Any = {"text": "x", "number": 3}
"""Things of a kind that is not wanted, as no type checker sees them."""


class Unit(enum.Enum):
    CELSIUS = "C"
    FAHRENHEIT = "F"


@attrs.frozen
class Point:
    x: int
    y: int = attrs.field(default=0, validator=attrs.validators.ge(0))


@dataclass
class Line:
    start: Point
    names: list[str]


class Box(msgspec.Struct):
    wide: float


class Options(TypedDict, total=False):
    loud: bool


class Trip(pydantic.BaseModel):
    days: int = pydantic.Field(gt=0)


def parameters(kind: object) -> Any:  # a schema
    """The schema of a tool with one parameter of this type."""
    return _tool_of(kind).spec.parameters


def bound(kind: object, value: object) -> Any:  # of that type
    """What the function gets for this JSON."""
    arguments = freeze_object({"it": value})
    return _tool_of(kind).bind(arguments, CONTEXT)["it"]


def _tool_of(kind: object) -> Tool:
    def look(it: object) -> None:
        """Look."""

    look.__annotations__["it"] = kind
    return tool(look)


@tool
def weather(city: str, days: int = 1, *, unit: Unit = Unit.CELSIUS) -> str:
    """
    Today's weather
    in a city.

    More about it.

    Args:
        city: The city, and
            its country.
        days: How many.
    """
    return f"{city} {days} {unit.value}"


def test_the_description_is_the_first_paragraph_of_the_docstring() -> None:
    assert weather.spec.description == "Today's weather in a city."


def test_the_schema_is_made_from_types_defaults_and_the_docstring() -> None:
    assert weather.spec.parameters == {
        "type": "object",
        "properties": {
            "city": {"description": "The city, and its country.", "type": "string"},
            "days": {"description": "How many.", "type": "integer", "default": 1},
            "unit": {"$ref": "#/$defs/Unit", "default": "C"},
        },
        "required": ("city",),
        "additionalProperties": False,
        "$defs": {"Unit": {"title": "Unit", "enum": ("C", "F")}},
    }


def test_a_tool_without_parameters_takes_an_empty_object() -> None:
    @tool
    def ping() -> str:
        """Ping."""
        return "pong"

    assert ping.spec.parameters == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_a_tool_is_still_the_function_that_it_was() -> None:
    assert weather("Paris", unit=Unit.FAHRENHEIT) == "Paris 1 F"


def test_options_become_the_spec() -> None:
    @tool(name="pay", timeout=2.5, needs_approval=True, execution="sequential")
    def transfer(cents: int) -> str:
        """Send money."""
        return str(cents)

    assert transfer.spec == ToolSpec(
        "pay",
        "Send money.",
        freeze_object(
            {
                "type": "object",
                "properties": {"cents": {"type": "integer"}},
                "required": ["cents"],
                "additionalProperties": False,
            }
        ),
        timeout=2.5,
        needs_approval=True,
        execution="sequential",
    )


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (int, 1.0, 1),
        (list[int], [1, 2.0], [1, 2]),
        (float, 1, 1.0),
        (date, "2026-03-01", date(2026, 3, 1)),
        (Unit, "F", Unit.FAHRENHEIT),
        (Literal["a", "b"], "b", "b"),
        (int | None, None, None),
        (int | str, "1", "1"),
        (Point, {"x": 1}, Point(1)),
        (Line, {"start": {"x": 1}, "names": ["a"]}, Line(Point(1), ["a"])),
        (Box, {"wide": 1.5}, Box(1.5)),
        (Options, {"loud": True}, {"loud": True}),
        (Trip, {"days": 2}, Trip(days=2)),
        (list[Trip], [{"days": 2}], [Trip(days=2)]),
        (Annotated[int, pydantic.Field(gt=0)], 2, 2),
        (dict[int, str], {"1": "a"}, {1: "a"}),
        (tuple[int, str], [1, "a"], (1, "a")),
        (set[int], [1, 2], {1, 2}),
        (dict, {"a": [{"b": None}]}, {"a": [{"b": None}]}),
    ],
)
def test_json_arrives_as_the_typed_value(
    kind: object, value: object, expected: object
) -> None:
    assert bound(kind, value) == expected


def test_untyped_json_arrives_as_ordinary_dicts_and_lists() -> None:
    value = bound(Any, {"a": [1]})

    assert (type(value), type(value["a"])) == (dict, list)


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (int, "x", "- 'it': Expected `int`, got `str`"),
        (Line, {"start": {"x": "k"}, "names": []}, "at `it.start.x`"),
        (Point, {"x": 1, "y": -1}, "- 'it': 'y' must be >= 0: -1"),
        (Trip, {"days": 0}, "- 'it.days': Input should be greater than 0"),
    ],
)
def test_json_that_does_not_fit_is_refused_with_its_path(
    kind: object, value: object, problem: str
) -> None:
    with pytest.raises(Misfit) as refused:
        bound(kind, value)

    assert problem in str(refused.value)


def test_pydantic_models_share_the_definitions_of_the_schema() -> None:
    assert parameters(list[Trip])["properties"]["it"] == {
        "type": "array",
        "items": {"$ref": "#/$defs/Trip"},
    }
    assert list(parameters(list[Trip])["$defs"]) == ["Trip"]


def test_a_text_in_annotated_describes_a_parameter() -> None:
    assert parameters(Annotated[str, "where"])["properties"]["it"] == {
        "description": "where",
        "type": "string",
    }
    assert parameters(Annotated[Literal["a", "b"], "which"])["properties"]["it"] == {
        "description": "which",
        "enum": ("a", "b"),
    }


@pytest.mark.parametrize(
    "kind",
    [Literal["a", "b"], Literal[1, "b"], Literal["a", "b"] | None],
    ids=str,
)
def test_the_values_of_a_literal_describe_nothing(kind: object) -> None:
    def look(it: object) -> None:
        """Look.

        Args:
            it: At what.
        """

    look.__annotations__["it"] = kind

    assert "description" not in parameters(kind)["properties"]["it"]
    assert "At what." == tool(look).spec.parameters["properties"]["it"]["description"]


@pytest.mark.parametrize(
    "text",
    [
        "Look.\n\n:param it: At what.",
        "Look.\n\nParameters\n----------\nit : str\n    At what.",
        "Look.\n\nArgs:\n    it (str): At what.",
    ],
)
def test_each_common_docstring_style_describes_parameters(text: str) -> None:
    def look(it: str) -> str:
        return it

    look.__doc__ = text

    properties = tool(look).spec.parameters["properties"]
    assert properties["it"]["description"] == "At what."


def test_a_docstring_that_no_parser_understands_is_no_fault() -> None:
    def look(it: str) -> str:
        return it

    look.__doc__ = ":: : :param"

    assert tool(look).spec.description == ":: : :param"


def test_the_context_is_given_and_not_offered() -> None:
    @tool
    def look(it: str, context: ToolContext) -> str:
        """Look."""
        return it + context.effect_id

    assert list(look.spec.parameters["properties"]) == ["it"]
    assert look.bind(FrozenDict(it="a"), CONTEXT) == {"it": "a", "context": CONTEXT}


def test_a_context_that_may_be_left_out_is_given_all_the_same() -> None:
    @tool
    def look(it: str, context: ToolContext | None = None) -> str:
        """Look."""
        return it if context is None else context.effect_id

    assert list(look.spec.parameters["properties"]) == ["it"]
    assert look.bind(FrozenDict(it="a"), CONTEXT) == {"it": "a", "context": CONTEXT}
    assert look("a") == "a"


def test_a_default_that_json_cannot_hold_is_left_out() -> None:
    @tool
    def look(it: float = float("nan")) -> float:
        """Look."""
        return it

    assert look.spec.parameters["properties"] == {"it": {"type": "number"}}


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    @tool
    def buy(self, item: str) -> str:
        """Buy it."""
        return f"{item} from {self.name}"


def test_a_method_is_a_tool_of_its_object() -> None:
    buy = Shop("Ada's").buy

    assert isinstance(buy, Tool)
    assert buy.spec is Shop.buy.spec
    assert list(buy.spec.parameters["properties"]) == ["item"]
    assert buy("tea") == "tea from Ada's"


def test_a_bound_method_can_be_made_a_tool() -> None:
    def buy(self: Shop, item: str) -> str:
        """Buy it."""
        return item + self.name

    bought = tool(buy.__get__(Shop("!")))

    assert list(bought.spec.parameters["properties"]) == ["item"]
    assert bought("tea") == "tea!"


def test_what_a_partial_fixes_is_not_offered() -> None:
    monday = tool(functools.partial(weather.fn, days=7), name="week")

    assert list(monday.spec.parameters["properties"]) == ["city", "unit"]
    assert monday.spec.description == "Today's weather in a city."
    assert monday("Paris") == "Paris 7 C"


def test_an_unknown_type_of_the_result_does_not_matter() -> None:
    def look(it: str) -> None:
        """Look."""

    look.__annotations__["return"] = "Nowhere"
    assert tool(look).spec.name == "look"


def test_a_hand_made_tool_takes_what_its_schema_offers() -> None:
    def forward(**arguments: object) -> object:
        return arguments

    made = Tool(ToolSpec("remote", "Anything."), forward)

    assert made.bind(freeze_object({"a": [1]}), CONTEXT) == {"a": [1]}


def test_tools_print_short() -> None:
    assert repr(weather) == "<tool weather>"


def no_type(city: str) -> None:
    """Look."""


del no_type.__annotations__["city"]


def no_docstring(city: str) -> None: ...


def many(*cities: str) -> None:
    """Look."""


def anything(**cities: str) -> None:
    """Look."""


def nameless(city: str, /) -> None:
    """Look."""


def odd(city: complex) -> None:
    """Look."""


def unknown(city: str) -> None:
    """Look."""


unknown.__annotations__["city"] = "Nowhere"


def unnamed(city: str) -> None:
    """Look."""


unnamed.__name__ = "<lambda>"


def generator(city: str) -> Iterator[str]:
    """Look."""
    yield city


NO_TYPE = (
    "@tool no_type: the parameter 'city' has no type. The model's schema is made from "
    "the types: `def no_type(city: str) -> str`."
)
NO_DOCSTRING = (
    "@tool no_docstring has no docstring. The model chooses tools by their "
    "description: say in one sentence what it does."
)


@pytest.mark.parametrize(
    ("fn", "problem"),
    [
        (no_type, NO_TYPE),
        (no_docstring, NO_DOCSTRING),
        (many, "@tool many: *cities: str takes anything"),
        (anything, "@tool anything: **cities: str takes anything"),
        (nameless, "@tool nameless: the parameter 'city' has no name"),
        (unknown, "@tool unknown: a type is not known where the function is"),
        (unnamed, "@tool <lambda>: model services take names"),
        (generator, "@tool generator: it is a generator"),
    ],
)
def test_what_a_model_could_not_be_told_is_refused(
    fn: Callable[..., Any], problem: str
) -> None:
    """Mistake 11."""
    with pytest.raises(TypeError) as refused:
        tool(fn)

    assert str(refused.value).startswith(problem)


@pytest.mark.parametrize("with_pydantic", [True, False])
def test_a_type_that_json_has_nothing_like_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    with_pydantic: bool,  # noqa: FBT001  # of the matrix
) -> None:
    """Mistake 11."""

    class Socket:
        def __init__(self, address: object) -> None:
            self.address = address

    if not with_pydantic:
        monkeypatch.delitem(sys.modules, "pydantic")
    with pytest.raises(TypeError, match="the parameter 'it' has a type that JSON has"):
        parameters(Socket)


def test_two_types_of_one_name_are_refused() -> None:
    @attrs.frozen
    class Point:
        z: str

    def look(one: object, two: object) -> None:
        """Look."""

    look.__annotations__.update(one=Point, two=Line)
    with pytest.raises(TypeError, match="two of its types are called 'Point'"):
        tool(look)


def test_a_timeout_that_leaves_no_time_is_refused() -> None:
    with pytest.raises(TypeError, match="timeout=0 leaves it no time"):
        tool(weather.fn, timeout=0)


@pytest.mark.parametrize(
    ("slip", "sentence"),
    [
        (lambda: tool(SOME["text"]), r"Write @tool\(name='x'\) before one"),
        (lambda: tool(SOME["number"]), r"it got 3\. Write @tool, or @tool\(\)"),
        (lambda: tool(weather.fn, timeout=SOME["text"]), "takes int or float or None"),
    ],
)
def test_a_slip_in_what_tool_is_given_says_what_to_write(
    slip: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(TypeError, match=sentence):
        slip()


def test_a_set_as_a_default_is_the_same_in_every_process() -> None:
    @tool
    def pick(names: set[str] = {"r", "p", "q"}) -> str:  # noqa: B006  # what is tested
        """Picks."""
        return " ".join(names)

    assert ("p", "q", "r") == pick.spec.parameters["properties"]["names"]["default"]
