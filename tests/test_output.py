"""Structured output: what a run comes to, and how a reply that does not fit is mended."""

import dataclasses
import json
import time
from typing import Annotated, Any

import attrs
import msgspec
import pytest
from pydantic import AfterValidator, BaseModel, Field

from loopcore import (
    CallModel,
    FollowUp,
    LoopConfig,
    NotDone,
    RunResult,
    State,
    Steer,
    ToolOutput,
    UserMessage,
)
from loopcore.effects import output_of
from loopcore.output import values
from loopcore.policies import limits
from tests.counting import FOR_EVER
from tests.driving import MODEL, Run, begin, call, spec


@attrs.frozen
class Recipe:
    """What most tests here want."""

    title: str
    minutes: int = attrs.field(validator=attrs.validators.gt(0))
    steps: list[str]


@dataclasses.dataclass(frozen=True)
class Plain:
    """A dataclass."""

    title: str
    tags: dict[str, list[int]]


class Struct(msgspec.Struct, frozen=True):
    """A msgspec struct."""

    title: str
    inner: Plain


@attrs.frozen
class Node:
    """What has others of its kind in it, and needs nothing but a name."""

    name: str
    child: "Node | None" = None
    others: "tuple[Node, ...]" = ()


class Restaurant(BaseModel):
    """A pydantic model."""

    name: str
    dishes: list[str] = Field(min_length=1)


def _odd(table: str) -> str:
    message = f"there is no table {table}"
    raise ValueError(message)


class Hall(BaseModel):
    """One that refuses every table."""

    tables: list[Annotated[str, AfterValidator(_odd)]]


READ: list[int] = []


def _seen(value: int) -> int:
    READ.append(value)
    message = "never fits"
    raise ValueError(message)


class Seen(BaseModel):
    """One that writes down what it was made of."""

    n: Annotated[int, AfterValidator(_seen)]


GOOD = '{"title": "Pasta", "minutes": 12, "steps": ["boil"]}'
BAD = '{"title": "Pasta", "minutes": "soon", "steps": "boil"}'
PASTA = Recipe("Pasta", 12, ["boil"])


def wants(kind: Any, *hooks: Any, tools: str = "", **more: Any) -> LoopConfig[Any]:
    """A configuration whose runs come to this type."""
    specs = [spec(tool) for tool in tools]
    return LoopConfig(model=MODEL, tools=specs, hooks=hooks, output=kind, **more)


def output(run: Run) -> Any:
    """What it came to."""
    return RunResult.of(run.config, run.state).output


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Recipe, GOOD, PASTA),
        (Plain, '{"title": "a", "tags": {"b": [1]}}', Plain("a", {"b": [1]})),
        (
            Struct,
            '{"title": "a", "inner": {"title": "b", "tags": {}}}',
            Struct("a", Plain("b", {})),
        ),
        (
            Restaurant,
            '{"name": "a", "dishes": ["b"]}',
            Restaurant(name="a", dishes=["b"]),
        ),
        (list[int], "[1, 2]", [1, 2]),
        (int, "42", 42),
        (dict[str, float], '{"a": 1.5}', {"a": 1.5}),
    ],
)
def test_a_reply_comes_to_the_type_that_is_wanted(
    kind: Any, text: str, value: Any
) -> None:
    """Tool loop vector 2."""
    assert value == output(begin(wants(kind)).says(text))


def test_without_a_type_or_with_str_it_is_the_text() -> None:
    assert GOOD == output(begin(wants(None)).says(GOOD))
    assert "hi" == output(begin(wants(str)).says("hi"))


def test_a_request_carries_the_schema() -> None:
    asked = begin(wants(Recipe)).one(CallModel)

    assert asked.output is not None
    assert "minutes" in repr(asked.output)
    assert None is begin(wants(None)).one(CallModel).output


@pytest.mark.parametrize(
    "text",
    [
        f"Here you are: {GOOD} Enjoy!",
        f"```json\n{GOOD}\n```",
        f"<think>{{maybe}} a [list]?</think>\n{GOOD}",
        f"A set {{like this}} is none. {GOOD}",
        f"[1] {GOOD}",
    ],
)
def test_the_first_value_that_fits_is_taken_from_the_text(text: str) -> None:
    """Report kind f: a balanced value, never cut strings: brackets in texts stay."""
    assert PASTA == output(begin(wants(Recipe)).says(text))


