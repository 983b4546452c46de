"""check_hooks: what it tells of hooks that fail, hang or can do nothing, and of misuse."""

import random
import re
from collections.abc import Callable
from typing import Any, Final
from warnings import catch_warnings, simplefilter

import pytest
from hypothesis import strategies as st

from loopcore import ToolSpec
from loopcore.hooks import Block, Hooks, StopUpdate, ToolCallUpdate, TurnView
from loopcore.hooks.points import PointName
from loopcore.testing import check_hooks, telling
from loopcore.testing.check.checking import Check
from loopcore.testing.check.course import Offer
from loopcore.testing.check.offered import toolsets

FEW: Final = 5
CENTS: Final = {
    "type": "object",
    "properties": {"cents": {"type": "integer"}},
    "required": ["cents"],
}
PAY: Final = ToolSpec("pay", "Pays.", CENTS)


def failure(*hooks: Hooks, **more: Any) -> list[str]:
    """What is said of these hooks: the sentence, the law, the view, the program."""
    with pytest.raises(AssertionError) as caught:
        check_hooks(*hooks, examples=FEW, **more)
    return str(caught.value).split("\n\n")


def too_long(view: Any) -> None:
    """Fails where there is something to show."""
    assert not view.messages


def test_the_program_that_is_told_runs_as_it_stands() -> None:
    """With the function that is named in it, and nothing else."""
    *_, program = failure(Hooks(transform_context=too_long))
    lines = [line.strip() for line in program.splitlines()[1:]]
    names: dict[str, Any] = {"too_long": too_long}
    exec("\n".join(lines), names)  # noqa: S102

    assert lines[0].startswith("from loopcore import ")
    assert lines[1] == "from loopcore.hooks import Hooks"
    assert "hooks=[Hooks('too_long', transform_context=too_long)]" in program
    assert names["state"].stop.reason == "hook_error"


def test_a_rule_whose_functions_have_no_name_is_named_itself() -> None:
    hook = Hooks("my-rule", transform_context=lambda view: too_long(view))  # noqa: PLW0108
    *_, program = failure(hook)

    assert "hooks=[my_rule]" in program


def test_the_time_may_not_be_told_and_a_hook_that_forgets_it_is_told_so() -> None:
    def late(view: Any) -> bool:
        return view.now > 100  # type: ignore[no-any-return]

    said, *_ = failure(Hooks(should_stop_after_turn=late))

    assert said.endswith(
        " Where nobody tells the time `view.now` is None: write `view.now or 0`, or say "
        "what is to be then."
    )


def seconds_of(view: Any) -> float:
    """A helper that the hook calls."""
    return view.seconds / 60  # type: ignore[no-any-return]


def slow(view: Any) -> None:
    """Reads it through another function."""
    assert seconds_of(view) < 1


GRANTED: Final[dict[str, tuple[Callable[[Any], Any], str]]] = {
    "a field": (lambda view: view.seconds > 10, "`view.seconds` is None here"),
    "in a helper": (slow, "`view.seconds` is None here"),
    "an attribute": (lambda view: view.details.get(1), "`view.details` is None here"),
    "two": (lambda v: v.now - v.seconds, "`view.now` and `view.seconds` are None here"),
    "a memo": (lambda v: v.memo + 1, "`view.memo` is None here: give it a first value"),
}


@pytest.mark.parametrize("name", GRANTED)
def test_a_hook_that_takes_a_field_for_granted_is_told_which(name: str) -> None:
    """And not of the time, which is None there as well."""
    function, hint = GRANTED[name]

    said, *_ = failure(Hooks("h", after_tool_call=function))

    assert f" {hint}" in said
    assert "Where nobody tells the time" not in said


def test_a_hook_that_fails_at_a_none_of_its_own_is_told_of_no_field() -> None:
    def search(view: Any) -> bool:
        found: Any = re.search("never", view.model)
        return found.group() == ""  # type: ignore[no-any-return]

    said, *_ = failure(Hooks(should_stop_after_turn=search))

    assert said.endswith("turn 1).")


def test_a_hook_that_adds_a_list_to_its_memo_is_told_how() -> None:
    def more(view: Any) -> StopUpdate:
        return StopUpdate(memo=view.memo + [view.turn])  # noqa: RUF005  # the mistake

    said, *_ = failure(Hooks("more", memo=[], should_stop_after_turn=more))

    assert said.endswith(
        " What is a list in JSON is a tuple in a view: write `[*view.memo, x]`."
    )


def test_that_tools_are_made_up_is_no_hint_where_an_attribute_is_missing() -> None:
    def misspelt(view: Any) -> None:
        assert view.usage.outputs

    said, *_ = failure(Hooks(should_stop_after_turn=misspelt))

    assert "AttributeError" in said
    assert "made up" not in said


def test_made_up_runs_have_various_seeds() -> None:
    seeds: set[int] = set()

    def sampled(view: Any) -> Block | None:
        chance = random.Random(view.state.seed)  # noqa: S311  # it repeats
        return Block("sampled") if chance.random() < 0.5 else None

    def cares(view: Any) -> bool:
        seeds.add(view.state.seed)
        return True

    hook = Hooks("h", before_tool_call=sampled)
    checked = check_hooks(hook, cares=cares, examples=60)
    key: tuple[str, PointName] = ("h", "before_tool_call")

    assert len(seeds) > 5
    assert 0 < checked.wrote[key] < checked.views[key]


