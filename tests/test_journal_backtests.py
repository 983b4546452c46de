"""What a backtest says changes: each thing once, as it is, and by the hook that did it."""

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from loopcore import (
    Answer,
    AssistantMessage,
    Edit,
    FollowUp,
    Interpreter,
    LoopConfig,
    Message,
    State,
    ToolCall,
    UserMessage,
    run_sync,
    tool,
)
from loopcore.hooks import (
    Allow,
    Block,
    ContextView,
    Hooks,
    Need,
    RawCallUpdate,
    RawCallView,
    ReplyView,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnUpdate,
    TurnView,
)
from loopcore.journal import Journal, backtest, replay
from loopcore.policies import limits, redact
from loopcore.testing import ScriptedModel


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"seen: {at}"


OLD = LoopConfig(model="test:script", tools=[look])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run with two calls in its first turn, and one in its second."""
    a, b, c = (ToolCall("look", {"at": at}, f"c-{at}") for at in "abc")
    model = ScriptedModel(AssistantMessage([a, b]), AssistantMessage([c]), "done")
    file = tmp_path / "r.jsonl"
    run_sync(OLD, Interpreter(model, look), "Hi!", run_id="r1", journal=file).unwrap()
    return file


def allowed(_: ToolCallView) -> Allow:
    return Allow()


def blocked(view: ToolCallView) -> Block | None:
    return Block("not b") if view.arguments["at"] == "b" else None


def injected(view: TurnView) -> TurnUpdate | None:
    return TurnUpdate(inject=[UserMessage("and?")]) if view.turn == 1 else None


def advised(view: ContextView) -> Need | None:
    return None if "advice" in view.answers else Need.service("advice", "adviser", {})


def enough(_: ToolResultView) -> ToolResultUpdate:
    return ToolResultUpdate(terminate=True)


def summed(view: ContextView) -> Need | None:
    return None if "v1.sum" in view.answers else Need.model("v1.sum", "Sum it up.")


def forgets(view: TurnView) -> TurnUpdate | None:
    return None if view.goes_on else TurnUpdate(transcript=[*view.transcript][:1])


def renamed(view: RawCallView) -> RawCallUpdate | None:
    return RawCallUpdate(name="loook") if view.arguments["at"] == "b" else None


def talks(_: ReplyView) -> AssistantMessage:
    return AssistantMessage("done")


def loud(view: ContextView) -> list[Message]:
    return [UserMessage("HI!"), *view.messages[1:]]


def hooked(**hooks: Any) -> LoopConfig:
    return evolve(OLD, hooks=[Hooks(name, **{p: f}) for name, (p, f) in hooks.items()])


GATE = "before_tool_call"
NEED = "r1.1.1.transform_context.1.asks.advice"
BLOCKED = (1, "look(at='b')", "runs", "blocked: 'not b'", "rule", GATE)
CASES: dict[str, tuple[LoopConfig, list[tuple[Any, ...]]]] = {
    "one call of two is blocked": (hooked(rule=(GATE, blocked)), [BLOCKED]),
    "another hook has an opinion first": (
        hooked(lax=(GATE, allowed), rule=(GATE, blocked)),
        [BLOCKED],
    ),
    "another hook has an opinion later": (
        hooked(rule=(GATE, blocked), lax=(GATE, allowed)),
        [BLOCKED],
    ),
    "a message is injected": (
        hooked(adds=("prepare_next_turn", injected)),
        [(1, "user message", "none", "and?", "adds", "prepare_next_turn")],
    ),
    "a service is asked": (
        hooked(asks=("transform_context", advised)),
        [(1, "service adviser", "none", "asked: {}", "asks", "transform_context")],
    ),
    "a result ends the run": (
        hooked(ends=("after_tool_result", enough)),
        [(1, "stop", "done", "terminated", "ends", "after_tool_result")],
    ),
    "a model is asked by a hook": (
        hooked(sums=("transform_context", summed)),
        [
            (
                *(1, "a model, for 'v1.sum'", "none", "asked: 1 message"),
                *("sums", "transform_context"),
            )
        ],
    ),
    "what is stored is rewritten": (
        hooked(forgets=("prepare_next_turn", forgets)),
        [
            (
                *(3, "stored messages", "as they are", "rewritten: 1 message"),
                *("forgets", "prepare_next_turn"),
            )
        ],
    ),
    "a call has no such tool": (
        hooked(names=("prepare_tool_call", renamed)),
        [
            (
                *(1, "look(at='b')", "runs"),
                (
                    "unknown_tool: \"There is no tool 'loook'. Did you mean 'look'? "
                    'Available: look."'
                ),
                *("names", "prepare_tool_call"),
            )
        ],
    ),
    "a reply loses its calls": (
        hooked(ends=("after_model_call", talks)),
        [
            (1, "look(at='a')", "runs", "stopped: done", "ends", "after_model_call"),
            (1, "look(at='b')", "runs", "stopped: done", "ends", "after_model_call"),
            (1, "stop", "done, later", "done", "", ""),
        ],
    ),
    "the order of calls": (
        evolve(OLD, parallel=False),
        [(1, "look(at='b')", "runs", "waits", "", "")],
    ),
    "a tool": (
        evolve(OLD, tools=[evolve(look.spec, description="Look!")]),
        [(1, "request: tools", "look", "look (changed)", "", "")],
    ),
    "one message is shown otherwise": (
        hooked(says=("transform_context", loud)),
        [
            (
                *(1, "shown to the model", "1 message"),
                "1 message, 1 of them otherwise",
                *("says", "transform_context"),
            )
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_change_is_told_once_and_by_its_hook(path: Path, case: str) -> None:
    new, expected = CASES[case]

    found = backtest([path], old=OLD, new=new).changed

    assert expected == [(c.turn, c.what, c.old, c.new, c.hook, c.point) for c in found]


def test_a_setting_is_told_of_the_first_request_that_has_it(path: Path) -> None:
    """All that come after it have it, too."""
    found = backtest([path], old=OLD, new=evolve(OLD, system="Brief."), lenient=True)

    assert [(c.turn, c.what, c.old, c.new) for c in found.changed] == [
        (1, "request: system", "none", "Brief.")
    ]


def test_a_request_is_of_the_turn_that_it_begins(path: Path) -> None:
    def late(view: TurnView) -> TurnUpdate | None:
        return TurnUpdate(system="Brief.") if view.turn == 1 else None

    new = hooked(late=("prepare_next_turn", late))

    found = backtest([path], old=OLD, new=new).changed

    assert [(c.turn, c.what, c.hook) for c in found] == [(2, "request: system", "late")]


def without_word(view: ToolResultView) -> ToolResultUpdate:
    return ToolResultUpdate(view.text.replace("seen", "?"))


def test_what_only_follows_is_not_told_of_the_hook_that_shapes_it(
    tmp_path: Path,
) -> None:
    """A blocked call's result is stored later, with its batch, and shaped by others."""
    old = hooked(shapes=("after_tool_result", without_word))
    new = evolve(old, hooks=[*old.hooks, Hooks("rule", before_tool_call=blocked)])
    a, b = (ToolCall("look", {"at": at}, f"c-{at}") for at in "ab")
    model = ScriptedModel(AssistantMessage([a, b]), "done")
    file = tmp_path / "r.jsonl"
    run_sync(old, Interpreter(model, look), "Hi!", run_id="r1", journal=file).unwrap()

    found = backtest([file], old=old, new=new)

    assert [(c.what, c.hook) for c in found.changed] == [("look(at='b')", "rule")]