def test_braces_and_spaces_inside_strings_survive() -> None:
    text = 'So: {"title": "a } b { \\" c  d", "minutes": 1, "steps": []} {'

    assert 'a } b { " c  d' == output(begin(wants(Recipe)).says(text)).title


FAMILY = (
    '{"name": "a [b] {c", "child": {"name": "d", "others": [{"name": "e"}]}, '
    '"others": [{"name": "f"}]}'
)


@pytest.mark.parametrize("before", ["", "Here it is: ", "[1] A set {of these}: "])
def test_a_part_of_a_value_that_was_cut_off_is_no_value(before: str) -> None:
    """Report kind f: what is inside an unclosed value would fit a type that nests itself."""
    run = begin(wants(Node, repairs=0))
    cuts = range(len(before), len(before + FAMILY))

    assert {"output_error"} == {
        run.says(f"{before}{FAMILY}"[:end], finish="length").reason for end in cuts
    }
    assert "a [b] {c" == output(run.says(before + FAMILY)).name


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (FAMILY[:-1] + ",}", "Expecting property name enclosed in double quotes"),
        (FAMILY.replace("a [b]", "a\n[b]"), "Invalid control character at: line 1"),
        (FAMILY.replace('"f"', "None"), "Expecting value: line 1 column 97 (char 96)"),
        (FAMILY.replace('"f"', "NaN"), "NaN is not JSON"),
        (FAMILY.replace("}, ", "} "), "Expecting ',' delimiter"),
        (FAMILY.replace('"name": "a', 'name: "a'), "Expecting property name enclosed"),
        (
            FAMILY.replace('"name": "a', "'name': \"a"),
            "Expecting property name enclosed",
        ),
    ],
)
def test_a_part_of_a_broken_value_is_no_value_and_the_break_is_told(
    broken: str, why: str
) -> None:
    run = begin(wants(Node)).says(f"So: {broken}")

    assert why in run.state.transcript[-1].text
    assert "so it is" == output(run.says(f'{broken} no, {{"name": "so it is"}}')).name


@pytest.mark.parametrize("interval", ["[0, 1)", "[0, ∞)", "[-1.5,2)"])
def test_an_interval_that_is_open_at_its_end_hides_no_value(interval: str) -> None:
    """Its bracket is never closed, so that all the rest was taken as a broken value."""
    run = begin(wants(Node)).says(f'In {interval}: {{"name": "so it is"}}')

    assert "so it is" == output(run).name


def test_a_hostile_text_is_looked_at_a_limited_number_of_times() -> None:
    assert [] == list(values("[" * 20_000))
    assert [] == list(values('{"a":' * 20_000))


def test_unclosed_text_is_not_read_to_its_end_from_every_start() -> None:
    began = time.process_time()

    assert [] == list(values("[" * 100 + "1," * 300_000))
    assert [] == list(values("[" * 100 + '"a",' * 300_000))
    assert time.process_time() - began < FOR_EVER


def test_many_problems_are_told_as_far_as_anybody_reads_them() -> None:
    """A repair request goes into the transcript, and a stop's detail into the state."""
    many = json.dumps(["x" * 1000] * 20_000)
    run = begin(wants(list[int], repairs=1)).says(many)
    sent_back = run.state.transcript[-1]

    assert isinstance(sent_back, UserMessage)
    assert "- ... and 19950 more" in sent_back.text
    assert len(sent_back.text) < 20_000
    assert len(run.says(many).stop.detail) < 20_000


def test_what_a_validator_says_at_length_is_cut() -> None:
    dishes = json.dumps({"name": "a", "dishes": ["b"] * 100, "tables": ["c"] * 5_000})
    run = begin(wants(Hall)).says(dishes)

    assert "characters)" in run.state.transcript[-1].text
    assert len(run.state.transcript[-1].text) < 3_000


def test_a_reply_is_read_once_in_a_step() -> None:
    READ.clear()
    begin(wants(Seen)).says('{"n": -1}')

    assert [-1] == READ


