"""Providers: where they are, what they speak, and where their key is kept. Data."""

import re
from collections.abc import Mapping
from typing import Final

from attrs import frozen

from loopcore_adapters.chat.dialect import PLAIN, Dialect, Efforts, effort


@frozen
class Provider:
    """A service that has models. `key` names its environment variable, if it wants one."""

    url: str
    key: str | None = None
    wire: str = "chat"
    dialect: Dialect = PLAIN


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

PROVIDERS: Final[Mapping[str, Provider]] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", dialect=OPENAI),
    "deepseek": Provider(
        "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", dialect=DEEPSEEK
    ),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", dialect=OPENROUTER
    ),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_API_KEY", dialect=EFFORT),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "mistral": Provider(
        "https://api.mistral.ai/v1", "MISTRAL_API_KEY", dialect=MISTRAL
    ),
    "fireworks": Provider(
        "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", dialect=EFFORT
    ),
    "xai": Provider("https://api.x.ai/v1", "XAI_API_KEY", dialect=EFFORT),
    "cerebras": Provider(
        "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", dialect=EFFORT
    ),
    "moonshot": Provider(
        "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", dialect=MOONSHOT
    ),
    "ollama": Provider("http://127.0.0.1:11434/v1", dialect=EFFORT),
    "llamacpp": Provider("http://127.0.0.1:8080/v1", dialect=TEMPLATE),
    "vllm": Provider("http://127.0.0.1:8000/v1", dialect=TEMPLATE),
    "lmstudio": Provider("http://127.0.0.1:1234/v1", dialect=EFFORT),
    "anthropic": Provider("https://api.anthropic.com", "ANTHROPIC_API_KEY", "messages"),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com", "GEMINI_API_KEY", "gemini"
    ),
}
