"""Text from outside, made safe to show: a model must not be able to drive a terminal."""

import re
from typing import Final

SHOWN: Final = 60
"""How many characters of a value are shown."""

STEERING: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
"""What moves a cursor, colours, or turns the reading direction; not tab and newline."""


def harmless(text: str) -> str:
    r"""The text with control characters made visible, and carriage returns left out.

    >>> harmless("a\x1b[2Jb\r\n\x9b1m\u202e")
    'a␛[2Jb\n\\x9b1m\\u202e'
    """
    return STEERING.sub(_visible, text.replace("\r", ""))


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # noqa: PLR2004  # the pictures of the 32 oldest control characters
        return chr(0x2400 + code)
    return match[0].encode("unicode_escape").decode()


def one_line(text: str) -> str:
    """The text on one line, its newlines visible."""
    return harmless(text).replace("\n", "␊").replace("\t", " ")


def spoken_value(value: object, *, whole: bool = False) -> str:
    """A JSON value as Python writes it, shortened unless it must be seen as a whole."""
    text = repr(value)
    return text if whole or len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
