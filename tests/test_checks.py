"""What a user's law may say, and what is told of it, by whoever looks at it."""

import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import Phase, settings

from loopcore import Abort, LoopConfig, Nested, State, ToolCall, ToolSpec
from loopcore.hooks import Hooks, Need, ToolCallUpdate, ToolCallView
from loopcore.state import Running
from loopcore.testing import AutoModel, explore, loop_machine, simulate
from loopcore.testing.invariants import Broken, Moment

CONFIG: Final = LoopConfig(model="test:m", tools=[ToolSpec("add")])
SCRIPT: Final[dict[str, Any]] = {
    "replies": [ToolCall("add", {"prompt": "?"}), "done"],
    "tools": {"add": ["2"]},
}


def explored(check: Any) -> str:
    """What `explore` says of a check, and where."""
    found = explore(CONFIG, "go", **SCRIPT, check=check).counterexample
    return "" if found is None else f"{found.law}: {found.said}\n{len(found.inputs)}"


def simulated(check: Any) -> str:
    """What `simulate` says of it."""
    found = simulate(CONFIG, "go", **SCRIPT, check=check, seeds=[1]).counterexample
    return "" if found is None else f"{found.law}: {found.said}\n{len(found.inputs)}"


def watched(check: Any) -> str:
    """What `simulate` says of it, if all laws see every step."""
    found = simulate(
        CONFIG, "go", **SCRIPT, check=check, seeds=[1], watched=1.0
    ).counterexample
    return "" if found is None else f"{found.law}: {found.said}\n{len(found.inputs)}"


def machined(check: Any) -> str:
    """What `loop_machine` says of it."""
    found = machine_finds(loop_machine(CONFIG, check), 8)
    if found is None:
        return ""
    told = re.findall(r"It takes (\d+) input", str(found))
    return f"{found.law}: {found.said}\n{told[0]}"


def machine_finds(case: Any, examples: int = 100) -> Broken | None:
    """What a machine finds broken: in fewer examples tools are hardly called."""
    case.settings = settings(
        case.settings,
        max_examples=examples,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
    )
    try:
        case("runTest").runTest()
    except Broken as found:
        return found
    return None


Look = Callable[[Any], str]
LOOKS: Final[dict[str, Look]] = {
    "explore": explored,
    "simulate": simulated,
    "simulate, watched": watched,
    "loop_machine": machined,
}
everywhere: Final = pytest.mark.parametrize("look", LOOKS.values(), ids=[*LOOKS])


def answering(value: object) -> Callable[[State], object]:
    """A check that says this of every state that is over."""

    def check(state: State) -> object:
        return value if state.stop else None

    return check


@everywhere
@pytest.mark.parametrize("value", [None, True])
def test_a_check_that_says_nothing_or_yes_holds(look: Look, value: object) -> None:
    assert not look(answering(value))


@everywhere
@pytest.mark.parametrize(
    ("value", "said"),
    [
        (False, "it says no of <run r: "),
        ("two at once", "two at once"),
        (0, "it returned 0, which is no answer; return None or True if the law holds"),
        ([], "it returned [], which is no answer"),
        ("", "it returned '', which is no answer"),
        (7, "it returned 7, which is no answer"),
    ],
)
def test_a_check_that_says_anything_else_does_not_hold(
    look: Look, value: object, said: str
) -> None:
    """A text is why; what may mean either is never taken for a yes."""
    assert look(answering(value)).startswith(f"check: {said}")


def divides(state: State) -> object:
    """Fails once a run is over."""
    return 1 // (0 if state.stop else 1) == 1


def reads(state: State) -> None:
    """Fails in what it calls."""
    if state.stop:
        int("x")


def fails_later(state: State) -> None:
    """Asserts when a run is over, and fails before it is."""
    if state.stop:
        raise AssertionError("over")
    if state.turns == 0 and state.inputs > 3:
        raise ValueError(state)


class Reads:
    """A law that fails."""

    def see(self, moment: Moment) -> "Reads":
        """Look at a step."""
        return {True: self}[moment.after.stop is None]


class Forgets:
    """A law that returns nothing."""

    def see(self, moment: Moment) -> None:
        """Look at a step."""


HERE: Final = r"at test_checks\.py:\d+"
FAILING: Final[list[tuple[Any, str]]] = [
    (
        divides,
        rf"divides: the check itself failed: ZeroDivisionError: .* by zero {HERE}",
    ),
    (reads, rf"reads: the check itself failed: ValueError: invalid literal .* {HERE}"),
    (fails_later, "fails_later: over"),
    (Reads(), rf"A law that fails: the law itself failed: KeyError: False {HERE}"),
    (Forgets(), "A law that returns nothing: its see.. returned None; return the law"),
]


