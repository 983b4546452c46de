"""Tokens, counted by a real tokenizer."""

import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, TypeAlias

from loopcore import (
    CustomMessage,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    UserMessage,
)
from loopcore.policies import estimate

Count: TypeAlias = Callable[[Message], int]

AROUND: Final = 4
"""Tokens that a service puts round each message."""

REMEMBERED: Final = 10_000


def tokenizer(encoding: str = "o200k_base") -> Count:
    """Counts the tokens of a message, for `sliding_window(count=...)`.

    The encodings are OpenAI's (o200k_base, cl100k_base and the names of their models), from
    the package bpe-openai (the extra `tokens`), which carries its vocabularies; nothing is
    fetched. Pictures are estimated.

    Raises:
        ValueError: if the package is not installed, or has no such encoding.
    """
    count = _counter(encoding)

    def tokens(message: Message) -> int:
        if isinstance(message, CustomMessage):
            return 0
        return AROUND + sum(
            estimate(UserMessage(part))
            if isinstance(part, Image)
            else count(_text(part))
            for part in message.parts
        )

    return lru_cache(REMEMBERED)(tokens)


def _text(part: Text | Thinking | ToolCall) -> str:
    return f"{part.name} {part.text}" if isinstance(part, ToolCall) else part.text


def _counter(encoding: str) -> Callable[[str], int]:
    with warnings.catch_warnings():  # it opens its files in a deprecated way
        warnings.simplefilter("ignore", DeprecationWarning)
        made = _encoding(_vocabularies(), encoding)
        made.encode_ordinary("only now it reads them")
    return lambda text: len(made.encode_ordinary(text))


def _vocabularies() -> Any:  # noqa: ANN401  # an untyped module
    try:
        return import_module("bpe_openai")
    except ImportError:
        message = (
            'tokenizer() needs its vocabularies: `pip install "loopcore[tokens]"`.'
        )
        raise ValueError(message) from None


def _encoding(known: Any, name: str) -> Any:  # noqa: ANN401  # an untyped module
    try:
        named = name in known.list_encoding_names()
        return known.get_encoding(name) if named else known.encoding_for_model(name)
    except (LookupError, ValueError, known.TokenizerError):
        names = ", ".join(known.list_encoding_names())
        message = f"tokenizer({name!r}): no such encoding or model; there is {names}."
        raise ValueError(message) from None
