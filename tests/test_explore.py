"""Every order in which things can happen: what `explore` sees, finds and says."""

import os
import re
import subprocess
import sys
import time
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, Final

import pytest
from attrs import define, frozen

from loopcore import (
    Abort,
    Answer,
    CallModel,
    FollowUp,
    Input,
    LoopConfig,
    ModelError,
    Prompt,
    Rejected,
    RequestApproval,
    RunTool,
    State,
    Steer,
    ToolCall,
    ToolOutput,
    ToolResultMessage,
    ToolSpec,
    advance,
)
from loopcore.hooks import (
    Block,
    Hooks,
    Need,
    RetryUpdate,
    StopUpdate,
    ToolCallUpdate,
    ToolCallView,
    ToolResultUpdate,
    ToolResultView,
    TurnView,
)
from loopcore.journal import Journal, replay
from loopcore.testing import explore, telling
from loopcore.testing.explore import limits
from loopcore.testing.explore.states import Numbers
from loopcore.testing.invariants import Moment, hold

ADD: Final = ToolSpec("add")
PAY: Final = ToolSpec("pay", needs_approval=True)


def config(*hooks: Hooks, **more: Any) -> LoopConfig:
    """A configuration with a tool, and one that needs approval."""
    return LoopConfig(model="test:m", tools=[ADD, PAY], hooks=hooks, **more)


def calls(count: int, name: str = "add") -> list[ToolCall]:
    """So many calls of a tool in one reply."""
    return [ToolCall(name, {}, f"c{n}") for n in range(count)]


def outcomes(state: State) -> list[str]:
    """How the calls of a run ended."""
    return [m.outcome for m in state.transcript if isinstance(m, ToolResultMessage)]


def refolded(given: Iterable[Input], loop: LoopConfig) -> State:
    """The state that these inputs lead to."""
    return advance(loop, State.start(loop, run_id="r"), *given).unwrap()[0]


def test_a_batch_of_five_with_failures_a_steer_and_an_abort_takes_seconds() -> None:
    began = time.process_time()
    found = explore(
        config(),
        "go",
        replies=[calls(5), "done"],
        tools={"add": ["2", TimeoutError()]},
        also=[Steer("hurry"), Abort()],
    )

    assert (None, True) == (found.counterexample, found.complete)
    assert {"done", "aborted"} == set(found.reasons)
    assert found.states > 1000
    assert time.process_time() - began < 10


def test_orders_that_lead_to_the_same_state_are_merged() -> None:
    """Of 4! orders of four answers, each set of those that came is one state."""
    found = explore(config(), "go", replies=[calls(4), "done"], tools={"add": ["2"]})

    reply, end = 1, 1
    assert reply + 2**4 + end == found.states
    assert {"done": 1} == found.reasons


def test_equal_inputs_may_come_in_either_order_and_are_looked_at_in_one() -> None:
    def ways(*also: Input) -> int:
        return explore(config(), "go", replies=["done"], also=also).states

    assert ways(Steer("a"), Steer("a")) < ways(Steer("a"), Steer("b"))


def test_the_shortest_way_to_what_is_broken_is_found_and_leads_there() -> None:
    def none_is_cancelled(state: State) -> bool:
        return "cancelled" not in outcomes(state)

    found = explore(
        config(),
        "go",
        replies=[calls(3), "done"],
        tools={"add": ["2", "3"]},
        also=[FollowUp("more"), Abort()],
        check=none_is_cancelled,
    ).counterexample

    assert found is not None
    assert ["Prompt", "Answer", "Abort"] == [type(i).__name__ for i in found.inputs]
    assert not none_is_cancelled(refolded(found.inputs, found.config))


