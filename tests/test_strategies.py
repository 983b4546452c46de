"""Strategies: what they draw is what real runs have, and it shrinks to a few records."""

import datetime as dt
import enum
import uuid
from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar, get_args

import attrs
import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from returns.result import Success

import loopcore
from loopcore import (
    AssistantMessage,
    CallModel,
    Effect,
    LoopConfig,
    Message,
    Rejected,
    State,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    advance,
    deliver,
    repair,
    tool,
)
from loopcore.arguments import arguments_for
from loopcore.frozen import Unset, one_of
from loopcore.hooks import (
    UNSET,
    Ask,
    ContextUpdate,
    ContextView,
    ErrorView,
    Hooks,
    Need,
    RetryUpdate,
    ToolCallView,
    ToolResultView,
    TurnView,
)
from loopcore.hooks.fold import fold
from loopcore.hooks.points import POINTS, PointName
from loopcore.hooks.updates import Update
from loopcore.journal import Replay, replay
from loopcore.messages import OUTCOMES
from loopcore.state import Phase as Phases
from loopcore.state import refuse_unpaired
from loopcore.testing import strategies

T = TypeVar("T")

pytestmark = pytest.mark.filterwarnings(  # a long history may be found, and is long
    "ignore:Generating overly large repr"
)

QUICK: Final = settings(
    max_examples=40,
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
SEARCH: Final = settings(
    QUICK, max_examples=2_000, phases=(Phase.generate, Phase.shrink)
)


def one(drawn: st.SearchStrategy[T], wanted: Callable[[T], object]) -> T:
    """The first that is drawn of what is wanted."""
    unshrunk = settings(QUICK, max_examples=2_000, phases=[Phase.generate])
    return find(drawn, lambda found: bool(wanted(found)), settings=unshrunk)


def simplest(drawn: st.SearchStrategy[T], wanted: Any = bool) -> T:
    """The simplest that is drawn of what is wanted."""
    return find(drawn, wanted, settings=SEARCH)


def all_drawn(drawn: st.SearchStrategy[T], most: int = 40) -> list[T]:
    """Some of what is drawn."""
    found: list[T] = []

    @settings(QUICK, max_examples=most)
    @given(drawn)
    def look(value: T) -> None:
        found.append(value)

    look()
    return found


# Views.


@pytest.mark.parametrize("point", POINTS)
def test_a_view_is_one_that_hooks_of_its_point_can_be_shown(point: PointName) -> None:
    functions: dict[str, Any] = {point: _silent}
    silent = Hooks("silent", **functions)
    for view in all_drawn(strategies.views(POINTS[point].view, point=point)):
        folded = fold((silent,), point, view)

        assert type(view) is POINTS[point].view
        assert folded.fault is None
        assert view.state.run > 0


def _silent(view: object) -> None:
    """Sees, and says nothing."""


SEEN: Final[dict[str, tuple[type[Any], Callable[[Any], object]]]] = {
    "a second attempt": (ErrorView, lambda view: view.attempt == 2),
    "a second turn": (TurnView, lambda view: view.turn == 2),
    "a second run": (ContextView, lambda view: view.state.run == 2),
    "a turn that goes on": (TurnView, lambda view: view.goes_on),
    "a turn that does not": (TurnView, lambda view: not view.goes_on),
    "a time": (TurnView, lambda view: view.now),
    "a result": (ToolResultView, lambda view: view.outcome == "ok"),
    "a failure": (ToolResultView, lambda view: view.outcome == "error"),
    "no such tool": (ToolResultView, lambda view: view.outcome == "unknown_tool"),
    "what does not fit": (
        ToolResultView,
        lambda view: view.outcome == "invalid_arguments",
    ),
    "a verdict so far": (ToolCallView, lambda view: view.decision),
    "a call that was edited": (ToolCallView, lambda view: view.approved),
    "nothing that is shown": (ContextView, lambda view: not view.messages),
    "an empty transcript": (ContextView, lambda view: not view.transcript),
    "another model": (ContextView, lambda view: view.model != "test:model"),
    "a long history": (ContextView, lambda view: len(_replies(view.transcript)) > 4),
}


@pytest.mark.parametrize("name", SEEN)
def test_views_are_of_every_kind(name: str) -> None:
    kind, wanted = SEEN[name]

    assert wanted(one(strategies.views(kind), wanted))


def test_a_history_has_no_more_turns_than_are_asked_for() -> None:
    """But for those of the run itself, whose first inputs are free."""
    for view in all_drawn(strategies.views(ContextView, max_turns=0), 30):
        begun = view.state.run > 1 or view.requests > 0
        assert begun or not _replies(view.transcript)


def test_what_is_shown_is_paired_unless_odd_views_are_asked_for() -> None:
    plain = all_drawn(strategies.views(ContextView), 60)

    assert all(_is_paired(view.messages) for view in plain)
    odd = one(strategies.views(ContextView, odd=True), _is_parted)
    assert _is_parted(odd)


def _is_parted(view: ContextView) -> bool:
    return not _is_paired(view.messages)


def _is_paired(messages: Any) -> bool:
    found = tuple(messages)
    return repair(found) is found


def _replies(messages: Any) -> list[AssistantMessage]:
    return [m for m in messages if isinstance(m, AssistantMessage)]


def test_views_offer_the_tools_that_are_given() -> None:
    pay = ToolSpec("pay", "Pays.")
    views = all_drawn(strategies.views(ToolCallView, tools=[pay]))

    assert {view.spec for view in views} == {pay}


def test_a_cut_window_shrinks_to_a_few_messages() -> None:
    """The example of the documentation, with a slice in place of the window."""

    def is_cut(view: ContextView) -> bool:
        return not _is_paired(view.messages[-4:])

    view = simplest(strategies.views(ContextView, max_turns=10), is_cut)

    assert len(view.messages) <= 8  # nine times in ten it is six or fewer


def test_a_view_prints_as_the_call_that_makes_it() -> None:
    view = simplest(strategies.views(ContextView))

    assert repr(view) == (
        "ContextView(messages=[UserMessage([Text('0')])], model='test:model', "
        "tools=[ToolSpec('look')])"
    )
    assert eval(f"{view!r}"[:-1] + ", state=state)", _names(state=view.state)) == view  # noqa: S307


def _names(**more: object) -> dict[str, Any]:
    """What a test file would have imported."""
    return {**vars(loopcore), "ContextView": ContextView, **more}


def test_something_else_than_a_view_is_refused() -> None:
    kind: Any = ContextUpdate
    with pytest.raises(TypeError, match=r"take one of ContextView, ReplyView, "):
        strategies.views(kind)


@pytest.mark.parametrize(
    ("kind", "point", "why"),
    [
        (ToolResultView, "before_tool_call", "after_tool_call or after_tool_result"),
        (ContextView, "transform_contexts", "take transform_context"),
    ],
)
def test_a_point_of_another_kind_of_view_is_refused(
    kind: Any, point: Any, why: str
) -> None:
    with pytest.raises(ValueError, match=f"point='{point}'.*{why}"):
        strategies.views(kind, point=point)


# States and journals.


@pytest.mark.parametrize("make", [strategies.states, strategies.journals])
def test_what_is_no_configuration_is_refused(make: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match="takes a LoopConfig first; it got 'x'"):
        make("x")


LOOK: Final = ToolSpec("look")
PAY: Final = ToolSpec("pay", needs_approval=True)


def _asks(view: ToolCallView) -> Ask | Need | None:
    if view.tool != "look":
        return None
    return None if view.answers else Need.service("seen", "policy")


CONFIG: Final = LoopConfig(
    model="test:model",
    tools=[
        LOOK,
        PAY,
        LoopConfig(model="test:inner", tools=[PAY]).as_tool("dig", "Digs."),
    ],
    hooks=[
        Hooks(before_tool_call=_asks),
        Hooks("again", on_model_error=lambda view: RetryUpdate(retry=view.attempt < 3)),
    ],
)


def test_states_are_sound() -> None:
    for state in all_drawn(strategies.states(CONFIG), 60):
        assert State.loads(state.dumps()) == Success(state)


PHASES: Final = get_args(Phases)


@pytest.mark.parametrize("phase", PHASES)
def test_states_are_of_every_phase(phase: str) -> None:
    def is_it(state: State) -> bool:
        return state.phase == phase

    assert is_it(one(strategies.states(CONFIG), is_it))


def test_states_have_nested_runs() -> None:
    def is_it(state: State) -> bool:
        return bool(state.children)

    assert is_it(one(strategies.states(CONFIG), is_it))


def test_a_state_tells_the_steps_that_lead_to_it() -> None:
    """A counterexample is a program of two lines, below that of its configuration."""

    @settings(SEARCH)
    @given(strategies.states(CONFIG))
    def never_aborted(state: State) -> None:
        assert not state.stop or state.stop.reason != "aborted"

    with pytest.raises(AssertionError) as caught:
        never_aborted()
    said, *_ = [n for n in caught.value.__notes__ if n.startswith("The state is reach")]
    names = _names(config=CONFIG)
    first, *steps = said.splitlines()
    exec("\n".join(steps), names)  # noqa: S102  # it is a program

    assert first == "The state is reached by:"
    assert len(steps) == 2
    assert names["state"].stop.reason == "aborted"


def test_journals_replay() -> None:
    for journal in all_drawn(strategies.journals(CONFIG), 60):
        assert isinstance(replay(CONFIG, journal).unwrap(), Replay)


# Transcripts.


def test_a_state_can_begin_with_a_transcript() -> None:
    for transcript in all_drawn(strategies.transcripts(), 60):
        refuse_unpaired(transcript)
        ids = [c.id for m in _replies(transcript) for c in m.calls]
        assert len(set(ids)) == len(ids)
        assert len(_replies(transcript)) <= 5


def test_odd_transcripts_are_mended_by_repair() -> None:
    for transcript in all_drawn(strategies.transcripts(odd=True), 60):
        assert _is_paired(repair(transcript))


ODD: Final[dict[str, Callable[[Any], object]]] = {
    "a result of no call": lambda t: any(
        getattr(m, "call_id", "") == "nobody" for m in t
    ),
    "a call without its result": lambda t: (
        sum(len(m.calls) for m in _replies(t))
        > len([m for m in t if isinstance(m, ToolResultMessage)])
    ),
    "a failed reply": lambda t: any(m.failed for m in _replies(t)),
    "an empty reply": lambda t: any(not m.parts for m in _replies(t)),
    "a call without an id": lambda t: any(
        not c.id for m in _replies(t) for c in m.calls
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_transcripts_are_what_providers_and_programs_leave(name: str) -> None:
    found = one(strategies.transcripts(odd=True), ODD[name])

    assert ODD[name](found)


def test_a_transcript_calls_the_tools_that_are_given() -> None:
    found = all_drawn(strategies.transcripts(tools=[PAY]), 60)
    calls = [c for t in found for m in _replies(t) for c in m.calls]

    assert {"pay"} == {call.name for call in calls}


def test_a_transcript_shrinks_to_its_simplest_messages() -> None:
    """Two results: nothing else is left but their calls."""

    def has_two_results(found: tuple[Message, ...]) -> bool:
        return sum(isinstance(m, ToolResultMessage) for m in found) > 1

    assert simplest(strategies.transcripts(), has_two_results) == (
        AssistantMessage(
            [ToolCall("look", id="c1"), ToolCall("look", id="c2")], finish="tools"
        ),
        ToolResultMessage("c1", "look", "ok"),
        ToolResultMessage("c2", "look", "ok"),
    )


# Tools, and arguments for them.


class Speed(enum.Enum):
    """As a tool's parameter may have it."""

    FAST = "fast"
    SLOW = "slow"


@attrs.frozen
class Item:
    """A record in a parameter."""

    name: str
    count: int = 1


@tool
def order(  # noqa: PLR0913, PLR0917  # one parameter of each kind
    items: list[Item],
    speed: Speed,
    mode: Literal["a", "b"] = "a",
    day: dt.date | None = None,
    at: dt.datetime | None = None,
    key: uuid.UUID | None = None,
    prices: dict[str, float] | None = None,
    pair: tuple[int, str] = (1, "x"),
) -> str:
    """Orders these."""
    return f"{items} {speed} {mode} {day} {at} {key} {prices} {pair}"


SCHEMAS: Final[dict[str, Any]] = {
    "bounds": {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 3, "exclusiveMaximum": 9},
            "x": {"type": "number", "minimum": 0, "maximum": 1},
            "even": {"type": "integer", "multipleOf": 2, "minimum": 10},
            "text": {"type": "string", "minLength": 2, "maxLength": 4},
            "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
        },
        "required": ["n", "x", "even", "text", "code"],
    },
    "lists": {
        "type": "object",
        "properties": {
            "some": {"type": "array", "items": {"type": "boolean"}, "minItems": 2},
            "set": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"const": "x"}],
                "items": False,
                "minItems": 2,
            },
        },
        "required": ["some", "set", "pair"],
        "additionalProperties": False,
    },
    "untyped": {
        "properties": {"x": {"minimum": 3}, "y": {"pattern": r"^\p{L}"}, "z": False},
        "required": ["x", "y"],
    },
    "choices": {
        "type": "object",
        "properties": {
            "either": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/tree"}]},
            "both": {"allOf": [{"type": "integer"}, {"minimum": 2}]},
            "any": {"type": ["string", "null"]},
        },
        "required": ["either", "both", "any"],
        "additionalProperties": {"type": "integer"},
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {"left": {"$ref": "#/$defs/tree"}, "v": {"enum": [1, 2]}},
                "required": ["v"],
            }
        },
    },
}
SPECS: Final = (
    order.spec,
    *(ToolSpec(name, "", schema) for name, schema in SCHEMAS.items()),
)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_arguments_fit_their_tool_as_they_stand(spec: ToolSpec) -> None:
    for given_ in all_drawn(strategies.arguments(spec)):
        assert arguments_for(spec, given_) == Success(given_)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_wrong_arguments_do_not_fit_their_tool(spec: ToolSpec) -> None:
    for given_ in all_drawn(strategies.arguments(spec, valid=False)):
        fitted = arguments_for(spec, given_)
        assert fitted != Success(given_)


