"""check_hooks: plausible wrong hooks are caught, in words that a stranger understands."""

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from returns.result import Success

from loopcore import (
    Interpreter,
    LoopConfig,
    ModelError,
    ToolCall,
    ToolSpec,
    run_sync,
)
from loopcore.hooks import (
    Allow,
    Block,
    ContextUpdate,
    ContextView,
    Hooks,
    Need,
    RetryUpdate,
    ToolCallView,
)
from loopcore.policies import (
    ask_before,
    compact,
    limits,
    nudge,
    redact,
    retry,
    sliding_window,
    truncate_results,
)
from loopcore.testing import ScriptedModel, check_hooks
from tests import standing_in
from tests import wrong_hooks as wrong

FEW: Final = 8
"""Enough to come upon everything here, and quick."""

TAGS: Final = ToolSpec(
    "label",
    "Labels.",
    {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["tags"],
    },
)


def failure(*hooks: Hooks, **more: Any) -> list[str]:
    """What is said of these hooks: the sentence, the law, the view, the program."""
    with pytest.raises(AssertionError) as caught:
        check_hooks(*hooks, **more)
    return str(caught.value).split("\n\n")


def line(function: Callable[..., object], after: int = 0) -> str:
    """Where a wrong hook is written, or so many lines below."""
    return f"wrong_hooks.py:{function.__code__.co_firstlineno + after}"


SEED: Final = "Use the seed and the time in the view: `view.state.seed`, `view.now`."
MEMO: Final = (
    "Keep what it remembers in its memo, which is saved, forked and replayed with the "
    "run: `Hooks(..., memo=...)`, `view.memo`."
)
ASK: Final = (
    "Ask for it: return `Need.service(key, name, data)`, and read `view.answers[key]`. To "
    "watch a run, there is `Inspector`."
)
ROUNDS: Final = (
    "Keep whole rounds, as `sliding_window` does, or return `repair(messages)`."
)


@pytest.fixture(scope="module")
def cut() -> list[str]:
    """What is said of a window that cuts a pair."""
    return failure(Hooks(transform_context=wrong.last_four))


def test_a_window_that_cuts_a_pair(cut: list[str]) -> None:
    said, law, view, program = cut

    assert said == (
        "Hook 'last_four' parts a tool call from its result at transform_context "
        f"({line(wrong.last_four)}): the result of 'c1' is shown without its call. {ROUNDS}"
    )
    assert law == "The law: each call that is shown has its one result beside it."
    assert view.startswith("The smallest view: ContextView(messages=[")
    assert view.count("Message(") <= 6
    start, *steps = program.splitlines()
    assert start == "Its state is reached by:"
    assert len(steps) == 5


def test_the_program_that_is_told_leads_to_the_view(cut: list[str]) -> None:
    """The steps are Python, and what they lead to is what the view shows."""
    *_, view, program = cut
    seen: list[ContextView] = []
    names: dict[str, Any] = {"last_four": seen.append}
    exec("\n".join(s.strip() for s in program.splitlines()[1:]), names)  # noqa: S102

    assert view == f"The smallest view: {seen[-1]}"


def test_a_window_that_cuts_a_pair_late_in_a_long_run() -> None:
    said, *_ = failure(Hooks(transform_context=wrong.last_fifty), examples=FEW)

    assert said.startswith("Hook 'last_fifty' parts a tool call from its result at ")
    assert " It is seen in a long run, once " in said
    assert said.endswith(" messages are stored.")


def test_a_hook_that_reads_the_clock() -> None:
    said, law, *_ = failure(Hooks(should_stop_after_turn=wrong.overdue))

    assert said == (
        "Hook 'overdue' reads the clock at should_stop_after_turn. It calls time.time() "
        f"at {line(wrong.overdue, 2)}. {SEED}"
    )
    assert law == (
        "The law: what a hook says follows from its view, and from nothing else."
    )


def test_a_hook_that_draws_a_random_number() -> None:
    """Mistake 7."""
    said, *_ = failure(Hooks(on_model_error=wrong.rotate))
    first, _, rest = said.partition(", then delay=")
    number, _, cause = rest.partition("). ")

    assert first.startswith("Hook 'rotate' gave two answers to the same view (delay=0.")
    assert 0 <= float(number) < 3
    assert cause == f"It calls random.random() at {line(wrong.rotate, 2)}. {SEED}"