def test_a_result_is_told_of_the_hook_that_led_to_it_in_an_earlier_step(
    path: Path,
) -> None:
    """The first result of two waits for the second before both are stored."""

    def first(view: ToolResultView) -> ToolResultUpdate | None:
        return ToolResultUpdate("?") if view.text == "seen: a" else None

    found = backtest([path], old=OLD, new=hooked(first=("after_tool_call", first)))

    assert [(c.what, c.hook, c.point) for c in found.changed] == [
        ("result of look", "first", "after_tool_call")
    ]


@pytest.mark.parametrize(
    "setting", [{"system": "Brief."}, {"model": "test:other"}, {"thinking": "low"}]
)
def test_a_setting_is_not_told_of_a_hook_that_wrote_something_else(
    tmp_path: Path, setting: dict[str, Any]
) -> None:
    """`redact` hides what is said; who writes `system` is another question."""
    old = evolve(OLD, hooks=[redact("secret")], system="Be kind.")
    new = evolve(old, **setting)
    file = tmp_path / "r.jsonl"
    model = ScriptedModel("done")
    run_sync(
        old, Interpreter(model, look), "A secret.", run_id="r1", journal=file
    ).unwrap()

    (change,) = backtest([file], old=old, new=new).changed
    divergence = replay(new, Journal.read(file).unwrap()).failure()

    assert (change.what, change.hook) == (f"request: {next(iter(setting))}", "")
    assert (divergence.field, divergence.hook) == (next(iter(setting)), "")


@pytest.mark.parametrize(
    ("new", "again"),
    [
        (hooked(rule=(GATE, blocked)), "r1.1.2.model.1"),
        (hooked(asks=("transform_context", advised)), NEED),
        (hooked(ends=("after_tool_result", enough)), ""),
        (hooked(ends=("after_model_call", talks)), ""),
        (OLD, ""),
    ],
)
def test_what_would_be_asked_again_is_what_the_new_run_waits_for(
    path: Path, new: LoopConfig, again: str
) -> None:
    """A call that is blocked is not asked again, and nothing is after a run's end."""
    (finding,) = backtest([path], old=OLD, new=new).findings

    assert finding.again == again