def test_a_tool_that_takes_everything_has_no_wrong_arguments() -> None:
    assert strategies.arguments(LOOK, valid=False).is_empty


def test_arguments_shrink_to_what_is_required() -> None:
    assert simplest(strategies.arguments(order)) == {"items": (), "speed": "fast"}


def test_calls_that_cannot_be_run_are_of_every_kind() -> None:
    calls = all_drawn(strategies.calls(order, valid=False), 150)

    assert {"order", "missing"} <= {call.name for call in calls}
    assert {True, False} == {bool(call.malformed) for call in calls}


# Replies, outcomes, answers, inputs.


def test_odd_replies_are_what_models_send_now_and_then() -> None:
    replies = all_drawn(strategies.replies(LOOK, odd=True), 300)
    ids = [tuple(call.id for call in reply.calls) for reply in replies]

    assert any(not reply.parts for reply in replies)
    assert any(len(set(each)) < len(each) for each in ids)
    assert any("" in each for each in ids)
    assert {"end", "tools", "length", "refusal"} <= {reply.finish for reply in replies}


def test_a_plain_reply_says_or_calls_something() -> None:
    for reply in all_drawn(strategies.replies(LOOK), 100):
        assert reply.parts
        assert {call.name for call in reply.calls} <= {"look"}
        assert reply.finish == ("tools" if reply.calls else "end")


