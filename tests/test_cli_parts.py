"""The parts of the command line: arithmetic, files, harmless text, pages, decisions."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from returns.result import Failure, Success
from rich.console import Console

from loopcore import Answer, Approve, Edit, Reject, RequestApproval, ToolCall, ToolSpec
from loopcore.cli import main
from loopcore.cli.arithmetic import BITS, LENGTH, NoNumber, value_of
from loopcore.cli.files import BYTES, NAMES, read_below
from loopcore.cli.harmless import harmless, one_line, spoken_value
from loopcore.cli.mistakes import Mistake, as_sentences
from loopcore.cli.page import Page
from loopcore.cli.person import decided
from loopcore.cli.terminal import ask
from loopcore.cli.tools import calculate, clock
from loopcore.frozen import freeze_object


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 * (3 + 4) ** 2", 98),
        ("-7 // 2 + +7 % 4 - 1 / 4", -1.25),
        ("2 ** -1", 0.5),
        ("round(2.567, 2) + round(2.5)", 4.57),
        ("MAX(1, 2, abs(-3)) + min(4, 5)", 7),
        ("floor(pi) + ceil(e) + sqrt(16)", 10.0),
        ("1e3\n", 1000.0),
    ],
)
def test_arithmetic_has_a_value(expression: str, value: float) -> None:
    assert value == value_of(expression)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("__import__('os').getcwd()", "There is no '__import__' in arithmetic."),
        ("(1).real", "There is no 'real' in arithmetic."),
        ("1 if 1 else 2", "There is no 'if' in arithmetic."),
        ("0x10", "There is no 'x' in arithmetic."),
        ("[1, 2]", "'[1, 2]' is not arithmetic."),
        ("1 < 2", "'1 < 2' is not arithmetic."),
        ("max(*[1])", "'max(*[1])' is not arithmetic."),
        ("sqrt", "'sqrt' is not arithmetic."),
        ("pi(2)", "'pi(2)' is not arithmetic."),
        ("~1", "'~1' is not arithmetic."),
        ("1 | 2", "'1 | 2' is not arithmetic."),
        ("sqrt(-1)", "'sqrt(-1)' is not arithmetic."),
        ("(-8) ** 0.5", "'(-8) ** 0.5' is not arithmetic."),
        ("round(1, -10 ** 9)", "'round(1, -10 ** 9)' is not arithmetic."),
        ("2 +", "'2 +' is not arithmetic."),
        ("", "'' is not arithmetic."),
        ("1 / 0", "This divides by zero."),
        ("0 ** -1", "This divides by zero."),
    ],
)
def test_what_is_not_arithmetic_is_refused(expression: str, said: str) -> None:
    with pytest.raises(NoNumber) as refused:
        value_of(expression)

    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    "expression",
    ["9 ** 9 ** 9", "10 ** 4000", "1e308 * 10", "2 ** 9999 * 2 ** 9999", "1e999"],
)
def test_arithmetic_that_would_take_long_is_refused(expression: str) -> None:
    with pytest.raises(NoNumber, match=f"past {BITS} bits"):
        value_of(expression)


@pytest.mark.parametrize("expression", ["1 + " * LENGTH + "1", "abc" * LENGTH])
def test_a_long_expression_is_refused_unread(expression: str) -> None:
    with pytest.raises(NoNumber, match=f"may have {LENGTH} characters"):
        value_of(expression)


@pytest.mark.parametrize("expression", ["(" * 499 + ")" * 499, "-" * 999 + "1"])
def test_a_deep_expression_ends(expression: str) -> None:
    with pytest.raises(NoNumber, match="is not arithmetic"):
        value_of(expression)


def test_calculate_says_a_number_or_why_not() -> None:
    assert Success("98") == calculate("2 * 49")
    assert Failure("This divides by zero.") == calculate("1 % 0")


def test_the_clock_says_where_it_stands() -> None:
    day, date, time, zone, _name = clock().split()

    assert (day[-3:], date.count("-"), time.count(":"), zone[0] in "+-") == (
        "day",
        2,
        2,
        True,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file in it, and a secret beside it."""
    folder = tmp_path / "here"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "notes.txt").write_text("Grüße")
    (tmp_path / "secret").write_text("secret")
    return folder


@pytest.mark.parametrize("path", ["sub/notes.txt", "sub/../sub/./notes.txt"])
def test_a_file_below_is_read(folder: Path, path: str) -> None:
    assert Success("Grüße") == read_below(folder, path)


