"""Pictures: which of them a server can be shown, and how they are written for all wires."""

import re
from typing import Final

from loopcore import Image

SEEN: Final = re.compile(r"image/(?!svg)[a-z0-9.+-]+")
"""What is a picture, where a protocol has no list of its own."""

_STANDARD: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_EITHER: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_URL_SAFE: Final = str.maketrans("-_", "+/")
_MISNAMED: Final = {"image/jpg": "image/jpeg"}


def is_base64(data: str) -> bool:
    """Whether this is base64, of either alphabet, padded or not.

    >>> is_base64("Zm9v"), is_base64("Zm8"), is_base64("Z"), is_base64('{"a":1}')
    (True, True, False, False)
    """
    return bool(_EITHER.fullmatch(data)) and len(data.rstrip("=")) % 4 != 1


def encoded(image: Image) -> str:
    """The data as every server reads it: in one line, padded; empty if it is no base64.

    >>> encoded(Image("Zm9v\\nZg", "image/png")), encoded(Image("?", "image/png"))
    ('Zm9vZg==', '')
    """
    data = image.data
    if _STANDARD.fullmatch(data) and len(data) % 4 == 0:
        return data
    data = "".join(data.split()).translate(_URL_SAFE)
    if not is_base64(data):
        return ""
    bare = data.rstrip("=")
    return bare + "=" * (-len(bare) % 4)


def mime(image: Image) -> str:
    """Its media type, as it is registered.

    >>> mime(Image("", "image/JPG"))
    'image/jpeg'
    """
    named = image.mime.strip().lower()
    return _MISNAMED.get(named, named)


def is_shown(image: Image, media: re.Pattern[str] = SEEN) -> bool:
    """Whether it is of one of these types, and its data can be read.

    A server refuses a whole conversation for one picture that it cannot read.
    """
    return bool(media.fullmatch(mime(image)) and encoded(image))