def test_a_hook_that_edits_its_view_through_a_list() -> None:
    """Mistake 9."""
    said, law, *_ = failure(Hooks(before_tool_call=wrong.tag), tools=[TAGS])

    assert said == (
        "Hook 'tag' called append(...) on a list that is frozen (a tuple) "
        f"({line(wrong.tag, 2)}, call c1 'label', turn 1). What a view holds cannot be "
        "changed; return what should change: `ToolCallUpdate(...)`."
    )
    assert law == "The law: a hook does not change its view."


def test_a_hook_that_edits_its_view_through_an_object() -> None:
    """Mistake 9."""
    said, *_ = failure(Hooks(before_tool_call=wrong.shout))

    assert said == (
        "Hook 'shout' tried to change an object that is frozen (a FrozenDict) "
        f"({line(wrong.shout, 2)}, call c1 'look', turn 1). What a view holds cannot be "
        "changed; return what should change: `ToolCallUpdate(...)`."
    )


def test_a_hook_that_sets_a_field_of_its_view() -> None:
    """Mistake 9."""
    said, *_ = failure(Hooks(after_tool_result=wrong.tidy))

    assert said == (
        f"Hook 'tidy' tried to set ToolResultView.parts ({line(wrong.tidy, 2)}, call c1 "
        "'look', turn 1). Views cannot be changed; return what should change: "
        "`ToolResultUpdate(...)`."
    )


def test_a_hook_that_gets_round_the_freezing_of_its_view() -> None:
    said, law, *_ = failure(Hooks(before_tool_call=wrong.force))

    assert said == (
        "Hook 'force' changed ToolCallView.arguments at before_tool_call "
        f"({line(wrong.force)}). Views cannot be changed; return what should change: "
        "`ToolCallUpdate(...)`."
    )
    assert law == "The law: a hook does not change its view."


def test_a_hook_whose_memo_grows_without_end() -> None:
    said, law = failure(
        Hooks("remember", memo=[], should_stop_after_turn=wrong.remember), examples=FEW
    )
    grows, _, written = said.partition(". It is written at ")

    assert grows.startswith("The memo of hook 'remember' grows without end: ")
    assert re.findall(r"after ([\d,]+) turns", grows) == ["100", "400", "1,600"]
    assert written.startswith(
        f"should_stop_after_turn ({line(wrong.remember)}), and is now ["
    )
    assert written.endswith(
        "A memo is saved with every state: keep a count, or the last few."
    )
    assert law == "The law: a memo stays small, however long a run is."


def test_a_limit_that_a_later_hook_lifts() -> None:
    said, law, *_ = failure(
        Hooks(after_tool_call=wrong.budget), Hooks(after_tool_call=wrong.again)
    )

    assert said == (
        "Hook 'again' lifts what hook 'budget' decided at after_tool_call: it writes "
        f"terminate=False ({line(wrong.again)}) over terminate=True "
        f"({line(wrong.budget)}). `terminate` is a value, and a value is the later "
        "writer's. Put 'budget' after 'again', or decide by a verdict, which no later hook "
        "lifts: `StopUpdate` at should_stop_after_turn."
    )
    assert law == "The law: what one hook forbids, no later one allows."


def test_a_guard_whose_arguments_a_later_hook_changes() -> None:
    said, *_ = failure(
        Hooks(before_tool_call=wrong.no_zero), Hooks(before_tool_call=wrong.to_zero)
    )

    assert said == (
        "Hook 'no_zero' let a call pass at before_tool_call "
        f"({line(wrong.no_zero)}), whose arguments 'to_zero' then changed to some for "
        "which it says Block('not zero'). Put 'no_zero' after 'to_zero', so that it "
        "decides about what will run."
    )


def test_tools_that_a_later_hook_gives_back() -> None:
    said, *_ = failure(
        Hooks(prepare_next_turn=wrong.only_reading),
        Hooks(prepare_next_turn=wrong.all_tools),
    )

    assert said.startswith(
        "Hook 'all_tools' lifts what hook 'only_reading' decided at prepare_next_turn: it "
        "writes tools=("
    )
    assert said.endswith(
        "Put 'only_reading' after 'all_tools', or decide by a verdict, which no later hook "
        "lifts: `Block(...)` at before_tool_call."
    )