def test_outcomes_are_of_every_kind() -> None:
    found = all_drawn(strategies.outcomes(), 400)

    assert set(OUTCOMES) == {output.outcome for output in found}
    assert any(output.terminate for output in found)
    assert max(len(output.text) for output in found) > 5_000


def test_errors_are_of_every_kind() -> None:
    found = all_drawn(strategies.errors(), 400)

    assert {True, False} == {error.retryable for error in found}
    assert any(error.retry_after for error in found)
    assert any(error.partial for error in found)


@pytest.mark.parametrize("kind", get_args(Effect), ids=lambda kind: kind.__name__)
def test_every_answer_is_one_that_its_effect_takes(kind: type[Effect]) -> None:
    """Edits as well: they fit the tool."""

    def wants(state: State) -> bool:
        return any(isinstance(effect, kind) for effect in state.waiting)

    state = one(strategies.states(CONFIG), wants)
    (effect, *_) = (one for one in state.waiting if isinstance(one, kind))
    for answer in all_drawn(strategies.answers(effect), 30):
        assert isinstance(deliver(state, answer), Success)


def test_what_may_happen_next_mostly_can() -> None:
    refused: list[Rejected] = []
    given_: list[object] = []

    @settings(QUICK, max_examples=120)
    @given(strategies.states(CONFIG), st.data())
    def look(state: State, data: st.DataObject) -> None:
        one = data.draw(strategies.inputs(state))
        moved = advance(CONFIG, state, one)
        given_.append(one)
        if not isinstance(moved, Success):
            refused.append(moved.failure())

    look()
    assert len(refused) < len(given_) / 4
    assert {problem.kind for problem in refused} == {"taken"}  # nothing was queued


