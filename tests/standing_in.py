"""Stands in for `loopcore_adapters`: models that need no network, no key and no weights."""

from typing import Final

from loopcore import AssistantMessage, CallModel, Model, ToolCall
from loopcore.testing import ScriptedModel

ANSWER: Final = "Yes, take one: 17 °C and light rain in Paris."

ARGUMENTS: Final[dict[str, dict[str, object]]] = {
    "calculate": {"expression": "2 * 49"},
    "clock": {},
    "read_file": {"path": "notes.txt"},
    "search": {"query": "paid leave"},
    "ask_librarian": {"prompt": "How much paid leave is there?"},
    "weather": {"city": "Paris"},
    "transfer": {"to": "ACME", "cents": 4_900},
    "fetch": {"url": "https://example.org/"},
    "delete_file": {"path": "notes.txt"},
}


def reply(effect: CallModel) -> list[str | ToolCall]:
    """Call each tool that is offered, once in a conversation; then answer."""
    if any(isinstance(message, AssistantMessage) for message in effect.messages):
        return [ANSWER]
    calls = [
        ToolCall(spec.name, ARGUMENTS[spec.name], f"c{place}")
        for place, spec in enumerate(effect.tools)
    ]
    return [*calls] if calls else [ANSWER]


def connect(model: str, **_: object) -> Model:
    """A model of this name that goes by the rule above."""
    return ScriptedModel(*[reply] * 20, id=model)