def test_a_run_that_was_ended_sooner_is_known_no_further_after_the_next_prompt(
    tmp_path: Path,
) -> None:
    """A reply fits only if all that was stored before it is the same."""
    file = tmp_path / "r.jsonl"
    model = ScriptedModel(ToolCall("look", {"at": "a"}, "c1"), "seen", "so what")
    one = run_sync(OLD, Interpreter(model, look), "Hi!", run_id="r1", journal=file)
    run_sync(OLD, Interpreter(model, look), "And?", state=one.state, journal=file)
    new = hooked(ends=("after_tool_result", enough))

    (finding,) = backtest([file], old=OLD, new=new).findings

    assert [(c.what, c.hook) for c in finding.changes] == [("stop", "ends")]
    assert finding.again == "r1.2.1.model.1"


def test_a_replay_says_whose_need_stands_in_the_place_of_a_request(path: Path) -> None:
    """Both ids are told: `is another one` said of neither what it is."""
    says = Hooks("says", transform_context=loud)
    new = evolve(OLD, hooks=[says, Hooks("sums", transform_context=summed)])

    found = replay(new, Journal.read(path).unwrap()).failure()

    assert (found.hook, found.point) == ("sums", "transform_context")
    assert "now 'r1.1.1.transform_context.1.sums.v1.sum'" in str(found)


def doubts(view: ToolCallView) -> Need | None:
    asks = view.approved and "sure" not in view.answers
    return Need.model("sure", "Is it?") if asks else None


def test_a_need_about_a_call_that_a_person_edited_is_told_with_its_hook() -> None:
    old = LoopConfig(model="test:m", tools=[evolve(look.spec, needs_approval=True)])
    happened = (
        "Hi!",
        Answer("r.1.1.model.1", AssistantMessage([ToolCall("look", {"at": "a"})])),
        Answer("r.1.1.ask.0", Edit({"at": "b"})),
    )
    journal = Journal.of(old, State.start(old, run_id="r"), happened).unwrap()
    new = evolve(old, hooks=[Hooks("doubts", before_tool_call=doubts)])

    (finding,) = backtest([journal], old=old, new=new).findings

    assert ("a model, for 'sure'", "doubts", "before_tool_call") in [
        (change.what, change.hook, change.point) for change in finding.changes
    ]


def no_child(_: ToolCallView) -> Block:
    return Block("not now")


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (
            {"hooks": [Hooks("rule", before_tool_call=no_child).for_tools("child")]},
            ("child(prompt='Look.')", "runs", "blocked: 'not now'", "rule"),
        ),
        ({"parallel": False}, ("child(prompt='Look.')", "runs", "waits", "")),
    ],
)
def test_a_nested_run_is_told_as_the_call_that_it_is(
    tmp_path: Path, new: dict[str, Any], expected: tuple[str, ...]
) -> None:
    """Its timer, and what it is asked, only follow."""
    child = LoopConfig(model="test:script").as_tool("child", "Look.", timeout=60)
    old = evolve(OLD, tools=[look, child])
    model = ScriptedModel(
        [
            ToolCall("look", {"at": "a"}, "c1"),
            ToolCall("child", {"prompt": "Look."}, "c2"),
        ],
        *("seen", "done"),
    )
    file = tmp_path / "r.jsonl"
    run_sync(old, Interpreter(model, look), "Hi!", run_id="r1", journal=file).unwrap()

    found = backtest([file], old=old, new=evolve(old, **new))

    assert [(c.what, c.old, c.new, c.hook) for c in found.changed] == [expected]


def test_what_a_run_that_is_over_says_no_more_is_not_told(path: Path) -> None:
    """Here a message that was queued for its end."""
    queued = path.with_name("q.jsonl")
    model = ScriptedModel("one", "two")
    given = "Hi!", FollowUp("And?")
    run_sync(OLD, Interpreter(model, look), *given, run_id="r2", journal=queued)

    found = backtest([queued], old=OLD, new=evolve(OLD, hooks=[limits(turns=1)]))

    assert [(c.what, c.hook) for c in found.changed] == [("stop", "limits")]


def test_a_run_that_ends_sooner_in_the_same_way_is_told_so(path: Path) -> None:
    """`done → done` said nothing."""
    found = backtest([path], old=OLD, new=hooked(ends=("after_model_call", talks)))

    stops = [(c.old, c.new) for c in found.changed if c.what == "stop"]
    assert stops == [("done, later", "done")]