def test_a_long_text_that_hypothesis_prints_for_itself_is_no_warning() -> None:
    """What it prints of its strategies is of no use to whoever checks hooks."""

    def cares(view: Any) -> bool:
        return bool(repr(st.text(view.tool * 40_000)))

    with catch_warnings():
        simplefilter("error")
        checked = check_hooks(FINE, cares=cares, examples=FEW)

    assert checked.wrote


def test_a_hook_that_ends_the_program_is_named() -> None:
    def leave(view: Any) -> None:
        raise SystemExit(view.turn)

    said, law, *_ = failure(Hooks("leave", should_stop_after_turn=leave))

    assert said.startswith(
        "Hook 'leave' raised SystemExit(1) at should_stop_after_turn, which ends the "
        "program. To end the run, return a reason at should_stop_after_turn."
    )
    assert law == "The law: a hook answers every view, and never raises."


def test_it_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that takes long makes a check long: on a terminal it is seen to go on."""
    monkeypatch.setattr(telling, "EVERY", 0.0)
    lines: list[str] = []
    hook = Hooks("idle", should_stop_after_turn=lambda view: view.turn < 0)
    offer = Offer.of(toolsets((hook,), ()), None)

    Check((hook,), offer, progress=telling.Progress(lines.append)).found(2)

    assert lines[0] == "check_hooks: 1 short runs, of at least 2, 0 views so far"
    assert [line.split(", ")[0] for line in lines[-3:]] == [
        "check_hooks: a long run",
        "check_hooks: in other processes",
        "",
    ]


@pytest.mark.parametrize("turn", [1, 7], ids=["at once", "late"])
def test_a_hook_that_does_not_come_back_is_named(turn: int) -> None:
    def waits(view: Any) -> None:
        while view.turn >= turn:
            pass

    hook = Hooks("waits", should_stop_after_turn=waits)
    check = Check((hook,), Offer.of(toolsets((hook,), ()), None), seconds=0.3)
    found = check.found(FEW)
    line = waits.__code__.co_firstlineno

    assert found is not None
    assert found.sentence.startswith(
        "Hook 'waits' did not answer within 0.3 seconds at should_stop_after_turn "
        f"(test_check_hooks_told.py:{line}); it was at test_check_hooks_told.py:"
    )
    assert isinstance(found.view, TurnView)
    assert found.view.turn >= turn


# Arguments.


def unfit(view: Any) -> ToolCallUpdate:
    """Writes what the tool never takes."""
    return ToolCallUpdate(arguments={"cents": f"many, on turn {view.turn}"})


def now_and_then(view: Any) -> ToolCallUpdate:
    """Writes what it takes only if the number is large."""
    cents = view.arguments["cents"]
    return ToolCallUpdate(arguments={"cents": cents if cents > 3 else "few"})


def test_arguments_that_never_fit_are_found() -> None:
    said, law, view = failure(Hooks(before_tool_call=unfit), tools=[PAY])

    assert said.startswith(
        "Hook 'unfit' writes arguments at before_tool_call (test_check_hooks_told.py:"
    )
    assert " that never fit 'pay', so that call can never run: " in said
    assert "cents" in said
    assert (
        law
        == "The law: arguments that a hook writes fit the tool, at least now and then."
    )
    assert view.startswith("The smallest view: ToolCallView(")


def test_arguments_that_fit_now_and_then_are_fine() -> None:
    hook = Hooks("now", before_tool_call=now_and_then)

    assert check_hooks(hook, tools=[PAY], examples=FEW).wrote


def test_a_later_hook_cannot_mend_them() -> None:
    """What does not fit ends the chain, so the later one is never asked."""

    def mends(view: Any) -> ToolCallUpdate:
        return ToolCallUpdate(arguments={"cents": view.turn})

    later = Hooks(before_tool_call=mends)
    said, *_ = failure(Hooks(before_tool_call=unfit), later, tools=[PAY])

    assert said.startswith("Hook 'unfit' writes arguments at before_tool_call ")


# Misuse.

FINE: Final = Hooks("fine", before_tool_call=lambda view: Block(view.tool))
NEVER: Final = ToolSpec(
    "never",
    "Takes nothing.",
    {"type": "object", "properties": {"x": {"enum": []}}, "required": ["x"]},
)


def wrong(view: Any) -> bool:
    """Asks for what a view has not."""
    return bool(view.nope)


MISUSE: Final[dict[str, tuple[Any, dict[str, Any], str]]] = {
    "no function": (Hooks("h"), {}, r"hook 'h' has no function; give one: Hooks\("),
    "no example": (FINE, {"examples": 0}, "at least one run is needed"),
    "nothing to say": (
        FINE,
        {"services": {"s": []}},
        "'s' has nothing to say. List what",
    ),
    "an impossible tool": (
        FINE,
        {"tools": [NEVER], "examples": 1},
        "no arguments can be made up for 'never'",
    ),
    "a wrong cares": (
        FINE,
        {"cares": wrong},
        r"check_hooks\(cares=...\) raised AttributeError: .* about a view of hook 'fine'",
    ),
}


@pytest.mark.parametrize("name", MISUSE)
def test_misuse_is_told_in_a_sentence(name: str) -> None:
    hook, given, message = MISUSE[name]
    more: dict[str, Any] = {"examples": FEW, **given}
    with pytest.raises(ValueError, match=message):
        check_hooks(hook, **more)
