"""The pytest plug-in: what it says of a failure, what its fixtures ask, and how light it is."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve

from loopcore import (
    Abort,
    AssistantMessage,
    Effects,
    Interpreter,
    LoopConfig,
    State,
    Text,
    UserMessage,
    run_sync,
    stream,
)
from loopcore.frozen import vector
from loopcore.hooks import Hooks, ReplyUpdate
from loopcore.testing import ScriptedModel, ScriptedTools
from loopcore.testing.differences import differences, lines
from loopcore.testing.plugin import RunLog, compared
from tests.driving import begin, call, config, spec
from tests.leaks import alone

# A file of tests for another pytest, which is to tell of each that fails, is skipped or
# is expected to fail.
FAILING: Final = """
import pytest
from attrs import evolve
from loopcore import CallModel, Interpreter, LoopConfig, UserMessage, run_sync
from loopcore.testing import EffectScript, ScriptedModel

CONFIG = LoopConfig(model="test:m")

def said(text):
    return EffectScript([(CallModel, text)]).run(CONFIG, "go")

def test_states():
    assert said("hi").state == said("ho").state

def test_transcripts():
    assert said("hi").messages == [UserMessage("go")]

def test_texts():
    assert "hi" == "ho"

def test_log(run_log):
    model = ScriptedModel("hi")
    interpreter = Interpreter(model, inspectors=[run_log])
    assert run_sync(LoopConfig(model=model), interpreter, "go", run_id="r").output == "ho"

def test_log_of_a_test_that_passes(run_log):
    assert run_log.events == []

def test_model(scripted_model):
    model = scripted_model("one", "two")
    run_sync(LoopConfig(model=model), Interpreter(model), "go")

def test_script(effect_script):
    script = effect_script([(CallModel, "one"), (CallModel, "two")])
    run_sync(CONFIG, script.interpreter(CONFIG), "go")

def test_that_fails_anyway(scripted_model):
    scripted_model("never asked")
    assert False

def test_that_is_skipped(scripted_model):
    scripted_model("never asked")
    pytest.skip("later")

@pytest.mark.xfail
def test_that_is_to_fail(effect_script):
    effect_script([(CallModel, "never asked")])
    assert False

def test_that_is_complete(scripted_model, effect_script):
    model = scripted_model("one", id="test:m")
    assert run_sync(LoopConfig(model=model), Interpreter(model), "go").output == "one"
    assert effect_script([(CallModel, "hi")]).run(CONFIG, "go").output == "hi"
"""


def printed(path: Path, *options: str) -> str:
    """What pytest prints of the tests in a file."""
    adapters = str(Path(__file__).parents[1] / "adapters")
    root = str(Path(__file__).parents[1])
    done = subprocess.run(  # noqa: S603  # ourselves
        [sys.executable, "-m", "pytest", "-q", "-p", "loopcore_pytest", *options, path],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((root, adapters))},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("failing") / "test_failing.py"
    path.write_text(FAILING)
    return printed(path, "-p", "no:cacheprovider")


def part(report: str, test: str) -> str:
    """What is said of one test."""
    return report.split(f"_ {test} _")[1].split("\n____", maxsplit=1)[0]


def test_as_many_tests_fail_as_should(report: str) -> None:
    assert report.splitlines()[-1].startswith(
        "5 failed, 4 passed, 1 skipped, 1 xfailed, 2 errors"
    )


def test_states_that_differ_are_told_place_by_place(report: str) -> None:
    said = part(report, "test_states")

    assert (
        "<run r: done; turn 1, 2 messages> == <run r: done; turn 1, 2 messages>" in said
    )
    assert "  transcript[1].parts[0].text: left 'hi', right 'ho'" in said


def test_transcripts_that_differ_are_told_message_by_message(report: str) -> None:
    said = part(report, "test_transcripts")

    assert "<2 of AssistantMessage, UserMessage> == <1 of UserMessage>" in said
    assert "  [1]: only left: AssistantMessage([Text('hi')], model='test:m')" in said


def test_what_is_not_ours_is_left_to_pytest(report: str) -> None:
    assert "- ho" in part(report, "test_texts")


def test_the_log_of_a_run_is_shown_with_the_failure(report: str) -> None:
    said = part(report, "test_log")

    assert "- loopcore runs -" in said
    assert "r  wants CallModel test:script, shown 1, the last UserMessage" in said
    assert "r  stores AssistantMessage([Text('hi')], model='test:script')" in said
    assert "r  ends: done" in said
    assert report.count("loopcore runs") == 1


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("ERROR at teardown of test_model", "'test:script' was not asked for ['two']"),
        (
            "ERROR at teardown of test_script",
            "Not all that the script expects was wanted",
        ),
    ],
)
def test_doubles_have_to_be_complete_when_a_test_is_over(
    report: str, test: str, why: str
) -> None:
    said = part(report, test)

    assert why in said
    assert "def assert_complete" not in said
    assert "During handling" not in said


@pytest.mark.parametrize(
    "test", ["test_that_fails_anyway", "test_that_is_skipped", "test_that_is_to_fail"]
)
def test_of_a_test_that_did_not_come_to_its_end_no_more_is_asked(
    report: str, test: str
) -> None:
    assert f"teardown of {test}" not in report


LIGHT: Final = """
import sys
import pytest
before = set(sys.modules)
import loopcore_pytest
new = set(sys.modules) - before
assert new <= {"loopcore_pytest"}, new
"""
BARE: Final = """
import sys
import loopcore.testing
assert "hypothesis" not in sys.modules
assert "pytest" not in sys.modules
"""


@pytest.mark.parametrize("program", [LIGHT, BARE])
def test_the_plug_in_and_the_doubles_need_nothing(program: str) -> None:
    """Others' tests are not slowed down, and the doubles need no Hypothesis."""
    path = os.pathsep.join(str(Path(__file__).parents[1] / n) for n in ("", "adapters"))
    environment = {**os.environ, "PYTHONPATH": path}

    subprocess.run([sys.executable, "-c", program], check=True, env=environment)  # noqa: S603


