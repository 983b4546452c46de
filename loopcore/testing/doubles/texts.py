"""Texts that fit a pattern, a format or a length, chosen by a seeded generator."""

import base64
import importlib
import re
import string
import uuid
from bisect import bisect_left
from collections.abc import Callable, Iterable
from random import Random
from typing import Any, Final

from attrs import define, field

from loopcore.frozen import FrozenDict, Json

WORDS: Final = (
    *("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor"),
    *("iris", "juniper", "kestrel", "lumen", "maple", "nectar", "onyx", "prairie"),
)
PLAIN: Final = string.ascii_letters + string.digits
MORE: Final = 4
"""How often something is repeated, at most, beyond what its pattern asks for."""

LONGEST: Final = 10_000
"""How long a text is made, at most."""

TOO_LONG: Final = (
    "it wants a text of {:,} characters or more, and {:,} at most are made"
)


class NoPattern(ValueError):
    """A pattern of which no text can be made here, and why."""


def text_for(schema: FrozenDict[Json], random: Random) -> str:
    """A text of a schema's pattern, or else its encoding, format or length.

    Raises:
        NoPattern: if no text can be made of its pattern.
    """
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    if least > LONGEST:
        raise NoPattern(TOO_LONG.format(least, LONGEST))
    if "pattern" in schema:
        return matching(schema["pattern"], random, least, most)
    if schema.get("contentEncoding") == "base64":
        return _encoded(random)
    make = FORMATS.get(str(schema.get("format")))
    if make:
        return make(random)
    return word(random, least, most)


def word(random: Random, shortest: int = 0, longest: int | None = None) -> str:
    """A word, or as many as a text of this length needs."""
    said = [random.choice(WORDS)]
    length = len(said[0])
    while length < shortest:
        said.append(random.choice(WORDS))
        length += 1 + len(said[-1])
    return " ".join(said)[:longest]


def _date(random: Random) -> str:
    return f"20{_two(random, 10, 39)}-{_two(random, 1, 12)}-{_two(random, 1, 28)}"


def _time(random: Random) -> str:
    return f"{_two(random, 0, 23)}:{_two(random, 0, 59)}:{_two(random, 0, 59)}Z"


def _two(random: Random, low: int, high: int) -> str:
    return f"{random.randint(low, high):02}"


def _host(random: Random) -> str:
    return f"{random.choice(WORDS)}.example.com"


def _path(random: Random) -> str:
    return f"/{random.choice(WORDS)}/{random.randint(1, 99)}"


def _uuid(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def _address(random: Random) -> str:
    return ".".join(str(random.randint(1, 254)) for _ in range(4))


def _long_address(random: Random) -> str:
    return "2001:db8::" + ":".join(f"{random.randint(1, 65535):x}" for _ in range(4))


def _encoded(random: Random) -> str:
    return base64.b64encode(random.choice(WORDS).encode()).decode()


FORMATS: Final[dict[str, Callable[[Random], str]]] = {
    "date": _date,
    "time": _time,
    "date-time": lambda random: f"{_date(random)}T{_time(random)}",
    "duration": lambda random: f"P{random.randint(1, 30)}DT{random.randint(1, 23)}H",
    "email": lambda random: f"{random.choice(WORDS)}@{_host(random)}",
    "idn-email": lambda random: f"{random.choice(WORDS)}@{_host(random)}",
    "hostname": _host,
    "idn-hostname": _host,
    "ipv4": _address,
    "ipv6": _long_address,
    "uri": lambda random: f"https://{_host(random)}{_path(random)}",
    "uri-reference": _path,
    "iri": lambda random: f"https://{_host(random)}{_path(random)}",
    "iri-reference": _path,
    "uri-template": lambda random: f"https://{_host(random)}/{{id}}",
    "uuid": _uuid,
    "json-pointer": _path,
    "relative-json-pointer": lambda random: f"{random.randint(0, 3)}{_path(random)}",
    "regex": lambda random: f"^{random.choice(WORDS)}$",
    "byte": _encoded,
    **dict.fromkeys(("base64", "base64url"), _encoded),
    **dict.fromkeys(("ipvanyaddress", "ipvanyinterface", "ipv4interface"), _address),
    **dict.fromkeys(("ipvanynetwork", "ipv4network"), lambda _: "192.0.2.0/24"),
    **dict.fromkeys(("uuid1", "uuid3", "uuid4", "uuid5"), _uuid),
    **dict.fromkeys(("path", "file-path", "directory-path"), _path),
    "json-string": lambda random: f'"{random.choice(WORDS)}"',
    "decimal": lambda random: f"{random.randint(0, 99)}.{_two(random, 0, 99)}",
    "binary": lambda random: random.choice(WORDS),
    "password": lambda random: f"{random.choice(WORDS)}-{random.randint(100, 999)}",
}
"""The formats of JSON Schema, and those that OpenAPI and pydantic add to texts."""


# Patterns: a text is made along the parts into which Python reads the pattern. What looks
# ahead or behind is left to chance, and to whoever validates the text.


def matching(
    pattern: str, random: Random, shortest: int = 0, longest: int | None = None
) -> str:
    """A text that this pattern is likely to match, of this length if it can be.

    Raises:
        NoPattern: for what Python cannot read, or cannot be made a text of.
    """
    parser: Any = importlib.import_module("re._parser")  # the one that `re` itself uses
    try:
        parts = parser.parse(_as_python_reads_it(pattern))
    except (re.error, OverflowError, RecursionError) as problem:
        message = f"its pattern {pattern!r:.80} cannot be read: {problem}"
        raise NoPattern(message) from None
    text = _Writing(random, pattern).all_of(parts)
    if len(text) >= shortest and (longest is None or len(text) <= longest):
        return text

    def long(more: int) -> str:
        return _Writing(random, pattern, more, full=True).all_of(parts)

    return long(_least(lambda more: len(long(more)) >= shortest, shortest))


def _least(enough: Callable[[int], bool], most: int) -> int:
    """The smallest number, up to most, that is enough."""
    high = 1
    while high < most and not enough(high):
        high *= 2
    return bisect_left(range(high), 1, key=lambda n: int(enough(n)))


def _as_python_reads_it(pattern: str) -> str:
    """JavaScript's names for groups and classes of letters, in Python's words."""
    named = re.sub(r"\(\?<(?![=!])", "(?P<", pattern)
    named = re.sub(r"\\k<(\w+)>", r"(?P=\1)", named)
    return re.sub(r"(\[[^\]\\]*)?\\p\{(\w+)\}", _letters, named)


def _letters(found: "re.Match[str]") -> str:
    within, name = found[1], found[2]
    letters = LETTERS.get(name)
    if letters is None:
        message = f"its pattern has \\p{{{name}}}, which is not known here"
        raise NoPattern(message)
    return f"{within}{letters}" if within else f"[{letters}]"


LETTERS: Final = {
    **dict.fromkeys(("L", "Letter", "Alphabetic"), "a-zA-Z"),
    **dict.fromkeys(("Lu", "Uppercase_Letter"), "A-Z"),
    **dict.fromkeys(("Ll", "Lowercase_Letter"), "a-z"),
    **dict.fromkeys(("N", "Nd", "Number"), "0-9"),
    **dict.fromkeys(("P", "Punctuation"), ".,;"),
    **dict.fromkeys(("Zs", "Space_Separator"), " "),
}

CATEGORIES: Final = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": PLAIN + "_",
    "CATEGORY_SPACE": " ",
    "CATEGORY_NOT_DIGIT": string.ascii_letters,
    "CATEGORY_NOT_WORD": " -.,",
    "CATEGORY_NOT_SPACE": PLAIN,
}


