"""Arguments are coerced where the meaning is plain, then validated."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from returns.result import Failure, Success

from loopcore.arguments import arguments_for
from loopcore.frozen import FrozenDict, Json, freeze, freeze_object
from loopcore.tools import ToolSpec
from tests.counting import FOR_EVER

CASES = json.loads((Path(__file__).parent / "data" / "coercion.json").read_text())


def tool(schema: dict[str, Any]) -> ToolSpec:
    return ToolSpec("search", parameters=schema)


def fitted(schema: dict[str, Any], **arguments: object) -> object:
    match arguments_for(tool(schema), freeze_object(arguments)):
        case Success(value):
            return exact(value)
        case Failure():
            return None


def refusal(schema: dict[str, Any], **arguments: object) -> str:
    match arguments_for(tool(schema), freeze_object(arguments)):
        case Success(value):
            return f"accepted: {value}"
        case Failure(text):
            return text


def exact(value: Json) -> str:
    """JSON text: as Python values 1, 1.0 and True are equal."""
    return json.dumps(value)


def field(schema: object) -> dict[str, Any]:
    return {"type": "object", "properties": {"v": schema}, "required": ["v"]}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_agrees_with_what_was_measured(case: dict[str, Any]) -> None:
    """T8: null for a typed argument is the one case that differs on purpose."""
    found = arguments_for(tool(case["parameters"]), freeze_object(case["arguments"]))

    assert freeze(case["fitted"]) == found.value_or(None)


@pytest.mark.parametrize(
    ("kind", "given", "made"),
    [
        ("number", "3", 3),
        ("number", "-1.5e2", -150.0),
        ("number", True, 1),
        ("integer", "3", 3),
        ("integer", "3.0", 3),
        ("integer", "12345678901234567890", 12345678901234567890),
        ("integer", False, 0),
        ("integer", 3.0, 3.0),
        ("string", 5, "5"),
        ("string", 2.5, "2.5"),
        ("string", False, "false"),
        ("boolean", "true", True),
        ("boolean", "false", False),
        ("boolean", 1, True),
        ("boolean", 0, False),
        (["boolean", "number"], "1", 1),
        (["boolean", "null"], None, None),
        (["string", "integer"], 5, 5),
    ],
)
def test_scalars_become_the_type_that_is_asked(
    kind: object, given: object, made: object
) -> None:
    assert exact({"v": made}) == fitted(field({"type": kind}), v=given)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("integer", "3.5"),
        ("integer", "1e300"),
        ("integer", 2.5),
        ("number", ""),
        ("number", " 3"),
        ("number", "1_000"),
        ("number", "٣"),
        ("number", "NaN"),
        ("number", "1e999"),
        ("number", "9" * 5000),
        ("boolean", "True"),
        ("boolean", "1"),
        ("boolean", 2),
        ("array", "1"),
        ("object", '{"a": 1}'),
        ("null", "null"),
        ("null", ""),
        ("null", 0),
        ("string", [1]),
    ],
)
def test_what_would_be_a_guess_is_refused(kind: object, given: object) -> None:
    assert fitted(field({"type": kind}), v=given) is None


@pytest.mark.parametrize("kind", ["number", "integer", "string", "boolean", "object"])
def test_null_is_never_coerced(kind: str) -> None:
    """T8: it is invalid unless the schema allows null."""
    assert fitted(field({"type": kind}), v=None) is None


def test_what_is_valid_under_a_later_branch_is_never_touched() -> None:
    """T9."""
    schema = field({"anyOf": [{"type": "string"}, {"type": "integer"}]})

    assert exact({"v": 5}) == fitted(schema, v=5)


def test_a_valid_value_is_untouched_beside_one_that_is_coerced() -> None:
    """T9: also where something else has to be coerced."""
    schema = {
        "properties": {
            "v": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "n": {"type": "integer"},
        }
    }

    assert exact({"v": 5, "n": 6}) == fitted(schema, v=5, n="6")


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_the_first_branch_that_the_coerced_value_fits_is_taken(keyword: str) -> None:
    branches = [
        {"type": "integer", "maximum": 3},
        {"type": "boolean"},
        {"type": "number"},
    ]

    assert exact({"v": 7}) == fitted(field({keyword: branches}), v="7")


def test_what_fits_two_branches_of_one_of_is_refused() -> None:
    """Vector 113."""
    branches = [{"type": "integer"}, {"type": "number"}]

    assert fitted(field({"oneOf": branches}), v=1) is None


def test_coercion_reaches_everywhere() -> None:
    leaf = {"type": "integer"}
    schema: dict[str, Any] = {
        "properties": {
            "items": {"items": leaf},
            "tuple": {"prefixItems": [{"type": "string"}, leaf], "items": leaf},
            "others": {"additionalProperties": leaf},
            "all": {"allOf": [leaf, {"minimum": 0}]},
            "ref": {"$ref": "#/$defs/a~1b%20c"},
            "deep": {"properties": {"v": {"items": {"$ref": "#/$defs/a~1b%20c"}}}},
        },
        "$defs": {"a/b c": leaf},
    }
    given = {
        "items": ["1", 2],
        "tuple": [1, "2", "3"],
        "others": {"k": "1"},
        "all": "1",
        "ref": "1",
        "deep": {"v": ["1"]},
    }
    made = {
        "items": [1, 2],
        "tuple": ["1", 2, 3],
        "others": {"k": 1},
        "all": 1,
        "ref": 1,
        "deep": {"v": [1]},
    }

    assert exact(made) == fitted(schema, **given)


def test_items_of_older_drafts_may_be_many_schemas() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"v": {"items": [{"type": "integer"}, {"type": "string"}]}},
    }

    assert exact({"v": [1, "2", "3"]}) == fitted(schema, v=["1", 2, "3"])


def test_a_recursive_schema_is_followed_as_deep_as_the_value_goes() -> None:
    node: dict[str, Any] = {
        "properties": {"n": {"type": "integer"}, "kid": {"$ref": "#"}}
    }
    given = {"n": "1", "kid": {"n": "2", "kid": {"n": "3"}}}

    assert exact({"n": 1, "kid": {"n": 2, "kid": {"n": 3}}}) == fitted(node, **given)


def test_valid_arguments_come_back_as_the_same_object() -> None:
    given = freeze_object({"v": [{"w": 1}]})
    found = arguments_for(tool(field({"items": {"type": "object"}})), given)

    assert found.unwrap() is given


def test_untouched_parts_are_shared() -> None:
    given = freeze_object({"big": [1, 2, 3], "v": "1"})
    found = arguments_for(tool(field({"type": "integer"})), given).unwrap()

    assert found["big"] is given["big"]
    assert list(found) == ["big", "v"]


def test_defaults_are_not_filled_in() -> None:
    schema = {"properties": {"v": {"type": "integer", "default": 3}}}

    assert exact({}) == fitted(schema)


def test_the_model_is_told_every_path_and_what_it_sent() -> None:
    """Vector 25."""
    schema = {
        "type": "object",
        "properties": {
            "limit": {"type": "integer", "maximum": 50},
            "tags": {"items": {"type": "string"}},
        },
        "required": ["query"],
        "additionalProperties": False,
    }

    assert refusal(schema, limit="99", tags=["a", ["b"]], x=1) == (
        "The arguments do not fit the tool 'search'; it was not run:\n"
        "- 'limit': 99 is greater than the maximum of 50\n"
        '- \'tags[1]\': ["b"] is not of type "string"\n'
        "- the arguments: Additional properties are not allowed ('x' was unexpected)\n"
        '- the arguments: "query" is a required property\n'
        'Received: {"limit":"99","tags":["a",["b"]],"x":1}\n'
        "Call it again with arguments that fit."
    )


def test_the_model_is_told_what_each_alternative_wanted() -> None:
    schema = field({"anyOf": [{"type": "boolean"}, {"type": "integer"}]})

    assert (
        "- 'v': fits none of its alternatives ("
        '"x" is not of type "boolean"; "x" is not of type "integer")'
    ) in refusal(schema, v="x")


def test_a_refusal_stays_readable_whatever_was_sent() -> None:
    schema = field({"items": {"type": "boolean"}})
    told = refusal(schema, v=["x" * 1000] * 500)

    assert "- ... and 450 more" in told
    assert len(told) < 20_000


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"type": 5},
        {"properties": []},
        {"required": "x"},
        {"pattern": "("},
        {"$ref": "#/$defs/é"},
        {"multipleOf": 0},
        {"$ref": "#/nowhere"},
        {"$schema": "http://nowhere.invalid/schema"},
        {"$id": "http://["},
    ],
)
def test_a_broken_schema_is_told_as_the_tools_own_fault(schema: dict[str, Any]) -> None:
    """D72."""
    told = refusal(schema)

    assert told.startswith("The tool 'search' cannot be called: the schema")
    assert told.endswith("No arguments would fit; go on without this tool.")


def test_other_properties_are_left_alone_where_patterns_may_speak_for_them() -> None:
    schema = {
        "patternProperties": {"^s": {"type": "string"}},
        "additionalProperties": {"type": "integer"},
    }

    assert exact({"s": "1", "n": 2}) == fitted(schema, s="1", n=2)
    assert fitted(schema, s="1", n="2") is None


def test_what_is_no_array_or_object_is_left_to_the_validator() -> None:
    for keyword in ("items", "properties", "additionalProperties"):
        inner = {"v": {"type": "integer"}} if keyword == "properties" else {}
        schema = field({keyword: inner, "type": ["array", "object"]})

        assert fitted(schema, v="x") is None


@pytest.mark.parametrize("scheme", ["http://127.0.0.1:9/s.json", "file:///etc/hosts"])
def test_a_schema_elsewhere_is_never_fetched(scheme: str) -> None:
    assert "Retrieval is disabled" in refusal(field({"$ref": scheme}), v=1)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "array"},
        {"anyOf": [{"$ref": "#"}, {"type": "array"}]},
        {"additionalProperties": {"$ref": "#"}, "type": "array"},
        {"properties": {"v": False}},
        {"properties": {"v": {"$ref": "#/default"}}, "default": {"type": ["x", 5]}},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"v": {"prefixItems": 5, "items": {"type": "integer"}}},
        },
    ],
)
def test_a_hostile_schema_neither_raises_nor_loops(schema: dict[str, Any]) -> None:
    told = refusal(schema, v=[{"w": "1"}], w={"v": {}})

    assert told.startswith(("accepted", "The arguments", "The tool"))


def test_a_pattern_cannot_hang() -> None:
    began = time.process_time()
    told = refusal(field({"pattern": "^(a|a)*(?!x)b$"}), v="a" * 60)

    assert "backtracking" in told
    assert time.process_time() - began < FOR_EVER


def test_a_schema_of_many_branches_cannot_hang() -> None:
    defs: dict[str, Any] = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(10)
    }
    schema = field({"$ref": "#/$defs/d0"}) | {"$defs": defs | {"d10": {"const": 0}}}
    began = time.process_time()

    assert "The arguments do not fit" in refusal(schema, v="1")
    assert time.process_time() - began < FOR_EVER


def expression(depth: int) -> dict[str, Any]:
    """Wrong in its innermost part only."""
    value: dict[str, Any] = {"type": "num", "value": "much"}
    for _ in range(depth):
        value = {"type": "neg", "of": value}
    return value


def alternatives(*names: str) -> dict[str, Any]:
    """A union of records that hold the union itself, told apart by their type."""
    inner = {"$ref": "#/$defs/any"}
    records: list[dict[str, Any]] = [
        {"properties": {"type": {"enum": [name]}, "of": inner}, "required": ["of"]}
        for name in names
    ]
    number = {"properties": {"type": {"const": "num"}, "value": {"type": "number"}}}
    return field(inner) | {"$defs": {"any": {"anyOf": [number, *records]}}}


def test_of_nested_alternatives_the_one_that_is_meant_is_described() -> None:
    schema = alternatives("neg", "abs", "inv")

    assert (
        'it was not run:\n- \'v.of.of.value\': "much" is not of type "number"\nReceived'
    ) in refusal(schema, v=expression(2))


def test_nested_alternatives_cannot_hang() -> None:
    began = time.process_time()
    told = refusal(alternatives("neg", "abs", "inv"), v=expression(90))

    assert '.of.value\': "much" is not of type "number"' in told
    assert time.process_time() - began < FOR_EVER


def test_alternatives_that_look_alike_cannot_hang() -> None:
    began = time.process_time()
    told = refusal(alternatives("neg", "neg", "neg"), v=expression(90))

    assert "- 'v': fits none of its alternatives" in told
    assert time.process_time() - began < FOR_EVER


def test_what_tells_alternatives_apart_is_told() -> None:
    told = refusal(alternatives("neg", "abs"), v={"type": "sum", "of": 1})

    assert (
        "- 'v': fits none of its alternatives ('type': \"num\" was expected; "
        '\'type\': "sum" is not one of "neg"; \'type\': "sum" is not one of "abs")'
    ) in told


def test_every_place_of_a_tree_that_does_not_fit_is_named() -> None:
    node = {
        "properties": {
            "n": {"type": "integer"},
            "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            "kind": {"oneOf": [{"const": "a"}, {"enum": ["b", "a"]}, {"const": "c"}]},
            "more": {"additionalProperties": {"$ref": "#/$defs/node"}},
            "not": {"not": {"type": "null"}},
            "pair": {"prefixItems": [{"type": "integer"}], "items": {"const": 0}},
        },
        "allOf": [{"required": ["n"]}, {"required": ["n"]}],
        "additionalProperties": False,
    }
    given = {
        "n": "x",
        "kids": [{"n": 1, "odd": 1}, {}],
        "more": {"k": {"n": 2, "kind": "a"}, "l": {"n": 3, "kind": "d"}},
        "not": None,
        "pair": ["x", 1],
    }
    told = refusal(field({"$ref": "#/$defs/node"}) | {"$defs": {"node": node}}, v=given)

    none = '"a" was expected; "d" is not one of "b" or "a"; "c" was expected'
    assert told.splitlines()[1:-2] == [
        '- \'v.n\': "x" is not of type "integer"',
        "- 'v.kids[0]': Additional properties are not allowed ('odd' was unexpected)",
        "- 'v.kids[1]': \"n\" is a required property",
        "- 'v.more.k.kind': fits several of its alternatives, not one",
        f"- 'v.more.l.kind': fits none of its alternatives ({none})",
        "- 'v.not': does not fit what its schema says under 'not'",
        '- \'v.pair[0]\': "x" is not of type "integer"',
        "- 'v.pair[1]': 0 was expected",
    ]


def chained(length: int, last: object, **link: Any) -> dict[str, Any]:
    """Definitions that each hold what `link` makes of the next one."""

    def at(n: int) -> dict[str, Any]:
        text = json.dumps(link).replace("NEXT", f"#/$defs/d{n + 1}")
        found: dict[str, Any] = json.loads(text)
        return found

    defs = {f"d{n}": at(n) for n in range(length)} | {f"d{length}": last}
    return field({"$ref": "#/$defs/d0"}) | {"$defs": defs}


NEXT = {"$ref": "NEXT"}


@pytest.mark.parametrize(
    "link",
    [
        {"anyOf": [NEXT, NEXT]},
        {"allOf": [NEXT, NEXT]},
        {"oneOf": [NEXT, {"not": NEXT}]},
        {"if": NEXT, "then": NEXT},
        {"anyOf": [{"properties": {"a": NEXT}}, {"properties": {"a": NEXT}}]},
        {"patternProperties": {"^a": NEXT, "a$": NEXT}},
        {"items": NEXT, "contains": NEXT},
    ],
)
def test_a_schema_that_spreads_without_bound_is_broken(link: dict[str, Any]) -> None:
    began = time.process_time()

    assert "more than can be checked" in refusal(chained(40, {"const": 0}, **link), v=1)
    assert time.process_time() - began < FOR_EVER


def test_a_schema_that_spreads_by_other_names_is_broken_too() -> None:
    parts = {
        str(n): {"$anchor": f"a{n}", "anyOf": [{"$ref": f"#a{n + 1}"}] * 2}
        for n in range(40)
    }
    ids = {
        str(n): {"$id": f"http://x/{n}.json", "anyOf": [{"$ref": f"{n + 1}.json"}] * 2}
        for n in range(40)
    }

    for defs, start in ((parts, "#a0"), (ids, "http://x/0.json")):
        schema = field({"$ref": start}) | {"$defs": defs}
        assert "cannot be called" in refusal(schema, v=1)
    assert "more than can be checked" in refusal(
        field({"$ref": "#a0"}) | {"$defs": parts | {"40": {"$anchor": "a40"}}}, v=1
    )


def test_a_schema_of_many_properties_does_not_spread() -> None:
    wide = {"properties": {f"p{n}": NEXT for n in range(50)}}

    assert exact({"v": {}}) == fitted(chained(20, {"type": "integer"}, **wide), v={})


def test_arguments_too_deep_to_coerce_are_validated_as_they_are() -> None:
    node = {"properties": {"n": {"type": "integer"}, "kid": {"anyOf": [NEXT, {}]}}}
    told = refusal(chained(0, {"type": "integer"}, **node), v="x")
    nested: dict[str, Any] = {"n": "1"}
    for _ in range(95):
        nested = {"n": 1, "kid": nested}
    schema = {
        "properties": {
            "n": {"type": "integer"},
            "kid": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
        }
    }

    def deeper(frames: int) -> str:
        return deeper(frames - 1) if frames else refusal(schema, **nested)

    assert 'is not of type "integer"' in told
    assert deeper(300).startswith(("accepted", "The arguments do not fit"))


def test_equal_looking_schemas_are_kept_apart() -> None:
    """As Python values 1 and True are equal, and so would be the two schemas."""
    found = [fitted(field({"const": const}), v=1) for const in (1, True)]

    assert [exact({"v": 1}), None] == found


def test_the_arguments_are_frozen_json() -> None:
    found = arguments_for(
        tool(field({"items": {"type": "integer"}})), given := freeze({"v": ["1"]})
    ).unwrap()

    assert isinstance(found, FrozenDict)
    assert found["v"] == (1,)
    assert given["v"] == ("1",)