@everywhere
@pytest.mark.parametrize(("check", "said"), FAILING)
def test_a_check_that_fails_is_told_with_the_way_to_it(
    look: Look, check: Any, said: str
) -> None:
    found = look(check)

    assert re.match(said, found), found
    assert found.splitlines()[-1].isdigit()


@everywhere
@pytest.mark.parametrize("check", [3, "yes", (divides, reads)])
def test_what_is_no_check_is_refused(look: Look, check: Any) -> None:
    with pytest.raises(TypeError, match="a check is a function of a state, or a law"):
        look(check)


BARE: Final = """
def small(state):
    assert (
        state.stop is None
    )
"""


@everywhere
def test_a_bare_assert_shows_its_source_line(look: Look, tmp_path: Any) -> None:
    path = tmp_path / "bare.py"
    path.write_text(BARE)
    space: dict[str, Any] = {}
    exec(compile(BARE, str(path), "exec"), space)  # noqa: S102  # pytest writes asserts of its own files anew

    found = look(space["small"])

    assert re.match(r"small: `.*state\.stop is None.*` at bare\.py:[34]\n", found), (
        found
    )


# What would prove nothing, as nothing could happen.


def both(**more: Any) -> list[Callable[[], object]]:
    """The two that are told what may happen, told this."""
    told: dict[str, Any] = {"replies": ["done"], **more}
    given = told.pop("given", ("go",))
    seeds = told.pop("seeds", [1])
    return [
        lambda: simulate(CONFIG, *given, **told, seeds=seeds),
        lambda: explore(CONFIG, *given, **told),
    ]


EMPTY: Final[list[tuple[dict[str, Any], str]]] = [
    (
        {"tools": {"add": []}},
        r"tools\['add'\]= has nothing in it.*give what a call may",
    ),
    ({"services": {"x": iter(())}}, r"services\['x'\]= has nothing in it"),
    (
        {"decisions": []},
        "decisions= has nothing in it.*such as RequestApproval.approve",
    ),
    ({"replies": []}, "replies= has nothing in it"),
    ({"given": ()}, r"\(\) is given no input, so no run begins; give a prompt"),
]


@pytest.mark.parametrize(("more", "said"), EMPTY)
def test_alternatives_of_which_there_are_none_are_refused(
    more: dict[str, Any], said: str
) -> None:
    for begin in both(**more):
        with pytest.raises(ValueError, match=said):
            begin()


def test_seeds_of_which_there_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"seeds= has.*such as seeds=range\(100\)"):
        both(seeds=[])[0]()


@pytest.mark.parametrize("seeds", [5, "dawn", None])
def test_seeds_that_are_no_list_are_refused(seeds: Any) -> None:
    with pytest.raises(TypeError, match=r"seeds= takes a list; write seeds=\["):
        both(seeds=seeds)[0]()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"tools": ["2"]}, r"tools= takes a dict of lists, by name; it got \['2'\]"),
        (
            {"tools": {"add": 2}},
            r"tools\['add'\]= takes a list; write tools\['add'\]=\[2",
        ),
        ({"decisions": None}, r"decisions= takes a list"),
        ({"also": {"a": 1}}, r"also= takes a list"),
    ],
)
def test_what_is_no_list_of_alternatives_is_refused(
    more: dict[str, Any], said: str
) -> None:
    for begin in both(**more):
        with pytest.raises(TypeError, match=said):
            begin()


def test_what_yields_its_items_once_is_asked_for_them_once() -> None:
    """A second call of the tool may end in all the ways that the first may."""
    replies: Any = iter([ToolCall("add", {}, "a"), ToolCall("add", {}, "b"), "done"])
    ways = explore(
        CONFIG,
        "go",
        replies=replies,
        tools={"add": (text for text in ("1", "2"))},
    )

    assert {"done": 4} == ways.reasons


def test_a_schema_that_no_model_can_be_made_for_is_told() -> None:
    """Runs that all end as model_error prove nothing."""
    never: dict[str, Any] = {"properties": {"x": {"not": {}}}, "required": ["x"]}
    found = simulate(
        LoopConfig(model="test:m", tools=[ToolSpec("add", "", never)]),
        "go",
        replies=AutoModel(1),
        tools={"add": ["2"]},
        seeds=range(3),
    ).counterexample

    assert found is not None
    assert found.law == "of everything that is asked, somebody says what may come of it"
    assert found.said.startswith("AutoModel cannot make arguments for the tool 'add'")