def test_a_counterexample_is_a_journal_that_can_be_kept(tmp_path: Path) -> None:
    found = explore(
        config(),
        "go",
        replies=["done"],
        also=[FollowUp("more")],
        check=lambda state: state.stop is None,
    ).counterexample
    assert found is not None
    path = tmp_path / "found.jsonl"

    found.write(path)

    journal = Journal.read(path).unwrap()
    assert found.inputs == journal.inputs
    assert "done" == str(replay(config(), journal).unwrap().result.state.stop)


def test_a_counterexample_is_printed_as_the_inputs_that_lead_to_it() -> None:
    def calm(state: State) -> None:
        assert "raised" not in outcomes(state), "a tool raised"

    found = explore(
        config(),
        "go",
        replies=[[ToolCall("add", {"a": 1}, "c")], "done"],
        tools={"add": ["2", ValueError("no")]},
        check=calm,
    )

    lines = str(found).splitlines()
    assert lines[0].startswith("calm: a tool raised")
    assert "It takes 3 inputs:" in lines
    assert lines[-3].startswith("  3. Answer('r.1.1.run.0', ToolOutput(")
    assert lines[-3].endswith("  # add(a=1)")
    assert lines[-2] == (
        "Before the last of them it was "
        "<run r: waiting for r.1.1.run.0; turn 1, 2 messages>."
    )
    assert "states" in lines[-1]


def test_what_is_not_broken_is_printed_with_what_was_seen() -> None:
    found = explore(config(), "go", replies=["done"])

    assert (
        "<2 states, 1 ending (1 done), 2 steps, 2 inputs deep; nothing is broken>"
        == repr(found)
    )


def test_the_reasons_of_all_ends_are_printed_the_most_frequent_first() -> None:
    found = explore(
        config(), "go", replies=[calls(2), "done"], tools={"add": ["2"]}, also=[Abort()]
    )

    assert ", 6 endings (5 aborted, 1 done), " in repr(found)


def test_one_input_is_no_inputs() -> None:
    found = explore(config(), "go", replies=["done"], check=lambda _: False)

    assert "It takes 1 input:" in repr(found)


def test_people_approve_and_reject() -> None:
    found = explore(
        config(), "go", replies=[calls(2, "pay"), "done"], tools={"pay": ["paid"]}
    )

    assert found.counterexample is None
    assert {"done": 4} == found.reasons


def test_people_decide_as_is_said() -> None:
    seen: set[str] = set()

    def note(state: State) -> None:
        seen.update(outcomes(state))

    explore(
        config(),
        "go",
        replies=[calls(1, "pay"), "done"],
        tools={"pay": ["paid"]},
        check=note,
        decisions=[lambda asked: asked.respond("by hand"), RequestApproval.reject],
    )

    assert {"ok", "rejected"} == seen


def test_an_edit_that_does_not_fit_is_no_way_to_go() -> None:
    """D64: it is refused, and the question stays open."""
    strict = ToolSpec("pay", "", {"additionalProperties": False}, needs_approval=True)
    found = explore(
        LoopConfig(model="test:m", tools=[strict]),
        "go",
        replies=[calls(1, "pay"), "done"],
        decisions=[lambda asked: asked.edit(x=1), RequestApproval.reject],
    )

    assert ({"done": 1}, None) == (found.reasons, found.counterexample)


def test_a_tool_may_give_what_a_function_of_its_call_gives() -> None:
    def echo(effect: RunTool) -> ToolOutput:
        return ToolOutput(effect.id, outcome="error")

    found = explore(
        config(),
        "go",
        replies=[calls(1), "done"],
        tools={"add": [echo]},
        check=lambda state: "ok" not in outcomes(state),
    )

    assert found.counterexample is None


def test_hooks_are_told_what_services_and_models_may_say() -> None:
    def ask(view: ToolCallView) -> Need | Block | None:
        if "verdict" not in view.answers:
            return Need.service("verdict", "policy")
        if "why" not in view.answers:
            return Need.model("why", "Why?")
        return None if view.answers["verdict"].value_or(None) else Block("no")

    found = explore(
        config(Hooks("asks", before_tool_call=ask)),
        "go",
        replies=[calls(1), "done"],
        tools={"add": ["2"]},
        services={"policy": [True, False, OSError("down")], "asks": ["so", "that"]},
    )

    assert found.counterexample is None
    assert found.endings == 2


