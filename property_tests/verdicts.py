"""What hooks said is what happens: a run is judged by what the spy heard, not by itself."""

from typing import Any, Final

from attrs import define, field, frozen
from returns.result import Success

from loopcore import (
    Answer,
    Approve,
    CallModel,
    Continue,
    Prompt,
    RequestApproval,
    RunTool,
    State,
    UserMessage,
)
from loopcore.arguments import arguments_for
from loopcore.events import HookWrote, RunEnd, RunStart
from loopcore.frozen import UNSET, evolve
from loopcore.hooks import Allow, Ask, Block
from property_tests.laws import family
from property_tests.passes import (
    Pass,
    due,
    end_of,
    fields,
    fitted,
    passes,
    verdict,
)
from property_tests.world import Forks, Moment


@frozen(eq=False)
class Chains:
    """Hooks are asked in order, each that cares, until the chain ends; none is left out.

    What they wrote is told, once, if and only if it stands.
    """

    def see(self, moment: Moment) -> None:
        told = [(e.run_id, e.hook, e.point) for e in moment.told(HookWrote)]
        stands = [
            (said.view.state.run_id, said.hook, said.point)
            for one in passes(moment)
            for said in one.taken
        ]
        assert told == stands

        for one in passes(moment):
            asked, wanted = [said.hook for said in one.said], due(one)

            assert asked == wanted[: end_of(one)]

    def fork(self) -> "Chains":
        return self


Key = tuple[str, int]


@frozen
class Gate:
    """What is to happen to a call: start, ask or nothing, and with which arguments."""

    what: str
    arguments: Any = None
    question: str = ""


NO: Final = Gate("nothing")


def gate(one: Pass) -> Gate:
    """What the hooks decided at a gate, with the tool's own default when none does."""
    decision, arguments = verdict(one), fitted(one)
    if arguments is None or isinstance(decision, Block) or one.end == "fault":
        return NO
    if one.view.approved:
        return Gate("start", arguments)
    if isinstance(decision, Ask):
        return Gate("ask", arguments, decision.question)
    asks = one.view.spec.needs_approval and not isinstance(decision, Allow)
    return Gate("ask" if asks else "start", arguments)


@define(eq=False)
class Gates(Forks):
    """4: a call that is blocked, rejected or cancelled never starts; what may start, does.

    A question is put exactly when hooks or the tool want one, and only its answer lets
    the call pass; an edited call passes its gate again.
    """

    gates: dict[Key, Gate] = field(factory=dict[Key, Gate])
    open: set[Key] = field(factory=set[Key])

    def see(self, moment: Moment) -> None:
        self.decide(moment)
        for one in passes(moment):
            if one.point == "before_tool_call" and one.end != "need":
                self.gates[one.key] = gate(one)
                self.open.add(one.key)
        for effect in moment.effects.perform:
            self.start(effect)
        for event in moment.told(RunStart):
            self.nest(event)
        self.rest(moment)

    def decide(self, moment: Moment) -> None:
        """A person's answer opens a gate, or shuts it."""
        asked, given = moment.answered, moment.given
        if not isinstance(asked, RequestApproval) or not isinstance(given, Answer):
            return
        key = key_of(asked.id)
        if isinstance(given.value, Approve):
            self.gates[key] = evolve(self.gates[key], what="start")
            self.open.add(key)
        else:
            self.gates[key] = NO

    def start(self, effect: object) -> None:
        """A tool that starts, or a question that is put, was let through its gate."""
        match effect:
            case RunTool():
                found = self.gates[key_of(effect.id)]
                fit = arguments_for(effect.spec, effect.arguments)
                assert fit == Success(effect.arguments)
                assert (found.what, found.arguments) == ("start", effect.arguments)
                self.open.remove(key_of(effect.id))
            case RequestApproval():
                found = self.gates[key_of(effect.id)]
                assert found == Gate("ask", effect.arguments, effect.question)
                self.open.remove(key_of(effect.id))
            case _:
                pass

    def nest(self, event: RunStart) -> None:
        """So was a nested run."""
        if event.run_id.count(".") == 0:
            return
        found = self.gates[key_of(event.run_id)]
        assert found.what == "start"
        assert event.messages == (UserMessage(found.arguments["prompt"]),)
        self.open.remove(key_of(event.run_id))

    def rest(self, moment: Moment) -> None:
        """What was let through has started, unless its run ended or a hook is waiting."""
        ended = {event.run_id for event in moment.told(RunEnd)}
        for key in sorted(self.open):
            place = key[0]
            held = any(e.id.startswith(f"{place}.") for e in needs(moment.after))
            shut = self.gates[key] is NO or place.rsplit(".", 2)[0] in ended
            assert held or shut
            if shut:
                self.open.remove(key)