def test_a_hook_that_fails_late_in_a_long_run() -> None:
    said, law, view, program = failure(
        Hooks(transform_context=wrong.worn_out), examples=FEW
    )

    assert said.startswith(
        "Hook 'worn_out' raised ValueError: too long for me at transform_context "
        f"({line(wrong.worn_out, 4)}, turn "
    )
    assert said.endswith(" of a long run.)")
    assert law == "The law: a hook answers every view, and never raises."
    assert view.startswith("The smallest view: ContextView(")
    assert program.startswith("Its state is reached by:")


def test_a_hook_that_uses_a_global_of_its_module() -> None:
    said, *_ = failure(Hooks(should_stop_after_turn=wrong.every_hundredth))

    assert said == (
        "Hook 'every_hundredth' remembers something outside of the run at "
        "should_stop_after_turn. It changes the module global 'calls' at "
        f"{line(wrong.every_hundredth, 3)}. {MEMO}"
    )


def test_a_hook_that_fills_a_list_of_its_module() -> None:
    said, *_ = failure(Hooks(should_stop_after_turn=wrong.unseen))

    assert said == (
        "Hook 'unseen' remembers something outside of the run at should_stop_after_turn. "
        f"It changes the module global 'seen' at {line(wrong.unseen, 2)}. {MEMO}"
    )


def test_a_hook_that_fills_its_own_default() -> None:
    said, *_ = failure(Hooks(should_stop_after_turn=wrong.cached))

    assert said == (
        "Hook 'cached' remembers something outside of the run at should_stop_after_turn. "
        f"It changes its default 'known' at {line(wrong.cached, 2)}. {MEMO}"
    )


REMEMBERED: Final = (
    "There it had seen other views before: what it remembers belongs in its memo, which is "
    "saved, forked and replayed with the run (`Hooks(..., memo=...)`, `view.memo`). Or it "
    "depends on the order of a set, which is another one in every process."
)


def test_a_hook_that_remembers_where_nobody_looks() -> None:
    """What another process has not seen makes the difference there."""
    said, law, *_ = failure(
        Hooks(should_stop_after_turn=wrong.keep_first), examples=FEW
    )

    assert said.startswith(
        "Hook 'keep_first' gave two answers to the same view at should_stop_after_turn "
        f"({line(wrong.keep_first)}): stop='"
    )
    assert said.endswith(REMEMBERED)
    assert law == "The law: what a hook says is the same in every process."


def test_a_hook_that_remembers_what_came_later() -> None:
    """Asked once more about an earlier view of the run, it says something else."""
    wrong.longest.text = ""
    said, law, *_ = failure(Hooks(transform_context=wrong.outgrow))

    assert said.startswith(
        "Hook 'outgrow' gave two answers to the same view at transform_context "
        f"({line(wrong.outgrow)}): system="
    )
    assert said.endswith(
        "Between the two it was asked about other views. What it remembers belongs in its "
        "memo, of which each fork of a run has its own: `Hooks(..., memo=...)`, "
        "`view.memo`."
    )
    assert law == "The law: a run is not changed by what another one did."


def test_a_hook_that_depends_on_the_order_of_a_set() -> None:
    said, law, *_ = failure(Hooks(transform_context=wrong.label), examples=FEW)
    first, _, cause = said.partition(". It uses ")

    assert first.startswith(
        "Hook 'label' gave two answers to the same view at transform_context "
        f"({line(wrong.label)}): system='"
    )
    assert ", and in another process system='" in first
    assert cause == (
        f"a set at {line(wrong.label, 2)}. Python orders a set of texts, and hashes them, "
        "differently in every process: sort it (`sorted(...)`), or keep a dict or a list."
    )
    assert law == "The law: what a hook says is the same in every process."


@pytest.fixture(scope="module")
def empty() -> list[str]:
    """What is said of a hook that takes a message for granted."""
    return failure(Hooks(transform_context=wrong.newest))


def test_a_hook_that_does_not_think_of_an_empty_transcript(empty: list[str]) -> None:
    said, law, view, _ = empty

    assert said == (
        "Hook 'newest' raised IndexError: Index out of range: -1 at transform_context "
        f"({line(wrong.newest, 2)}, turn 1). Nothing is shown here: an earlier hook may "
        "have left no message."
    )
    assert law == "The law: a hook answers every view, and never raises."
    assert view.startswith("The smallest view: ContextView(messages=[], ")


def test_a_hook_that_reads_a_file() -> None:
    said, *_ = failure(Hooks(transform_context=wrong.rules))

    assert said == (
        "Hook 'rules' does input or output at transform_context. It calls "
        f"pathlib.Path.read_text() at {line(wrong.rules, 2)}. {ASK}"
    )