def test_a_failed_attempt_is_tried_again_with_the_next_reply() -> None:
    def again(_: object) -> RetryUpdate:
        return RetryUpdate(retry=True, delay=2.0)

    found = explore(
        config(Hooks("again", on_model_error=again)),
        "go",
        replies=[ModelError("busy", "overloaded"), "done"],
        also=[Abort()],
    )

    assert found.counterexample is None
    assert {"done": 1, "aborted": 2} == found.reasons


def test_the_last_reply_is_said_again_and_calls_are_not() -> None:
    said = explore(config(), "go", replies=["one"], also=[FollowUp("more")])
    called = explore(config(), "go", replies=[calls(1)], tools={"add": ["2"]})

    assert (None, None) == (said.counterexample, called.counterexample)
    assert {"done": 1} == called.reasons


def test_a_reply_may_be_a_function_of_the_request() -> None:
    found = explore(
        config(),
        "go",
        replies=[lambda request: [ToolCall("add", {"n": len(request.messages)})]],
        tools={"add": ["2"]},
        bound=10,
    )

    assert not found.complete


def test_a_run_inside_says_any_of_its_replies_at_any_time() -> None:
    inner = LoopConfig(model="test:inner", tools=[ADD])
    outer = LoopConfig(model="test:m", tools=[inner.as_tool("ask", "Asks.")])
    prompts = [ToolCall("ask", {"prompt": f"{n}?"}, f"c{n}") for n in range(2)]

    found = explore(
        outer,
        "go",
        replies=[prompts, "done"],
        tools={"ask": ["this", "that", ModelError("down")], "add": ["2"]},
        also=[Abort()],
    )

    assert found.counterexample is None
    assert 9 == found.reasons["done"]


def test_what_nobody_said_anything_about_is_told_with_the_way_to_it() -> None:
    found = explore(config(), "go", replies=[calls(1), "done"])

    assert found.counterexample is not None
    assert "'add' is asked here; tools= does not say what may come of it" == (
        found.counterexample.said
    )
    assert 2 == len(found.counterexample.inputs)


def test_a_hook_that_reads_a_clock_breaks_a_law() -> None:
    """1: a step, taken twice, does the same and asks the same."""

    def stamp(_: TurnView) -> StopUpdate:
        return StopUpdate(f"at {time.perf_counter_ns()}")

    found = explore(
        config(Hooks("stamp", should_stop_after_turn=stamp)), "go", replies=["done"]
    )

    assert found.counterexample is not None
    assert found.counterexample.law.startswith("1: a step, taken twice")
    assert "follow from its view alone (check_hooks names" in str(found)


def test_a_hook_that_looks_at_what_came_first_breaks_a_law() -> None:
    """3: the order of answers does not matter."""

    def first(view: ToolResultView) -> ToolResultUpdate:
        came = [i for i in view.state.closed if ".run." in i]
        return ToolResultUpdate(f"{came[0]} came first")

    found = explore(
        config(Hooks("first", after_tool_result=first)),
        "go",
        replies=[calls(2), "done"],
        tools={"add": ["2"]},
    )

    assert found.counterexample is not None
    assert "3: the order of answers does not matter" == found.counterexample.law
    assert 4 == len(found.counterexample.inputs)


