"""`loopcore run`: what it shows, what it saves, and what it tells the shell."""

import importlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    LoopConfig,
    State,
    ToolCall,
    ToolSpec,
    advance,
)
from tests import standing_in
from tests.cli import HEAD, PAY, Shell, shell


@pytest.fixture
def sh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A shell, where `connect` gives models that need nothing."""
    monkeypatch.setitem(sys.modules, "loopcore_adapters", standing_in)
    with shell(tmp_path, monkeypatch) as one:
        yield one


def test_a_run_is_shown_as_it_goes(sh: Shell) -> None:
    sh.app(
        'app(["Let me look.\\n", call("weather", city="Paris")], "Rain.\\nTake one.")'
    )

    told = sh.loopcore("run", "app", "Umbrella?", "Or", "not?")

    assert [
        "run R · test:script · 2 tools",
        " 1  Let me look.",
        "    → weather  city='Paris'                                 ok   0 s",
        " 2  Rain.",
        "    Take one.",
        "done · 2 turns · 0 s",
    ] == told.lines
    assert ("", 0) == (told.err, told.code)


def test_the_tokens_and_what_they_cost_are_told(sh: Shell) -> None:
    sh.app(
        'app(AssistantMessage("Hi.", usage=Usage(400, 38, cache_read=12, cost=0.5)))'
    )

    told = sh.loopcore("run", "app", "Hi!")

    assert "done · 1 turn · 412 tokens in, 38 out, cost 0.5000 · 0 s" == told.lines[-1]


def test_another_config_of_a_module_is_run(sh: Shell) -> None:
    sh.app('app("Hi.")\nquiet = LoopConfig(model=config.model)')

    assert (
        "run R · test:script · 0 tools" == sh.loopcore("run", "app:quiet", "?").lines[0]
    )


def test_calls_that_run_together_are_told_apart(sh: Shell) -> None:
    sh.app(
        'app([call("weather", city="Paris"), call("weather", city="Rome")], "Rain.")'
    )

    assert {
        "    → weather  city='Paris'",
        "    → weather  city='Rome'",
        "    ← weather  city='Paris'                                 ok   0 s",
        "    ← weather  city='Rome'                                  ok   0 s",
        " 1  → weather  city='Paris'",
    } >= set(sh.loopcore("run", "app", "?").lines[1:5])


def test_calls_that_never_ran_are_shown(sh: Shell) -> None:
    sh.app(
        'app([call("weather", city="Paris"), call("wether", city="Rome")], "Hm.",'
        ' hooks=[Hooks(before_tool_call=lambda view: Block("no"))])'
    )

    assert [
        " 1  → weather  city='Paris'                                 blocked",
        "    → wether  city='Rome'                                   unknown_tool",
    ] == sh.loopcore("run", "app", "?").lines[1:3]


def test_nested_runs_show_their_calls_further_in(sh: Shell) -> None:
    sh.app(
        'app(call("ask", prompt="?"), call("weather", city="Rome"), "Rain.", "It rains.",'
        ' tools=[weather, LoopConfig(model="test:script", tools=[weather])'
        '.as_tool("ask", "Asks.")])'
    )

    assert [
        "      → weather  city='Rome'                                ok   0 s",
        "    → ask  prompt='?'                                       ok",
        " 2  It rains.",
    ] == sh.loopcore("run", "app", "?").lines[1:4]


def test_a_reply_that_a_hook_changed_is_shown_as_it_is_stored(sh: Shell) -> None:
    sh.app(
        'app("a secret", hooks=[Hooks(after_model_call=lambda view: '
        'AssistantMessage("[hidden]"))])'
    )

    assert [" 1  a secret", "    [hidden]"] == sh.loopcore("run", "app", "?").lines[1:3]


def test_a_second_try_is_told(sh: Shell) -> None:
    sh.app(
        'app(ModelError("too many", "rate_limit", status=429), "Hi.", hooks=[Hooks('
        "on_model_error=lambda view: RetryUpdate(retry=True, delay=0.001))])"
    )

    assert [
        " 1  rate_limit 429: too many; again in 0 s",
        "    Hi.",
    ] == sh.loopcore("run", "app", "?").lines[1:3]


def test_thinking_is_shown_to_who_asks_for_it(sh: Shell) -> None:
    sh.app('app([Thinking("Hm, hm."), "Hi."])')

    assert [" 1  Hi."] == sh.loopcore("run", "app", "?").lines[1:-1]
    assert [" 1  Hm, hm.", "    Hi."] == (
        sh.loopcore("run", "app", "?", "--thinking", "low").lines[1:-1]
    )


def test_no_model_drives_the_terminal(sh: Shell) -> None:
    sh.app(
        r'app(["\x1b[2J漢字", call("weather\x1b]0;x\x07", city="\x1b[31m\u202e")],'
        r' "\x9b1mBye.\r\n")'
    )

    told = sh.loopcore("run", "app", "?")

    assert [
        " 1  ␛[2J漢字",
        r"    → weather␛]0;x␇  city='\x1b[31m\u202e'                  unknown_tool",
        r" 2  \x9b1mBye.",
    ] == told.lines[1:-1]
    assert told.out.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("app", "last", "code"),
    [
        ('app("Hi.")', "done · 1 turn · 0 s", 0),
        (
            'app("Hi.", hooks=[Hooks(should_stop_after_turn=lambda view: "enough")])',
            "hook · 1 turn · 0 s",
            0,
        ),
        (
            'app("Hi.", hooks=[Hooks(should_stop_after_turn=lambda view: Stop("limit"))])',
            "limit · 1 turn · 0 s",
            1,
        ),
        ('app(ModelError("no", "auth"))', "model_error · 1 turn · 0 s", 1),
        (
            'app("Hi.", hooks=[Hooks(after_model_call=lambda view: 1 / 0)])',
            "hook_error · 1 turn · 0 s",
            1,
        ),
    ],
)
def test_the_exit_code_says_how_a_run_ended(
    sh: Shell, app: str, last: str, code: int
) -> None:
    sh.app(app)

    told = sh.loopcore("run", "app", "?")

    assert (last, code) == (told.lines[-1], told.code)


def test_why_a_run_failed_is_said(sh: Shell) -> None:
    sh.app('app(ModelError("bad key", "auth", status=401))')

    assert "auth 401: bad key" in sh.loopcore("run", "app", "?").lines[-2]


def test_ctrl_c_aborts_and_keeps_what_there_is(sh: Shell) -> None:
    sh.module(SLOW, "app")

    told = sh.loopcore("run", "app", "?", "--save", "kept.json")

    assert ["One moment", "aborted · 1 turn · 0 s · saved to kept.json"] == [
        line.removeprefix(" 1  ") for line in told.lines[1:]
    ]
    assert 130 == told.code
    saved = json.loads((sh.folder / "kept.json").read_text())["state"]
    assert "One moment" == saved["transcript"][1]["parts"][0]["text"]


def test_ctrl_c_cancels_a_tool(sh: Shell) -> None:
    sh.app('app(call("interrupt"), tools=[interrupt])')

    told = sh.loopcore("run", "app", "?")

    line = " 1  → interrupt                                             cancelled"
    assert [line, "aborted · 1 turn · 0 s"] == told.lines[1:]


def test_a_long_prompt_is_no_file(sh: Shell) -> None:
    told = sh.loopcore("run", "word." * 1000)

    assert 0 == told.code


def test_a_run_that_cannot_be_saved_is_told(sh: Shell) -> None:
    sh.app("app(lambda effect: __import__('os').mkdir('kept.json') or 'Hi.')")

    told = sh.loopcore("run", "app", "?", "--save", "kept.json")

    assert [" 1  Hi.", "done · 1 turn · 0 s"] == told.lines[1:]
    assert ("Error: Cannot write kept.json: Is a directory.\n", 2) == (
        told.err,
        told.code,
    )


SLOW = """
import asyncio, signal
from loopcore import *

