"""How much a model is asked to think, where not all of a server's take every effort."""

import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from loopcore import CallModel
from loopcore_adapters.loose import Json

Asked: TypeAlias = dict[str, Json]
Efforts: TypeAlias = Mapping[str, Mapping[str, Json]]
"""For each level of thinking, the fields of the request that ask for it."""

Least: TypeAlias = tuple[tuple[re.Pattern[str], str], ...]
"""For the names of some models, the effort that is the least; empty for what takes none."""

UNTHINKING: Final = re.compile(
    r"(ft:)?(gpt-3\.5|gpt-4|chatgpt-4o).*|gpt-5[.\d]*-chat.*"
)
"""Those that came before OpenAI's models thought, and the chat models, which do not."""

OPENAI: Final[Least] = (
    (UNTHINKING, ""),
    (re.compile(r"gpt-5-pro.*"), "high"),
    (re.compile(r"gpt-5\.\d+-pro.*"), "medium"),
    (re.compile(r"gpt-5(\.\d+)?-codex.*|o[134]\b.*"), "low"),
    (re.compile(r"gpt-5(-mini|-nano)?(-\d{4}-.*)?"), "minimal"),
)
"""By the reference: models before GPT-5.1 refuse "none"."""

OPEN: Final[Least] = ((re.compile(r"(.*/)?gpt-oss.*"), "low"),)
"""OpenAI's open models, wherever they are served: they always think."""

GEMINI: Final[Least] = ((re.compile(r"(?!.*gemini-2\.5-flash).*"), "low"),)
"""All but one always think, by Google's guide to its compatible endpoint."""

GROQ: Final[Least] = (*OPEN, (re.compile(r"(?!qwen/).*"), ""))
"""Its models that do not think refuse to be asked."""

CEREBRAS: Final[Least] = (*OPEN, (re.compile(r"llama.*|qwen-3-.*"), ""))
"""The same of those; Qwen's newer ones, such as qwen-3.8-27b, think."""

MISTRAL: Final[Least] = (
    (
        re.compile(
            r"(labs-)?(code|dev|mini)stral.*|(pix|vox)tral.*|open-.*"
            r"|mistral-(code|nemo|tiny).*|mistral-large-(2\d{3}|latest)"
        ),
        "",
    ),
)
"""Its models that do not think refuse to be asked, too."""

THINKERS: Final = re.compile(
    r"google/gemini-(?!2\.5-flash).*|openai/(gpt-oss|o[134]\b).*|minimax/minimax-m2.*"
    r"|stepfun/step-3\.5.*|z-ai/glm-5\.3.*|moonshotai/kimi-k3.*"
    r"|anthropic/claude-(fable|mythos).*"
)
"""Models that always think, as OpenRouter calls them.

It refuses what asks them not to: "Reasoning is mandatory for this endpoint".
"""

OPENROUTER: Final[Least] = ((THINKERS, "low"),)

XAI: Final[Least] = (
    (
        re.compile(
            r"grok-[23](?!-mini).*|grok-4-(0709|fast|1-fast).*"
            r"|grok-4\.20(?!-multi-agent).*|grok-(code|build|composer).*"
        ),
        "",
    ),
)
"""Those that think as they think, or not at all, and refuse to be asked."""

BELOW: Final[Mapping[str, tuple[str, ...]]] = {
    "minimal": ("off",),
    "low": ("off",),
    "medium": ("off", "low"),
    "high": ("off", "low", "medium"),
}
"""For the least that a model takes, the levels that are less."""


def asked(call: CallModel, known: Least, efforts: Efforts, field: str) -> Asked:
    """The fields that say how much to think; none for a model that takes none.

    Args:
        call: the effect.
        known: what is special of some models.
        efforts: the fields for each level; a level that is not here is not sent.
        field: the one that has the effort.
    """
    least = _least(known, call.model.partition(":")[2])
    if least == "":
        return {}
    fields = dict(efforts.get(call.thinking or "", {}))
    if least and call.thinking in BELOW[least]:
        return {**fields, field: least}
    return fields


def _least(known: Least, name: str) -> str | None:
    return next((effort for names, effort in known if names.fullmatch(name)), None)
