"""A port that is a program: however it behaves, checking ends and says what it did."""

import contextlib
import os
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from loopcore.frozen import dump_json
from loopcore.testing.vectors import Vectors
from loopcore.testing.vectors.__main__ import main
from loopcore.testing.vectors.conform import Silent, checked
from loopcore.testing.vectors.program import (
    LONGEST,
    Program,
    Unasked,
    program,
    question,
    serve,
)

VECTORS: Final = Vectors.read()
FEW: Final = Vectors(VECTORS.configs, VECTORS.steps[:30])
SOON: Final = "0.4"
"""Seconds, for what never comes."""

LONG: Final = 60.0
"""Seconds, for what comes however slow the machine is."""

GROUPS: Final = pytest.mark.skipif(
    not hasattr(os, "killpg"), reason="there are no groups of processes here"
)
"""Only in a group is all that a program has started ended with it."""

# What a port that answers says: the lines of the reducer itself, in the order of asking.
ANSWERS: Final = (
    "import signal, subprocess, sys\nnext_one = iter(open({!r})).__next__\n"
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
    "reads nothing and says nothing": "import threading; threading.Event().wait()",
    "says one line bit by bit": (
        "import sys, threading\n"
        "while True: sys.stdout.write('x'), sys.stdout.flush(), threading.Event().wait(.1)"
    ),
    "closes its output and stays": (
        "import os, threading; os.close(1); os.close(2); threading.Event().wait()"
    ),
}


