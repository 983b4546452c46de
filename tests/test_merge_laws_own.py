"""check_merge_laws on one's own: verdicts of any type, rules odd at one value, any class."""

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from dataclasses import field as data_field
from typing import Any, Final, Literal

import attrs
import pytest
from attrs import field, frozen

from loopcore.hooks import (
    UNSET,
    ToolResultUpdate,
    TurnUpdate,
    Unset,
    Update,
    any_stop,
    give_up,
)
from loopcore.testing import check_merge_laws


def failure(*updates: Any, **more: Any) -> str:
    """What is said of these updates."""
    with pytest.raises(AssertionError) as caught:
        check_merge_laws(*updates, **more)
    return str(caught.value)


# Verdicts.


class Way(enum.Enum):
    """What may be done."""

    ALLOW = 1
    ASK = 2
    DENY = 3


Word = Literal["allow", "ask", "deny"]
ORDER: Final[list[Word]] = ["allow", "ask", "deny"]


@frozen
class Yes:
    """A verdict that is a record."""


@frozen
class No:
    """The other one, with a reason."""

    why: str = ""


@frozen
class Later(Update):
    """Fields of every type that the later update writes."""

    flag: bool | Unset = UNSET
    word: Word | Unset = UNSET
    maybe: Word | Unset | None = UNSET
    way: Way | Unset = UNSET
    text: str | Unset = UNSET
    level: int | Unset = UNSET
    reason: bool | str | Unset = UNSET
    record: Yes | No | Unset = UNSET


@pytest.mark.parametrize("name", [f.name for f in attrs.fields(Later)])
def test_a_field_that_a_later_update_writes_is_no_verdict(name: str) -> None:
    assert failure(Later, verdicts=[name], examples=20).startswith(
        f"Later: the verdict `{name}` is lifted by whoever comes later (its rule is later)"
    )


@pytest.mark.parametrize(
    ("kind", "name"),
    [(ToolResultUpdate, "terminate"), (TurnUpdate, "model"), (TurnUpdate, "system")],
)
def test_values_of_loopcores_own_updates_are_no_verdicts(
    kind: type[Update], name: str
) -> None:
    assert f"the verdict `{name}` is lifted" in failure(kind, verdicts=[name])


def first(old: Any, new: Any) -> Any:
    return new if old is UNSET else old


