"""A run under the hooks that are checked: led to a point, and gone over again."""

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from attrs import define, field, frozen
from hypothesis import strategies as st

from loopcore.config import LoopConfig, Nested, with_functions
from loopcore.effects import Consult, Effect
from loopcore.frozen import EMPTY, Json, freeze
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.rule import Hooks
from loopcore.hooks.updates import Update
from loopcore.inputs import Abort, Answer, Input
from loopcore.reducer import advance
from loopcore.reducer.ask import parked
from loopcore.runtime.purity import Returned, differing, is_same
from loopcore.state import State
from loopcore.testing.check.asking import ask, place, written
from loopcore.testing.check.broken import HookLaw, broken
from loopcore.testing.check.programs import with_imports, written_out
from loopcore.testing.check.rebuilt import Copies
from loopcore.testing.strategies.answering import answers, inputs
from loopcore.testing.strategies.changing import updates
from loopcore.testing.strategies.history import transcripts
from loopcore.testing.strategies.leading import VISITS, Steps
from loopcore.testing.strategies.listening import Heard, listening
from loopcore.testing.strategies.plain import Drawn, texts
from loopcore.testing.strategies.walking import CLOCKS, RUN_IDS, SOME, Walk
from loopcore.tools import ToolLike, ToolSpec, spec_of

FREE: Final = 12
"""How many inputs a run takes, at most, before it is led to its point."""

TURNS: Final = 4


@frozen
class Offer:
    """What is around the hooks: sets of tools, and what services say.

    `services` maps a service to JSON that it may give; others give anything.
    """

    toolsets: tuple[tuple[ToolSpec | Nested, ...], ...]
    services: Mapping[str, tuple[Json, ...]] = EMPTY

    @classmethod
    def of(
        cls,
        toolsets: Iterable[Iterable[ToolLike | Nested]],
        services: Mapping[str, Iterable[object]] | None,
    ) -> "Offer":
        """What was given, frozen."""
        said = {
            name: tuple(map(freeze, given)) for name, given in (services or {}).items()
        }
        kept = (tuple(map(_data_of, tools)) for tools in toolsets)
        return cls(tuple(kept), said)

    @property
    def tools(self) -> tuple[ToolSpec | Nested, ...]:
        """The largest set."""
        return self.toolsets[-1]

    def answers(self, effect: Effect) -> Drawn[Answer]:
        """What this effect may be answered."""
        if isinstance(effect, Consult) and effect.service in self.services:
            known = st.sampled_from(self.services[effect.service])
            return known.map(effect.reply) | texts(1).map(effect.fail)
        return answers(effect)


def _data_of(tool: ToolLike | Nested) -> ToolSpec | Nested:
    return tool if isinstance(tool, Nested) else spec_of(tool)


@define(eq=False)
class Ear:
    """Hears what hooks are about to see, and keeps a copy of it as it was."""

    heard: list[Heard] = field(factory=list[Heard])
    copying: bool = True
    copies: Copies = field(factory=Copies)

    def hear(self, heard: Heard) -> None:
        """A hook is about to be asked."""
        self.heard.append(heard)
        if self.copying:
            heard.copy = self.copies.of(heard.view)


@define(eq=False)
class Course:
    """One run under hooks: what they were shown, in order."""

    hooks: tuple[Hooks, ...]
    walk: Walk
    ear: Ear
    earlier: str = ""

    @property
    def program(self) -> str:
        """The program that leads here."""
        return program_of(self.walk, self.hooks, self.earlier)


def program_of(walk: Walk, hooks: tuple[Hooks, ...], earlier: str = "") -> str:
    """The program that walks this way under these hooks, with what it imports."""
    tools = list(walk.config.tools)
    rules = ", ".join(filter(None, (earlier, *map(written_out, hooks))))
    offered = f", tools={tools}" if tools else ""
    config = f"config = LoopConfig(model='test:model'{offered}, hooks=[{rules}])"
    return with_imports(f"{config}\n{walk}")


