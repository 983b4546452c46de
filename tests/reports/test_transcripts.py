"""Reports about transcripts: what is kept, cut, shown and mended."""

import json

import attrs
import pytest

import loopcore.messages
from loopcore import (
    AssistantMessage,
    Message,
    Prompt,
    Rejected,
    State,
    SystemMessage,
    Thinking,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    project,
    repair,
)
from loopcore.hooks import Hooks, TurnUpdate
from loopcore.policies import redact, sliding_window
from loopcore_adapters.chat import encode
from tests.driving import Run, begin, call, config, words
from tests.ways import every_way, scripted


def pair(name: str) -> list[Message]:
    """A call and its result."""
    asked = AssistantMessage(ToolCall("a", {}, name), finish="tools")
    return [asked, ToolResultMessage(name, "a", name)]


LONG: list[Message] = [
    UserMessage("task"),
    *(message for n in range(20) for message in pair(f"c{n}")),
]


@pytest.mark.parametrize("how", ["start", "prompt", "inject"])
def test_a_window_holds_however_the_messages_came(how: str) -> None:
    """Report 109."""
    said = [UserMessage(str(n)) for n in range(40)]
    inject = Hooks("more", prepare_next_turn=lambda _: TurnUpdate(said))
    cfg = config(sliding_window(12), *([inject] if how == "inject" else []))
    history = LONG if how == "start" else ()
    run = Run(cfg, State.start(cfg, run_id="r", transcript=history))
    run = run.give(Prompt(said if how == "prompt" else said[:1]))
    run = run.says("hi") if how == "inject" else run

    shown = run.one_request.messages
    assert len(shown) <= 13
    assert len(run.state.transcript) >= 40


def test_a_window_leaves_what_it_shows_as_it_was() -> None:
    """Report 110: the oldest are left out, none is shortened."""
    history = [UserMessage("1"), UserMessage("2"), *pair("x"), *pair("y"), *pair("z")]
    cfg = config(sliding_window(6, pin=0))
    run = Run(cfg, State.start(cfg, run_id="r", transcript=history)).give("go")

    assert all(any(m is old for old in history) for m in run.one_request.messages[:-1])
    assert ["assistant: →y", "y ok: y"] == words(run.one_request.messages)[:2]


@every_way
def test_a_window_never_begins_with_results(way: str) -> None:
    """Report 111: keep 2 of a round of five: the round is shown."""
    asked = [call("a", f"c{n}") for n in range(4)]
    cfg = config(sliding_window(2))
    played = scripted(way, cfg, asked, "ok", tools={"a": ["A"] * 4})

    assert "assistant: →c0 →c1 →c2 →c3" == words(played.requests[1].messages)[1]


@every_way
def test_a_rule_that_parts_a_pair_sends_no_orphan(way: str) -> None:
    """Report 112: keep the last message; in mid-run that is a result."""
    last = Hooks("last", transform_context=lambda view: view.messages[-1:])
    played = scripted(way, config(last), call("a"), "ok", tools={"a": ["A"]})

    assert ["a ok: A"] == words(played.requests[1].messages)
    sent = json.loads(encode(played.requests[1]).body)["messages"]
    assert ["user"] == [message["role"] for message in sent]  # servers want one
    assert "done" == played.reason


def test_a_history_with_an_open_call_is_refused_and_can_be_mended() -> None:
    """Report 113: once, with an error result, and every later run goes on."""
    history = [UserMessage("go"), pair("x")[0], UserMessage("on")]
    with pytest.raises(Rejected, match="not paired at message 2"):
        State.start(config(), run_id="r", transcript=history)
    mended = tuple(repair(history))
    run = Run(config(), State.start(config(), run_id="r", transcript=mended))
    run = run.give("and now?").says("ok").give("again").says("ok")

    assert 1 == sum("interrupted" in line for line in run.script)
    assert "done" == run.reason


def test_nothing_but_a_result_names_a_call() -> None:
    """Report 114: so what is left out leaves no reference behind."""
    records = [
        value
        for value in vars(loopcore.messages).values()
        if isinstance(value, type) and attrs.has(value)
    ]
    named = [
        record.__name__
        for record in records
        if any("call_id" in f.name for f in attrs.fields(record))
    ]

    assert ["ToolResultMessage"] == named


def test_a_system_message_never_slides_out() -> None:
    """Report 123: one that was stored as the first of 25 messages."""
    history: list[Message] = [
        SystemMessage("s"),
        *(UserMessage(str(n)) for n in range(24)),
    ]
    cfg = config(sliding_window(20, pin=0))
    run = Run(cfg, State.start(cfg, run_id="r", transcript=history)).give("go")

    assert "system: s" == words(run.one_request.messages)[0]
    assert 21 == len(run.one_request.messages)


@every_way
def test_a_thought_whose_text_is_hidden_loses_its_signature(way: str) -> None:
    """Report 124: what is untouched keeps it."""
    secret = AssistantMessage(
        [Thinking("the key is sk-1", "sig-1"), Thinking("fine", "sig-2"), call("a")],
        finish="tools",
    )
    cfg = config(redact(r"sk-\d"))
    played = scripted(way, cfg, secret, "ok", tools={"a": ["A"]})

    shown = played.requests[1].messages[1].parts[:2]
    assert (Thinking("the key is [redacted]"), Thinking("fine", "sig-2")) == shown
    assert secret.parts == played.state.transcript[1].parts


@pytest.mark.parametrize(("keep", "thoughts"), [(1, []), (4, ["why"])])
def test_a_thought_goes_with_the_call_it_led_to(keep: int, thoughts: list[str]) -> None:
    """Report 125: one that stands alone stays."""
    asked = AssistantMessage([Thinking("why"), call("x")], finish="tools")
    history: list[Message] = [
        UserMessage("go"),
        asked,
        pair("x")[1],
        UserMessage("on"),
    ]
    cfg = config(sliding_window(keep, pin=0))
    run = Run(cfg, State.start(cfg, run_id="r", transcript=history)).give("now")

    shown = project(run.one_request.messages)
    found = [p.text for m in shown for p in m.parts if isinstance(p, Thinking)]
    assert thoughts == found
    alone: list[Message] = [UserMessage("go"), AssistantMessage(Thinking("alone"))]
    assert alone == list(repair(alone))


def test_what_a_caller_gave_is_never_changed() -> None:
    """Reports 119, 120: whatever was given, none or some."""
    given: list[Message] = [UserMessage("before"), AssistantMessage("so")]
    for history in (given, []):
        before = list(history)
        cfg = config()
        run = Run(cfg, State.start(cfg, run_id="r", transcript=history)).give("go")
        run.says("hi")

        assert before == history


def test_a_system_prompt_is_the_configurations_whatever_history_holds() -> None:
    """Report 122."""
    cfg = config(system="Be brief.")
    history: list[Message] = [UserMessage("go"), AssistantMessage("hi")]
    run = Run(cfg, State.start(cfg, run_id="r", transcript=history)).give("on")

    assert "Be brief." == run.one_request.system
    assert "Be brief." == run.says("ok").give("more").one_request.system


def test_what_goes_out_is_adapted_and_what_is_stored_is_not() -> None:
    """Report 121: a call of a name that no wire takes."""
    run = begin(config()).says(ToolCall("no such tool!", {}, "c1"))
    before = run.state.dumps()
    sent = json.loads(encode(run.one_request).body)["messages"][1]["tool_calls"]

    assert "no such tool!" != sent[0]["function"]["name"]
    assert before == run.state.dumps()