def test_orders_of_arrival_are_all_and_the_given_one_is_the_simplest() -> None:
    found = all_drawn(strategies.orders("abc"), 60)

    assert {"abc", "acb", "bac", "bca", "cab", "cba"} == {"".join(one) for one in found}
    assert ("a", "b", "c") == simplest(strategies.orders("abc"))


# Updates.

UPDATES: Final = tuple(dict.fromkeys(point.update for point in POINTS.values()))


@pytest.mark.parametrize("kind", UPDATES, ids=lambda kind: kind.__name__)
def test_every_field_of_an_update_is_written_and_left_out(kind: type[Update]) -> None:
    found = all_drawn(strategies.updates(kind), 80)
    written = {name for update in found for name in update.written}

    assert {field.name for field in attrs.fields(kind)} == written
    assert any(not update.written for update in found)
    assert simplest(strategies.updates(kind)) == kind()


@attrs.frozen
class Mine(Update):
    """An update of one's own, at no point."""

    label: str | Unset = UNSET
    rank: int | Unset = UNSET
    words: tuple[str, ...] | Unset = UNSET
    mode: Literal["a", "b"] | Unset = attrs.field(default=UNSET, validator=one_of("a"))


def test_an_update_of_ones_own_is_read_from_its_annotations() -> None:
    """What a validator refuses is not drawn."""
    found = all_drawn(strategies.updates(Mine), 100)

    assert {"label", "rank", "words", "mode", "memo"} == {
        name for update in found for name in update.written
    }
    assert {"a", UNSET} == {update.mode for update in found}
    assert all(isinstance(u.words, tuple) for u in found if u.words is not UNSET)