@pytest.mark.parametrize("path", ["../secret", "sub/../../secret", "/etc/passwd"])
def test_no_path_leads_out(folder: Path, path: str) -> None:
    said = f"{path!r} is not below the current folder; only what is can be read."
    assert Failure(said) == read_below(folder, path)


def test_no_link_leads_out(folder: Path) -> None:
    (folder / "link").symlink_to("../secret")
    (folder / "out").symlink_to("..")

    for path in ("link", "out/secret"):
        assert "is not below" in read_below(folder, path).failure()


def test_a_link_that_stays_inside_is_followed(folder: Path) -> None:
    (folder / "link").symlink_to("sub/notes.txt")

    assert Success("Grüße") == read_below(folder, "link")


def test_hidden_files_are_left_alone(folder: Path) -> None:
    (folder / ".env").write_text("KEY=1")
    (folder / "link").symlink_to(".env")

    for path in (".env", "link", ".git/config"):
        assert Failure(f"{path!r} is hidden; hidden files are not read.") == read_below(
            folder, path
        )


def test_a_long_file_is_cut_between_characters(folder: Path) -> None:
    (folder / "long.txt").write_text("x" + "ü" * BYTES)

    text = read_below(folder, "long.txt").unwrap()

    assert text == f"x{'ü' * (BYTES // 2 - 1)}\n[cut here, of {2 * BYTES + 1} bytes]"


@pytest.mark.parametrize("data", [b"\x00text", b"\xff\xfe", b"ok" * BYTES + b"\xff"])
def test_only_text_is_read(folder: Path, data: bytes) -> None:
    (folder / "data.bin").write_bytes(data)
    is_text = data.startswith(b"ok")  # what comes after the cut is not looked at

    said = read_below(folder, "data.bin")

    assert (
        isinstance(said, Success)
        if is_text
        else Failure("'data.bin' is not text.") == said
    )


def test_bad_bytes_before_the_cut_are_no_cut_character(folder: Path) -> None:
    (folder / "data.bin").write_bytes(b"\xff" + b"x" * BYTES)

    assert Failure("'data.bin' is not text.") == read_below(folder, "data.bin")


def test_a_folder_says_what_it_holds(folder: Path) -> None:
    (folder / ".hidden").touch()
    (folder / "a.txt").touch()

    assert Failure("'.' is a folder. It holds: a.txt, sub/.") == read_below(folder, ".")
    assert Failure(
        "There is no file 'b.txt'. The folder holds: a.txt, sub/."
    ) == read_below(folder, "b.txt")
    assert Failure(
        "There is no file 'sub/no/b.txt'. The folder holds: notes.txt."
    ) == read_below(folder, "sub/no/b.txt")


def test_a_big_folder_is_cut_and_an_empty_one_said(folder: Path) -> None:
    (folder / "empty").mkdir()
    for n in range(NAMES + 3):
        (folder / "sub" / f"{n:03}").touch()

    assert read_below(folder, "empty").failure().endswith("It holds: nothing.")
    assert read_below(folder, "sub").failure().endswith("049, and 4 more.")


def test_what_is_no_file_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe")

    assert Failure("'pipe' is not a file.") == read_below(folder, "pipe")


@pytest.mark.parametrize("path", ["a\0b", "x" * 5_000, "ring"])
def test_a_path_that_cannot_be_is_refused(folder: Path, path: str) -> None:
    (folder / "ring").symlink_to("ring")

    assert Failure(f"{path!r} cannot be read.") == read_below(folder, path)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;title\x07", "␛[2J␛]0;title␇"),
        ("\x9b31m\x7f", "\\x9b31m\\x7f"),
        ("a\r\nb\rc", "a\nbc"),
        ("\u202egnp.exe\u2066", "\\u202egnp.exe\\u2066"),
        ("tab\t漢字 👩‍💻 é", "tab\t漢字 👩‍💻 é"),
    ],
)
def test_no_text_drives_the_terminal(text: str, shown: str) -> None:
    assert shown == harmless(text)


def test_names_and_values_stay_on_one_line() -> None:
    assert "a␊b c␛" == one_line("a\nb\tc\x1b")
    assert r"'\n\x1b\u202e'" == spoken_value("\n\x1b\u202e")


def test_only_what_is_decided_on_is_shown_whole() -> None:
    value = "x" * 100

    assert f"'{'x' * 58}…" == spoken_value(value)
    assert repr(value) == spoken_value(value, whole=True)


