"""Tool loop vectors about typed outputs, tokens, thinking, wiring and empty results.

A reply that does not fit is sent back inside the same conversation; theirs starts the whole
loop again, tools included, and does not say what was wrong.
"""

import asyncio
import json
import logging
from collections.abc import Iterable
from typing import Any

import attrs
import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Inspector,
    LoopConfig,
    Model,
    ModelError,
    NotDone,
    RunResult,
    Tell,
    Text,
    Thinking,
    Usage,
)
from loopcore.events import Ended
from loopcore.hooks import Hooks, ToolResultUpdate
from loopcore.policies import retry
from loopcore_adapters.chat import encode
from tests.driving import MODEL, Run, call, config, words
from tests.ways import Seen, every_way, output, play, scripted


@attrs.frozen
class Dish:
    """What these runs are to come to."""

    name: str
    minutes: int = attrs.field(validator=attrs.validators.gt(0))


@attrs.frozen
class AnyDish:
    """The same without the rule for one field."""

    name: str
    minutes: int


GOOD = '{"name": "Pasta", "minutes": 12}'
BAD = '{"name": "Pasta", "minutes": 0}'


def wants(kind: Any, **more: Any) -> LoopConfig[Any]:
    """A configuration whose runs come to this type."""
    made: LoopConfig[Any] = config(output=kind, **more)
    return made


@every_way
def test_what_is_no_json_is_sent_back_and_no_tool_runs_again(way: str) -> None:
    """Vector 110."""
    replies = call("a"), "Pasta!", GOOD
    played = scripted(way, wants(Dish), *replies, tools={"a": ["A"]})

    assert (Dish("Pasta", 12), ["a"]) == (output(played), played.started)
    assert 3 == len(played.requests)


@every_way
def test_what_breaks_a_rule_is_sent_back_with_the_rule(way: str) -> None:
    """Vector 111: the failed value is there too; theirs leaves it out."""
    played = scripted(way, wants(Dish), BAD, GOOD)

    assert Dish("Pasta", 12) == output(played)
    failed, wish = played.requests[1].messages[-2:]
    assert BAD == failed.text
    assert "'minutes' must be > 0" in wish.text


@every_way
def test_what_breaks_a_rule_too_often_ends_the_run_with_all_that_was_said(
    way: str,
) -> None:
    """Vector 112."""
    played = scripted(way, wants(Dish, repairs=1), BAD, BAD)

    assert "'minutes' must be > 0" in played.stop.detail
    assert played.stop.detail.endswith("(after 1 repairs)")
    assert [BAD, BAD] == [m.text for m in played.state.new][1::2]
    with pytest.raises(NotDone, match="output_error"):
        RunResult.of(played.config, played.state).unwrap()


@every_way
def test_a_rule_that_the_type_has_not_is_not_checked(way: str) -> None:
    """Vector 113: no switch and no filter; another type says it."""
    assert AnyDish("Pasta", 0) == output(scripted(way, wants(AnyDish), BAD))


@every_way
def test_a_schema_is_told_beside_the_conversation(way: str) -> None:
    """Vector 114: what is said is not added to, so there is nothing to switch off."""
    played = scripted(way, wants(Dish), GOOD)

    (request,) = played.requests
    assert (["user: go"], "") == (words(request.messages), request.system)
    assert request.output is not None
    (schema,) = request.output["$defs"].values()
    assert {"name", "minutes"} == set(schema["properties"])


async def hang(effect: CallModel, _: Tell) -> AssistantMessage:
    """A model that never answers in time."""
    async with asyncio.timeout(0.01):
        await asyncio.Event().wait()
    return AssistantMessage(effect.id)


@every_way
@pytest.mark.parametrize(("rules", "asked"), [((), 1), ((retry(2, delay=0),), 2)])
def test_a_model_that_is_too_slow_is_a_fault_that_may_pass(
    way: str, rules: tuple[Hooks, ...], asked: int
) -> None:
    """Vector 115: of one request; theirs times the whole loop, tools included."""
    played = play(way, config(*rules, tools=""), Model(MODEL, hang))

    assert ("model_error", asked) == (played.reason, len(played.requests))
    assert played.stop.detail.startswith("timeout: ")
    assert "error" == getattr(played.state.transcript[-1], "finish", "")


@every_way
@pytest.mark.parametrize(
    "text",
    [
        '{"value": null, "reason": null}',
        '{"value": null}',
        "{}",
        '{"value": null, "reason": " "}',
        '{"value": null, "reason": ["no"]}',
        '{"value": 3, "reason": null}',
        "",
    ],
)
def test_a_value_that_may_be_missing_needs_a_reason(way: str, text: str) -> None:
    """Vector 116: an end that says what was wrong, and no exception."""
    played = scripted(way, wants(Dish, optional=True, repairs=0), text)

    assert ("output_error", None) == (played.reason, output(played))
    assert len(played.stop.detail) > 0