@pytest.mark.parametrize("code", NEVER.values(), ids=NEVER)
def test_a_port_that_never_answers_is_given_up(
    code: str, few: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", few, "--command", port(code), "--timeout", SOON]) == 2
    said = capsys.readouterr()
    assert "0 of 30 vectors are met, and 29 were not asked for" in said.out
    assert "'plain 1'" in said.err


def test_it_is_said_which_vector_got_no_answer_and_how_to_wait_longer(
    few: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys; sys.stdin.read()"
    main(["check", few, "--command", port(code), "--timeout", SOON])

    assert capsys.readouterr().err == (
        "the program gave no answer to vector 'plain 1' within 0.4 s, and was ended; "
        "--timeout SECONDS gives it longer\n"
    )


def test_what_was_found_before_a_port_ended_is_told(
    few: str, answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = (
        "for n, line in enumerate(sys.stdin):\n"
        "    said = next_one()\n"
        "    if n == 5: break\n"
        "    print('oops' if n == 2 else said.strip(), flush=True)\n"
    )

    assert main(["check", few, "--command", serving(answers, code)]) == 2
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
    assert (
        main(["check", few, "--command", serving(answers, code), "--timeout", "60"])
        == 2
    )
    assert "said more than one line for a question: '" in capsys.readouterr().err


def test_a_port_that_greets_is_told_its_greeting(answers: str) -> None:
    """It comes before the first question, so it is no answer to it."""
    code = (
        "print('Hello.', flush=True)\n"
        "for line in sys.stdin: print(next_one(), end='', flush=True)"
    )
    with program(shlex.split(serving(answers, code)), LONG) as asked:
        greeting = asked.told.get(timeout=LONG)
        asked.told.put(greeting)
        report = checked(asked, FEW)

    assert greeting == Unasked(b"Hello.\n")
    assert report.silent == (
        "the program said more than one line for a question: 'Hello.'"
    )
    assert report.unasked == len(FEW.steps) - 1


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
    "stays": "",
    "stays, whatever it is told": "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n",
    "waits for a child that stays": (
        "subprocess.run([sys.executable, '-S', '-c', 'import threading; "
        "threading.Event().wait()'])\n"
    ),
}
ANSWERING: Final = "for line in sys.stdin: print(next_one(), end='', flush=True)\n"
STAY: Final = "import threading; threading.Event().wait()\n"


@pytest.mark.parametrize("code", STAYS.values(), ids=STAYS)
def test_a_port_that_stays_after_the_end_is_ended_and_that_noted(
    code: str, answers: str
) -> None:
    command = shlex.split(serving(answers, f"{ANSWERING}{code}{STAY}"))
    with program(command, LONG) as asked:
        report = checked(asked, FEW)
        asked.limit = float(SOON)

    assert str(report) == "30 of 30 vectors are met"
    assert asked.process.returncode is not None
    assert asked.note == (
        "the program did not end within 0.4 s after its input had, and was ended"
    )


def test_a_port_that_stays_does_not_keep_the_report_from_being_printed(
    few: str, answers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = serving(answers, ANSWERING + STAY)

    assert main(["check", few, "--command", command, "--timeout", "4"]) == 0
    said = capsys.readouterr()
    assert said.out == "30 of 30 vectors are met\n"
    assert said.err == (
        "the program did not end within 4 s after its input had, and was ended\n"
    )


# What is left of a port.


class Line:
    """A line that somebody else's child calls, and is gone when that is."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(LONG)
        where = self.socket.getsockname()
        self.code = (
            f"import socket; line = socket.create_connection({where!r}); line.recv(1)"
        )

    def called(self) -> socket.socket:
        """The line to the child, which has begun."""
        line, _ = self.socket.accept()
        line.settimeout(LONG)
        return line


@pytest.fixture
def line() -> Iterator[Line]:
    """A line to a child."""
    made = Line()
    with made.socket:
        yield made


def is_gone(called: socket.socket) -> bool:
    """Whether who called has ended; one that has been killed takes a moment to."""
    with called:
        try:
            return called.recv(1) == b""
        except ConnectionError:
            return True
        except TimeoutError:
            return False


def starting(line: Line, then: str) -> tuple[str, ...]:
    """A port that starts a child which stays."""
    child = (sys.executable, "-S", "-c", line.code)
    code = f"import subprocess; child = subprocess.Popen({child!r}); {then}"
    return (sys.executable, "-S", "-c", code)


def used(command: Sequence[str], use: Callable[[Program], object]) -> Program:
    """The port, after this use; whoever uses it may give up."""
    kept: list[Program] = []
    with contextlib.suppress(KeyboardInterrupt), program(command, LONG) as asked:
        kept.append(asked)
        use(asked)
    return kept[0]


def called_by(command: Sequence[str], line: Line) -> socket.socket:
    """The line of a port that is given up once it has called."""
    kept: list[socket.socket] = []

    def wait(asked: Program) -> None:
        kept.append(line.called())
        gives_up(asked)

    used(command, wait)
    return kept[0]


def gives_up(_: Program) -> None:
    """As who presses Ctrl-C."""
    raise KeyboardInterrupt


@GROUPS
def test_a_port_that_is_wrapped_in_another_is_ended_with_it(line: Line) -> None:
    command = starting(line, "child.wait()")
    assert is_gone(called_by(command, line))


@GROUPS
def test_what_a_port_leaves_behind_is_ended_though_the_port_has_ended(
    line: Line,
) -> None:
    with program(starting(line, ""), LONG) as asked:
        called = line.called()
        asked.process.wait(LONG)

    assert is_gone(called)
    assert left_of(asked) == []


def test_a_port_is_ended_when_whoever_checks_it_gives_up(line: Line) -> None:
    command = (sys.executable, "-S", "-c", line.code)
    assert is_gone(called_by(command, line))


def left_of(asked: Program) -> list[str]:
    """What a port still holds here, once it is ended."""
    threads = [thread.name for thread in asked.threads if thread.is_alive()]
    pipes = {"stdin": asked.process.stdin, "stdout": asked.process.stdout}
    return [*threads, *(n for n, pipe in pipes.items() if pipe and not pipe.closed)]


def fills(asked: Program) -> None:
    """Asks what nobody reads, more than a pipe takes, and gives up."""
    asked.asked.put(b"x" * 2**22)
    raise KeyboardInterrupt


def waits_in_vain(asked: Program) -> None:
    asked.limit = 0.1
    step = FEW.steps[0]
    with pytest.raises(Silent):
        asked(step, FEW.configs[step.config])


def says_nothing(_: Program) -> None:
    """Asks nothing."""


LEFT: Final[dict[str, tuple[str, Callable[[Program], None]]]] = {
    "given up": (STAY, gives_up),
    "given up while it is written to": (STAY, fills),
    "silent": (STAY, waits_in_vain),
    "ended": ("pass", says_nothing),
    "talking": ("while True: print('x', flush=True)", gives_up),
}


@pytest.mark.parametrize("name", LEFT)
def test_no_thread_and_no_pipe_is_left_of_a_port(name: str) -> None:
    code, uses = LEFT[name]
    before = set(threading.enumerate())
    asked = used((sys.executable, "-S", "-c", code), uses)

    assert left_of(asked) == []
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("pass", "the program ended at vector 'plain 1', with status 0"),
        (
            "import sys; sys.stdin.readline(); sys.exit(3)",
            "the program ended at vector 'plain 1', with status 3",
        ),
        pytest.param(
            "import os; os.kill(os.getpid(), 9)",
            "the program ended at vector 'plain 1', with status -9",
            marks=GROUPS,
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
