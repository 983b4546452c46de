"""JSON Schemas, compiled, and places in them.

A schema, whoever wrote it, can neither raise here nor reach for the network, nor spread so
wide that checking a value takes for ever.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from attrs import field, frozen
from jsonschema_rs import (
    FancyRegexOptions,
    ValidationError,
    ValidationErrorKind,
    Validator,
    ValidatorMap,
    validator_for,
    validator_map_for,
)

from loopcore.fan import DEEPEST, MOST, fan, is_array
from loopcore.frozen import Json, parse_json

STEPS: Final = 10_000
"""How many places a walk looks at: schemas can refer to themselves without end."""

BACKTRACKS: Final = 10_000
"""How far a pattern may search back, so that none can hang: half a millisecond."""


class BrokenSchema(ValueError):
    """A schema that says nothing, since it is no JSON Schema."""


# The sentences.


def sentence(problem: ValidationError, whole: str) -> str:
    """Where something is wrong, and what."""
    return f"{path(problem.instance_path) or whole}: {reason(problem)}"


def path(steps: Iterable[str | int]) -> str:
    """A place in a value; empty for all of it."""
    said = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps)
    return said and repr(said.removeprefix("."))


def reason(problem: ValidationError) -> str:
    """What is wrong, without the place."""
    kind = problem.kind
    if not isinstance(kind, ALTERNATIVES):
        return short(problem.message)
    tried = (branch[0].message for branch in kind.context[:5] if branch)
    return f"fits none of its alternatives ({'; '.join(map(short, tried))})"


ALTERNATIVES: Final = (ValidationErrorKind.AnyOf, ValidationErrorKind.OneOfNotValid)


def short(text: str, most: int = 200) -> str:
    """Text that stays readable, whatever was sent."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


# Schemas, compiled once each. They are known by their text, because as Python values
# {"const": 1} and {"const": true} are equal.


@lru_cache(maxsize=512)
def whole_check(schema: str) -> Validator | str:
    """The validator, or what is wrong with the schema."""
    parsed = parse_json(schema)
    if fan(parsed).looks > MOST:
        return TOO_WIDE
    try:
        return validator_for(parsed, **RULES)
    except ValidationError as problem:
        return sentence(problem, "at its top")
    except ValueError as problem:  # pragma: no cover  # others' code may raise more
        return short(str(problem))


TOO_WIDE: Final = (
    "its definitions and alternatives come to more than can be checked: "
    f"above {MOST} looks at one value, or nested above {DEEPEST} deep"
)


@frozen(eq=False)
class Shape:
    """A schema to walk along: `checks` has a validator for each subschema's pointer."""

    schema: Json
    checks: ValidatorMap
    walked: bool


@lru_cache(maxsize=512)
def shape_at(schema: str) -> Shape:
    """The parts of a schema that `whole_check` found nothing wrong with."""
    parsed = parse_json(schema)
    return Shape(parsed, validator_map_for(parsed, **RULES), _is_walked(parsed))


def _is_walked(schema: Json) -> bool:
    """Whether to list problems by walking: a validator's own list may never end."""
    found = fan(schema)
    return found.repeats or found.looks > LISTED


LISTED: Final = 200

RULES: Final[dict[str, Any]] = {
    "offline": True,
    "pattern_options": FancyRegexOptions(backtrack_limit=BACKTRACKS),
}


# Places: where in a schema a value is looked at.


@frozen
class Place:
    """A subschema, by its pointer."""

    shape: Shape
    at: str = "#"
    seen: frozenset[str] = frozenset()
    steps: Iterator[int] = field(factory=lambda: iter(range(STEPS)))

    @property
    def schema(self) -> Json:
        """What stands there."""
        return _find(self.shape.schema, self.at)

    def below(self, *names: str | int, seen: frozenset[str] = frozenset()) -> "Place":
        """A subschema. What was `seen` counts only while the value is the same one."""
        at = "/".join((self.at, *map(_escape, names)))
        return Place(self.shape, at, seen, self.steps)

    def beside(self, *names: str | int) -> "Place":
        """A subschema for the same value."""
        return self.below(*names, seen=self.seen)

    def target(self, reference: Json) -> "Place | None":
        """Where a reference leads, None if nowhere new."""
        at = unquote(reference)
        if at in self.seen or at not in self.shape.checks:
            return None
        return Place(self.shape, at, self.seen | {at}, self.steps)

    def accepts(self, value: Json) -> bool:
        """Whether the value fits; true where nothing is known."""
        check = self.shape.checks.get(self.at)
        return check is None or check.is_valid(value)

    def problems(self, value: Json) -> tuple[ValidationError, ...]:
        """What is wrong with a value that does not fit, as a validator lists it."""
        return tuple(self.shape.checks[self.at].iter_errors(value))


def _escape(name: str | int) -> str:
    return str(name).replace("~", "~0").replace("/", "~1")


def _find(schema: Json, pointer: str) -> Json:
    for name in pointer.split("/")[1:]:
        name = name.replace("~1", "/").replace("~0", "~")  # noqa: PLW2901  # unescaped
        schema = schema[int(name) if is_array(schema) else name]
    return schema
