"""Why data was refused, in a sentence that names the place."""

from collections.abc import Collection, Iterable
from typing import Final

from loopcore.frozen import FrozenDict, Json, NotJson, dump_json

UNKNOWN: Final = "unknown field"
MISSING: Final = "missing field"
SHOWN: Final = 60
"""How many characters of a wrong value are shown."""

NAMES: Final[dict[type, str]] = {
    dict: "an object",
    list: "an array",
    FrozenDict: "an object",
    tuple: "an array",
    str: "a str",
    int: "an int",
    float: "a number",
    bool: "a bool",
    type(None): "null",
}


class DecodeError(ValueError):
    """Why data was refused: `path` says where, `problem` what is wrong there.

    >>> str(DecodeError("turn.slots[0].priority", "unknown field"))
    "unknown field 'turn.slots[0].priority'"
    >>> str(DecodeError("turn.number", "must be an int, is 'x'"))
    "'turn.number' must be an int, is 'x'"
    """

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(path, problem)
        self.path, self.problem = path, problem

    def __str__(self) -> str:
        if self.problem in (UNKNOWN, MISSING):
            return f"{self.problem} {self.path!r}"
        return f"{self.path!r} {self.problem}" if self.path else self.problem

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DecodeError) and self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)

    def under(self, step: str | int) -> "DecodeError":
        """The same, seen from one level higher."""
        named = isinstance(step, str) and step.isidentifier()
        return self.below(step if named else f"[{step!r}]")

    def below(self, path: object) -> "DecodeError":
        """The same, with this path in front."""
        joint = "." if path and self.path and self.path[0] != "[" else ""
        return DecodeError(f"{path}{joint}{self.path}", self.problem)


def unknown(name: str) -> DecodeError:
    """A field that nobody knows."""
    return DecodeError("", UNKNOWN).under(name)


def missing(name: str) -> DecodeError:
    """A field that has to be there."""
    return DecodeError(name, MISSING)


def wrong(wanted: Collection[type], data: Json) -> DecodeError:
    """Another type of JSON than these."""
    kinds = set(wanted)
    names = {
        NAMES[kind]: None for kind in wanted if kind is not int or float not in kinds
    }
    named = " or ".join(names)
    return DecodeError("", f"must be {named}, is {shown(data)}")


def none_of(options: Iterable[str], data: Json) -> DecodeError:
    """A text that is none of those it may be."""
    named = ", ".join(map(repr, options))
    return DecodeError("", f"must be one of {named}, is {shown(data)}")


def too_large() -> DecodeError:
    """A number that nobody can calculate with."""
    return DecodeError("", "is too large a number")


def too_deep(path: str) -> DecodeError:
    """Deeper than can be followed."""
    return DecodeError(path, "is nested too deeply")


def not_json(problem: NotJson) -> DecodeError:
    """What `freeze` refused."""
    return DecodeError(problem.path, f"is {problem.problem}")


def refused(problem: Exception) -> DecodeError:
    """What a constructor refused."""
    said = problem.args[0] if problem.args else type(problem).__name__
    return DecodeError("", f"is refused: {said}")


def shown(data: Json) -> str:
    """JSON as an error shows it."""
    if isinstance(data, dict | list | tuple):
        return NAMES[dict if isinstance(data, dict) else list]
    text = repr(data) if isinstance(data, str | float) else dump_json(data)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