# What is said, in this process.


def said(left: object, right: object, *, whole: bool = False) -> list[str]:
    return compared(left, right, whole=whole)


ONE: Final = UserMessage("one")
LONG: Final = "x" * 150


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (ONE, UserMessage("two"), ["parts[0].text: left 'one', right 'two'"]),
        (ONE, AssistantMessage("one"), ["all of it: left UserMessage"]),
        (1, True, ["all of it: left 1, right True"]),
        (
            {"a": 1, "b": 2},
            {"a": 1, "c": 3},
            ["['b']: only left: 2", "['c']: only right: 3"],
        ),
        ((ONE, ONE), (ONE,), ["[1]: only left: UserMessage([Text('one')])"]),
        ((1, 2, 3), (1, 3), ["[1]: only left: 2"]),
        ((1, 3), (1, 2, 3), ["[1]: only right: 2"]),
        (vector([1, 5]), [1, 2, 3], ["[1]: left 5, right 2", "[2]: only right: 3"]),
        (tuple(range(500)), tuple(range(501)), ["[500]: only right: 500"]),
        (
            LONG + "a",
            LONG + "b",
            [
                f"all of it: left '{'x' * 20}a' (from character 130), right '{'x' * 20}b'"
            ],
        ),
        (
            LONG,
            LONG + "b",
            [f"all of it: left '{'x' * 20}' (from character 130), right"],
        ),
        ("a" * 200, "b" * 200, [f"all of it: left '{'a' * 98}…, right '{'b' * 98}…"]),
        (Effects(cancel=("e",)), Effects(), ["cancel[0]: only left: 'e'"]),
    ],
)
def test_a_difference_is_told_with_its_place(
    left: Any, right: Any, expected: list[str]
) -> None:
    told = said(left, right)[1:]

    assert len(told) == len(expected)
    assert all(a.startswith(b) for a, b in zip(told, expected, strict=True))


def test_equal_values_do_not_differ() -> None:
    state = begin(config()).state

    assert list(differences(state, state)) == []
    assert list(differences(state, State.loads(state.dumps()).unwrap())) == []


def test_a_first_line_tells_what_is_compared() -> None:
    assert said([], [ONE])[0] == "<0 of nothing> == <1 of UserMessage>"
    assert said(1, 2)[0] == "1 == 2"


def test_many_differences_are_cut_unless_all_are_wanted() -> None:
    left, right = tuple(range(50)), tuple(range(1, 51))

    assert said(left, right)[-1] == "... and 30 more"
    assert len(said(left, right, whole=True)) == 51
    assert lines([], 3) == []


def test_a_log_has_a_line_for_every_kind_of_event() -> None:
    def rewrite(_: Any) -> ReplyUpdate:
        return ReplyUpdate(AssistantMessage("rewritten"))

    model = ScriptedModel([Text("Well."), call("a")], "never")
    used = config(
        Hooks("rewriting", after_model_call=rewrite), tools=[spec("a")], system="s"
    )
    used = evolve(used, model=model.id)
    log = RunLog()
    tools = ScriptedTools(used, {})
    run_sync(used, Interpreter(model, *tools, inspectors=[log]), "go", run_id="r")
    told = [line.split("  r  ")[1] for line in str(log).splitlines()]

    assert told[0] == "begins: (UserMessage([Text('go')]),)"
    assert told[2].startswith("wants CallModel test:script, shown 1")
    assert told[3].startswith("r.1.1.model.1 gives AssistantMessage")
    assert told[4].startswith("hook 'rewriting' wrote ReplyUpdate(")
    assert told[4].endswith("at after_model_call")
    assert told[-2:] == ["turn 1 is over", "ends: done"]


def test_a_log_tells_of_what_is_cancelled() -> None:
    model = ScriptedModel("one two three")
    log = RunLog()

    async def main() -> None:
        events = stream(
            LoopConfig(model=model), Interpreter(model, inspectors=[log]), "go"
        )
        async for _ in events:
            if not any("aborted" in line for line in str(log).splitlines()):
                events.send(Abort())

    alone(main())

    assert any(line.endswith(".model.1 is cancelled") for line in str(log).splitlines())


def test_events_without_a_time_have_lines_too() -> None:
    log = RunLog()
    for event in begin(config()).told:
        log.on_event(event)

    assert str(log).startswith("         s  r  begins: ")