def course(
    draw: st.DrawFn, hooks: tuple[Hooks, ...], point: PointName, offer: Offer
) -> Course:
    """A run under these hooks that comes to a point, if they let it."""
    tools = draw(st.sampled_from(offer.toolsets))
    specs = tuple(map(spec_of, tools))
    update = draw(st.none() | updates(POINTS[point].update))
    ear = Ear()
    config = LoopConfig(
        model="test:model",
        tools=tools,
        hooks=(
            *_earlier(point, update),
            *(listening(hook, ear.hear) for hook in hooks),
        ),
    )
    history = draw(transcripts(TURNS, tools=specs))
    walk = Walk.begin(config, history, draw(RUN_IDS))
    found = Course(hooks, walk, ear, _spoken(point, update))
    clock = draw(CLOCKS)
    take = Steps(draw, walk, clock, offer.answers)
    for _ in range(FREE):
        if not draw(SOME):
            break
        take(draw(inputs(walk.state, answering=offer.answers)))
    take.lead(
        point,
        draw(VISITS),
        lambda: sum(one.point == point for one in ear.heard) - parked(walk.state),
    )
    return found


def _earlier(point: PointName, update: Update | None) -> tuple[Hooks, ...]:
    """A hook before those that are checked, which says this each time."""
    if update is None:
        return ()

    def says(view: object) -> Update:  # noqa: ARG001  # whatever it sees
        return update

    return (with_functions(Hooks("earlier"), {point: says}),)


def _spoken(point: PointName, update: Update | None) -> str:
    return "" if update is None else f"Hooks('earlier', {point}=lambda view: {update})"


def gone_over(found: Course) -> None:
    """The newest step once more: after a reload, and after a fork that went another way.

    Raises:
        Breach: if hooks then say something else.
    """
    if not found.walk.taken:
        return
    config = found.walk.config
    *first, (given, at) = found.walk.taken
    before = found.walk.begun
    for one, then in first:
        before, _ = advance(config, before, one, at=then).unwrap()
    said = _said(found, before, given, at)
    loaded = State.loads(before.dumps()).unwrap()
    _agree(said, _said(found, loaded, given, at), "saved")
    advance(config, before, *_elsewhere(before))
    _agree(said, _said(found, before, given, at), "forked")


def _elsewhere(state: State) -> tuple[Input, ...]:
    """Another way to go on."""
    others = (effect.fail("elsewhere") for effect in state.waiting)
    return (*others, Abort("elsewhere")) if state.stage != "idle" else ()


Said: TypeAlias = list[tuple[Heard, Returned]]


def _said(found: Course, before: State, given: Input, at: float | None) -> Said:
    """What the hooks say in this step."""
    ear = found.ear
    ear.copying = False
    ear.heard.clear()
    advance(found.walk.config, before, given, at=at)
    return [(one, _answer(one)) for one in ear.heard]


def _answer(heard: Heard) -> Returned:
    """What a hook said there; one that failed is asked again, so that it is told how."""
    found = [written(heard.point, value) for value in heard.said]
    said = found[0] if found else None
    return ask(heard.hook, heard.point, heard.view).said if said is None else said


def _agree(one: Said, other: Said, law: HookLaw) -> None:
    for (heard, said), (_, again) in zip(one, other, strict=False):
        if not is_same(said, again):
            where = f"{heard.point} ({place(heard.hook, heard.point)})"
            both = differing(said, again)
            sentence = (
                f"Hook {heard.hook.name!r} gave two answers at {where}: {both}. "
                f"{AGAIN[law]}"
            )
            raise broken(law, heard.hook.name, sentence, heard.view)


AGAIN: Final[dict[str, str]] = {
    "saved": "The second time the state had been saved and loaded: what it holds is equal, "
    "and no longer the same.",
    "forked": "Between the two, another fork of the run went another way. What a hook "
    "remembers belongs in its memo, of which each fork has its own.",
}
