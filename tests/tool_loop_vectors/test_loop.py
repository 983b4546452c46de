"""Tool loop vectors about the loop itself: history, calls, results, limits, tokens.

Their missing usage is null; ours is `Usage()`, whose `cost` is None where no price is known.
"""

import pytest
from returns.result import Failure

from loopcore import (
    AssistantMessage,
    Prompt,
    RunTool,
    SystemMessage,
    ToolCall,
    ToolOutput,
    Usage,
    UserMessage,
)
from loopcore.events import Ended, Started, TurnEnd
from loopcore.messages import Finish
from loopcore.policies import limits
from tests.driving import Run, call, config
from tests.ways import every_way, output, scripted


@every_way
def test_an_answer_ends_a_run(way: str) -> None:
    """Vector 1."""
    played = scripted(way, config(tools=""), "hi")

    assert ("hi", "done", 1) == (output(played), played.reason, played.state.turns)
    assert ["user: go", "assistant: hi"] == played.script
    assert Usage() == played.state.usage


@every_way
def test_a_run_may_come_to_a_number(way: str) -> None:
    """Vector 2: in the document a parser, here a type."""
    assert 42 == output(scripted(way, config(tools="", output=int), "42"))


@every_way
def test_a_tool_round_is_history_and_the_arguments_are_as_written(way: str) -> None:
    """Vector 3."""
    written = ToolCall.parse("a", '{"x":  1}', "c1")
    played = scripted(way, config(), written, "ok", tools={"a": ["A"]})

    (effect,) = [e for e in played.performed if isinstance(e, RunTool)]
    assert ('{"x":  1}', {"x": 1}) == (effect.call.raw, effect.arguments)
    assert ["user: go", "assistant: →c1", "c1 ok: A", "assistant: ok"] == played.script
    assert 2 == played.state.turns


@every_way
def test_a_system_message_that_was_said_stays_in_front(way: str) -> None:
    """Vector 4."""
    said = Prompt([SystemMessage("s"), UserMessage("u")])
    played = scripted(way, config(), call("a"), "ok", tools={"a": ["A"]}, given=[said])

    assert [
        "system: s",
        "user: u",
        "assistant: →a",
        "a ok: A",
        "assistant: ok",
    ] == played.script


@every_way
def test_a_result_has_its_calls_id_and_its_tools_name(way: str) -> None:
    """Vector 5."""
    played = scripted(way, config(), call("a", "x1"), "ok", tools={"a": ["A"]})

    (result,) = played.results
    assert ("x1", "a", "A") == (result.call_id, result.name, result.text)


def moments(played: Run) -> list[str]:
    """When which call started and ended."""
    return [
        f"{'starts' if isinstance(event, Started) else 'ends'} {event.effect.call.id}"
        for event in played.told
        if isinstance(event, Started | Ended) and isinstance(event.effect, RunTool)
    ]


@every_way
def test_calls_run_one_by_one_if_the_configuration_says_so(way: str) -> None:
    """Vector 6."""
    cfg = config(parallel=False)
    asked = [call("a"), call("b")]
    played = scripted(way, cfg, asked, "ok", tools={"a": ["A"], "b": ["B"]})

    assert ["starts a", "ends a", "starts b", "ends b"] == moments(played)
    assert ["a", "b"] == [result.call_id for result in played.results]
    assert 2 == played.state.turns


@every_way
@pytest.mark.parametrize("parallel", [True, False])
def test_calls_start_in_the_order_they_are_written_in(
    way: str, *, parallel: bool
) -> None:
    """Vector 7: together too."""
    cfg = config(tools="abc", parallel=parallel)
    asked = [call("c"), call("a"), call("b")]
    played = scripted(way, cfg, asked, "ok", tools={n: ["x"] for n in "abc"})

    assert ["c", "a", "b"] == played.started


@every_way
def test_a_tool_that_says_it_failed_is_an_error_and_no_prefix_is_needed(
    way: str,
) -> None:
    """Vector 8: theirs is text that begins with "Error: "; ours has an outcome."""
    played = scripted(way, config(), call("a"), "ok", tools={"a": [Failure("m")]})

    assert "a error: m" == played.script[2]
    assert "ok" == output(played)


@every_way
def test_what_is_for_the_program_is_kept_and_not_shown(way: str) -> None:
    """Vector 9: their artifact is our details."""
    made = ToolOutput("c", details={"rows": 3})
    played = scripted(way, config(), call("a"), "ok", tools={"a": [made]})

    (result,) = played.results
    assert ("c", {"rows": 3}) == (result.text, result.details)


@every_way
def test_a_reply_that_says_tools_and_has_no_calls_is_an_answer(way: str) -> None:
    """Vector 10, D68."""
    played = scripted(way, config(), AssistantMessage("text", finish="tools"))

    assert ("text", 1) == (output(played), played.state.turns)


@every_way
def test_a_limit_of_turns_is_kept_to_the_request(way: str) -> None:
    """Vector 11: theirs is thrown and takes history and usage with it."""
    asked = [call("a", f"c{n}") for n in range(5)]
    cfg = config(limits(turns=5))
    played = scripted(way, cfg, *asked, tools={"a": ["A"] * 5})

    assert "limit: 5 turns (hook 'limits')" == str(played.stop)
    assert (5, 11) == (len(played.requests), len(played.state.transcript))


@every_way
def test_the_last_turns_tools_run_before_the_limit_stops_it(way: str) -> None:
    """Vector 12, D80."""
    cfg = config(limits(turns=1))
    played = scripted(way, cfg, call("a"), tools={"a": ["A"]})

    assert ({"a": "ok"}, "limit") == (played.outcomes, played.reason)
    assert 1 == len(played.events(TurnEnd))


@every_way
@pytest.mark.parametrize(
    ("most", "said"),
    [({"turns": 0}, "0 turns"), ({"tokens": 0}, "0 tokens"), ({"cost": 0}, "0 cost")],
)
def test_a_limit_of_zero_asks_nothing(
    way: str, most: dict[str, int], said: str
) -> None:
    """Vector 13."""
    played = scripted(way, config(limits(**most)))

    assert f"limit: {said} (hook 'limits')" == str(played.stop)
    assert () == played.requests


def counted(usage: Usage, *, finish: Finish = "tools") -> AssistantMessage:
    """A reply that used so much."""
    said = call("a") if finish == "tools" else ()
    return AssistantMessage(said, usage=usage, finish=finish)


@every_way
@pytest.mark.parametrize(
    ("first", "second", "total"),
    [
        pytest.param(Usage(100, 50), Usage(150, 30), Usage(250, 80), id="both"),
        pytest.param(Usage(), Usage(), Usage(), id="never"),
        pytest.param(Usage(), Usage(100, 50), Usage(100, 50), id="second"),
    ],
)
def test_tokens_add_up(way: str, first: Usage, second: Usage, total: Usage) -> None:
    """Vectors 14, 15, 16."""
    replies = counted(first), counted(second, finish="end")
    played = scripted(way, config(), *replies, tools={"a": ["A"]})

    assert total == played.state.usage
    assert total.input + total.output == played.state.usage.total
