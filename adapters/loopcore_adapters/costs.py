"""What replies cost: counted by the provider, priced by a list that others maintain."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, TypeAlias

from attrs import evolve

from loopcore import AssistantMessage, CallModel, Model, ModelError, Tell, Usage

CostOf: TypeAlias = Callable[[Usage], float | None]
"""What these tokens cost; None where no price is known."""

LISTED: Final = {
    "fireworks": "fireworks",
    "gemini": "google",
    "moonshot": "moonshotai",
    "xai": "x-ai",
}
"""Providers that the price list calls otherwise."""


def priced(model: Model, cost: CostOf | None = None) -> Model:
    """The same model, with what each reply cost in `usage.cost`.

    The cost is in US dollars, by the price list of the package genai-prices (the extra
    `prices`), as it was when that was installed; nothing is fetched. A model that is not on
    the list has no cost (None), which `limits(cost=...)` says. Give `cost`, a function of
    the usage, for prices of your own.

    Raises:
        ValueError: if the price list is not installed, and no `cost` is given.
    """
    cost_of = cost or _listed(model.id)

    async def call(effect: CallModel, tell: Tell) -> AssistantMessage | ModelError:
        answer = await model.call(effect, tell)
        if isinstance(answer, AssistantMessage):
            return _with_cost(answer, cost_of)
        if answer.partial is None:
            return answer
        return evolve(answer, partial=_with_cost(answer.partial, cost_of))

    return Model(model.id, call)


def _with_cost(reply: AssistantMessage, cost_of: CostOf) -> AssistantMessage:
    """A cost that is there already, the provider's own, counts more than a list."""
    if reply.usage.cost is not None:
        return reply
    return evolve(reply, usage=evolve(reply.usage, cost=cost_of(reply.usage)))


def _listed(model: str) -> CostOf:
    provider, _, name = model.partition(":")
    try:
        prices: Any = import_module("genai_prices")
    except ImportError:
        message = 'priced() needs the price list: `pip install "loopcore[prices]"`.'
        raise ValueError(message) from None

    def cost(usage: Usage) -> float | None:
        tokens = prices.Usage(
            input_tokens=usage.input + usage.cache_read + usage.cache_write,
            output_tokens=usage.output,
            cache_read_tokens=usage.cache_read,
            cache_write_tokens=usage.cache_write,
        )
        listed = LISTED.get(provider, provider)
        try:
            found = prices.calc_price(tokens, model_ref=name, provider_id=listed)
        except LookupError:
            return None
        return float(found.total_price)

    return cost
