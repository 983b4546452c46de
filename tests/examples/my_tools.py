"""Somebody's own tools, as `by_hand.py` has them: functions by name."""

from collections.abc import Callable



def weather(city: str) -> str:
    """Today's weather in a city."""
    return f"{city}: 17 °C, light rain"


TOOLS: dict[str, Callable[..., object]] = {"weather": weather}
