"""Views: what hooks see, at every point, as real runs show it."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, TypeVar

from attrs import define, field
from hypothesis import note, reject
from hypothesis import strategies as st

from loopcore.config import LoopConfig, Nested
from loopcore.hooks.points import POINTS, Point, PointName
from loopcore.hooks.rule import Hooks
from loopcore.hooks.updates import RetryUpdate, TurnUpdate
from loopcore.hooks.views import ContextView, ErrorView, TurnView, View
from loopcore.testing.strategies.answering import inputs
from loopcore.testing.strategies.changing import updates
from loopcore.testing.strategies.history import is_paired, transcripts
from loopcore.testing.strategies.leading import VISITS, Steps
from loopcore.testing.strategies.listening import Heard, listening
from loopcore.testing.strategies.plain import Drawn
from loopcore.testing.strategies.tooling import toolsets
from loopcore.testing.strategies.walking import CLOCKS, RUN_IDS, SOME, Walk
from loopcore.tools import ToolLike, ToolSpec, spec_of

V = TypeVar("V", bound=View)

FREE: Final = 12
"""How many inputs a run takes, at most, before it is led to its point."""


def views(
    kind: type[V],
    *,
    max_turns: int = 5,
    tools: Iterable[ToolLike | Nested] | None = None,
    point: PointName | None = None,
    odd: bool = False,
) -> Drawn[V]:
    """Views of this kind, as a real run shows them to its second hook or to its first.

    The state in a view is one that real steps lead to, and a failing example prints them.
    What an earlier hook at the same point may have changed is changed now and then.

    Args:
        kind: the class of the view.
        max_turns: how many replies the history has at most, before the present turn.
        tools: what is offered; by default tools that are made up.
        point: which of its points, for a kind that two have: of results the later one, of
            turns the earlier one by default.
        odd: also what is shown once an earlier hook has parted calls from their results.
    """
    chosen = _point_of(kind, point)
    if tools is None:
        offered = toolsets()
        if chosen in CALLED:
            offered = offered.filter(bool)
    else:
        offered = st.just(tuple(spec_of(tool) for tool in tools))
    return _views(chosen, max_turns, offered, odd=odd)


def _point_of(kind: type[View], point: PointName | None) -> PointName:
    found: list[PointName] = [n for n, p in POINTS.items() if p.view is kind]
    if not found:
        known = dict.fromkeys(point.view.__name__ for point in POINTS.values())
        message = f"views({kind!r}): take one of {', '.join(known)}"
        raise TypeError(message)
    if point not in (None, *found):
        message = f"views({kind.__name__}, point={point!r}): take {' or '.join(found)}"
        raise ValueError(message)
    return point or (found[-1] if kind is not TurnView else found[0])


CALLED: Final = frozenset(("before_tool_call", "after_tool_call"))
"""The points that only a call of a tool that is there comes to."""


@st.composite
def _views(
    draw: st.DrawFn,
    point: PointName,
    most: int,
    offered: Drawn[tuple[ToolSpec, ...]],
    *,
    odd: bool,
) -> Any:  # noqa: ANN401  # a view of the point
    specs = draw(offered)
    watched = _watched(specs)
    watched.begin(forgets=draw(st.integers(0, 7)) == FORGETS)
    history = draw(transcripts(most, tools=specs))
    walk = Walk.begin(watched.config, history, draw(RUN_IDS))
    clock = draw(CLOCKS)
    take = Steps(draw, walk, clock)
    for _ in range(FREE):
        if not draw(SOME):
            break
        take(draw(inputs(walk.state)))
    watched.heard.clear()
    take.lead(point, draw(VISITS), lambda: len(watched.seen(point)))
    if not watched.seen(point):
        reject()
    note(f"The view's state is reached by:\n{walk}")
    view = watched.seen(point)[-1]
    later = _later(draw, POINTS[point], view)
    parted = isinstance(later, ContextView) and not is_paired(later.messages)
    return view if parted and not odd else later


FORGETS: Final = 7


def _later(draw: st.DrawFn, point: Point, view: Any) -> Any:  # noqa: ANN401  # a view
    """The view as it is, or as it is once an earlier hook has written something."""
    update = draw(st.none() | updates(point.update))
    if update is None:
        return view
    shown = point.show(view, update)
    return view if point.over(shown) or point.problem(update) else shown


@define(eq=False)
class Watched:
    """A configuration whose one hook hears everything, and tries again after errors."""

    config: LoopConfig
    heard: list[Heard] = field(factory=list[Heard])
    forgets: bool = False

    def begin(self, *, forgets: bool) -> None:
        """Hear anew. A run that forgets has an empty transcript after each turn."""
        self.forgets = forgets
        self.heard.clear()

    def seen(self, point: PointName) -> list[Any]:
        """The views of this point, in order."""
        return [one.view for one in self.heard if one.point == point]

    def again(self, view: ErrorView) -> RetryUpdate:  # noqa: ARG002  # whatever failed
        return RetryUpdate(retry=True)

    def forget(self, view: TurnView) -> TurnUpdate | None:  # noqa: ARG002  # any turn
        return TurnUpdate(transcript=()) if self.forgets else None


def _silent(view: object) -> None:
    """Sees, and says nothing."""


@lru_cache(maxsize=64)
def _watched(specs: tuple[ToolSpec, ...]) -> Watched:
    watched = Watched(LoopConfig(model="test:model", tools=specs))
    functions: dict[str, Any] = {
        **dict.fromkeys(POINTS, _silent),
        "on_model_error": watched.again,
        "prepare_next_turn": watched.forget,
    }
    rule = Hooks("watched", **functions)
    watched.config = LoopConfig(
        model="test:model", tools=specs, hooks=[listening(rule, watched.heard.append)]
    )
    return watched
