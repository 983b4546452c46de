"""Laws of hooks: who is asked, what they remember, and what requests show of it."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen

from loopcore.effects import CallModel
from loopcore.events import HookWrote
from loopcore.frozen import EMPTY, UNSET, evolve
from loopcore.inputs import Continue, Prompt
from loopcore.testing.invariants.kept import family
from loopcore.testing.invariants.moment import Moment, hold
from loopcore.testing.invariants.passes import Pass, due, end_of


@frozen(weakref_slot=False)
class Chains:
    """6: hooks are asked in order, each that cares, until the chain ends.

    What they wrote is told, once, if and only if it stands.
    """

    def see(self, moment: Moment) -> "Chains":
        """Look at a step."""
        told = [(e.run_id, e.hook, e.point) for e in moment.told(HookWrote)]
        stands = [
            (one.run_id, said.hook, said.point)
            for one in moment.passes
            for said in one.taken
        ]
        hold(told == stands, "hooks wrote {}, and told was {}", stands, told)
        for one in moment.passes:
            asked, wanted = [said.hook for said in one.said], due(one)[: end_of(one)]
            hold(asked == wanted, CHAIN, one.told(), asked, wanted)
        return self


CHAIN: Final = "at {} the hooks {} were asked, where {} are to be"


@frozen(weakref_slot=False)
class Memories:
    """A hook remembers what it last wrote in a pass that was kept, and nothing else."""

    memos: Mapping[str, Mapping[str, Any]] = field(factory=dict[str, Mapping[str, Any]])

    def see(self, moment: Moment) -> "Memories":
        """Look at a step."""
        memos = dict(self.memos)
        for state in family(moment.before):
            memos.setdefault(state.run_id, dict(state.memos))
        for one in moment.passes:
            memos.setdefault(one.run_id, dict(one.view.state.memos))
            written = ((said.hook, said.wrote or EMPTY) for said in one.taken)
            new = {hook: wrote["memo"] for hook, wrote in written if "memo" in wrote}
            memos[one.run_id] = {**memos[one.run_id], **new}
        for state in family(moment.after):
            wanted, found = memos.get(state.run_id, {}), dict(state.memos)
            hold(found == wanted, "memories are {}, not {}", found, wanted)
        return Memories(memos)


SETTINGS: Final = ("model", "system", "tools", "thinking")
OWN: Final = ("messages", "options")
"""What only transform_context writes of a request, beside the settings."""


@frozen(weakref_slot=False)
class Requests:
    """7: a request shows the settings, as transform_context changed them; nothing stays.

    Settings change by prompts, by Continue and at prepare_next_turn alone; a fallback
    lasts for the attempts of its turn.
    """

    settings: Mapping[str, Any] = field(factory=dict[str, Any])
    fallback: Mapping[str, Mapping[str, Any]] = field(
        factory=dict[str, Mapping[str, Any]]
    )
    by: Mapping[str, Mapping[str, str]] = field(factory=dict[str, Mapping[str, str]])

    def see(self, moment: Moment) -> "Requests":
        """Look at a step."""
        law = self.begin(moment)
        shown: dict[str, Pass] = {}
        for one in moment.passes:
            if one.point == "transform_context" and one.end == "done":
                shown[one.place] = one
            law = law.change(one)
        for effect in moment.effects.perform:
            if isinstance(effect, CallModel) and ".model." in effect.id:
                law.check(shown, effect)
        root = moment.after.run_id
        wanted = law.settings.get(root, moment.config.settings)
        hold(moment.after.settings == wanted, CHANGED, moment.after.settings, wanted)
        for state in family(moment.after):
            wanted = law.settings.get(state.run_id, state.settings)
            hold(state.settings == wanted, CHANGED, state.settings, wanted)
        return law

    def begin(self, moment: Moment) -> "Requests":
        """A run begins from the configuration, or goes on from where it was."""
        root, given = moment.after.run_id, moment.given
        if not isinstance(given, Prompt | Continue):
            return self
        plain = moment.config.settings
        old = plain if isinstance(given, Prompt) else self.settings.get(root, plain)
        changed = {name: getattr(given, name) for name in SETTINGS}
        wrote = {k: v for k, v in changed.items() if v is not UNSET}
        goes_on = isinstance(given, Continue)
        chosen = self.by.get(root, EMPTY)
        by = {k: v for k, v in chosen.items() if goes_on and k not in wrote}
        return evolve(
            self,
            settings={**self.settings, root: evolve(old, **wrote)},
            by={**self.by, root: by},
        )

    def change(self, one: Pass) -> "Requests":
        """Hooks change the settings of turns to come, or of the attempts of this one."""
        wrote = {name: one.last(name) for name in SETTINGS}
        wrote = {name: value for name, value in wrote.items() if value is not UNSET}
        if one.point == "prepare_next_turn":
            old = self.settings.get(one.run_id, one.view.state.settings)
            settings = {**self.settings, one.run_id: evolve(old, **wrote)}
            return evolve(self, settings=settings, by=self.chosen(one, one.run_id))
        if one.point == "on_model_error" and one.end == "done":
            fallback = {**self.fallback.get(one.place, {}), **wrote}
            fallbacks = {**self.fallback, one.place: fallback}
            return evolve(self, fallback=fallbacks, by=self.chosen(one, one.place))
        return self

    def chosen(self, one: Pass, where: str) -> dict[str, Mapping[str, str]]:
        return {**self.by, where: {**self.by.get(where, {}), **writers(one)}}

    def check(self, shown: Mapping[str, Pass], effect: CallModel) -> None:
        """It shows what is stored and set, less what hooks changed."""
        place = effect.id.rsplit(".", 2)[0]
        hold(place in shown, "{} was asked past transform_context", effect.id)
        one = shown[place]
        settings = self.settings.get(one.run_id, one.view.state.settings)
        plain = evolve(settings, **self.fallback.get(one.place, {}))
        for name in (*SETTINGS, "options"):
            found, wanted = getattr(effect, name), one.last(name, getattr(plain, name))
            hold(found == wanted, SHOWN, effect.id, name, found, wanted)
        messages = list(one.last("messages", one.view.state.transcript))
        found = list(effect.messages)
        hold(found == messages, SHOWN, effect.id, "messages", found, messages)
        before = {**self.by.get(one.run_id, {}), **self.by.get(one.place, {})}
        wanted = {**before, **writers(one, (*SETTINGS, *OWN))}
        hold(dict(effect.by) == wanted, SHOWN, effect.id, "by", effect.by, wanted)


CHANGED: Final = "the settings are {}, not {}"
SHOWN: Final = "{} shows {} {}, not {}"


def writers(one: Pass, names: tuple[str, ...] = SETTINGS) -> dict[str, str]:
    """Who last wrote each of these fields."""
    return {
        name: said.hook
        for said in one.taken
        for name in said.wrote or EMPTY
        if name in names
    }
