"""What replies cost, and how many tokens messages are, by others' lists and vocabularies."""

import pytest

from loopcore import (
    AssistantMessage,
    CustomMessage,
    Image,
    Interpreter,
    LoopConfig,
    Message,
    Model,
    ModelError,
    ToolCall,
    Usage,
    UserMessage,
    run_sync,
)
from loopcore.policies import limits, sliding_window
from loopcore.testing import ScriptedModel
from loopcore_adapters import priced, tokenizer

SPENT = Usage(800, 100, cache_read=200)


def costing(model: Model) -> float | None:
    """What one run over this model cost."""
    result = run_sync(LoopConfig(model=model), Interpreter(model), "go")
    return result.usage.cost


def replying(name: str, usage: Usage = SPENT) -> Model:
    """A model of this name that spends this."""
    return ScriptedModel(AssistantMessage("done", usage=usage), id=name)


def test_a_reply_is_priced_by_the_list_with_its_cache() -> None:
    """gpt-5-mini: 0.25 dollars in, 0.025 from the cache, 2 out, for a million tokens."""
    cost = costing(priced(replying("openai:gpt-5-mini")))

    assert pytest.approx(0.000405) == cost


@pytest.mark.parametrize(
    "name", ["openai:no-such-model", "mine:whatever", "test:script"]
)
def test_a_model_that_is_not_listed_has_no_cost(name: str) -> None:
    assert None is costing(priced(replying(name)))


def test_prices_may_be_ones_own() -> None:
    own = priced(replying("mine:big"), lambda usage: usage.total / 1_000)

    assert pytest.approx(1.1) == costing(own)


def test_a_providers_own_figure_counts_more() -> None:
    told = replying("openai:gpt-5-mini", Usage(1, 1, cost=7.0))

    assert pytest.approx(7.0) == costing(priced(told))


def test_what_arrived_of_a_failed_reply_is_priced_too() -> None:
    partial = AssistantMessage("do", usage=Usage(10, 10))
    model = ScriptedModel(ModelError("cut", "cut_stream", partial=partial), id="mine:m")

    assert pytest.approx(20.0) == costing(priced(model, lambda usage: usage.total))


def test_a_failure_without_a_reply_passes() -> None:
    assert None is costing(
        priced(ScriptedModel(ModelError("no"), id="openai:gpt-5-mini"))
    )


def test_a_limit_of_cost_works_over_a_priced_model() -> None:
    """D87 does not meet it: the price is known."""
    model = priced(replying("openai:gpt-5-mini"))
    config = LoopConfig(model=model, hooks=[limits(cost=1.0)])

    assert "done" == str(run_sync(config, Interpreter(model), "go").stop)


@pytest.mark.parametrize(
    ("message", "least", "most"),
    [
        (UserMessage("hello world"), 6, 6),
        (AssistantMessage([ToolCall("weather", {"city": "Paris"})]), 8, 14),
        (UserMessage([Image("aGk=", "image/png")]), 500, 2_000),
        (CustomMessage("note", {"a": "b"}), 0, 0),
    ],
)
def test_tokens_are_counted_by_a_real_vocabulary(
    message: Message, least: int, most: int
) -> None:
    assert least <= tokenizer()(message) <= most


def test_a_window_takes_a_tokenizer() -> None:
    model = ScriptedModel("one", "two", "three")
    window = sliding_window(12, unit="tokens", count=tokenizer("cl100k_base"))
    config = LoopConfig(model=model, hooks=[window])
    result = run_sync(config, Interpreter(model), "first")
    for prompt in ("second", "third"):
        result = run_sync(config, Interpreter(model), prompt, state=result.state)

    assert ["first", "two", "third"] == [m.text for m in model.requests[-1].messages]


def test_a_model_names_its_encoding() -> None:
    assert tokenizer("gpt-4o")(UserMessage("a")) == tokenizer()(UserMessage("a"))


def test_an_encoding_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no such encoding or model; there is"):
        tokenizer("nonsense")
