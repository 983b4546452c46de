"""The laws of `|`: what two hooks write comes to the same, however one puts it together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Final, Self

from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from returns.primitives.laws import (
    Law as Equation,
)
from returns.primitives.laws import (
    Law1,
    Law3,
    Lawful,
)

from loopcore.config import with_functions
from loopcore.frozen import UNSET
from loopcore.hooks.fold import fold
from loopcore.hooks.merge import Allow, Ask, Block
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks
from loopcore.hooks.updates import Update, rules
from loopcore.runtime.purity import brief
from loopcore.testing.check.checking import SETTINGS
from loopcore.testing.strategies.changing import updates as drawn
from loopcore.testing.strategies.plain import Drawn
from loopcore.testing.strategies.seeing import views


def left_identity(merged: "Merged") -> None:
    """Nothing, and then this, is this."""
    assert merged.nothing().merge(merged) == merged  # noqa: S101  # a law is one


def right_identity(merged: "Merged") -> None:
    """This, and then nothing, is this."""
    assert merged.merge(merged.nothing()) == merged  # noqa: S101  # as above


def associativity(first: "Merged", second: "Merged", third: "Merged") -> None:
    """Of three, the later two may be put together first."""
    one, other = first.merge(second).merge(third), first.merge(second.merge(third))
    assert one == other  # noqa: S101  # as above


class Merging(Lawful["Merging"]):
    """What merges, by the laws that `returns` can check: see its `check_all_laws`."""

    __slots__ = ()
    _laws: ClassVar[Sequence[Equation]] = (
        Law1(left_identity),
        Law1(right_identity),
        Law3(associativity),
    )


@frozen
class Merged(Merging):
    """An update, as something that merges."""

    update: Any

    def merge(self, other: Self) -> "Merged":
        """This, and then the other."""
        return Merged(self.update | other.update)

    def nothing(self) -> "Merged":
        """What writes no field."""
        return Merged(type(self.update)())


EXAMPLES: Final = 100
AS_MANY: Final = 5


def check_merge_laws(
    *updates: type[Update] | Update,
    verdicts: Iterable[str] = (),
    examples: int = EXAMPLES,
) -> None:
    """Assert that updates merge by the laws: identity, associativity, verdicts that join.

    For the updates of a point also: what two hooks write together is what their updates
    merge to, each sees what those before it wrote, and a hook that says nothing changes
    nothing wherever it stands.

    Args:
        updates: classes of updates, one's own too; or some updates, of which every three
            are tried. By default the update of every point.
        verdicts: fields of one's own that are verdicts: what one hook forbids, no other
            allows, whichever comes first. `decision`, `stop` and `retry` are.
        examples: how many are made up for each law.

    Raises:
        AssertionError: naming the law, the field and its rule, and the smallest updates.

    >>> check_merge_laws(examples=5)
    """
    __tracebackhide__ = True
    for kind, made in _made(updates).items():
        check = _Check(kind, made, {*verdicts, *VERDICTS}, examples)
        failure = check.algebra() or check.hooks()
        if failure:
            raise AssertionError(failure) from None


VERDICTS: Final = frozenset(("decision", "stop", "retry"))


def _made(given: tuple[type[Update] | Update, ...]) -> dict[type[Update], Drawn[Any]]:
    """What is tried of each class."""
    kinds = dict.fromkeys(point.update for point in POINTS.values())
    made: dict[type[Update], Drawn[Any]] = {}
    samples: dict[type[Update], list[Update]] = {}
    for one in given or kinds:
        if isinstance(one, type):
            made[one] = drawn(one)
        else:
            samples.setdefault(type(one), []).append(one)
    return {**made, **{k: st.sampled_from(found) for k, found in samples.items()}}


@frozen
class _Check:
    """One class of updates, under the laws."""

    kind: type[Update]
    made: Drawn[Any]
    verdicts: set[str]
    examples: int

    def algebra(self) -> str:
        """How the laws of a monoid fail, or how a verdict is lifted; empty if all hold."""
        laws = [law for found in Merged.laws().values() for law in found]
        return self._search(
            st.tuples(*(self.made,) * 3),
            lambda found: next(filter(None, self._problems(laws, found)), ""),
            self.examples,
        )

    def _problems(self, laws: list[Equation], found: tuple[Any, ...]) -> Iterator[str]:
        for law in laws:
            yield self._broken(law, found if isinstance(law, Law3) else found[:1])
        for name in self.verdicts & rules(self.kind).keys():
            yield self._lifted(name, *found[:2])

    def _broken(self, law: Equation, found: tuple[Any, ...]) -> str:
        """How this law fails for these, if it does."""
        definition: Any = law.definition  # pyright: ignore[reportUnknownVariableType]  # upstream
        try:
            definition(*map(Merged, found))
        except AssertionError:
            return f"{SENTENCES[law.name]} fails for {self._where(found)}"
        except Exception as error:  # noqa: BLE001  # a rule of one's own may raise
            return (
                f"{SENTENCES[law.name]} cannot be tried: {error!r}, for {_shown(found)}"
            )
        return ""

    def _where(self, found: tuple[Any, ...]) -> str:
        """The fields in which both sides differ, by their rules."""
        if len(found) == 1:
            return _shown(found)
        a, b, c = found
        one, other = (a | b) | c, a | (b | c)
        names = [n for n in rules(self.kind) if getattr(one, n) != getattr(other, n)]
        ruled = ", ".join(f"`{n}` (its rule is {_rule(self.kind, n)})" for n in names)
        return (
            f"{ruled}: {_shown(found)}; (a | b) | c is {brief(one)}, "
            f"a | (b | c) is {brief(other)}"
        )

    def _lifted(self, name: str, a: Any, b: Any) -> str:  # noqa: ANN401  # updates
        """How a verdict depends on who comes first, if it does."""
        if getattr(a, name) is UNSET or getattr(b, name) is UNSET:
            return ""
        one, other = getattr(a | b, name), getattr(b | a, name)
        if _decides(one) == _decides(other):
            return ""
        return (
            f"the verdict `{name}` is lifted by whoever comes later (its rule is "
            f"{_rule(self.kind, name)}): {_shown((a, b))}; a | b has "
            f"{name}={brief(one)}, b | a has {name}={brief(other)}. Give the field a "
            'rule that joins, such as field(default=UNSET, metadata={"rule": any_stop})'
        )

    def hooks(self) -> str:
        """How hooks that write these fail to merge as the updates do."""
        points: list[PointName] = [
            n for n, p in POINTS.items() if p.update is self.kind
        ]
        found = (self._at(point) for point in points)
        return next(filter(None, found), "")

    def _at(self, point: PointName) -> str:
        seen = views(POINTS[point].view, point=point, max_turns=0)

        def hold(found: tuple[Any, ...]) -> str:
            view, a, b, place = found
            return _together(point, view, (a, b), place)

        places = st.integers(0, 2)
        few = max(self.examples // AS_MANY, 5)  # a view costs as much as some updates
        return self._search(st.tuples(seen, self.made, self.made, places), hold, few)

    def _search(
        self, among: Drawn[Any], hold: Callable[[Any], str], examples: int
    ) -> str:
        """The simplest failure among these."""

        @settings(SETTINGS, max_examples=examples)
        @given(among)
        def look(found: Any) -> None:  # noqa: ANN401  # updates
            failure = hold(found)
            if failure:
                raise _Failed(failure)

        try:
            look()
        except _Failed as failed:
            return f"{self.kind.__name__}: {failed}."
        return ""


class _Failed(Exception):
    """A law does not hold."""


SENTENCES: Final = {
    "left_identity": "the identity (an empty update | a == a)",
    "right_identity": "the identity (a | an empty update == a)",
    "associativity": "associativity ((a | b) | c == a | (b | c))",
}


def _shown(found: Iterable[Any]) -> str:
    return ", ".join(f"{n} = {u!r}" for n, u in zip("abc", found, strict=False))


def _rule(kind: type[Update], name: str) -> str:
    rule: Any = rules(kind)[name]
    return str(getattr(rule, "__name__", rule))


def _decides(value: object) -> object:
    """What a verdict comes to: which kind it is, or whether it is a yes."""
    return type(value) if isinstance(value, Allow | Ask | Block) else bool(value)


def _together(point: PointName, view: Any, said: tuple[Any, Any], place: int) -> str:  # noqa: ANN401  # a view of the point
    """Two hooks that write these, and one that says nothing somewhere among them."""
    hooks = [
        _says(n, point, update)
        for n, update in zip(("one", "other"), said, strict=True)
    ]
    both = fold(tuple(hooks), point, view)
    if both.fault:
        return ""
    wrote = [update for _, update in both.wrote]
    merged = type(said[0])()
    for update in wrote:
        merged |= update
    if both.update != merged:
        return f"hooks that write {_shown(wrote)} wrote {brief(both.update)} together"
    hooks.insert(place, _says("silent", point, None))
    hushed = fold(tuple(hooks), point, view)
    if (hushed.view, hushed.update, hushed.wrote) != (
        both.view,
        both.update,
        both.wrote,
    ):
        return (
            f"a hook that says nothing changes what hooks do that write {_shown(wrote)}"
        )
    return ""


def _says(name: str, point: PointName, update: Any) -> Hooks:  # noqa: ANN401  # or None
    def says(view: object) -> Any:  # noqa: ANN401, ARG001  # whatever it sees
        return update

    return with_functions(Hooks(name), {point: says})