@every_way
def test_a_value_that_is_missing_for_a_reason_is_an_end(way: str) -> None:
    """Vector 116, D88."""
    text = '{"value": null, "reason": "no pot"}'
    played = scripted(way, wants(Dish, optional=True), text)

    assert ("done: no pot", None) == (str(played.stop), output(played))


@every_way
def test_of_a_value_and_a_reason_the_value_counts(way: str) -> None:
    """Vector 116: theirs makes a failure of an answer that has both."""
    text = f'{{"value": {GOOD}, "reason": "it was easy"}}'
    played = scripted(way, wants(Dish, optional=True), text)

    assert ("done", Dish("Pasta", 12)) == (str(played.stop), output(played))


class Bill(Inspector):
    """Writes down what each reply cost, by run."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int]] = []

    def on_model_end(self, event: Ended, effect: CallModel) -> None:
        if isinstance(event.value, AssistantMessage):
            usage = event.value.usage
            self.rows.append((effect.id.partition(".")[0], usage.total))
            assert event.seconds is not None


class Careless(Inspector):
    """Raises at every reply."""

    def on_model_end(self, event: Ended, effect: CallModel) -> None:
        message = f"no row for {effect.id} at {event.at}"
        raise LookupError(message)


@every_way
def test_each_reply_is_billed_once(way: str, caplog: pytest.LogCaptureFixture) -> None:
    """Vector 117: with the time it took; one that raises is only logged."""
    bill = Bill()
    usages = Usage(1, 1), Usage(2, 2), Usage(3, 3)
    asks = [AssistantMessage(call("a"), usage=u, finish="tools") for u in usages[:2]]
    replies = *asks, AssistantMessage("ok", usage=usages[2])
    with caplog.at_level(logging.CRITICAL, "loopcore"):
        played = scripted(
            way,
            config(),
            *replies,
            tools={"a": ["A", "A"]},
            inspectors=[Careless(), bill],
        )

    assert [("r", 2), ("r", 4), ("r", 6)] == bill.rows
    assert (Usage(6, 6), "ok") == (played.state.usage, output(played))


def thought(text: str, *rest: Any) -> AssistantMessage:
    """A reply that began with this thought."""
    return AssistantMessage([Thinking(text), *rest])


@every_way
def test_thoughts_of_all_turns_are_in_the_messages(way: str) -> None:
    """Vector 118: also of a run that failed, and never what a tool said."""
    replies = (
        thought("one", call("a")),
        thought("two", call("a", "again")),
        ModelError("no", "auth", partial=thought("three")),
    )
    tools: dict[str, Iterable[object]] = {"a": ["<think>no</think>"] * 2}
    played = scripted(way, config(), *replies, tools=tools)

    thoughts = [
        part.text
        for message in played.state.new
        for part in message.parts
        if isinstance(part, Thinking)
    ]
    assert (["one", "two", "three"], "model_error") == (thoughts, played.reason)


def suffix(text: str) -> Hooks:
    """A rule that stores this behind each result."""
    return Hooks(text, after_tool_result=lambda v: ToolResultUpdate(v.text + text))


@every_way
def test_rules_and_inspectors_add_up_in_order(way: str) -> None:
    """Vector 119: theirs by chained calls, ours are fields of values."""
    one = config(suffix("1"))
    both = attrs.evolve(one, hooks=[*one.hooks, suffix("2")])
    first, second = Seen(), Seen()
    played: Run = scripted(
        way, both, call("a"), "ok", tools={"a": ["A"]}, inspectors=[first, second]
    )

    assert ("A12", ("1",)) == (played.results[0].text, tuple(h.name for h in one.hooks))
    assert first.events == second.events != []


@every_way
@pytest.mark.parametrize("given", ["", "said"])
def test_an_empty_result_is_stored_empty_and_sent_as_a_stand_in(
    way: str, given: str
) -> None:
    """Vector 120, D78: a tool's own, or one that a rule emptied; theirs dies of both."""
    empty = Hooks("empty", after_tool_result=lambda _: ToolResultUpdate(""))
    cfg = config(*([empty] if given else []))
    played = scripted(way, cfg, call("a"), "ok", tools={"a": [given]})

    assert ("", "ok") == (played.results[0].text, output(played))
    sent = json.loads(encode(played.requests[1]).body)["messages"][-1]
    assert "[The tool gave no output.]" == sent["content"]


def test_a_message_may_be_empty() -> None:
    """Vector 120: none of ours refuses a text that is not there."""
    assert ((), "") == (AssistantMessage("").parts, AssistantMessage([Text("")]).text)