def test_a_limit_that_never_holds_is_found() -> None:
    """A user's own law: nobody pays twice. The limit reads what another hook remembers."""

    def pays_once(state: State) -> bool:
        paid = [e for e in state.waiting if isinstance(e, RunTool)]
        return len(paid) < 2

    def only_one(view: ToolCallView) -> Block | None:
        return Block("once is enough") if view.memo else None

    def count(_: ToolCallView) -> ToolCallUpdate:
        return ToolCallUpdate(memo=1)

    found = explore(
        config(
            Hooks("once", before_tool_call=only_one), Hooks("c", before_tool_call=count)
        ),
        "go",
        replies=[calls(2), "done"],
        tools={"add": ["2"]},
        check=pays_once,
    )

    assert found.counterexample is not None
    assert ("pays_once", 2) == (
        found.counterexample.law,
        len(found.counterexample.inputs),
    )


def test_a_bound_ends_it_and_says_so() -> None:
    found = explore(
        config(),
        "go",
        replies=[calls(4), "done"],
        tools={"add": ["2", "3"]},
        bound=20,
    )

    assert not found.complete
    assert 20 == found.states
    assert "20 states, not all there are, 0 endings, " in repr(found)


@pytest.mark.parametrize("less", [0, 1])
def test_a_bound_that_is_just_enough_is_all_there_is(less: int) -> None:
    more: Any = {"replies": [calls(3), "done"], "tools": {"add": ["2", "3"]}}
    every = explore(config(), "go", **more)

    found = explore(config(), "go", **more, bound=every.states - less)

    assert every.complete
    assert found.complete == (not less)
    assert every.states - less == found.states


def endless(request: CallModel) -> ToolCall:
    """Calls a tool whatever it is told."""
    return ToolCall("add", {}, f"c{len(request.messages)}")


def test_a_run_without_end_is_an_error_soon() -> None:
    """One state leads to one other, and each is longer than the one before."""
    began = time.process_time()
    with pytest.raises(limits.Endless) as found:
        explore(config(), "go", replies=[endless], tools={"add": ["2"]})

    assert time.process_time() - began < 10
    told = str(found.value)
    assert "200 states, not all there are" in told
    assert re.search(r"200 inputs deep; nothing is broken>, after \d+\.\d s\. ", told)
    assert "Unasked, explore visits 10,000 states and ways of 200 inputs." in told
    assert "bound=None for all there are" in told


def test_more_states_than_are_visited_unasked_are_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "BOUND", 20)
    more: Any = {"replies": [calls(5), "done"], "tools": {"add": ["2", "3"]}}

    with pytest.raises(limits.Endless, match="20 states, not all there are"):
        explore(config(), "go", **more)
    assert explore(config(), "go", **more, bound=None).complete


def test_it_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "EVERY", 0.0)
    lines: list[str] = []

    explore(config(), "go", replies=["done"], progress=lines.append)

    assert ("explored 2 states, 1 are left to look at", "") == (lines[0], lines[-1])


def test_what_is_refused_at_once_is_refused() -> None:
    with pytest.raises(Rejected, match="Cannot take an Abort"):
        explore(config(), Abort(), replies=["done"])


def test_what_is_no_configuration_is_refused() -> None:
    text: Any = "x"

    with pytest.raises(TypeError, match="takes a LoopConfig first; it got 'x'"):
        explore(text, "go", replies=["done"])


@pytest.mark.parametrize("name", ["replies", "also", "decisions"])
def test_a_text_is_no_list(name: str) -> None:
    given: dict[str, Any] = {"replies": ["done"], name: "done"}

    with pytest.raises(TypeError, match=rf"{name}= takes a list; write {name}="):
        explore(config(), "go", **given)


def test_a_text_is_no_list_of_outcomes() -> None:
    with pytest.raises(TypeError, match=r"write tools\['add'\]=\['ok'\]"):
        explore(config(), "go", replies=["done"], tools={"add": "ok"})


def test_a_next_run_may_be_among_what_happens() -> None:
    found = explore(config(), "go", replies=["done"], also=[Prompt("again")])

    assert found.counterexample is None
    assert found.depth == 4