def test_a_hook_that_reads_the_environment() -> None:
    said, *_ = failure(Hooks(transform_context=wrong.region))

    assert said == (
        "Hook 'region' reads the environment at transform_context. It reads os.environ at "
        f"{line(wrong.region, 2)}. Read it where the hook is made, outside of the "
        "function, and pass the value in."
    )


def test_a_hook_that_prints(capsys: pytest.CaptureFixture[str]) -> None:
    said, *_ = failure(Hooks(should_stop_after_turn=wrong.note))

    assert capsys.readouterr().out
    assert said == (
        "Hook 'note' does input or output at should_stop_after_turn. It calls print() at "
        f"{line(wrong.note, 2)}. {ASK}"
    )


def test_a_hook_that_returns_the_update_of_another_point() -> None:
    """Mistake 5."""
    said, law, *_ = failure(Hooks(should_stop_after_turn=wrong.confused))

    assert said == (
        "Hook 'confused' returned a TurnUpdate at should_stop_after_turn "
        f"({line(wrong.confused)}, turn 1). Return a StopUpdate, a bool, a reason, a Stop, "
        "Need or None."
    )
    assert law == "The law: a hook writes the fields of its point, and no others."


def test_a_hook_that_remembers_what_json_does_not_have() -> None:
    """Mistake 10."""
    said, law, *_ = failure(Hooks(should_stop_after_turn=wrong.urls))

    assert said.startswith(
        "Hook 'urls' wrote a memo that is not JSON at should_stop_after_turn "
        f"({line(wrong.urls)}, turn 1): memo['urls'] is a set, which JSON does not have."
    )
    assert law == "The law: a memo is JSON."


def test_a_hook_that_compares_by_identity() -> None:
    said, law, *_ = failure(Hooks(before_tool_call=wrong.same))

    assert said == (
        f"Hook 'same' gave two answers to equal views at before_tool_call "
        f"({line(wrong.same)}): decision=Block('the first is refused'), then nothing. The "
        "second view is a copy, as after a reload: compare what it holds with `==`, not "
        "with `is` or id()."
    )
    assert law == "The law: equal views get equal answers."


def test_a_hook_that_says_something_about_what_it_does_not_care_about() -> None:
    def cares(view: ToolCallView) -> bool:
        return view.tool == "pay"

    said, law, *_ = failure(Hooks(before_tool_call=wrong.nosy), cares=cares)

    assert said == (
        f"Hook 'nosy' at before_tool_call ({line(wrong.nosy)}) writes decision about a "
        "view that `cares` says it does not care about. Return None there."
    )
    assert law == "The law: a hook says nothing about what it does not care about."


def test_a_hook_that_takes_a_tools_arguments_for_granted() -> None:
    """Without the tools that it is about, one is told how to give them."""
    said, *_ = failure(Hooks(before_tool_call=wrong.cents))

    assert said == (
        "Hook 'cents' raised KeyError: 'cents' at before_tool_call "
        f"({line(wrong.cents, 2)}, call c1 'look', turn 1). (Its tools are made up here. "
        "If it is about some, give them: `check_hooks(..., tools=[...])`.)"
    )


def test_with_its_tools_given_it_is_fine() -> None:
    transfer = ToolSpec(
        "transfer",
        "Sends money.",
        {
            "type": "object",
            "properties": {"cents": {"type": "integer"}},
            "required": ["cents"],
        },
    )
    checked = check_hooks(
        Hooks(before_tool_call=wrong.cents), tools=[transfer], examples=FEW
    )

    assert checked.unchecked == ()
    assert checked.wrote["cents", "before_tool_call"] > 0


def _early(view: ToolCallView) -> bool:
    return view.turn < 3


POLICIES: Final = {
    "sliding_window": sliding_window(4),
    "sliding_window_turns": sliding_window(2, unit="turns", pin=0),
    "sliding_window_tokens": sliding_window(30, unit="tokens"),
    "truncate_results": truncate_results(20, tail=5),
    "limits": limits(
        turns=3,
        tokens=900,
        cost=0.5,
        seconds=90,
        tool_calls=3,
        repeats=2,
        unknown_tools=2,
    ),
    "limits_of_nothing": limits(turns=0),
    "retry": retry(3, fallback=["test:a", "test:b"]),
    "ask_before": ask_before("look", when=_early),
    "redact": redact("x", "[0-9]+"),
    "compact": compact(4, keep=2),
    "nudge": nudge("Go on.", 2),
}


