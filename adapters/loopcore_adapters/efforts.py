"""The least that models think which know no effort "none": OpenAI's, by their names."""

import re
from typing import Final, TypeAlias

Least: TypeAlias = tuple[tuple[re.Pattern[str], str], ...]
"""For the names of some models, the effort that is the least; empty for what never thinks."""

UNTHINKING: Final = re.compile(
    r"(ft:)?(gpt-3\.5|gpt-4|chatgpt-4o).*|gpt-5[.\d]*-chat.*"
)
"""Those that came before OpenAI's models thought, and the chat models, which do not."""

OPENAI: Final[Least] = (
    (UNTHINKING, ""),
    (re.compile(r"gpt-5-pro.*"), "high"),
    (re.compile(r"gpt-5-codex.*|o[134]\b.*"), "low"),
    (re.compile(r"gpt-5(-mini|-nano)?(-\d{4}-.*)?"), "minimal"),
)
"""By the reference: models before GPT-5.1 refuse "none"."""

OPEN: Final[Least] = ((re.compile(r"(.*/)?gpt-oss.*"), "low"),)
"""OpenAI's open models, wherever they are served: they always think."""


def least(known: Least, name: str) -> str | None:
    """The least effort of the model of this name; None if nothing special is known of it.

    >>> least(OPENAI, "gpt-5-mini"), least(OPENAI, "gpt-4o"), least(OPENAI, "gpt-5.2")
    ('minimal', '', None)
    """
    return next((effort for names, effort in known if names.fullmatch(name)), None)