FAILING: Final = """
from loopcore import LoopConfig, ToolCall, ToolSpec
from loopcore.testing import explore, telling

def test_orders():
    found = explore(
        LoopConfig(model="test:m", tools=[ToolSpec("add")]),
        "go",
        replies=[[ToolCall("add", {}, "c1"), ToolCall("add", {}, "c2")], "done"],
        tools={"add": ["2", OSError("no")]},
        check=lambda state: len(state.transcript) < 4,
    )
    assert found.counterexample is None, found
"""


def test_pytest_shows_the_whole_way_to_what_is_broken(tmp_path: Path) -> None:
    """Its own account of an assertion is cut in the middle."""
    (tmp_path / "test_failing.py").write_text(FAILING)
    root = Path(__file__).parents[1]
    done = subprocess.run(  # ourselves
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "loopcore_pytest",
            "-p",
            "no:cacheprovider",
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'adapters'}"},
        capture_output=True,
        text=True,
        check=False,
    )

    shown = done.stdout.partition("- loopcore found -")[2]
    assert "It takes 4 inputs:\n  1. Prompt([UserMessage([Text('go')])])\n" in shown
    assert "\n  4. Answer('r.1.1.run.1', ToolOutput([Text('2')]))  # add()\n" in shown


# What tells two states apart.


ONE, TRUE, FLOAT = (ToolOutput("x", details=value) for value in (1, True, 1.0))


@pytest.mark.parametrize(
    ("outputs", "wrong"),
    [
        ((ONE, FLOAT, TRUE), bool),
        ((TRUE, FLOAT, ONE), int),
        ((ONE, TRUE, FLOAT), float),
    ],
)
def test_values_that_json_tells_apart_are_two_states(
    outputs: tuple[ToolOutput, ...], wrong: type[object]
) -> None:
    """1, 1.0 and true are equal in Python, and a hook may make a difference of them."""

    def keep(view: ToolResultView) -> ToolResultUpdate:
        return ToolResultUpdate(memo={"was": [view.details]})

    def never(state: State) -> bool:
        kept = state.memos.get("keep", {"was": [None]})["was"]
        return not state.stop or type(kept[0]) is not wrong

    found = explore(
        config(Hooks("keep", after_tool_result=keep)),
        "go",
        replies=[calls(1), "done"],
        tools={"add": outputs},
        check=never,
    )

    assert found.counterexample is not None


@frozen
class First:
    """Which call was answered first is remembered; it is not the second."""

    first: str = ""

    def see(self, moment: Moment) -> "First":
        """Look at a step."""
        first = self.first
        if isinstance(moment.answered, RunTool) and not first:
            first = moment.answered.call.id
        hold(not moment.after.stop or first != "c1", "{} was first", first)
        return First(first)


class Remembers:
    """The same, as a class of one's own."""

    def __init__(self, first: dict[str, list[str]] | None = None) -> None:
        self.first = first or {"ids": []}

    def see(self, moment: Moment) -> "Remembers":
        """Look at a step."""
        ids = list(self.first["ids"])
        if isinstance(moment.answered, RunTool):
            ids.append(moment.answered.call.id)
        hold(not moment.after.stop or ids[0] != "c1", "{} were answered", ids)
        return Remembers({"ids": ids})


@pytest.mark.parametrize("law", [First(), Remembers()], ids=["record", "class"])
def test_what_a_law_remembers_tells_two_states_apart(law: Any) -> None:
    """Both orders lead to one state, but a law has seen another story in each."""
    found = explore(
        config(), "go", replies=[calls(2), "done"], tools={"add": ["2"]}, check=law
    )

    assert found.counterexample is not None
    assert found.counterexample.inputs[2] == Answer("r.1.1.run.1", ToolOutput("2"))


