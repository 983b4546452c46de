"""Lifecycle vectors about what a request shows."""

from typing import Any

import pytest

from loopcore import (
    CustomMessage,
    Message,
    ModelError,
    Prompt,
    Steer,
    UserMessage,
    project,
)
from loopcore.hooks import ContextView, Hooks
from tests.driving import Spy, begin, call, config, words
from tests.hooked import hooked


def last_two(view: ContextView) -> list[Message]:
    return list(view.messages)[-2:]


def test_a_shorter_request_changes_nothing_that_is_stored() -> None:
    """Vector 54: the transcript stays as it is."""
    run = begin(config(Hooks(transform_context=last_two))).says(call("a")).ran("a", "A")

    assert words(run.requests[1].messages) == ["assistant: →a", "a ok: A"]
    assert run.script == ["user: go", "assistant: →a", "a ok: A"]


def overwrite(view: Any) -> None:
    view.messages[0] = UserMessage("changed")


def test_what_a_request_shows_cannot_be_overwritten_in_place() -> None:
    """Vector 55: the source engine lets it leak into later requests; here it is a fault."""
    run = begin(config(Hooks(transform_context=overwrite)))

    assert (run.reason, run.stop.hook) == ("hook_error", "overwrite")
    assert run.script == ["user: go"]


def test_a_custom_message_is_stored_and_not_sent() -> None:
    """Vector 56: unless a hook turns it into a message."""
    run = begin(config(), Prompt([CustomMessage("note", 1), UserMessage("go")]))

    assert run.script == ["custom:", "user: go"]
    assert words(project(run.requests[0].messages)) == ["user: go"]


def notes(view: ContextView) -> list[Message]:
    return [
        UserMessage(f"note {message.data}")
        if isinstance(message, CustomMessage)
        else message
        for message in view.messages
    ]


def test_a_custom_message_that_was_steered_is_seen_at_once() -> None:
    """Vector 57: the source engine hides it until the next run (T12)."""
    run = begin(config(Hooks(transform_context=notes))).give(
        Steer(CustomMessage("n", 1))
    )
    run = run.says("hello")

    assert words(run.requests[1].messages)[-1] == "user: note 1"


def test_a_model_that_raises_is_no_fault_of_a_hook() -> None:
    """Vector 62: a failed reply (T6)."""
    run = begin(config()).fails("socket closed")

    assert (run.reason, run.stop.hook) == ("model_error", None)
    assert run.script == ["user: go", "assistant:"]


def test_a_key_is_none_of_a_runs_business() -> None:
    """Vector 63: keys belong to adapters, so there is no hook for them (T11)."""
    with pytest.raises(TypeError, match="get_api_key"):
        hooked("keys", get_api_key=Spy("secret"))


def test_thinking_is_its_own_and_other_options_pass_through() -> None:
    """Vector 64: neither overrides the other."""
    options = {"temperature": 0, "reasoning": "none"}
    run = begin(config(thinking="high", options=options))

    (request,) = run.requests
    assert (request.thinking, request.options) == ("high", options)


def test_a_request_that_cannot_be_made_says_so() -> None:
    """Vector 42: its text is the stop's."""
    run = begin(config()).fails(ModelError("no key", "auth"))

    assert run.stop.detail == "auth: no key"
