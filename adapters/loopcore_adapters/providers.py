"""Providers: where they are, what they speak, and where their key is kept. Data."""

import re
from collections.abc import Mapping
from typing import Final

from attrs import field, frozen

from loopcore_adapters import chat
from loopcore_adapters.chat.dialect import Dialect, Efforts, effort
from loopcore_adapters.wire import Wire

CHAT: Final[Mapping[str, Wire]] = {"chat": chat.wire()}


@frozen
class Provider:
    """A service that has models.

    Args:
        url: where it is, up to the part that all paths of its wires begin with.
        key: the environment variable that has its key, if it wants one.
        wires: the protocols it speaks, by their names; the first is used unless another is
            asked for.
        urls: where those wires are that are not at `url`.
    """

    url: str
    key: str | None = None
    wires: Mapping[str, Wire] = CHAT
    urls: Mapping[str, str] = field(factory=dict[str, str])


def _template(field: str) -> Efforts:
    """Thinking as a switch of the chat template, as servers of open weights have it."""
    on: Mapping[str, object] = {"chat_template_kwargs": {field: True}}
    off: Mapping[str, object] = {"chat_template_kwargs": {field: False}}
    return {"off": off, "low": on, "medium": on, "high": on}


def _asked(off: Mapping[str, object], on: Mapping[str, object]) -> Efforts:
    """Thinking as a switch beside `reasoning_effort`."""
    levels = ("low", "medium", "high")
    return {"off": off} | {level: {**on, "reasoning_effort": level} for level in levels}


OPENAI: Final = Dialect(
    call_id=re.compile(r"[A-Za-z0-9_-]{1,40}"), efforts=effort("none")
)
DEEPSEEK: Final = Dialect(
    images=False,
    efforts=_asked(
        {"thinking": {"type": "disabled"}}, {"thinking": {"type": "enabled"}}
    ),
    thinking="reasoning_content",
    output="json_object",
)
OPENROUTER: Final = Dialect(
    efforts={
        level: {"reasoning": {"effort": word}}
        for level, word in {
            "off": "none",
            "low": "low",
            "medium": "medium",
            "high": "high",
        }.items()
    },
    thinking="reasoning_details",
)
MISTRAL: Final = Dialect(
    call_id=re.compile(r"[A-Za-z0-9]{9}"),
    call_id_length=9,
    bridge=True,
    stream_options=False,
)
MOONSHOT: Final = Dialect(thinking="reasoning_content")
EFFORT: Final = Dialect(efforts=effort())
TEMPLATE: Final = Dialect(
    efforts=_template("enable_thinking"),
    output_with_tools=False,  # their grammars would leave no room for a call
)


def _chat(dialect: Dialect) -> Mapping[str, Wire]:
    return {"chat": chat.wire(dialect)}


PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider(
        "https://api.openai.com/v1", "OPENAI_API_KEY", wires=_chat(OPENAI)
    ),
    "deepseek": Provider(
        "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", wires=_chat(DEEPSEEK)
    ),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", wires=_chat(OPENROUTER)
    ),
    "groq": Provider(
        "https://api.groq.com/openai/v1", "GROQ_API_KEY", wires=_chat(EFFORT)
    ),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "mistral": Provider(
        "https://api.mistral.ai/v1", "MISTRAL_API_KEY", wires=_chat(MISTRAL)
    ),
    "fireworks": Provider(
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        wires=_chat(EFFORT),
    ),
    "xai": Provider("https://api.x.ai/v1", "XAI_API_KEY", wires=_chat(EFFORT)),
    "cerebras": Provider(
        "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", wires=_chat(EFFORT)
    ),
    "moonshot": Provider(
        "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", wires=_chat(MOONSHOT)
    ),
    "ollama": Provider("http://127.0.0.1:11434/v1", wires=_chat(EFFORT)),
    "llamacpp": Provider("http://127.0.0.1:8080/v1", wires=_chat(TEMPLATE)),
    "vllm": Provider("http://127.0.0.1:8000/v1", wires=_chat(TEMPLATE)),
    "lmstudio": Provider("http://127.0.0.1:1234/v1", wires=_chat(EFFORT)),
    "anthropic": Provider("https://api.anthropic.com", "ANTHROPIC_API_KEY", {}),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", {}
    ),
}