async def slow(effect, tell):
    tell("One moment")
    signal.raise_signal(signal.SIGINT)
    await asyncio.Event().wait()

model = Model("test:slow", slow)
config, interpreter = LoopConfig(model=model), Interpreter(model)
"""


def test_an_approval_waits_where_nobody_is(sh: Shell) -> None:
    sh.app(PAY)

    told = sh.loopcore("run", "app", "Pay.")

    (saved,) = sh.folder.glob("*.json")
    assert [
        "run R · test:script · 2 tools",
        " 1  → transfer  to='ACME' cents=4900                        needs approval",
        "paused · saved to R.json · go on with:  loopcore run app --resume R.json",
    ] == told.lines
    assert 0 == told.code
    assert f"go on with:  loopcore run app --resume {saved.name}\n" in told.out


def test_what_is_decided_on_is_shown_as_a_whole(sh: Shell) -> None:
    sh.app(
        f'app(call("transfer", to="{"x" * 200}", cents=1), hooks=[Hooks('
        'before_tool_call=lambda view: Ask("Really?"))])'
    )

    told = sh.loopcore("run", "app", "Pay.")

    assert f"to='{'x' * 200}' cents=1" in told.lines[1]
    assert "    Really?" == told.lines[2]


def test_a_saved_run_goes_on(sh: Shell) -> None:
    sh.app(PAY)
    sh.loopcore("run", "app", "Pay.", "--save", "pay.json")
    sh.app(
        'app("Paid.", approve=lambda effect: effect.approve())',
    )

    told = sh.loopcore("run", "app", "--resume", "pay.json")

    assert [
        "run R · test:script · 2 tools",
        " 1  → transfer  to='ACME' cents=4900                        ok   0 s",
        " 2  Paid.",
        "done · 2 turns · 0 s · saved to pay.json",
    ] == told.lines


def test_a_run_that_went_on_does_not_pay_again(sh: Shell) -> None:
    sh.app(PAY)
    sh.loopcore("run", "app", "Pay.", "--save", "pay.json")
    sh.app('app("Paid.", approve=lambda effect: effect.approve())')
    sh.loopcore("run", "app", "--resume", "pay.json")

    told = sh.loopcore("run", "app", "--resume", "pay.json")

    assert ["done · 2 turns · 0 s · saved to pay.json"] == told.lines[1:]


def test_a_tool_that_was_under_way_is_shown_once(sh: Shell) -> None:
    config = LoopConfig(model="test:script", tools=[ToolSpec("weather", "Say it.")])
    asked = AssistantMessage([ToolCall("weather", {"city": "Paris"})])
    state, effects = advance(config, State.start(config, run_id="R"), "?").unwrap()
    (model,) = effects.perform
    assert isinstance(model, CallModel)
    state, _ = advance(config, state, model.reply(asked)).unwrap()
    (sh.folder / "r.json").write_bytes(state.dumps())
    sh.app('app("Rain.")')

    told = sh.loopcore("run", "app", "--resume", "r.json")

    assert [
        " 1  ← weather  city='Paris'                                 ok   0 s",
        " 2  Rain.",
    ] == told.lines[1:-1]


def test_a_saved_conversation_takes_another_prompt(sh: Shell) -> None:
    sh.app('app("Hi.", lambda effect: str(len(effect.messages)))')
    sh.loopcore("run", "app", "Hi!", "--save", "talk.json")
    sh.app("app(lambda effect: str(len(effect.messages)))")

    told = sh.loopcore("run", "app", "How many?", "--resume", "talk.json")

    assert " 1  3" == told.lines[1]


def test_what_was_in_the_middle_is_shown_when_it_goes_on(sh: Shell) -> None:
    sh.app(
        'app([call("transfer", to="ACME", cents=1), call("wether", city="Rome")], "Paid.")'
    )
    sh.loopcore("run", "app", "Pay.", "--save", "pay.json")
    sh.app('app("Paid.", approve=lambda effect: effect.reject("no"))')

    told = sh.loopcore("run", "app", "--resume", "pay.json")

    assert [
        " 1  → transfer  to='ACME' cents=1                           rejected",
        "    → wether  city='Rome'                                   unknown_tool",
        " 2  Paid.",
    ] == told.lines[1:-1]


NESTED = (
    'app(call("ask", prompt="?"), call("transfer", to="A", cents=1), "Paid.", "All paid.",'
    ' tools=[transfer, LoopConfig(model="test:script", tools=[transfer])'
    '.as_tool("ask", "Asks.")])'
)


def test_a_nested_run_goes_on_inside_its_parent(sh: Shell) -> None:
    sh.app(NESTED)
    told = sh.loopcore("run", "app", "Pay.", "--save", "pay.json")
    assert told.lines[1].endswith("needs approval")
    sh.app(
        NESTED.replace(
            'call("ask", prompt="?"), call("transfer", to="A", cents=1), ', ""
        )
        .replace("app(", "app(approve=lambda effect: effect.reject('no'), *[")
        .replace('"All paid.",', '"All paid."],')
    )

    told = sh.loopcore("run", "app", "--resume", "pay.json")

    assert [
        "      → transfer  to='A' cents=1                            rejected",
        " 1  → ask  prompt='?'                                       ok",
        " 2  All paid.",
    ] == told.lines[1:-1]


ASKING = """app("Hi.", services={"b": lambda data: 1}, hooks=[Hooks(
    transform_context=lambda view: None if view.answers else Need.service("a", "b")
)])"""


def test_a_run_without_a_reply_yet_goes_on(sh: Shell) -> None:
    sh.app(ASKING.replace('"b":', '"another":'))
    told = sh.loopcore("run", "app", "Hi!", "--save", "r.json")
    assert told.lines[1].startswith("paused · waiting for R.1.1.transform_context.")
    sh.app(ASKING)

    assert " 1  Hi." == sh.loopcore("run", "app", "--resume", "r.json").lines[1]


def test_one_word_is_a_prompt(sh: Shell) -> None:
    assert (
        standing_in.ANSWER == sh.loopcore("run", "Hello", "--json").json[-1]["output"]
    )


def test_a_tool_that_is_elsewhere_is_waited_for(sh: Shell) -> None:
    sh.app('app(call("press"), tools=[ToolSpec("press", elsewhere=True)])')

    told = sh.loopcore("run", "app", "Press.")

    assert told.lines[-1].startswith(
        "paused · waiting for press · saved to R.json · go"
    )


def test_how_to_go_on_names_what_the_run_was_given(sh: Shell) -> None:
    sh.app(PAY)
    sh.module(EXTRA, "my_extra")

    words = ("--model", "x:y", "--tools", "my_extra", "--save", "a b.json")
    told = sh.loopcore("run", "app", "Pay.", *words)

    assert told.lines[-1].endswith(
        "loopcore run app --resume 'a b.json' --model x:y --tools my_extra"
    )


EXTRA = '''
from loopcore import tool

@tool
def fetch(url: str) -> str:
    """Read a page."""
    return "A page."

@tool
def delete_file(path: str) -> str:
    """Delete a file."""
    return "Gone."

some = [fetch]
'''


def test_a_run_is_recorded(sh: Shell) -> None:
    sh.app(PAY)

    told = sh.loopcore("run", "app", "Pay.", "--journal", "runs/r1.jsonl")

    assert "run R · test:script · 2 tools · runs/r1.jsonl" == told.lines[0]
    lines = (sh.folder / "runs" / "r1.jsonl").read_text().splitlines()
    assert ["state", "input", "input"] == [
        next(key for key in ("state", "input") if key in json.loads(line))
        for line in lines
    ]


def test_without_an_app_a_model_is_asked_with_harmless_tools(sh: Shell) -> None:
    (sh.folder / "notes.txt").write_text("A note.")

    told = sh.loopcore("run", "Hi!", "--json")

    stored = [line["message"] for line in told.json if line["type"] == "MessageAdded"]
    results = {m["name"]: m["parts"][0]["text"] for m in stored if "call_id" in m}
    assert ("98", "A note.") == (results["calculate"], results["read_file"])
    assert {"calculate", "clock", "read_file"} == results.keys()
    assert standing_in.ANSWER == told.json[-1]["output"]


def test_without_an_app_the_model_and_the_tools_can_be_chosen(sh: Shell) -> None:
    sh.module(EXTRA, "my_extra")

    told = sh.loopcore("run", "Hi!", "--model", "x:y", "--tools", "my_extra:some")

    assert [
        "run R · x:y · 1 tool",
        " 1  → fetch  url='https://example.org/'                     ok   0 s",
        f" 2  {standing_in.ANSWER}",
    ] == told.lines[:-1]


def test_an_app_gets_another_model_and_more_tools(sh: Shell) -> None:
    sh.app('app("Hi.", tools=[weather])')
    sh.module(EXTRA, "my_extra")

    told = sh.loopcore("run", "app", "?", "--model", "x:y", "--tools", "my_extra:fetch")

    assert "run R · x:y · 2 tools" == told.lines[0]
    assert {
        "    ← weather  city='Paris'                                 ok   0 s",
        "    ← fetch  url='https://example.org/'                     ok   0 s",
    } <= set(told.lines)


def test_a_run_without_an_app_goes_on_with_its_own_model(sh: Shell) -> None:
    sh.module(f"{PAYING}", "my_pay")
    sh.loopcore(
        "run", "Pay.", "--model", "x:y", "--tools", "my_pay", "--save", "p.json"
    )

    told = sh.loopcore("run", "--resume", "p.json", "--tools", "my_pay")

    assert "run R · x:y · 1 tool" == told.lines[0]
    assert (
        "paused · saved to p.json · go on with:  loopcore run --resume p.json"
        in (told.lines[-1])
    )


PAYING = '''
from loopcore import tool

@tool(needs_approval=True)
def transfer(to: str, cents: int) -> str:
    """Send money."""
    return "sent"
'''


def test_a_resumed_conversation_can_go_on_with_another_model(sh: Shell) -> None:
    sh.app('app("Hi.")')
    sh.loopcore("run", "app", "Hi!", "--save", "talk.json")

    told = sh.loopcore("run", "app", "?", "--resume", "talk.json", "--model", "x:y")

    assert ["run R · x:y · 2 tools", f" 1  {standing_in.ANSWER}"] == told.lines[:2]


def test_system_and_thinking_reach_the_request(sh: Shell) -> None:
    sh.app('app("Hi.")')

    told = sh.loopcore(
        "run", "app", "?", "--system", "Be brief.", "--thinking", "high", "--json"
    )

    (asked,) = [line["effect"] for line in told.json if line["type"] == "Started"]
    assert ("Be brief.", "high") == (asked["system"], asked["thinking"])


def test_programs_get_json_lines(sh: Shell) -> None:
    sh.app('app(["Grüße \\x9b", call("weather", city="Paris")], "Bye.")')

    told = sh.loopcore("run", "app", "?", "--json")

    assert told.out.isascii()
    kinds = [line["type"] for line in told.json]
    assert ("RunStart", "RunEnd", "Result") == (kinds[0], kinds[-2], kinds[-1])
    assert {
        "type": "Result",
        "run_id": told.json[0]["run_id"],
        "output": "Bye.",
        "stop": {"reason": "done"},
        "waiting": [],
        "turns": 2,
        "usage": {},
        "seconds": told.json[-1]["seconds"],
        "saved": None,
    } == told.json[-1]


def test_a_request_is_told_without_its_messages_rather_than_with_none(
    sh: Shell,
) -> None:
    sh.app('app(call("weather", city="Paris"), "Bye.")')

    told = sh.loopcore("run", "app", "?", "--json").json

    effects = [line["effect"] for line in told if line["type"] in ("Started", "Ended")]
    assert [
        "CallModel",
        "CallModel",
        "RunTool",
        "RunTool",
        "CallModel",
        "CallModel",
    ] == [effect["type"] for effect in effects]
    assert not [effect for effect in effects if "messages" in effect]
    assert ["id", "model"] == [key for key in effects[0] if key in ("id", "model")]


def test_the_help_says_when_a_run_is_kept(sh: Shell) -> None:
    shown = " ".join(sh.loopcore("run", "--help").out.split())

    assert "Without both only a run that waits is saved" in shown
    assert "saved there again, in place of what was there, unless --save" in shown
    assert "A second Ctrl-C ends the program at once and saves nothing." in shown


def test_a_run_that_is_neither_named_nor_waits_leaves_no_file(sh: Shell) -> None:
    sh.app('app("Hi.")')

    sh.loopcore("run", "app", "?")

    assert ["app.py"] == [file.name for file in sh.folder.iterdir()]


def test_a_resumed_run_is_saved_where_it_was_unless_another_file_is_named(
    sh: Shell,
) -> None:
    sh.app('app(*["Hi."] * 3)')
    sh.loopcore("run", "app", "1", "--save", "a.json")
    first = (sh.folder / "a.json").read_bytes()

    sh.loopcore("run", "app", "2", "--resume", "a.json", "--save", "b.json")
    assert first == (sh.folder / "a.json").read_bytes()
    sh.loopcore("run", "app", "2", "--resume", "a.json")
    assert first != (sh.folder / "a.json").read_bytes()


def test_the_version_is_told(sh: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(sh.folder)])
    assert "loopcore, not installed as a package\n" == sh.loopcore("--version").out

    (sh.folder / "loopcore-9.8.dist-info").mkdir()
    (sh.folder / "loopcore-9.8.dist-info" / "METADATA").write_text("Version: 9.8\n")
    importlib.invalidate_caches()
    assert "loopcore 9.8\n" == sh.loopcore("--version").out


def test_programs_are_told_what_waits(sh: Shell) -> None:
    sh.app(PAY)

    result = sh.loopcore("run", "app", "Pay.", "--json", "--save", "p.json").json[-1]

    assert (None, "p.json", "RequestApproval", {"to": "ACME", "cents": 4900}) == (
        result["stop"],
        result["saved"],
        result["waiting"][0]["type"],
        result["waiting"][0]["arguments"],
    )


BROKEN = "x = 1\nconfig = nothing"

MISTAKES = {
    "no prompt": ("run", 'Give a prompt, in quotes: loopcore run "..."'),
    "an app alone": (
        "run app",
        "'app' alone is taken for the prompt, but it is a modu",
    ),
    "a config alone": ("run app:config", "'app:config' alone is taken for the prompt"),
    "no module": ("run nope ?", "There is no module 'nope' here."),
    "no module in a package": ("run no.pe ?", "There is no module 'no.pe' here."),
    "a file": ("run app.py ?", "'app.py' is a file; give its import path: 'app'."),
    "a path": ("run a/b.py ?", "'a/b.py' is a file; give its import path: 'a.b'."),
    "a fault": (
        "run broken ?",
        "'broken' cannot be imported: NameError: name 'nothing'",
    ),
    "a typo": ("run bad ?", "'bad' cannot be imported: SyntaxError: invalid syntax"),
    "an import": ("run lacks ?", "'lacks' cannot be imported: ModuleNotFoundError: No"),
    "no interpreter": ("run half ?", "'half' has no 'interpreter'. An APP is a module"),
    "no config": ("run app:other ?", "'app' has no 'other'. An APP is a module with"),
    "no LoopConfig": (
        "run app:interpreter ?",
        "'interpreter' of 'app' is a Interpreter",
    ),
    "no tools": ("run app ? --tools half", "There are no tools in 'half'."),
    "tools twice": ("run app ? --tools app:weather", "Two tools are named 'weather'"),
    "no provider": (
        "run app ? --model antropic:x",
        "connect('antropic:x'): no provider",
    ),
    "an empty prompt": ("run app ' '", 'Give a prompt, in quotes: loopcore run "..."'),
    "a journal": (
        "run app ? --journal app.py",
        "app.py exists already; give --journal",
    ),
    "a saved file": ("run app ? --save app.py", "app.py exists already; give --save"),
    "no state": ("run app --resume app.py", "app.py: is not JSON: Expecting value"),
    "a journal of another app": (
        "run other --resume j.jsonl",
        "Diverged at input 1 of j.jsonl (Prompt, turn 0): the request",
    ),
    "no module of tools": (
        "run app ? --tools nosuch",
        "There is no module 'nosuch' here. --tools takes the import path of a module",
    ),
    "no such tool": (
        "run app ? --tools app:nosuch",
        "'app' has no 'nosuch'. --tools takes the import path of a module",
    ),
    "no file": (
        "run app --resume nope.json",
        "Cannot read nope.json: No such file or d",
    ),
    "no folder": ("run app ? --save app.py/x", "Cannot write app.py/x: "),
    "a change": (
        "run app --resume done.json --system x",
        "--system and --thinking chan",
    ),
    "a prompt": (
        "run app Hi! --resume paused.json",
        "The run in paused.json waits for",
    ),
    "no chat": ("chat nope", "There is no module 'nope' here."),
}


@pytest.mark.parametrize(("command", "said"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_a_sentence(
    sh: Shell, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    sh.app(f'{PAY[:-1]}, "Hi.")')
    sh.module(BROKEN, "broken")
    sh.module("x = ", "bad")
    sh.module("import nothing_of_that_name", "lacks")
    sh.module("from app import config", "half")
    if "paused" in command:
        sh.loopcore("run", "app", "Pay.", "--save", "paused.json")
    if "jsonl" in command:
        sh.app('app("Hi.", tools=[weather])', "other")
        sh.loopcore("run", "app", "Hi!", "--journal", "j.jsonl")
    if "done" in command:
        sh.loopcore("run", "app", "Hi!", "--save", "done.json", "--model", "x:y")
    if "antropic" in command:
        monkeypatch.delitem(sys.modules, "loopcore_adapters")

    told = sh.loopcore(*shlex.split(command))

    assert told.err.splitlines()[-1].startswith(f"Error: {said}")
    assert ("", 2) == (told.out, told.code)


def test_a_mistake_can_be_looked_into(sh: Shell) -> None:
    sh.module(BROKEN, "broken")

    told = sh.loopcore("run", "broken", "?", "--debug")

    assert told.err.startswith("Traceback (most recent call last):")
    assert 'broken.py", line 2, in <module>' in told.err
    assert 2 == told.code


def test_a_fault_of_the_app_is_a_sentence_too(sh: Shell) -> None:
    sh.app('app("Hi.")\ninterpreter = interpreter.wrap(now=lambda: 1 / 0)')

    told = sh.loopcore("run", "app", "?")

    assert (
        "Error: ZeroDivisionError: division by zero (--debug shows where)"
        == (told.err.splitlines()[-1])
    )
    assert 1 == told.code


def test_it_is_a_module_that_can_be_run() -> None:
    shown = subprocess.run(  # this very program
        [sys.executable, "-m", "loopcore", "--help"],
        check=True,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )

    assert shown.stdout.startswith(b"Usage: loopcore [OPTIONS] COMMAND")


def test_an_output_of_a_type_is_told_as_json(sh: Shell) -> None:
    sh.module(
        f"""{HEAD}