def test_what_is_drawn_prints_as_it_is_made() -> None:
    """Hypothesis shows records as their reprs, not with all their fields."""

    @settings(SEARCH)
    @given(strategies.views(ToolCallView))
    def never(view: ToolCallView) -> None:
        assert view is None

    with pytest.raises(AssertionError) as caught:
        never()

    assert (
        "view=ToolCallView(call=ToolCall('look', id='c1'), spec=ToolSpec('look'),"
        in ("\n".join(caught.value.__notes__))
    )


def test_strategies_are_there_by_name() -> None:
    """The front door lists them, and each is documented."""
    assert all(getattr(strategies, name).__doc__ for name in strategies.__all__)
    assert sorted(strategies.__all__) == strategies.__all__


def test_they_need_hypothesis_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys  # noqa: PLC0415

    import loopcore.testing as kit  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "loopcore.testing.strategies", None)
    for name in list(sys.modules):
        if name.startswith("loopcore.testing.strategies"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(kit, "strategies")
    monkeypatch.setitem(sys.modules, "hypothesis", None)

    with pytest.raises(ModuleNotFoundError) as caught:
        _ = kit.strategies
    assert str(caught.value) == (
        'loopcore.testing.strategies needs hypothesis: `pip install "loopcore[testing]"`.'
    )
    assert hypothesis is not None
    assert CallModel is not None
