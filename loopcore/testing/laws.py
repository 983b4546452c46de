"""The laws of `|`: what two hooks write comes to the same, however one puts it together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any, ClassVar, Final, Self

from attrs import frozen
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
from loopcore.hooks.fold import fold
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks
from loopcore.runtime.purity import brief
from loopcore.testing.merging.change import changed
from loopcore.testing.merging.kinds import UNMADE, Kind, kind_of, kind_of_some
from loopcore.testing.merging.search import Overflown, Unmade, failure
from loopcore.testing.merging.verdicts import (
    Verdict,
    Verdicts,
    refuse_no_verdicts,
    verdicts_of,
)
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
MORE: Final = 2
"""So many times as many are tried of one field alone: a rule may be odd at one value."""


def check_merge_laws(
    *updates: Any,  # noqa: ANN401  # classes of whatever merges, and values
    verdicts: Verdicts = (),
    examples: int = EXAMPLES,
) -> None:
    """Assert that updates merge by the laws: identity, associativity, verdicts that join.

    Nor does merging change what is merged. For the updates of a point also: what two hooks
    write together is what their updates merge to, each sees what those before it wrote,
    and a hook that says nothing changes nothing wherever it stands.

    Args:
        updates: classes of updates, one's own too: attrs classes and dataclasses that merge
            by `|`. Or some updates, of which every three are tried; of any class that has
            `|`, `==` and an empty one. By default the update of every point.
        verdicts: fields of one's own that are verdicts, which no later update makes weaker:
            two decide the same whichever comes first, and one that is said again changes
            nothing. Names; or names with the values from the weakest to the strongest, or
            with a function that says how strong a value is: then two are never weaker than
            one. `decision`, `stop` and `retry` of an Update are verdicts.
        examples: how many are made up for each law.

    Raises:
        AssertionError: naming the law, the field and its rule, and the smallest updates.
        TypeError: for what does not merge, or cannot be made up: it says what to give.
        ValueError: for the name of a field that there is not.

    >>> check_merge_laws(examples=5)
    """
    __tracebackhide__ = True
    if examples < 1:
        message = f"check_merge_laws(examples=...) takes 1 or more; it got {examples}"
        raise ValueError(message)
    kinds = _kinds(updates or tuple(point.update for point in POINTS.values()))
    refuse_no_verdicts(verdicts, kinds)
    for kind in kinds:
        check = _Check(kind, verdicts_of(kind, verdicts), examples)
        said = check.algebra() or check.hooks()
        if said:
            raise AssertionError(said) from None


def _kinds(given: tuple[Any, ...]) -> list[Kind]:
    """What is tried of each class."""
    samples: dict[type[Any], list[Any]] = {}
    for one in given:
        if not isinstance(one, type):
            samples.setdefault(one.__class__, []).append(one)
    classes = dict.fromkeys(one for one in given if isinstance(one, type))
    made = [kind_of(kind) for kind in classes]
    return [*made, *(kind_of_some(*some) for some in samples.items())]


@frozen
class _Check:
    """One class of updates, under the laws."""

    kind: Kind
    verdicts: list[Verdict]
    examples: int

    def algebra(self) -> str:
        """How the laws of a monoid fail, or how a verdict is lifted; empty if all hold.

        Updates that write one field alone are tried first: a rule that fails at one value
        in a hundred is met there, and told in few words. Then whole ones.
        """
        alone = (self._alone(name) for name in self.kind.doubtful)
        joined = (self._joined(verdict) for verdict in self.verdicts)
        said = next((said for said in chain(joined, alone) if said), "")
        whole = self._three(self.kind.made)
        return said or self._search(whole, self._problem, self.examples)

    def _three(self, made: Drawn[Any]) -> Drawn[Any]:
        return st.tuples(made, made, made)

    def _alone(self, name: str) -> str:
        if name not in self.kind.values:
            return ""
        three = self._three(self.kind.only(name))
        return self._search(three, self._problem, MORE * self.examples)

    def _joined(self, verdict: Verdict) -> str:
        if verdict.name not in self.kind.values:
            return ""
        only = self.kind.only(verdict.name)
        return self._search(
            st.tuples(only, only),
            lambda found: verdict.lifted(self.kind, *found),
            self.examples,
        )

    def _problem(self, found: tuple[Any, ...]) -> str:
        return next(filter(None, self._problems(found)), "")

    def _problems(self, found: tuple[Any, ...]) -> Iterator[str]:
        then = deepcopy(found) if self.kind.doubtful else found
        for law in (law for laws in Merged.laws().values() for law in laws):
            yield self._broken(law, found if isinstance(law, Law3) else found[:1])
        for verdict in self.verdicts:
            yield verdict.lifted(self.kind, *found[:2])
        yield self._changed(then, found)

    def _broken(self, law: Equation, found: tuple[Any, ...]) -> str:
        """How this law fails for these, if it does."""
        definition: Any = law.definition  # pyright: ignore[reportUnknownVariableType]  # upstream
        try:
            definition(*map(Merged, found))
        except AssertionError:
            return f"{SENTENCES[law.name]} fails for {self._where(law.name, found)}"
        except Exception as error:  # noqa: BLE001  # a rule of one's own may raise
            said = (
                f"{SENTENCES[law.name]} cannot be tried: {error!r}, for {_shown(found)}"
            )
            if isinstance(error, OverflowError):
                raise Overflown(said) from None
            return said
        return ""

    def _where(self, law: str, found: tuple[Any, ...]) -> str:
        """The fields in which both sides differ, by their rules, and both sides."""
        one, other = _both_sides(law, self.kind.empty, found)
        names = [n for n in self.kind.fields if getattr(one, n) != getattr(other, n)]
        ruled = ", ".join(f"`{name}` ({self.kind.rule(name)})" for name in names)
        left, right = SIDES[law]
        said = f"{left} is {brief(one)}" + (
            f", {right} is {brief(other)}" if right else ""
        )
        return (
            f"{ruled}: {_shown(found)}; {said}" if ruled else f"{_shown(found)}; {said}"
        )

    def _changed(self, then: tuple[Any, ...], found: tuple[Any, ...]) -> str:
        """Which of these merging has changed, if it has."""
        for was, now in zip(then, found, strict=True):
            names = [
                name
                for name in self.kind.fields
                if changed(getattr(was, name), getattr(now, name))
            ]
            if names or changed(was, now):
                ruled = ", ".join(f"`{n}` ({self.kind.rule(n)})" for n in names)
                return (
                    f"merging changes what is merged{ruled and ': '}{ruled}: {was!r} "
                    f"became {now!r}. Make a new value of both, and leave both as they are"
                )
        return ""

    def hooks(self) -> str:
        """How hooks that write these fail to merge as the updates do."""
        points: list[PointName] = [
            n for n, p in POINTS.items() if p.update is self.kind.type
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
        return self._search(
            st.tuples(seen, self.kind.made, self.kind.made, places), hold, few
        )

    def _search(
        self, among: Drawn[Any], hold: Callable[[Any], str], examples: int
    ) -> str:
        """The simplest failure among these."""
        name = self.kind.type.__name__
        try:
            said = failure(among, hold, examples)
        except Unmade as why:
            raise TypeError(UNMADE.format(name, why)) from None
        return said and f"{name}: {said}."


SENTENCES: Final = {
    "left_identity": "the identity (an empty update | a == a)",
    "right_identity": "the identity (a | an empty update == a)",
    "associativity": "associativity ((a | b) | c == a | (b | c))",
}


def _both_sides(law: str, empty: Any, found: tuple[Any, ...]) -> tuple[Any, Any]:  # noqa: ANN401  # updates
    """What has to be equal by this law."""
    match law, found:
        case "left_identity", (a, *_):
            return empty | a, a
        case "right_identity", (a, *_):
            return a | empty, a
        case _:
            a, b, c = found
            return (a | b) | c, a | (b | c)


SIDES: Final = {
    "left_identity": ("an empty update | a", ""),
    "right_identity": ("a | an empty update", ""),
    "associativity": ("(a | b) | c", "a | (b | c)"),
}


def _shown(found: Iterable[Any]) -> str:
    return ", ".join(f"{n} = {u!r}" for n, u in zip("abc", found, strict=False))


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