# Hooks that fail end runs, and what they cut short is not seen.


def wrong(_: object) -> Any:
    """Returns what no hook may."""
    return object()


def raising(view: Any) -> Any:
    """Reads what there is not."""
    return view.nope


POINTS: Final = {
    "transform_context": "turn 1",
    "prepare_tool_call": "call .*'add', turn 1",
    "before_tool_call": "call .*'add', turn 1",
    "after_tool_call": "call .*'add', turn 1",
    "after_tool_result": "call .*'add', turn 1",
    "after_model_call": "turn 1",
    "should_stop_after_turn": "turn 1",
    "prepare_next_turn": "turn 1",
}


def failing(function: Any, point: str, **more: Any) -> LoopConfig:
    """A configuration with a hook that fails at a point."""
    made: dict[str, Any] = {point: function, **more}
    return LoopConfig(
        model="test:m", tools=[ToolSpec("add")], hooks=[Hooks("fails", **made)]
    )


def found_in(config: LoopConfig, way: str, *, examples: int = 100, **more: Any) -> Any:
    """What is found in a configuration."""
    match way:
        case "explore":
            return explore(config, "go", **SCRIPT, **more).counterexample
        case "loop_machine":
            return machine_finds(loop_machine(config, **more), examples)
        case _:
            shares = {"simulate": 0.0, "simulate, watched": 1.0}
            return simulate(
                config, "go", **SCRIPT, seeds=[1], watched=shares[way], **more
            ).counterexample


@pytest.mark.parametrize("way", LOOKS)
@pytest.mark.parametrize("point", POINTS)
def test_a_hook_that_fails_breaks_a_law(point: str, way: str) -> None:
    """It is told which, at which point, with the error, its file and its line."""
    found = found_in(failing(raising, point), way)

    assert found is not None
    assert found.law.startswith("No hook fails")
    where = rf"\(test_checks\.py:\d+, {POINTS[point]}\)\."
    error = "AttributeError: .* has no attribute 'nope'.*"
    assert re.fullmatch(rf"Hook 'fails' raised {error} at {point} {where}", found.said)


@pytest.mark.parametrize("way", LOOKS)
def test_a_hook_that_returns_what_it_may_not_fails_too(way: str) -> None:
    found = found_in(failing(wrong, "before_tool_call"), way)

    assert found is not None
    assert found.said.startswith(
        "Hook 'fails' returned an object at before_tool_call ("
    )


STRICT: Final = ToolSpec(
    "add", "", {"properties": {"prompt": {"type": "string"}}, "required": ["prompt"]}
)
NAMES: Final = ("it's", 'say "hi"', "both ' and \"", "back\\slash", "two\nlines")


def misfits(_: object) -> ToolCallUpdate:
    """Leaves out an argument that the tool wants."""
    return ToolCallUpdate(arguments={})


def breaks(point: str, name: str = "fails") -> Hooks:
    """A hook that fails at a point: it raises, or gives arguments that do not fit."""
    at: dict[str, Any] = {point: raising}
    if point == "misfit":
        at = {"before_tool_call": misfits}
    return Hooks(name, **at)


def share_finds(hook: Hooks, watched: float) -> str:
    """What is said to be broken if all laws see this share of the runs."""
    config = LoopConfig(model="test:m", tools=[STRICT], hooks=[hook])
    found = simulate(config, "go", **SCRIPT, seeds=[1], watched=watched).counterexample
    return "" if found is None else f"{found.law}: {found.said}"


