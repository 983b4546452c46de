"""A port that is a program: however it behaves, checking ends and says what it did."""

import os
import select
import shlex
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from loopcore.frozen import dump_json
from loopcore.testing.vectors import Vectors
from loopcore.testing.vectors.__main__ import main
from loopcore.testing.vectors.program import LONGEST, program, question, serve

VECTORS: Final = Vectors.read()
FEW: Final = Vectors(VECTORS.configs, VECTORS.steps[:30])
SOON: Final = "0.8"

# What a port that answers says: the lines of the reducer itself, in the order of asking.
ANSWERS: Final = (
    "import os, signal, subprocess, sys\nnext_one = iter(open({!r})).__next__\n"
)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file with the right answer to each vector."""
    path = tmp_path_factory.mktemp("answers") / "answers.jsonl"
    asked = [dump_json(question(step, FEW.configs[step.config])) for step in FEW.steps]
    with path.open("w") as out:
        serve(asked, out)
    return str(path)


@pytest.fixture
def few(tmp_path: Path) -> str:
    """A file of a few vectors."""
    FEW.write(tmp_path / "few.jsonl")
    return str(tmp_path / "few.jsonl")


def port(code: str) -> str:
    """The command of a port in Python."""
    return shlex.join((sys.executable, "-S", "-c", code))


def serving(answers: str, code: str) -> str:
    """The command of a port that has the right answers at hand: `next_one()`."""
    return port(ANSWERS.format(answers) + code)


NEVER: Final = {
    "reads and says nothing": "import sys; sys.stdin.read()",
    "reads nothing and says nothing": "import signal; signal.pause()",
    "says one line bit by bit": (
        "import sys, threading\n"
        "while True: sys.stdout.write('x'), sys.stdout.flush(), threading.Event().wait(.1)"
    ),
    "closes its output and stays": (
        "import os, signal; os.close(1); os.close(2); signal.pause()"
    ),
}


@pytest.mark.parametrize("code", NEVER.values(), ids=NEVER)
def test_a_port_that_never_answers_is_given_up(
    code: str, few: str, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()

    assert main(["check", few, "--command", port(code), "--timeout", SOON]) == 2
    assert time.monotonic() - began < 10
    said = capsys.readouterr()
    assert "0 of 30 vectors are met, and 29 were not asked for" in said.out
    assert "'plain 1'" in said.err


def test_it_is_said_which_vector_got_no_answer_and_how_to_wait_longer(
    few: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys; sys.stdin.read()"
    main(["check", few, "--command", port(code), "--timeout", SOON])

    assert capsys.readouterr().err == (
        "the program gave no answer to vector 'plain 1' within 0.8 s, and was ended; "
        "--timeout SECONDS gives it longer\n"
    )


def test_what_was_found_before_a_port_fell_silent_is_told(
    few: str, answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (
        "for n, line in enumerate(sys.stdin):\n"
        "    said = next_one()\n"
        "    if n < 5: print('oops' if n == 2 else said.strip(), flush=True)\n"
    )

    assert (
        main(["check", few, "--command", serving(answers, code), "--timeout", "1"]) == 2
    )
    out = capsys.readouterr().out
    assert "4 of 30 vectors are met, and 24 were not asked for" in out
    assert "it answered 'oops'" in out


MORE: Final = {
    "two lines for an answer": (
        "for line in sys.stdin: print(next_one(), end='', flush=True), "
        'print(\'{"refused":"busy"}\', flush=True)'
    ),
    "an empty line after each": (
        "for line in sys.stdin: print(next_one(), flush=True)"
    ),
    "lines without end": "while True: print('Hello.', flush=True)",
    "many lines for an answer": (
        "for line in sys.stdin: print(next_one() * 2000, end='', flush=True)"
    ),
}


@pytest.mark.parametrize("code", MORE.values(), ids=MORE)
def test_a_port_that_says_more_than_it_is_asked_is_told_at_once(
    code: str, few: str, answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both pipes are read and written all the time: nobody waits for the other."""
    began = time.monotonic()

    assert (
        main(["check", few, "--command", serving(answers, code), "--timeout", "60"])
        == 2
    )
    assert time.monotonic() - began < 20
    assert "said more than one line for a question: '" in capsys.readouterr().err


