"""Requests as the four wires have them, each judged by the rules of its own protocol."""

import json
from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve

from loopcore import CallModel
from loopcore_adapters.connect import WIRES
from loopcore_adapters.providers import PROVIDERS
from loopcore_adapters.wire import Encode, HttpRequest
from tests import chat_rules, gemini_rules, messages_rules, responses_rules
from tests.four_wires import wire_of

MODELS: Final[Mapping[str, str]] = {
    "chat": "acme:chatty",
    "responses": "openai:gpt-5.2",
    "messages": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-3-flash",
}
"""A model that is spoken to over each wire."""


def encoder(wire: str) -> Encode:
    """What makes the requests of that model."""
    provider = PROVIDERS.get(MODELS[wire].partition(":")[0])
    known = provider.wires if provider else WIRES
    return known[wire].encoder({})


def requests(call: CallModel) -> dict[str, HttpRequest]:
    """The same call over each wire, each time to a model of that wire."""
    return {wire: encoder(wire)(evolve(call, model=MODELS[wire])) for wire in MODELS}


def broken(wire: str, request: HttpRequest) -> list[str]:
    """Every rule of its protocol that a request breaks."""
    match wire:
        case "chat":
            return chat_rules.broken(request.body)
        case "responses":
            return responses_rules.broken(request.body)
        case "messages":
            return messages_rules.problems(request.body)
        case _:
            return _refused(request)


def broken_json(path: str, body: Any) -> list[str]:
    """The same of a request as a server saw it."""
    request = HttpRequest("POST", path, {}, json.dumps(body).encode())
    return broken(wire_of(path), request)


def _refused(request: HttpRequest) -> list[str]:
    try:
        gemini_rules.accept(request, gemini_rules.NEWER)
    except gemini_rules.Refused as refusal:
        return [str(refusal)]
    return []