def test_a_law_that_remembers_nothing_makes_no_more_states() -> None:
    class Still:
        """It always holds."""

        def see(self, moment: Moment) -> "Still":
            """Look at a step."""
            return Still() if moment.after.inputs else self

    more: Any = {"replies": [calls(4), "done"], "tools": {"add": ["2"]}}
    plain = explore(config(), "go", **more)
    assert plain.states == explore(config(), "go", **more, check=Still()).states


def test_a_law_that_changes_itself_is_refused() -> None:
    """Runs are forked: what one of them notes, all others would have seen."""

    class Notes:
        """It notes what it sees in itself."""

        def __init__(self) -> None:
            self.seen: list[int] = []

        def see(self, moment: Moment) -> "Notes":
            """Look at a step."""
            self.seen.append(moment.after.inputs)
            return self

    with pytest.raises(
        TypeError, match=r"in itself' changes itself.*return a new one: `return Notes"
    ):
        explore(config(), "go", replies=["done"], check=Notes())


@define
class Unfrozen:
    """A record that can change."""

    count: int = 0


@frozen
class Holder:
    """A record that cannot, and holds what can."""

    held: Any


@dataclass
class Data:
    """A record of the standard library that can change."""

    count: int = 0


class Plain:
    """An object like any other."""

    def __init__(self) -> None:
        self.count = 0


class Slotted:
    """An object without a dict."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


def up(one: Any) -> None:
    """Count in an object."""
    one.count += 1


CHANGING: Final[dict[str, tuple[Callable[[], Any], Callable[[Any], object]]]] = {
    "list": (list, lambda a: a.append(1)),
    "dict": (dict, lambda a: a.update({len(a): 1})),
    "set": (set, lambda a: a.add(len(a))),
    "Counter": (Counter, lambda a: a.update("x")),
    "defaultdict": (
        lambda: defaultdict[int, int](int),
        lambda a: a.update({len(a): 1}),
    ),
    "OrderedDict": (OrderedDict, lambda a: a.update({len(a): 1})),
    "deque": (deque, lambda a: a.append(1)),
    "bytearray": (bytearray, lambda a: a.append(1)),
    "array": (lambda: array("i"), lambda a: a.append(1)),
    "attrs": (Unfrozen, up),
    "dataclass": (Data, up),
    "namespace": (lambda: SimpleNamespace(count=0), up),
    "object": (Plain, up),
    "slots": (Slotted, up),
    "Random": (lambda: Random(1), lambda a: a.random()),  # noqa: S311  # any
    "in a tuple": (lambda: ([],), lambda a: a[0].append(1)),
    "in a dict": (lambda: {"a": deque[int]()}, lambda a: a["a"].append(1)),
    "in a frozen record": (lambda: Holder(Counter()), lambda a: a.held.update("x")),
    "in an object": (lambda: SimpleNamespace(a=Plain()), lambda a: up(a.a)),
}
"""All that can change, how it is made and what changes it."""


@pytest.mark.parametrize("kind", CHANGING)
def test_a_law_that_changes_what_it_holds_is_refused(kind: str) -> None:
    """Whatever that is, and however deep it lies."""
    make, change = CHANGING[kind]

    class Notes:
        """It changes what it holds."""

        def __init__(self) -> None:
            self.held = make()

        def see(self, moment: Moment) -> "Notes":  # noqa: ARG002  # it looks at nothing
            """Look at a step."""
            change(self.held)
            return self

    with pytest.raises(TypeError, match="changes itself"):
        explore(config(), "go", replies=["done"], check=Notes())


@pytest.mark.parametrize("kind", CHANGING)
def test_what_changes_has_another_number_then(kind: str) -> None:
    make, change = CHANGING[kind]
    numbers, one = Numbers(), make()
    first = numbers.of(one)

    assert first == numbers.of(one)
    change(one)
    assert first != numbers.of(one)


def test_what_holds_itself_has_a_number() -> None:
    numbers, loop = Numbers(), SimpleNamespace(a=[])
    loop.a.append(loop)

    assert numbers.of(loop) == numbers.of(loop)