def test_a_port_that_greets_is_told_its_greeting(
    few: str, answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It comes before the first question, or is taken for the answer to it."""
    code = (
        "print('Hello.', flush=True)\n"
        "for line in sys.stdin: print(next_one(), end='', flush=True)"
    )

    assert main(["check", few, "--command", serving(answers, code)]) in (1, 2)
    said = capsys.readouterr()
    assert "'Hello.'" in said.out + said.err


def test_a_line_more_after_the_last_answer_is_told_too(
    few: str, answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (
        "for line in sys.stdin: print(next_one(), end='', flush=True)\n"
        "print('Bye.', flush=True)\n"
    )

    assert main(["check", few, "--command", serving(answers, code)]) == 2
    assert "said more than one line for a question: 'Bye.'" in capsys.readouterr().err


def test_a_line_without_end_is_cut(
    few: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys\nwhile True: sys.stdout.write('x' * 65536)"

    assert main(["check", few, "--command", port(code), "--timeout", "60"]) == 2
    assert (
        f"answered vector 'plain 1' with a line of more than {LONGEST} bytes"
        in capsys.readouterr().err
    )


STAYS: Final = {
    "stays": "signal.pause()",
    "stays, whatever it is told": (
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.pause()"
    ),
    "leaves a child that stays": (
        "subprocess.run([sys.executable, '-S', '-c', 'import signal; signal.pause()'])"
    ),
}


@pytest.mark.parametrize("code", STAYS.values(), ids=STAYS)
def test_a_port_that_stays_after_the_end_is_ended_and_the_report_printed(
    code: str, few: str, answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = f"for line in sys.stdin: print(next_one(), end='', flush=True)\n{code}\n"

    assert (
        main(["check", few, "--command", serving(answers, code), "--timeout", "1"]) == 0
    )
    said = capsys.readouterr()
    assert said.out == "30 of 30 vectors are met\n"
    assert said.err == (
        "the program did not end within 1 s after its input had, and was ended\n"
    )


def test_a_port_that_is_wrapped_in_a_shell_is_ended_with_it(
    few: str, tmp_path: Path
) -> None:
    held = tmp_path / "pid"
    inner = port(
        f"import os, signal\nopen({str(held)!r}, 'w').write(str(os.getpid()))\n"
        "signal.pause()"
    )
    command = shlex.join(("sh", "-c", f"{inner}; true"))

    assert main(["check", few, "--command", command, "--timeout", SOON]) == 2
    assert not alive(int(held.read_text()))


def alive(pid: int) -> bool:
    """Whether this process goes on; one that has been killed takes a moment to be gone."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        return not select.select([watched], [], [], 5)[0]
    finally:
        os.close(watched)


def test_a_port_is_ended_when_whoever_checks_it_gives_up() -> None:
    command = (sys.executable, "-S", "-c", "import signal; signal.pause()")
    with pytest.raises(KeyboardInterrupt), program(command, 60) as asked:
        raise KeyboardInterrupt

    assert not alive(asked.process.pid)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("pass", "the program ended at vector 'plain 1', with status 0"),
        (
            "import sys; sys.stdin.readline(); sys.exit(3)",
            "the program ended at vector 'plain 1', with status 3",
        ),
        (
            "import os; os.kill(os.getpid(), 9)",
            "the program ended at vector 'plain 1', with status -9",
        ),
    ],
)
def test_a_port_that_ends_is_told_with_its_status(
    code: str, why: str, few: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", few, "--command", port(code)]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (" ", "--command ' ' names no program"),
        ('"', "--command '\"' cannot be read: No closing quotation"),
        ("no-such-program", "No such file"),
        ("/", "Permission denied"),
    ],
)
def test_a_command_that_starts_nothing_is_told(
    command: str, why: str, few: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", few, "--command", command]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.parametrize("limit", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_that_is_none_is_told(
    limit: str, few: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", few, "--timeout", limit])

    assert ended.value.code == 2
    assert "takes seconds, more than 0" in capsys.readouterr().err