import attrs, datetime

@attrs.frozen
class Recipe:
    title: str
    on: datetime.date

model = ScriptedModel('{{"today": {{"title": "pasta", "on": "2026-01-02"}}}}')
config = LoopConfig(model=model, output=dict[str, Recipe])
interpreter = Interpreter(model)
""",
        "app",
    )

    told = sh.loopcore("run", "app", "?", "--json")

    assert ("", 0) == (told.err, told.code)
    assert {"today": {"title": "pasta", "on": "2026-01-02"}} == told.json[-1]["output"]


def test_a_run_is_saved_past_a_link_that_waits_for_it(sh: Shell) -> None:
    """Nobody can foresee where it is written before it has its name."""
    victim = sh.folder / "victim"
    victim.write_text("mine")
    (sh.folder / "kept.json.new").symlink_to(victim)
    sh.app('app("Hi.")')

    sh.loopcore("run", "app", "?", "--save", "kept.json")

    assert "mine" == victim.read_text()
    assert {"app.py", "kept.json", "kept.json.new", "victim"} == {
        file.name for file in sh.folder.iterdir()
    }


def test_nothing_is_left_of_a_run_that_cannot_be_saved(sh: Shell) -> None:
    sh.app("app(lambda effect: __import__('os').mkdir('kept.json') or 'Hi.')")

    sh.loopcore("run", "app", "?", "--save", "kept.json")

    assert {"app.py", "kept.json"} == {file.name for file in sh.folder.iterdir()}