@pytest.mark.parametrize("watched", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("point", [*POINTS, "misfit"])
def test_whether_a_hook_fails_does_not_depend_on_the_share_that_is_watched(
    point: str, watched: float
) -> None:
    assert share_finds(breaks(point), watched).startswith("No hook fails")


@pytest.mark.parametrize("watched", [0.0, 1.0])
@pytest.mark.parametrize("point", ["prepare_tool_call", "misfit"])
@pytest.mark.parametrize("name", NAMES)
def test_whether_a_hook_fails_does_not_depend_on_its_name(
    name: str, point: str, watched: float
) -> None:
    said = share_finds(breaks(point, name), watched)

    assert said.startswith("No hook fails")
    assert f": Hook {name!r} " in said


@pytest.mark.parametrize("way", LOOKS)
def test_a_call_that_does_not_fit_is_no_failure_of_a_hook(way: str) -> None:
    config = LoopConfig(model="test:m", tools=[STRICT])

    assert found_in(config, way, examples=16) is None


@pytest.mark.parametrize("way", LOOKS)
def test_a_hook_that_fails_closed_fails_too(way: str) -> None:
    found = found_in(failing(raising, "after_tool_result", fail_closed=True), way)

    assert found is not None
    assert found.law.startswith("No hook fails")


@pytest.mark.parametrize("way", LOOKS)
def test_a_hook_of_a_run_inside_fails_too(way: str) -> None:
    inner = failing(raising, "should_stop_after_turn").as_tool("add", "Adds.")
    outer = LoopConfig(model="test:m", tools=[inner])
    found = found_in(outer, way)

    assert found is not None
    assert found.law.startswith("No hook fails")


@pytest.mark.parametrize("way", LOOKS)
def test_hooks_may_fail_if_that_is_said(way: str) -> None:
    config = failing(raising, "prepare_tool_call", after_tool_result=raising)

    assert found_in(config, way, examples=16) is not None
    assert found_in(config, way, examples=16, hooks_may_fail=True) is None


def test_a_hook_that_fails_after_an_abort_is_heard_of() -> None:
    """D30: what had arrived is shaped, and what becomes of the run is decided already."""
    found = explore(
        failing(raising, "after_tool_call"),
        "go",
        replies=[[ToolCall("add", {}, "a"), ToolCall("add", {}, "b")], "done"],
        tools={"add": ["2"]},
        also=[Abort()],
    ).counterexample

    assert found is not None
    assert found.law.startswith("No hook fails")


# Runs inside, whatever their tool wants to be called with.

PROMPTS: Final[list[tuple[dict[str, Any], dict[str, Any]]]] = [
    ({}, {}),
    ({}, {"prompt": "?"}),
    ({"properties": {"prompt": {"type": "string"}}}, {}),
    (
        {"properties": {"prompt": {"type": "integer"}}, "required": ["prompt"]},
        {"prompt": 3},
    ),
    ({"properties": {"prompt": {}}}, {"prompt": {"deep": [None, True]}}),
    ({"properties": {"prompt": {}}}, {"prompt": None}),
]


@pytest.mark.parametrize(("schema", "arguments"), PROMPTS)
def test_a_run_inside_may_be_called_with_anything(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    inner = Nested(ToolSpec("sub", "", schema), LoopConfig(model="test:inner"))
    found = explore(
        LoopConfig(model="test:m", tools=[inner]),
        "go",
        replies=[ToolCall("sub", arguments), "done"],
        tools={"sub": ["this"]},
    )

    assert found.counterexample is None, found
    assert {"done": 1} == found.reasons


def test_a_machine_calls_runs_inside_with_anything() -> None:
    inner = Nested(ToolSpec("sub"), LoopConfig(model="test:inner"))
    config = LoopConfig(model="test:m", tools=[inner])

    assert machine_finds(loop_machine(config, nothing_runs_inside), 20) is not None
    assert machine_finds(loop_machine(config), 20) is None


def nothing_runs_inside(state: State) -> bool:
    """No run inside has begun."""
    slots = state.turn.slots if state.turn else ()
    return not any(isinstance(slot, Running) and slot.child for slot in slots)


def fails(_: object) -> Any:
    """A function that should say what comes of something, and does not."""
    return 1 // 0


def fails_when_asked(_: ToolCallView) -> Need:
    """A hook that needs a service."""
    return Need.service("verdict", "policy")


@pytest.mark.parametrize("way", ["explore", "simulate"])
@pytest.mark.parametrize(
    "more",
    [
        {"replies": [fails]},
        {"tools": {"add": [fails]}},
        {"decisions": [fails]},
        {"services": {"policy": [fails]}},
    ],
)
def test_a_function_that_fails_to_say_what_happens_is_told(
    more: dict[str, Any], way: str
) -> None:
    asks = "services" in more
    config = LoopConfig(
        model="test:m",
        tools=[ToolSpec("add", needs_approval="decisions" in more)],
        hooks=[Hooks("asks", before_tool_call=fails_when_asked)] if asks else [],
    )
    script = {**SCRIPT, **more}
    found = (
        explore(config, "go", **script)
        if way == "explore"
        else simulate(config, "go", **script, seeds=[1])
    ).counterexample

    assert found is not None
    error = "ZeroDivisionError: .* by zero"
    said = rf"what may come of r\.1\.1\..* cannot be had: {error} {HERE}"
    assert re.fullmatch(said, found.said)