def join(rank: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    def stronger(old: Any, new: Any) -> Any:
        if old is UNSET or new is UNSET:
            return first(old, new)
        return max(old, new, key=rank)

    return stronger


@frozen
class Joined(Update):
    """Verdicts of every type that join."""

    flag: bool | Unset = field(default=UNSET, metadata={"rule": any_stop})
    word: Word | Unset = field(default=UNSET, metadata={"rule": join(ORDER.index)})
    way: Way | Unset = field(
        default=UNSET, metadata={"rule": join(lambda way: way.value)}
    )
    level: int | Unset = field(default=UNSET, metadata={"rule": join(int)})
    text: str | Unset = field(default=UNSET, metadata={"rule": join(str)})
    reason: bool | str | Unset = field(default=UNSET, metadata={"rule": any_stop})


JOINED: Final = [f.name for f in attrs.fields(Joined) if f.name != "memo"]


@pytest.mark.parametrize("name", JOINED)
def test_a_verdict_that_joins_is_one_whatever_its_type(name: str) -> None:
    check_merge_laws(Joined, verdicts=[name], examples=30)


def test_a_verdict_with_its_order_is_judged_by_it() -> None:
    check_merge_laws(Joined, verdicts={"word": ORDER, "level": int}, examples=30)


@frozen
class First(Update):
    """The first word stands, though a later one forbids."""

    word: Word | Unset = field(default=UNSET, metadata={"rule": first})


def test_a_verdict_that_only_the_first_decides_is_lifted_by_order() -> None:
    assert "is lifted by whoever comes later" in failure(First, verdicts=["word"])


def weak(word: Word) -> int:
    return -ORDER.index(word)


@frozen
class Weakest(Update):
    """Whoever allows, allows."""

    word: Word | Unset = field(
        default=UNSET, metadata={"rule": join(lambda word: -ORDER.index(word))}
    )


def test_two_that_are_weaker_than_one_are_found_where_the_order_is_known() -> None:
    check_merge_laws(Weakest, verdicts=["word"], examples=30)

    assert failure(Weakest, verdicts={"word": ORDER}).startswith(
        "Weakest: the verdict `word` is weaker in both than in one of them"
    )


@frozen
class Halting(Update):
    """A stop that a no takes back."""

    stop: bool | Unset = field(default=UNSET, metadata={"rule": give_up})


def test_loopcores_own_verdicts_have_their_order() -> None:
    """To stop is the stronger one, so all have to agree to go on."""
    assert "`stop` is weaker in both than in one of them" in failure(Halting)


def flip(old: Any, new: Any) -> Any:
    return first(old, new) if UNSET in (old, new) else old != new


@frozen
class Flipping(Update):
    """A verdict that is taken back when it is said again."""

    flag: bool | Unset = field(default=UNSET, metadata={"rule": flip})


def test_a_verdict_said_twice_is_no_other() -> None:
    assert failure(Flipping, verdicts=["flag"]).startswith(
        "Flipping: the verdict `flag` becomes another one when it is said again"
    )


@pytest.mark.parametrize("names", [["nonsense"], ["stop", "text"], {"nonsense": bool}])
def test_a_verdict_that_is_no_field_is_told(names: Any) -> None:
    with pytest.raises(ValueError, match="no update has a field") as caught:
        check_merge_laws(ToolResultUpdate, verdicts=names)

    assert str(caught.value).endswith(
        "ToolResultUpdate has memo, content, details, is_error, terminate"
    )


def test_a_verdict_is_a_name_among_those_of_all_updates() -> None:
    check_merge_laws(Joined, Fine, verdicts=["word"], examples=5)


def test_a_text_is_no_list_of_names() -> None:
    with pytest.raises(TypeError, match=r"takes names: verdicts=\['flag'\]"):
        check_merge_laws(Later, verdicts="flag")


def test_a_value_that_the_order_leaves_out_is_told() -> None:
    with pytest.raises(ValueError, match="'ask' is not among them"):
        check_merge_laws(Joined, verdicts={"word": ["allow", "deny"]})


# Rules that fail at few values.


@frozen
class Fine(Update):
    """What is right."""

    note: str | Unset | None = UNSET


def seven(old: Any, new: Any) -> Any:
    return first(old, new) if UNSET in (old, new) else (new if old != 7 else 8)


def stripped(old: Any, new: Any) -> Any:
    return first(old, new) if UNSET in (old, new) else f"{old} {new}".strip()


def appended(old: Any, new: Any) -> Any:
    if UNSET in (old, new):
        return first(old, new)
    old.extend(new)
    return old


@frozen
class Seven(Update):
    """A rule that is odd at one number."""

    level: int | Unset = field(default=UNSET, metadata={"rule": seven})


@frozen
class Stripped(Update):
    """A rule that is odd at spaces."""

    text: str | Unset = field(default=UNSET, metadata={"rule": stripped})


@frozen
class Appended(Update):
    """A rule that writes to what it is given."""

    words: list[str] | Unset = field(default=UNSET, metadata={"rule": appended})


@pytest.mark.parametrize("kind", [Seven, Stripped])
def test_a_rule_that_is_odd_at_few_values_is_found(kind: type[Update]) -> None:
    assert "associativity ((a | b) | c == a | (b | c)) fails for" in failure(kind)


def test_a_rule_that_changes_what_it_is_given_is_found() -> None:
    said = failure(Appended)

    assert said.startswith("Appended: ")
    assert "merging changes what is merged: `words` (its rule is appended)" in said


def turning() -> Callable[[Any, Any], Any]:
    said: list[object] = []

    def turn(old: Any, new: Any) -> Any:
        said.append(new)
        return old if len(said) % 2 else new

    return turn


@frozen
class Turning(Update):
    """A rule that answers in turns."""

    level: int | Unset = field(default=UNSET, metadata={"rule": turning()})


def test_a_rule_that_says_now_this_and_now_that_is_told() -> None:
    assert failure(Turning).startswith("Turning: ")


# Classes of every sort, merging in their own way.


@frozen
class Attrs:
    """An attrs class that is no Update."""

    words: tuple[str, ...] = ()
    deny: bool = False

    def __or__(self, other: "Attrs") -> "Attrs":
        return Attrs(self.words + other.words, self.deny or other.deny)


@dataclass(frozen=True)
class Data:
    """A dataclass."""

    words: tuple[str, ...] = ()
    way: Word | None = None

    def __or__(self, other: "Data") -> "Data":
        strictest = max(self, other, key=lambda one: [None, *ORDER].index(one.way))
        return Data(self.words + other.words, strictest.way)


class Plain:
    """A class without annotations."""

    def __init__(self, level: int = 0) -> None:
        self.level = level

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and self.level == other.level

    def __hash__(self) -> int:
        return hash(self.level)

    def __repr__(self) -> str:
        return f"Plain({self.level})"

    def __or__(self, other: "Plain") -> "Plain":
        return Plain(max(self.level, other.level))


def test_any_class_that_merges_lawfully_passes() -> None:
    check_merge_laws(Attrs, verdicts=["deny"], examples=30)
    check_merge_laws(Data, verdicts={"way": ORDER}, examples=30)
    check_merge_laws(Plain(), Plain(1), Plain(7), verdicts=["level"], examples=30)
    check_merge_laws(Data(("a",)), Data(("b",)), Data(), examples=30)
    check_merge_laws({"a": 1}, {"a": 2, "b": 3}, {"c": 4}, examples=30)


@dataclass(frozen=True)
class LaterData:
    """A dataclass whose later value stands."""

    way: Word | None = None
    level: int = 0

    def __or__(self, other: "LaterData") -> "LaterData":
        return LaterData(other.way or self.way, self.level - other.level)


class LaterPlain(Plain):
    """A plain class whose later value stands."""

    def __or__(self, other: Plain) -> Plain:
        return LaterPlain(other.level or self.level)


def test_what_merges_in_its_own_way_is_told_in_its_own_words() -> None:
    said = failure(LaterData)

    assert "fails for `level` (`LaterData.__or__` merges it): a = LaterData(" in said


def test_a_verdict_of_a_plain_class_is_lifted_in_its_own_words() -> None:
    said = failure(LaterPlain(1), LaterPlain(2), verdicts=["level"])

    assert "the verdict `level` is lifted by whoever comes later" in said
    assert said.endswith("Let `LaterPlain.__or__` keep the stronger of both.")


@frozen
class Needing(Update):
    """It cannot be empty."""

    level: int = field()


class Nameless:
    """It does not say when two are the same."""

    def __or__(self, other: "Nameless") -> "Nameless":
        return other


@dataclass
class Unmerging:
    """It has no merge."""

    level: int = 0


class Secret:
    """What nobody can make up."""

    def __init__(self, key: Any) -> None:
        raise ValueError(key)


@frozen
class Sealed(Update):
    """A field that nobody can make up."""

    secret: Secret | Unset = UNSET


@frozen
class Unread(Update):
    """An annotation that names nothing."""

    level: "Nothing | Unset" = UNSET  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore[reportUndefinedVariable]  # what is told


REFUSED: Final[list[tuple[Any, str]]] = [
    (int, "makes up values of attrs classes and dataclasses, and int is neither"),
    (Plain, "check_merge_laws(Plain(...), Plain(...), Plain(...))"),
    (dict, "dict is neither"),
    (object, "object has no `__or__`"),
    (str, "str has no `__or__`"),
    ("text", "str has no `__or__`"),
    (3.5, "float has no `__or__`"),
    (Unmerging, "Make it a subclass of loopcore.hooks.Update, or write one"),
    (Unmerging(1), "Unmerging has no `__or__`"),
    (Nameless, "Nameless has no `==` of its own"),
    (Nameless(), "or write `__eq__`"),
    (Needing, "Needing() cannot be made"),
    (Needing(3), "Give each field a default that stands for not written"),
    (Sealed, "could make up no Sealed from its annotations"),
    (Unread, "those of Unread cannot be read"),
]


@pytest.mark.parametrize(("given", "why"), REFUSED)
def test_what_cannot_be_tried_is_refused_and_told_what_to_give(
    given: Any, why: str
) -> None:
    with pytest.raises(TypeError) as caught:
        check_merge_laws(given)

    assert str(caught.value).startswith("check_merge_laws ")
    assert why in str(caught.value)


@pytest.mark.parametrize("examples", [0, -1])
def test_no_examples_prove_nothing(examples: int) -> None:
    with pytest.raises(ValueError, match="takes 1 or more"):
        check_merge_laws(Fine, examples=examples)


@dataclass
class Growing:
    """A dataclass that writes to itself."""

    words: list[str] = data_field(default_factory=list[str])

    def __or__(self, other: "Growing") -> "Growing":
        self.words.extend(other.words)
        return replace(self, words=list(self.words))


def test_a_class_that_changes_itself_is_found() -> None:
    assert failure(Growing).startswith("Growing: ")