@pytest.mark.parametrize("name", POLICIES)
def test_the_ready_made_policies_keep_all_laws(name: str) -> None:
    checked = check_hooks(POLICIES[name], examples=FEW)

    assert all("never asked" in said for said in checked.unchecked)
    assert sum(checked.views.values()) > 0


def test_policies_keep_all_laws_together() -> None:
    named = ("redact", "sliding_window", "compact", "limits", "retry", "nudge")
    checked = check_hooks(*(POLICIES[n] for n in named), examples=FEW)

    assert checked.unchecked == ()
    assert {hook for hook, _ in checked.views} == set(named)


EXAMPLES: Final = Path(__file__).parent / "examples"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Import examples, with models that need nothing."""
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setitem(sys.modules, "loopcore_adapters", standing_in)
    yield import_module
    for file in EXAMPLES.glob("*.py"):
        sys.modules.pop(file.stem, None)


CONFIGURED: Final = ("block", "memory", "window", "bounded", "unfold", "review")


@pytest.mark.parametrize("name", CONFIGURED)
def test_the_hooks_of_the_examples_keep_all_laws(
    name: str, load: Callable[[str], Any]
) -> None:
    """Their configurations as they stand, with the tools that they offer."""
    config = load(name).config
    checked = check_hooks(*config.hooks, tools=config.tools, examples=FEW)

    assert checked.unchecked == ()
    assert len(checked.views) >= len(config.hooks)


def test_the_bare_hooks_of_the_examples_keep_all_laws(
    load: Callable[[str], Any],
) -> None:
    stops, rewrite = load("stop_on_error"), load("rewrite")
    guard, shared = load("policy").guard, load("rules")
    for hooks in (
        (stops.all_must_fail,),
        (stops.one_is_enough,),
        rewrite.rules,
        shared.rules,
        (guard,),
    ):
        assert check_hooks(*hooks, examples=FEW).unchecked == ()


def test_the_sketch_of_compaction_parts_pairs_as_the_policy_does_not(
    load: Callable[[str], Any],
) -> None:
    """It counts messages, and every request is repaired; `compact` keeps whole rounds."""
    said, *_ = failure(load("compacting").compacting(4, keep=2), examples=FEW)

    assert said.startswith("Hook 'compacting' parts a tool call from its result at ")


def test_what_was_seen_is_told() -> None:
    polite = Hooks("polite", transform_context=lambda view: None)  # noqa: ARG005
    checked = check_hooks(polite, examples=5)
    views = checked.views["polite", "transform_context"]

    assert (
        f"<checked: polite at transform_context wrote to 0 of {views} views>"
        == repr(checked)
    )


def test_a_hook_that_was_never_asked_is_told() -> None:
    """A check that looked at nothing does not pass for one that found nothing."""
    stop = Hooks("stop", transform_context=lambda view: ContextUpdate(stop=True))  # noqa: ARG005
    after = Hooks("after", should_stop_after_turn=lambda view: None)  # noqa: ARG005
    checked = check_hooks(stop, after, examples=5)

    assert ("after was never asked at should_stop_after_turn",) == checked.unchecked


@pytest.mark.parametrize("name", ["deploy", "look", "add", "pay"])
def test_a_hook_is_asked_about_the_tools_that_it_is_limited_to(name: str) -> None:
    """Also where a made-up tool has the name of one that is always offered."""
    hook = Hooks("mine", before_tool_call=lambda view: Block("no")).for_tools(name)  # noqa: ARG005
    checked = check_hooks(hook, examples=FEW)

    assert checked.wrote == checked.views
    assert checked.views["mine", "before_tool_call"] > 0


def test_services_may_fail_and_else_say_what_is_given() -> None:
    heard: set[str] = set()

    def allowed(view: ToolCallView) -> Allow | Block | Need:
        match view.answers.get("verdict"):
            case Success():
                return Allow()
            case None:
                return Need.service("verdict", "policy", {"tool": view.tool})
            case _:
                return Block("no")

    def cares(view: Any) -> bool:
        heard.update(map(str, view.answers.values()))
        return True

    check_hooks(
        Hooks(before_tool_call=allowed),
        services={"policy": [{"allow": True}]},
        examples=FEW,
        cares=cares,
    )

    assert "<Success: {'allow': True}>" in heard
    assert any(said.startswith("<Failure: ") for said in heard)


def test_something_else_than_hooks_is_refused() -> None:
    function: Any = wrong.last_four
    with pytest.raises(
        TypeError, match=r"give rules, such as Hooks\(before_tool_call="
    ):
        check_hooks(function)


def test_nothing_to_check_is_refused() -> None:
    with pytest.raises(TypeError, match="it got none"):
        check_hooks()


def test_a_check_says_the_same_each_time(empty: list[str]) -> None:
    assert failure(Hooks(transform_context=wrong.newest)) == empty


# LOOPCORE_CHECK=1: `run` asks every hook twice.


def stopped(hook: Hooks) -> str | None:
    """How a run under this hook stops, whose first request fails."""
    model = ScriptedModel(ModelError("busy", "overloaded"), "Done.")
    config = LoopConfig(model=model, hooks=[hook])
    stop = run_sync(config, Interpreter(model), "Go.").stop
    return stop.detail if stop and stop.reason == "hook_error" else None


def still(view: Any) -> RetryUpdate:
    """A hook that is as it should be."""
    return RetryUpdate(retry=True, delay=0.0 * view.attempt)


def test_a_run_that_is_checked_asks_every_hook_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mistake 7."""
    monkeypatch.setenv("LOOPCORE_CHECK", "1")
    said = stopped(Hooks(on_model_error=wrong.rotate))

    assert said is not None
    assert said.startswith("Hook 'rotate' gave two answers to the same view (delay=0.")
    assert said.endswith(
        f"). It calls random.random() at {line(wrong.rotate, 2)}. {SEED}"
    )