@define
class _Writing:
    """One text being made; `groups` are those that it may have to repeat.

    What may be repeated is so up to `more` times more than it must; with `full` it is.
    """

    random: Random
    pattern: str
    more: int = MORE
    full: bool = field(default=False, kw_only=True)
    groups: dict[int, str] = field(factory=dict[int, str])

    def all_of(self, parts: Iterable[tuple[Any, Any]]) -> str:
        """A text for each of these parts, joined."""
        return "".join(self._one(str(name), value) for name, value in parts)

    def _one(self, name: str, value: Any) -> str:  # noqa: ANN401  # as the parser gives it
        write = PARTS.get(name)
        if write is None:
            message = (
                f"its pattern {self.pattern!r:.80} has a part that is not known here"
            )
            raise NoPattern(message)
        return write(self, value)

    def nothing(self, _: object) -> str:
        """Places, and looks ahead and behind, take up no room."""
        return ""

    def letter(self, value: int) -> str:
        """This one."""
        return chr(value)

    def any_letter(self, _: object) -> str:
        """Whatever is plain."""
        return self.random.choice(PLAIN)

    def other_letter(self, value: int) -> str:
        """Any but this one."""
        return self._other_than(chr(value))

    def one_of(self, options: Iterable[tuple[Any, Any]]) -> str:
        """A letter of a set, or of none of it."""
        listed = [(str(name), value) for name, value in options]
        letters = "".join(_letters_of(name, value) for name, value in listed)
        if listed[0][0] == "NEGATE":
            return self._other_than(letters)
        return self.random.choice(letters)

    def branch(self, value: Any) -> str:  # noqa: ANN401  # as above
        """One of several."""
        return self.all_of(self.random.choice(value[1]))

    def group(self, value: Any) -> str:  # noqa: ANN401  # as above
        """What a group holds, for those who repeat it."""
        text = self.groups[value[0]] = self.all_of(value[-1])
        return text

    def repeated(self, value: Any) -> str:  # noqa: ANN401  # as above
        """As often as it must, and a little more if it may."""
        least, most, parts = value
        most = min(most, least + self.more)
        times = most if self.full else self.random.randint(least, most)
        if times > LONGEST:
            raise NoPattern(TOO_LONG.format(times, LONGEST))
        return "".join(self.all_of(parts) for _ in range(times))

    def again(self, group: int) -> str:
        """What that group held."""
        return self.groups.get(group, "")

    def _other_than(self, letters: str) -> str:
        left = [letter for letter in PLAIN + " -_.,:/" if letter not in letters]
        if not left:
            message = f"its pattern {self.pattern!r:.80} leaves no plain letter"
            raise NoPattern(message)
        return self.random.choice(left)


def _letters_of(name: str, value: Any) -> str:  # noqa: ANN401  # as above
    match name:
        case "LITERAL":
            return chr(value)
        case "RANGE":
            first, last = value
            return "".join(map(chr, range(first, min(last, first + 255) + 1)))
        case "CATEGORY":
            return CATEGORIES[str(value)]
        case _:
            return ""


PARTS: Final[dict[str, Callable[[_Writing, Any], str]]] = {
    "LITERAL": _Writing.letter,
    "ANY": _Writing.any_letter,
    "NOT_LITERAL": _Writing.other_letter,
    "IN": _Writing.one_of,
    "BRANCH": _Writing.branch,
    "SUBPATTERN": _Writing.group,
    "ATOMIC_GROUP": _Writing.all_of,
    "GROUPREF": _Writing.again,
    **dict.fromkeys(
        ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"), _Writing.repeated
    ),
    **dict.fromkeys(("AT", "ASSERT", "ASSERT_NOT"), _Writing.nothing),
}