def test_plain_meanings_are_coerced_as_for_arguments() -> None:
    run = begin(wants(Recipe)).says('{"title": 7, "minutes": "12", "steps": ["boil"]}')

    assert Recipe("7", 12, ["boil"]) == output(run)


def test_a_reply_that_does_not_fit_is_sent_back_with_every_problem() -> None:
    """Tool loop vectors 110, 111; the attempts are in the transcript."""
    run = begin(wants(Recipe)).says(BAD)

    sent_back = run.state.transcript[-1]
    assert isinstance(sent_back, UserMessage)
    assert "'minutes'" in sent_back.text
    assert "'steps'" in sent_back.text
    done = run.says(GOOD)
    assert PASTA == output(done)
    assert 4 == len(done.state.transcript)


def test_a_validator_that_raises_is_a_repair_request() -> None:
    run = begin(wants(Recipe)).says('{"title": "a", "minutes": 0, "steps": []}')

    assert "'minutes' must be > 0" in run.state.transcript[-1].text


def test_pydantic_says_every_place_itself() -> None:
    run = begin(wants(Restaurant)).says('{"name": "a", "dishes": []}')

    assert "dishes" in run.state.transcript[-1].text


def test_repairs_are_limited_and_the_stop_says_what_was_wrong() -> None:
    """D79, vector 112: attempts used up."""
    run = (
        begin(wants(Recipe, repairs=2))
        .says(BAD)
        .says("no")
        .says('{"title": "a", "minutes": 0, "steps": []}')
    )

    assert "output_error" == run.reason
    assert "'minutes' must be > 0" in run.stop.detail
    assert run.stop.detail.endswith("(after 2 repairs)")
    assert None is output(run)
    with pytest.raises(NotDone, match="output_error"):
        RunResult.of(run.config, run.state).unwrap()


def test_without_repairs_the_first_misfit_is_the_last() -> None:
    assert "output_error" == begin(wants(Recipe, repairs=0)).says(BAD).reason


def test_a_refusal_is_final() -> None:
    """D85: output_error at once, no repair."""
    run = begin(wants(Recipe)).says("I will not.", finish="refusal")

    assert "output_error: the model refused" == str(run.stop)


def test_steering_comes_first_and_spends_no_attempt() -> None:
    """D79: output invalid with steering queued."""
    run = begin(wants(Recipe, repairs=1)).give(Steer("Hurry.")).says(BAD)

    assert "user: Hurry." == run.script[-1]
    assert 0 == run.state.repairs
    assert PASTA == output(run.says(BAD).says(GOOD))


def test_a_run_that_a_batch_ends_is_not_checked() -> None:
    """D79, D90: terminated, and no output."""
    run = begin(wants(Recipe, tools="a")).says(call("a"))
    run = run.give(run.tool("a").reply(ToolOutput("ended", terminate=True)))

    assert "terminated" == run.reason
    assert None is output(run)


def test_tools_run_before_there_is_an_output() -> None:
    run = (
        begin(wants(Recipe, tools="a"))
        .says(call("a"))
        .ran("a", "12 minutes")
        .says(GOOD)
    )

    assert PASTA == output(run)


def test_follow_ups_wait_for_an_output_and_each_end_has_its_own_repairs() -> None:
    run = begin(wants(Recipe, repairs=1)).give(FollowUp("And for two?"))
    run = run.says(BAD)
    assert 1 == len(run.state.follow_ups)
    run = run.says(GOOD)
    assert "user: And for two?" == run.script[-1]
    assert PASTA == output(run.says(BAD).says(GOOD))


def test_a_limit_counts_a_repair_as_going_on() -> None:
    """D86: a reply that fits at the limit is done, one that does not is a limit."""
    config = wants(Recipe, limits(turns=1))

    assert "done" == begin(config).says(GOOD).reason
    assert "limit" == begin(config).says(BAD).reason


def test_an_optional_output_may_be_a_value() -> None:
    run = begin(wants(Recipe, optional=True)).says(
        f'{{"value": {GOOD}, "reason": null}}'
    )

    assert PASTA == output(run)


def test_an_optional_output_may_be_a_reason_why_not() -> None:
    """D88, vector 116."""
    run = begin(wants(Recipe, optional=True)).says(
        '{"value": null, "reason": "no pot"}'
    )

    assert "done: no pot" == str(run.stop)
    assert None is output(run)
    with pytest.raises(NotDone, match="no pot"):
        RunResult.of(run.config, run.state).unwrap()