@pytest.mark.parametrize("value", ["0", "", " ", "false", "No", "off"])
def test_a_run_that_is_not_checked_does_not(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOPCORE_CHECK", value)

    numbers = iter(range(9))

    def numbered(_: Any) -> RetryUpdate:
        return RetryUpdate(retry=True, memo=next(numbers))

    assert stopped(Hooks(on_model_error=numbered)) is None


def test_a_hook_that_returns_a_generator_is_told_so_in_a_checked_run_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What it returned is wrong, however often it is asked."""

    def generating(view: Any) -> Any:
        return (n for n in range(view.attempt))

    monkeypatch.setenv("LOOPCORE_CHECK", "0")
    unchecked = stopped(Hooks("h", on_model_error=generating))
    monkeypatch.setenv("LOOPCORE_CHECK", "1")

    assert unchecked is not None
    assert unchecked.startswith("Hook 'h' returned a generator")
    assert unchecked == stopped(Hooks("h", on_model_error=generating))


def test_a_hook_that_says_the_same_again_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOOPCORE_CHECK", "1")

    assert stopped(Hooks(on_model_error=still)) is None


def test_the_hooks_of_nested_runs_are_asked_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOOPCORE_CHECK", "1")
    inner_model = ScriptedModel(ModelError("busy", "overloaded"), id="test:inner")
    inner = LoopConfig(model=inner_model, hooks=[Hooks(on_model_error=wrong.rotate)])
    model = ScriptedModel(ToolCall("dig", {"prompt": "x"}, "c1"), "Done.")
    outer = LoopConfig(model=model, tools=[inner.as_tool("dig", "Digs.")])
    result = run_sync(outer, Interpreter(model, inner_model), "Go.")

    assert "gave two answers to the same view" in result.messages[2].text


def test_a_hook_that_raises_the_second_time_gave_two_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOOPCORE_CHECK", "1")
    times: list[int] = []

    def once(view: Any) -> RetryUpdate:
        times.append(view.attempt)
        if len(times) > 1:
            message = "asked again"
            raise ValueError(message)
        return RetryUpdate(retry=True)

    said = stopped(Hooks(on_model_error=once))

    assert said is not None
    assert "(retry=True, then raised=ValueError('asked again'))" in said
    assert "It changes 'times', a variable of the function around it, at " in said


def test_faults_name_the_line_of_the_hook_and_not_of_who_asks_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOOPCORE_CHECK", "1")
    model = ScriptedModel("Done.")
    config = LoopConfig(model=model, hooks=[Hooks(transform_context=failing)])
    stop = run_sync(config, Interpreter(model), "Go.").stop

    where = f"test_check_hooks.py:{failing.__code__.co_firstlineno + 2}"
    assert stop is not None
    assert (
        f"Hook 'failing' raised KeyError: 'test:script' at transform_context ({where}"
        in (stop.detail)
    )


def failing(view: ContextView) -> None:
    """Raises."""
    raise KeyError(view.model)
