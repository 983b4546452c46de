"""The vectors by which a port proves itself: they are up to date, and a wrong port fails."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from attrs import evolve

from loopcore import Effects, Input, LoopConfig, Rejected, State, UserMessage
from loopcore.codec import from_json, to_json
from loopcore.frozen import dump_json, vector
from loopcore.testing.vectors import (
    SHIPPED,
    Came,
    Report,
    Vector,
    Vectors,
    check,
    reducer,
)
from loopcore.testing.vectors.__main__ import main
from loopcore.testing.vectors.conform import Port, Step, checked
from loopcore.testing.vectors.form import (
    Form,
    Rule,
    canonical,
    digest_of,
    digests_of,
    fields_of,
    worded,
)
from loopcore.testing.vectors.program import answered, question, serve
from loopcore.testing.vectors.walks import WALKS
from property_tests.faults.fault import Fault, copied, seeded
from property_tests.faults.table import FAULTS

VECTORS: Final = Vectors.read()
FEW: Final = Vectors(VECTORS.configs, VECTORS.steps[:60])
PYTHON: Final = sys.executable


def test_the_reducer_meets_the_vectors_that_are_shipped() -> None:
    report = check()

    assert report.wrong == (), report
    assert report.vectors == len(VECTORS.steps) > 400
    assert repr(report) == f"{report.vectors} of {report.vectors} vectors are met"


def test_the_vectors_that_are_shipped_are_those_that_the_command_makes(
    tmp_path: Path,
) -> None:
    """To make them anew: python -m loopcore.testing.vectors make. No hash seed matters."""
    path = tmp_path / "v.jsonl"
    command = [PYTHON, "-m", "loopcore.testing.vectors", "make", str(path)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "7"})  # noqa: S603

    new = Vectors.read(path)
    assert VECTORS.configs == new.configs
    assert [told(step) for step in VECTORS.steps] == [told(step) for step in new.steps]


def told(step: Vector) -> Any:
    """A vector without the sentences that depend on what validates arguments."""
    data = to_json(step)
    return {**data, "state": digests_of(step.state)}


def test_every_configuration_and_every_kind_of_input_is_among_them() -> None:
    assert {step.config for step in VECTORS.steps} == set(WALKS)
    assert {type(step.input).__name__ for step in VECTORS.steps} == {
        *("Prompt", "Continue", "Steer", "FollowUp", "Withdraw", "Abort", "Answer")
    }
    assert {step.refused for step in VECTORS.steps} >= {
        *("", "busy", "empty", "bad_message", "nothing_to_continue", "not_running"),
        *("taken", "wrong_kind", "duplicate", "stranger", "invalid_arguments"),
    }
    assert len({step.id for step in VECTORS.steps}) == len(VECTORS.steps)


# Wrong ports.


def wrong(change: Callable[[State, Effects], tuple[State, Effects]]) -> Step:
    """A port that does something else with what comes of a step."""

    def step(*asked: Any) -> tuple[State, Effects] | Rejected:
        came = reducer(*asked)
        return came if isinstance(came, Rejected) else change(*came)

    return step


def timeless(config: LoopConfig[Any], state: State, given: Input, _: Any) -> Any:
    return reducer(config, state, given, None)


def credulous(config: LoopConfig[Any], state: State, given: Input, at: Any) -> Any:
    came = reducer(config, state, given, at)
    return (state, Effects()) if isinstance(came, Rejected) else came


def confused(config: LoopConfig[Any], state: State, given: Input, at: Any) -> Any:
    came = reducer(config, state, given, at)
    return Rejected("busy", "no") if isinstance(came, Rejected) else came


def broken(*_: object) -> Any:
    raise LookupError


WRONG: Final[dict[str, tuple[Step, str]]] = {
    "forgets what it cancels": (
        wrong(lambda s, e: (s, evolve(e, cancel=()))),
        "effects['cancel'][0]: only expected: 'r.1.1.run.0'",
    ),
    "performs in another order": (
        wrong(lambda s, e: (s, evolve(e, perform=e.perform[::-1]))),
        "effects['perform'][0]['id']: expected 'r.1.1.run.0', came 'r.1.1.run.1'",
    ),
    "tells something else": (
        wrong(lambda s, e: (s, evolve(e, tell=e.tell[1:] or e.tell))),
        "effects['tell']",
    ),
    "does not count": (
        wrong(lambda s, e: (evolve(s, requests=0), e)),
        "requests: expected 1, came None",
    ),
    "stores something else": (
        wrong(lambda s, e: (evolve(s, transcript=vector([UserMessage("?")])), e)),
        "transcript[0]['parts'][0]['text']: expected 'go', came '?'",
    ),
    "has no clock": (timeless, "now: expected"),
    "refuses nothing": (credulous, "it should refuse this as 'stranger', and does not"),
    "refuses for another reason": (
        confused,
        "it should refuse this as 'stranger', and refuses it as 'busy'",
    ),
    "raises": (broken, "it raised LookupError"),
}


@pytest.mark.parametrize(("step", "why"), WRONG.values(), ids=WRONG)
def test_a_wrong_port_is_caught_and_told_why(step: Step, why: str) -> None:
    report = check(step, FEW)

    assert report.wrong
    assert any(line.startswith(why) for one in report.wrong for line in one.differs)


def test_a_port_words_its_own_sentences() -> None:
    """What a model reads of an unknown tool, or of wrong arguments, is not compared."""

    def reworded(state: State, effects: Effects) -> tuple[State, Effects]:
        data = json.dumps(to_json(state)).replace("fits", "suits")
        data = data.replace("There is no tool", "Nobody knows")
        return from_json(State, json.loads(data)), effects

    assert check(wrong(reworded)).wrong == ()


def test_a_long_report_is_cut() -> None:
    report = check(broken)

    assert len(report.wrong) == report.vectors
    assert repr(report).splitlines()[0] == f"0 of {report.vectors} vectors are met"
    assert repr(report).endswith(f"... and {report.vectors - 10} more")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("copy"))


SEEDED: Final = [
    fault
    for fault in FAULTS
    if fault.name.startswith(("a Block", "time goes", "queued"))
]


@pytest.mark.parametrize("fault", SEEDED, ids=lambda fault: fault.name)
def test_a_reducer_with_a_small_fault_is_caught(fault: Fault, copy: Path) -> None:
    """Seeded into a copy of the code, which is then asked as a program."""
    path = os.pathsep.join((str(copy), str(copy / "adapters")))
    command = [PYTHON, "-m", "loopcore.testing.vectors", "check"]
    with seeded(fault, copy):
        done = subprocess.run(  # noqa: S603
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 1, done.stderr
    assert "the state differs in" in done.stdout


# What a port answers is read strictly.


def lines_of(change: Callable[[dict[str, Any]], object]) -> Port:
    """A port whose lines are those of the reducer, changed."""

    def ask(step: Vector, form: Form) -> Came:
        out = io.StringIO()
        serve([dump_json(question(step, form))], out)
        return answered(json.dumps(change(json.loads(out.getvalue()))))

    return ask


def always(came: Any) -> Step:
    """A step that gives this, whatever it is asked."""

    def step(*_: object) -> Any:
        return came

    return step


def asking(change: Callable[[dict[str, Any]], object]) -> Report:
    return checked(lines_of(change), FEW)


def test_lines_of_the_reducer_itself_meet_the_vectors() -> None:
    assert asking(lambda answer: answer).wrong == ()


BLANKS: Final[tuple[object, ...]] = ("", None, 0, False, [], {}, "None")


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
def test_a_port_that_always_writes_a_refusal_meets_nothing(blank: object) -> None:
    report = asking(lambda answer: {"refused": blank, **answer})

    accepted = {step.id for step in FEW.steps if not step.refused}
    assert accepted <= {wrong.id for wrong in report.wrong}


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
def test_a_port_that_says_nothing_but_a_blank_refusal_meets_nothing(
    blank: object,
) -> None:
    report = asking(lambda _: {"refused": blank})

    assert len(report.wrong) == report.vectors


@pytest.mark.parametrize("kind", ["", None, 3, "bus"])
def test_a_step_that_refuses_with_no_kind_meets_nothing(kind: Any) -> None:
    report = check(always(Rejected(kind, "no")), FEW)

    assert len(report.wrong) == report.vectors


@pytest.mark.parametrize(
    "came", [None, (None, Effects()), (FEW.steps[0].state, None), 3, ()]
)
def test_a_step_that_gives_no_state_or_no_effects_is_told_what_it_gave(
    came: Any,
) -> None:
    report = check(always(came), FEW)

    assert len(report.wrong) == report.vectors
    assert "and no State with Effects, nor a Rejected" in report.wrong[0].differs[0]


def with_effects(**more: object) -> Callable[[dict[str, Any]], object]:
    def change(answer: dict[str, Any]) -> object:
        told = answer.get("effects", {})
        return {**answer, "effects": {**told, **more}} if "state" in answer else answer

    return change


def without(name: str) -> Callable[[dict[str, Any]], object]:
    return lambda answer: {k: v for k, v in answer.items() if k != name}


NO_TEXTS: Final[list[object]] = [{"type": "TurnEnd"}]

ODD: Final[dict[str, tuple[Callable[[dict[str, Any]], object], str]]] = {
    "a field more": (lambda a: {**a, "took": 3}, "unknown field 'took'"),
    "a kind of effects more": (with_effects(log=[]), "unknown field 'effects.log'"),
    "no effects": (without("effects"), "missing field 'effects'"),
    "no state": (without("state"), "missing field 'state'"),
    "effects in a list": (lambda a: {**a, "effects": []}, "'effects'"),
    "a text for ids": (with_effects(cancel="r.1"), "'effects.cancel'"),
    "numbers for ids": (with_effects(cancel=[1]), "'effects.cancel[0]'"),
    "objects for events": (with_effects(tell=NO_TEXTS), "'effects.tell[0]'"),
    "nothing": (lambda _: {}, "missing field 'state'"),
    "a list": (lambda a: [a], "a line holds one object"),
    "both": (
        lambda a: {"refused": "busy", **a},
        "both that it refuses the input and what comes of it",
    ),
}


@pytest.mark.parametrize(("change", "why"), ODD.values(), ids=ODD)
def test_an_answer_that_is_not_as_the_page_says_is_told(
    change: Callable[[dict[str, Any]], object], why: str
) -> None:
    report = asking(change)

    told = [line for wrong in report.wrong for line in wrong.differs]
    assert len(report.wrong) >= sum(not step.refused for step in FEW.steps)
    assert any(line.startswith("it answered '") and why in line for line in told), told


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("oops", "it answered 'oops': that is no JSON"),
        ("", "it answered '': that is no JSON"),
        ('{"refused": NaN}', "NaN is no JSON"),
        ('{"refused": "busy", "refused": "empty"}', "'refused' is there twice"),
        (b"\xff\xfe", "that is no UTF-8"),
    ],
)
def test_a_line_that_is_no_json_is_told_with_the_line(
    line: str | bytes, why: str
) -> None:
    def port(_: Vector, __: Form) -> Came:
        return answered(line)

    report = checked(port, FEW)

    assert len(report.wrong) == report.vectors
    assert why in report.wrong[0].differs[0]


# Events.


def test_a_step_that_loses_its_events_is_wrong() -> None:
    report = check(wrong(lambda s, e: (s, evolve(e, tell=()))))

    assert "effects['tell']" in repr(report)


def test_a_program_that_says_that_it_tells_nothing_is_wrong() -> None:
    report = asking(with_effects(tell=[]))

    assert "effects['tell']" in repr(report)


def test_a_program_that_tells_now_and_then_is_wrong_where_it_does_not() -> None:
    """To leave events out of one answer is no way to leave them out of the proof."""
    seen: list[object] = []

    def change(answer: dict[str, Any]) -> object:
        seen.extend(["one"] if "state" in answer else [])
        kept = len(seen) == 1 or "state" not in answer
        return answer if kept else {**answer, "effects": untold(answer["effects"])}

    assert "effects['tell']" in repr(asking(change))


def untold(effects: dict[str, Any]) -> dict[str, Any]:
    return {name: told for name, told in effects.items() if name != "tell"}


def test_a_program_that_never_tells_is_met_and_the_report_says_what_is_not_proven() -> (
    None
):
    report = asking(
        lambda a: {**a, "effects": untold(a["effects"])} if "state" in a else a
    )

    assert report.wrong == ()
    assert repr(report) == (
        f"{report.vectors} of {report.vectors} vectors are met; events are not compared, "
        "since no answer has `tell`"
    )


def test_a_step_may_leave_events_out_if_that_is_said() -> None:
    silent = wrong(lambda s, e: (s, evolve(e, tell=())))
    report = check(silent, FEW, events=False)

    assert report.wrong == ()
    assert "events are not compared" in repr(report)


# Ports that are programs.


def test_a_program_is_asked_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{PYTHON} -m loopcore.testing.vectors serve"

    assert main(["check", "--command", command]) == 0
    assert "vectors are met" in capsys.readouterr().out


def test_a_program_is_told_a_step_and_tells_what_comes_of_it() -> None:
    step = VECTORS.steps[1]
    asked: dict[str, Any] = {
        "id": step.id,
        "config": to_json(VECTORS.configs[step.config]),
        "state": to_json(step.state),
        "input": {"type": "Prompt", "say": []},
        "at": 0,
    }
    out = io.StringIO()

    serve([json.dumps(asked), json.dumps({**asked, "input": {"type": "Abort"}})], out)

    assert out.getvalue() == '{"refused":"empty"}\n{"refused":"not_running"}\n'


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("true", "the program ended at vector 'plain 1'"),
        ("no-such-program", "No such file"),
    ],
)
def test_a_program_that_cannot_be_asked_is_told(
    command: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--command", command]) == 2
    assert why in capsys.readouterr().err


def test_a_program_that_tells_nonsense_is_wrong(
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = "import sys; [print('{}', flush=True) for _ in sys.stdin]"

    assert main(["check", "--command", f'{PYTHON} -c "{program}"']) == 1
    assert "it answered '{}': missing field 'state'" in capsys.readouterr().out


# The file.


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "holds no vectors"),
        ("[]\n", 'line 1: is no file of vectors: it has no "format"'),
        ('{"format":"loopcore.state"}\n', "line 1: is no file of vectors"),
        (
            '{"format":"loopcore.vectors","version":2,"configs":{}}\n',
            "line 1: has vectors of version 2; this reads 1",
        ),
        (
            '{"format":"loopcore.vectors","version":1,"configs":{}}\n{"id":"x"}\n',
            "line 2: missing field 'config'",
        ),
        ("{\n", "line 1: Expecting property name"),
    ],
)
def test_what_is_no_file_of_vectors_is_told(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(text)

    assert main(["check", str(path)]) == 2
    assert why in capsys.readouterr().err


def test_a_vector_of_a_configuration_that_is_not_there_is_told(tmp_path: Path) -> None:
    Vectors({}, FEW.steps).write(tmp_path / "v.jsonl")

    with pytest.raises(ValueError, match="line 2: the header has no configuration 'pl"):
        Vectors.read(tmp_path / "v.jsonl")


def test_vectors_are_read_as_they_were_written(tmp_path: Path) -> None:
    VECTORS.write(tmp_path / "v.jsonl")

    assert (tmp_path / "v.jsonl").read_bytes() == SHIPPED.read_bytes()


# The form in which states are compared.


def test_equal_values_have_equal_texts() -> None:
    assert canonical({"b": 1.0, "a": [True, None, 0.5, "é"]}) == (
        '{"a":[true,null,0.5,"é"],"b":1}'
    )
    assert digest_of({}) == "44136fa355b3678a"


def test_a_state_is_told_whole_and_without_what_is_as_by_default() -> None:
    state = VECTORS.steps[3].state
    told = fields_of(state)

    assert told["pending"][0]["messages"] == told["transcript"] == told["new"]
    assert "stop" not in told


def test_nested_states_are_told_whole_too() -> None:
    told = [
        slot["child"]
        for step in VECTORS.steps
        if step.config == "nested"
        for slot in fields_of(step.state).get("turn", {}).get("slots", ())
        if "child" in slot
    ]

    assert told
    assert all(isinstance(child["new"][0], dict) for child in told)


def test_sentences_of_our_own_are_left_out() -> None:
    data = {
        "results": [
            {"outcome": "ok", "parts": ["kept"]},
            {"outcome": "unknown_tool", "parts": ["ours"]},
        ],
        "stop": {"reason": "hook_error", "detail": "ours", "hook": "h"},
    }

    assert worded(data) == {
        "results": [{"outcome": "ok", "parts": ["kept"]}, {"outcome": "unknown_tool"}],
        "stop": {"reason": "hook_error", "hook": "h"},
    }


def test_a_configuration_is_data() -> None:
    for form in VECTORS.configs.values():
        assert from_json(Form, to_json(form)) == form


def test_a_rule_counts_what_it_said() -> None:
    form = Form("test:m", rules=(Rule("n", "after_model_call", counts=True),))
    config = form.config()
    (hook,) = config.hooks

    assert hook.name == "n"
    assert config.memos == {"n": 0}


def test_reports_are_compared_by_value() -> None:
    assert Report(3) == Report(3)
