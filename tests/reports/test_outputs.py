"""Reports about structured output."""

from typing import Any

import attrs
import pytest
from pydantic import BaseModel, field_validator

from loopcore import (
    AssistantMessage,
    LoopConfig,
    NotDone,
    RunResult,
    ToolCall,
    Usage,
)
from tests.driving import MODEL, Run, begin, call, config
from tests.ways import every_way, output, scripted


@attrs.frozen
class Flag:
    """What these runs are to come to."""

    ok: bool


def wants(kind: Any, **more: Any) -> LoopConfig[Any]:
    """A configuration whose runs come to this type."""
    made: LoopConfig[Any] = config(output=kind, **more)
    return made


BAD = AssistantMessage('{"ok": "maybe"}', usage=Usage(10, 5))


@every_way
@pytest.mark.parametrize("repairs", [0, 1, 3])
def test_repairs_end_and_keep_what_was_said_and_used(way: str, repairs: int) -> None:
    """Reports 159, 160, 162: the configuration's own number holds; nothing is endless."""
    asked = repairs + 1
    played = scripted(way, wants(Flag, repairs=repairs), *[BAD] * asked)

    assert ("output_error", asked) == (played.reason, len(played.requests))
    assert 2 * asked == len(played.state.transcript)
    with pytest.raises(NotDone) as why:
        RunResult.of(played.config, played.state).unwrap()
    assert Usage(10 * asked, 5 * asked) == why.value.state.usage


class NoSuchPlaceError(Exception):
    """What is neither a ValueError nor a TypeError, and cannot be printed."""

    def __str__(self) -> str:
        raise RuntimeError


FAULTS = (
    KeyError("n"),
    TypeError("no"),
    RuntimeError("no"),
    AssertionError("no"),
    NoSuchPlaceError(),
)


def strict(fault: Exception) -> list[type]:
    """Types whose own check raises this."""

    def check(*_: Any) -> Any:
        raise fault

    @attrs.frozen
    class Attrs:
        n: int = attrs.field(validator=check)

    class Pydantic(BaseModel):
        n: int

        @field_validator("n")
        @classmethod
        def must(cls, n: int) -> int:
            return int(check(n))

    return [Attrs, Pydantic]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
@pytest.mark.parametrize("kind", [0, 1], ids=["attrs", "pydantic"])
def test_whatever_a_check_raises_is_sent_back(fault: Exception, kind: int) -> None:
    """Report 164: a step raises nothing; the reply is answered like any other misfit."""
    run = begin(wants(strict(fault)[kind], repairs=1)).says('{"n": 1}')

    assert run.state.transcript[-1].text.startswith("Your reply could not be used")
    assert "output_error" == run.says('{"n": 1}').reason


@every_way
def test_of_two_values_the_first_that_fits_is_taken(way: str) -> None:
    """Report 165: an output is a reply's text here, so that no call has to be forced."""
    text = 'First {"ok": "maybe"}, then {"ok": true}, then {"ok": false}.'
    played = scripted(way, wants(Flag), text)

    assert Flag(ok=True) == output(played)


@every_way
def test_a_value_beside_calls_waits_for_them(way: str) -> None:
    """Report 165: all calls are answered, and the last reply counts."""
    early = ['{"ok": false}', call("a"), call("a", "again")]
    played = scripted(way, wants(Flag), early, '{"ok": true}', tools={"a": ["A", "A"]})

    assert (Flag(ok=True), 2) == (output(played), len(played.results))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('<think>x</think>\n{"ok":false}', id="166"),
        pytest.param('```json\n{"ok":false}\n```', id="167"),
        pytest.param('```\n{"ok":false}\n```', id="167 bare"),
    ],
)
def test_what_stands_round_a_value_does_not_matter(text: str) -> None:
    """Reports 166, 167."""
    assert Flag(ok=False) == output(begin(wants(Flag)).says(text))


def test_a_tool_whose_arguments_break_a_rule_has_its_result() -> None:
    """Report 164: a call is answered whatever was wrong with it."""
    run: Run = begin(config()).says(ToolCall.parse("a", "{", "c1"), call("a", "c2"))
    run = run.ran("c2", "A")

    assert {"c1": "invalid_arguments", "c2": "ok"} == run.outcomes


def test_a_reply_without_a_reason_to_end_is_read() -> None:
    """Report 168: what ends it is that it has no calls."""
    run = begin(LoopConfig(model=MODEL))

    assert "done" == run.says("text", finish="tools").reason