def needs(state: State) -> list[Any]:
    """What hooks wait for, at the gates of calls."""
    gates = (".prepare_tool_call.", ".before_tool_call.")
    return [e for e in state.waiting if any(point in e.id for point in gates)]


def key_of(effect_id: str) -> Key:
    """The call that an effect is about: the place of its turn, and its number."""
    place, _, n = effect_id.rsplit(".", 2)
    return place, int(n)


@define(eq=False)
class Memories(Forks):
    """What a hook remembers is what it last wrote in a pass that was kept."""

    memos: dict[str, dict[str, Any]] = field(factory=dict[str, dict[str, Any]])

    def see(self, moment: Moment) -> None:
        for one in passes(moment):
            for said in one.taken:
                if "memo" in fields(said):
                    mine = self.memos.get(one.run_id, {})
                    self.memos[one.run_id] = {**mine, said.hook: fields(said)["memo"]}
        for state in family(moment.after):
            assert dict(state.memos) == self.memos.get(state.run_id, {})


SETTINGS: Final = ("model", "system", "tools", "thinking")


@define(eq=False)
class Requests(Forks):
    """7: a request shows the settings, as transform_context changed them; nothing stays.

    Settings change by prompts, by Continue and at prepare_next_turn alone; a fallback
    lasts for the attempts of its turn.
    """

    settings: dict[str, Any] = field(factory=dict[str, Any])
    fallback: dict[str, dict[str, Any]] = field(factory=dict[str, dict[str, Any]])
    by: dict[str, dict[str, str]] = field(factory=dict[str, dict[str, str]])

    def see(self, moment: Moment) -> None:
        root = moment.after.run_id
        self.begin(moment)
        shown: dict[str, Pass] = {}
        for one in passes(moment):
            if one.point == "transform_context" and one.end == "done":
                shown[one.place] = one
            self.change(one)
        for effect in moment.effects.perform:
            if isinstance(effect, CallModel) and ".model." in effect.id:
                self.check(shown[key_of(effect.id)[0]], effect)
        assert moment.after.settings == self.settings.get(root, moment.config.settings)
        for state in family(moment.after):
            assert state.settings == self.settings.get(state.run_id, state.settings)

    def begin(self, moment: Moment) -> None:
        """A run starts from the configuration, or goes on from where it was."""
        root, given = moment.after.run_id, moment.given
        plain = moment.config.settings
        old = plain
        if not isinstance(given, Prompt):
            old = self.settings.get(root, plain)
        if isinstance(given, Prompt | Continue):
            changed = {name: getattr(given, name) for name in SETTINGS}
            wrote = {k: v for k, v in changed.items() if v is not UNSET}
            self.settings[root] = evolve(old, **wrote)
            kept = self.by.get(root, {}) if isinstance(given, Continue) else {}
            self.by[root] = {k: v for k, v in kept.items() if k not in wrote}

    def change(self, one: Pass) -> None:
        """Hooks change the settings of turns to come, or of the attempts of this one."""
        wrote = {name: one.last(name) for name in SETTINGS}
        wrote = {name: value for name, value in wrote.items() if value is not UNSET}
        if one.point == "prepare_next_turn":
            old = self.settings.get(one.run_id, one.view.state.settings)
            self.settings[one.run_id] = evolve(old, **wrote)
            self.by[one.run_id] = self.by.get(one.run_id, {}) | writers(one)
        if one.point == "on_model_error" and one.end == "done":
            self.fallback[one.place] = self.fallback.get(one.place, {}) | wrote
            self.by[one.place] = self.by.get(one.place, {}) | writers(one)

    def check(self, one: Pass, effect: CallModel) -> None:
        """It shows what is stored and set, less what hooks changed."""
        settings = self.settings.get(one.run_id, one.view.state.settings)
        plain = evolve(settings, **self.fallback.get(one.place, {}))
        for name in (*SETTINGS, "options"):
            assert getattr(effect, name) == one.last(name, getattr(plain, name))
        messages = one.last("messages", one.view.state.transcript)
        assert list(effect.messages) == list(messages)
        before = self.by.get(one.run_id, {}) | self.by.get(one.place, {})
        assert dict(effect.by) == before | writers(one, (*SETTINGS, *OWN))


OWN: Final = ("messages", "options")


def writers(one: Pass, names: tuple[str, ...] = SETTINGS) -> dict[str, str]:
    """Who last wrote each of these fields."""
    return {f: said.hook for said in one.taken for f in fields(said) if f in names}
