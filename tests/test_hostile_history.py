"""Requests of histories that nobody would write, and that some adapter, hook or server does."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

import loopcore_adapters
from loopcore import (
    AssistantMessage,
    CallModel,
    Image,
    Message,
    ToolCall,
    ToolResultMessage,
    ToolSpec,
    UserMessage,
)
from loopcore_adapters import chat, responses
from loopcore_adapters.connect import WIRES
from loopcore_adapters.providers import PROVIDERS
from loopcore_adapters.responses.dialect import LOCAL
from loopcore_adapters.wire import Encode
from tests import chat_rules, responses_rules
from tests.wire_rules import MODELS, broken, encoder

Json = Any

HI: Final = UserMessage("hi")
CAT: Final = Image("Y2F0", "image/png")
LOOK: Final = ToolSpec("look", "Looks.")


def asked(wire: str, *messages: Message, **more: Json) -> CallModel:
    """A call of the model that is spoken to over this wire."""
    return CallModel("i", MODELS[wire], messages, tools=(LOOK,), **more)


def rounds(wire: str, *ids: str, outcome: Json = "ok") -> list[Message]:
    """A reply of the model's own with these calls, and what came of them: a picture each."""
    calls = [ToolCall("look", {}, name) for name in ids]
    results = [ToolResultMessage(name, "look", [CAT], outcome) for name in ids]
    return [AssistantMessage(calls, model=MODELS[wire], finish="tools"), *results]


# Ids that our own words are.

OWN_WORDS: Final = sorted(
    {"seen", "images", "pictures"}
    | {
        word
        for file in Path(loopcore_adapters.__file__).parent.rglob("*.py")
        for word in re.findall(r'"([A-Za-z_]{1,40})"', file.read_text())
    }
)
"""Every word of the adapters: some of them may be a key that something is kept under."""


@pytest.mark.parametrize("outcome", ["ok", "error"])
@pytest.mark.parametrize("wire", WIRES)
def test_an_id_of_a_call_is_no_key_of_ours(wire: str, outcome: str) -> None:
    """What is kept of one message under one key is never served for another."""
    said = rounds(wire, *OWN_WORDS, outcome=outcome)
    assert broken(wire, encoder(wire)(asked(wire, HI, *said))) == []


def test_an_id_of_a_call_is_no_key_where_pictures_follow_results() -> None:
    said = rounds("responses", *OWN_WORDS)
    request = responses.Encoder(LOCAL)(asked("responses", HI, *said))
    server = responses_rules.Server(result_images=False)
    assert responses_rules.broken(request.body, server) == []