@pytest.fixture
def paper() -> io.StringIO:
    """What is printed."""
    return io.StringIO()


@pytest.fixture
def page(paper: io.StringIO) -> Page:
    """A page of it."""
    return Page(Console(file=paper, highlight=False))


def test_text_flows_in_pieces(page: Page, paper: io.StringIO) -> None:
    page.turn(1)
    for piece in ("\n\nOne", " line\n", "\n\n\n", "another.\n\n"):
        page.flow("text", piece)
    page.end()

    assert " 1  One line\n\n    another.\n" == paper.getvalue()


def test_a_long_line_is_not_wrapped(page: Page, paper: io.StringIO) -> None:
    page.line("word " * 100)

    assert 1 == paper.getvalue().count("\n")


def test_ends_of_lines_stand_in_a_column_as_terminals_count(
    page: Page, paper: io.StringIO
) -> None:
    for text in ("漢字", "abcd", "too long for it"):
        page.open("x", text)
        page.close(10, ("ok", "green"))

    assert ["    漢字      ok", "    abcd      ok", "    too long for it  ok"] == (
        paper.getvalue().splitlines()
    )


def test_what_follows_ctrl_c_begins_a_line(paper: io.StringIO) -> None:
    page = Page(Console(file=paper, force_terminal=True))
    page.interrupted()
    page.bare_line("aborted")
    page.flow("text", "One")
    page.interrupted()
    page.bare_line("aborted")

    assert "\naborted\n    One\naborted\n" == paper.getvalue()


ASKED = RequestApproval(
    "r.1.1.ask.0",
    ToolCall("transfer"),
    ToolSpec("transfer"),
    freeze_object({"to": "ACME", "cents": 4900}),
)


def typed(*lines: str) -> tuple[Answer | None, list[str]]:
    """What comes of these lines, and what was said meanwhile; then the input ends."""
    left: Iterator[str] = iter(lines)
    said: list[str] = []

    def ask(_question: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    return decided(ASKED, ask, said.append), said


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        (["y"], Approve()),
        (["  YES "], Approve()),
        (["n", ""], Reject()),
        (["no", " ask Ada "], Reject("ask Ada")),
        (["e", "", ""], Edit({"to": "ACME", "cents": 4900})),
        (["e", "EMCA", " 1 "], Edit({"to": "EMCA", "cents": 1})),
    ],
)
def test_a_person_decides(lines: list[str], value: object) -> None:
    answer, said = typed(*lines)

    assert (value, []) == (answer and answer.value, said)


@pytest.mark.parametrize("lines", [["l"], ["later"], [], ["n"], ["e", "EMCA"]])
def test_a_person_puts_it_off(lines: list[str]) -> None:
    assert (None, []) == typed(*lines)


def test_a_person_is_asked_until_it_is_clear() -> None:
    answer, said = typed("yikes", "e", "", "much", "2")

    assert answer is not None
    assert Edit({"to": "ACME", "cents": 2}) == answer.value
    assert [
        "That is none of these: y, n, e, l.",
        "That is not JSON: Expecting value: line 1 column 1 (char 0).",
    ] == said


def test_a_line_is_typed_to_a_question(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("yes\n"))

    assert "yes" == ask("Sure? ")
    with pytest.raises(EOFError):
        ask("And now? ")
    assert "Sure? And now? \n" == capsys.readouterr().out


def test_the_front_door_is_a_function(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["loopcore", "chat", "--help"])

    with pytest.raises(SystemExit) as end:
        main()

    assert 0 == end.value.code
    assert capsys.readouterr().out.startswith("Usage: loopcore chat [OPTIONS] [APP]")


@pytest.mark.parametrize(
    ("problem", "raised", "code"),
    [
        (KeyboardInterrupt(), click.exceptions.Exit, 130),
        (click.UsageError("no"), click.UsageError, 2),
        (BrokenPipeError(errno.EPIPE, "gone"), BrokenPipeError, None),
        (Mistake("no"), click.ClickException, 2),
        (OSError(errno.ENOENT, "No such file"), click.ClickException, 2),
        (KeyError("x"), click.ClickException, 1),
        (ValueError(), click.ClickException, 1),
    ],
)
def test_what_is_raised_becomes_an_exit_code(
    problem: BaseException, raised: type[Exception], code: int | None
) -> None:
    with pytest.raises(raised) as end, as_sentences(debug=False):
        raise problem

    assert code == getattr(end.value, "exit_code", None)
