"""Providers: where they are, what they speak, and where their key is kept. Data."""

from collections.abc import Mapping
from typing import Final

from attrs import evolve, field, frozen

from loopcore_adapters import chat, gemini, messages, responses
from loopcore_adapters.chat import dialects as dialects_of_chat
from loopcore_adapters.chat.dialect import Dialect
from loopcore_adapters.chat.dialects import (
    ANTHROPIC,
    CEREBRAS,
    DEEPSEEK,
    EFFORT,
    FIREWORKS,
    GROQ,
    MISTRAL,
    MOONSHOT,
    OLLAMA,
    OPENAI,
    OPENROUTER,
    QWEN,
    TEMPLATE,
    VLLM,
    XAI,
    ZAI,
)
from loopcore_adapters.messages.dialect import OTHER
from loopcore_adapters.responses import dialect as dialects
from loopcore_adapters.wire import Wire, bearer, header

CHAT: Final[Mapping[str, Wire]] = {"chat": chat.wire()}
MESSAGES: Final[Mapping[str, Wire]] = {"messages": messages.wire()}
LOCAL: Final[Mapping[str, Wire]] = {"messages": messages.wire(OTHER)}
"""Servers of open weights: many of these are called after the model that taught them."""

GEMINI: Final[Mapping[str, Wire]] = {"gemini": gemini.wire()}
RESPONSES: Final[Mapping[str, Wire]] = {"responses": responses.wire(dialects.LOCAL)}


@frozen
class Provider:
    """A service that has models.

    Args:
        url: where it is, up to the part that all paths of its wires begin with. Empty if
            each of its users has a place of their own.
        key: the environment variable that has its key, if it wants one.
        wires: the protocols it speaks, by their names; the first is used unless another is
            asked for.
        urls: where those wires are that are not at `url`.
    """

    url: str
    key: str | None = None
    wires: Mapping[str, Wire] = CHAT
    urls: Mapping[str, str] = field(factory=dict[str, str])


def _chat(dialect: Dialect) -> Mapping[str, Wire]:
    return {"chat": chat.wire(dialect)}


def _responses(dialect: dialects.Dialect) -> Mapping[str, Wire]:
    return {"responses": responses.wire(dialect)}


def _azure(wires: Mapping[str, Wire]) -> Mapping[str, Wire]:
    return {name: evolve(wire, sign=_of_azure) for name, wire in wires.items()}


def _of_azure(key: str) -> Mapping[str, str]:
    """Keys have a header of their own there; a token of Entra, which is a JWT, has not."""
    return bearer(key) if key.startswith("eyJ") else header("api-key")(key)


PROVIDERS: Final[Mapping[str, Provider]] = {
    # Over Chat Completions its models lose their thoughts from call to call, and newer ones
    # refuse tools if they are to think.
    "openai": Provider(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        {**_responses(dialects.OPENAI), **_chat(OPENAI)},
    ),
    "anthropic": Provider(
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        {**MESSAGES, **_chat(ANTHROPIC)},
        {"chat": "https://api.anthropic.com/v1"},
    ),
    "gemini": Provider(
        "https://generativelanguage.googleapis.com",
        "GEMINI_API_KEY",
        {**GEMINI, **_chat(dialects_of_chat.GEMINI)},
        {"chat": "https://generativelanguage.googleapis.com/v1beta/openai"},
    ),
    # Below the address of a deployment there is nothing but Chat Completions.
    "azure": Provider(
        "",
        "AZURE_OPENAI_API_KEY",
        _azure({**_chat(OPENAI), **_responses(dialects.OPENAI)}),
    ),
    "openrouter": Provider(
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        {**_chat(OPENROUTER), **_responses(dialects.OPENROUTER)},
    ),
    "deepseek": Provider(
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        {**_chat(DEEPSEEK), **MESSAGES},
        {"messages": "https://api.deepseek.com/anthropic"},
    ),
    "mistral": Provider("https://api.mistral.ai/v1", "MISTRAL_API_KEY", _chat(MISTRAL)),
    "moonshot": Provider(
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        {**_chat(MOONSHOT), **MESSAGES},
        {"messages": "https://api.moonshot.ai/anthropic"},
    ),
    "zai": Provider(
        "https://api.z.ai/api/paas/v4",
        "ZAI_API_KEY",
        {**_chat(ZAI), **MESSAGES},
        {"messages": "https://api.z.ai/api/anthropic"},
    ),
    "qwen": Provider(
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        _chat(QWEN),
    ),
    "xai": Provider(
        "https://api.x.ai/v1",
        "XAI_API_KEY",
        {**_responses(dialects.XAI), **_chat(XAI)},
    ),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_API_KEY", _chat(GROQ)),
    "cerebras": Provider(
        "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", _chat(CEREBRAS)
    ),
    "fireworks": Provider(
        "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", _chat(FIREWORKS)
    ),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "nvidia": Provider("https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    "huggingface": Provider("https://router.huggingface.co/v1", "HF_TOKEN"),
    "ollama": Provider(
        "http://127.0.0.1:11434/v1", wires={**_chat(OLLAMA), **LOCAL, **RESPONSES}
    ),
    "llamacpp": Provider(
        "http://127.0.0.1:8080/v1",
        wires={**_chat(TEMPLATE), **LOCAL, **_responses(dialects.LLAMACPP)},
    ),
    "vllm": Provider(
        "http://127.0.0.1:8000/v1",
        wires={**_chat(VLLM), **LOCAL, **RESPONSES},
    ),
    "sglang": Provider("http://127.0.0.1:30000/v1", wires=_chat(TEMPLATE)),
    "lmstudio": Provider(
        "http://127.0.0.1:1234/v1",
        wires={**_chat(EFFORT), **LOCAL, **_responses(dialects.LMSTUDIO)},
    ),
}