@pytest.mark.parametrize(
    "text",
    [
        '{"value": null, "reason": null}',
        '{"value": null, "reason": " "}',
        '{"value": 3}',
    ],
)
def test_an_optional_output_that_is_neither_is_sent_back(text: str) -> None:
    """Vector 116."""
    assert not begin(wants(Recipe, optional=True)).says(text).reason


class Order(BaseModel):
    """What has parts that may be missing, or of several kinds."""

    title: str
    back: Restaurant | None = None
    either: Restaurant | list[int] | None = None
    pair: tuple[int, str] = (0, "")


@pytest.mark.parametrize(
    ("kind", "text", "places"),
    [
        (
            Recipe,
            '{"title": "", "minutes": "x", "steps": [[]]}',
            ["minutes", "steps[0]"],
        ),
        (Node, '{"name": "a", "child": {"child": null}}', ["child"]),
        (Node, '{"name": "a", "others": [{"name": []}]}', ["others[0].name"]),
        (Order, '{"title": "a", "back": {"name": []}}', ["back", "back.name"]),
        (Order, '{"title": "a", "either": ["x", 1, "y"]}', ["either[0]", "either[2]"]),
        (
            Order,
            '{"title": "a", "back": {"name": []}, "pair": ["x", []]}',
            ["back", "back.name", "pair[0]", "pair[1]"],
        ),
    ],
)
def test_every_place_in_what_may_be_missing_is_told(
    kind: Any, text: str, places: list[str]
) -> None:
    """That nothing may stand there is no news to a model that gave something."""
    said = begin(wants(kind)).says(text).state.transcript[-1].text
    chosen = begin(wants(kind, optional=True))
    said_too = chosen.says(f'{{"value": {text}, "reason": null}}').state.transcript[-1]

    assert places == [line.split("'")[1] for line in said.splitlines()[1:-1]]
    assert said.replace("- '", "- 'value.") == said_too.text


def test_an_attempt_survives_a_save_and_a_load() -> None:
    run = begin(wants(Recipe)).says(BAD)
    loaded = State.loads(run.state.dumps()).unwrap()

    assert run.state == loaded
    assert 1 == loaded.repairs


class Opaque:
    """Nothing that JSON could say."""


def test_a_type_that_json_has_nothing_like_is_refused_when_the_config_is_built() -> (
    None
):
    with pytest.raises(TypeError, match=r"LoopConfig\(output=...\) takes .*Opaque"):
        wants(Opaque)


@attrs.frozen
class Mixed:
    """What msgspec cannot be told of."""

    inside: Restaurant


@attrs.frozen
class Unknown:
    """What names a class that is nowhere to be found."""

    inside: "Nowhere"  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore[reportUndefinedVariable]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            Recipe | Node,
            "more than one dataclass or attrs .* msgspec structs with a tag",
        ),
        (Mixed, "Restaurant.* is not supported. It and all in it are best of one kind"),
        (Unknown, "'Nowhere' is not defined. What it is made of is looked up"),
    ],
)
def test_a_type_that_cannot_be_told_is_refused_with_what_to_do(
    kind: Any, said: str
) -> None:
    with pytest.raises(TypeError, match=rf"LoopConfig\(output=...\) takes .*{said}"):
        wants(kind)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (PASTA, '{"title":"Pasta","minutes":12,"steps":["boil"]}'),
        (Plain("a", {"b": [1]}), '{"title":"a","tags":{"b":[1]}}'),
        (Restaurant(name="a", dishes=["b"]), '{"name":"a","dishes":["b"]}'),
        ([Plain("a", {})], '[{"title":"a","tags":{}}]'),
    ],
)
def test_a_tool_may_return_records(value: object, text: str) -> None:
    """Report 97: converted by a documented rule at the tool's edge."""
    assert ToolOutput(text) == output_of(value)


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), [{"a": {1}}], float("nan")])
def test_a_tool_that_returns_no_json_gave_an_error(value: object) -> None:
    """D77, report 97."""
    made = output_of(value)

    assert "error" == made.outcome
    assert "not JSON" in made.text
