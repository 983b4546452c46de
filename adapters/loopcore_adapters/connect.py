"""`connect`: a model by its name."""

import json
import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final, NoReturn, cast

from loopcore import Model
from loopcore_adapters import chat, gemini, messages, responses
from loopcore_adapters.addresses import is_address, names_somebody
from loopcore_adapters.keys import Key, bare
from loopcore_adapters.loose import Json
from loopcore_adapters.providers import PROVIDERS, Provider
from loopcore_adapters.transport import Caller, Endpoint, Timeouts
from loopcore_adapters.wire import Wire

_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE: Final = re.compile(r"[\t -~]*")
WIRES: Final[Mapping[str, Wire]] = {
    "chat": chat.wire(),
    "responses": responses.wire(),
    "messages": messages.wire(),
    "gemini": gemini.wire(),
}
"""The protocols by their names, as one speaks them to whom one does not know."""

NAMED: Final = ("api_key", "base_url", "wire", "timeout", "headers")


def connect(
    model: str,
    /,
    *,
    api_key: Key = None,
    base_url: str | None = None,
    wire: str | None = None,
    timeout: float | Timeouts = 60,
    headers: Mapping[str, str] | None = None,
    **options: Json,
) -> Model:
    """A model: local, or behind a server that speaks a protocol known here.

    Nothing is sent before the model is called.

    Args:
        model: "provider:name". Any provider will do where `wire` and `base_url` are given.
        api_key: the key, or a function that gives it before each request; else it is the
            environment variable of the provider.
        base_url: where the server is, up to the part that all its paths begin with.
        wire: the protocol, if not the provider's own: "responses" is OpenAI's Responses,
            "chat" its Chat Completions, "messages" Anthropic's Messages, "gemini" Google's
            generateContent.
        timeout: seconds that the first byte, and each further one, may take; or
            `Timeouts`, which says more.
        headers: sent with each request.
        options: fields of each request, such as `temperature=0`.

    Raises:
        ValueError: saying what to give instead.
    """
    provider, _, name = model.partition(":")
    if not provider or not name:
        _refuse(model, "a model is named 'provider:name', such as 'openai:gpt-5.2'.")
    if provider == "local":
        remote = {"api_key": api_key, "base_url": base_url, "wire": wire}
        return _local(model, name, {**remote, "headers": headers}, options)
    found = _provider(model, provider, base_url, wire)
    _check_options(model, options)
    spoken = wire or next(iter(found.wires))
    endpoint = Endpoint(
        _url(model, base_url or found.urls.get(spoken, found.url)),
        _given(model, api_key) or _kept_key(model, found, needed=base_url is None),
        _headers(model, headers or {}),
        _timeouts(model, timeout),
    )
    used = found.wires.get(spoken) or WIRES[spoken]
    return Model(model, Caller(endpoint, used.encoder(options), used.decode, used.sign))


def _refuse(model: str, why: str) -> NoReturn:
    message = f"connect({model!r}): {why}"
    raise ValueError(message)


def _local(
    model: str, name: str, remote: Mapping[str, object], options: Mapping[str, Json]
) -> Model:
    given = [f"{word}=" for word, value in remote.items() if value is not None]
    if given:
        _refuse(model, f"a local model runs on this machine; leave out {given[0]}.")
    # Only who wants the embedded runtime pays for its import.
    from loopcore_adapters.local import connect_local  # noqa: PLC0415

    return connect_local(name, **options)


def _provider(
    model: str, name: str, base_url: str | None, wire: str | None
) -> Provider:
    found = PROVIDERS.get(name)
    if wire is not None and wire not in WIRES:
        _refuse(model, f"no wire {wire!r}; this version speaks {', '.join(WIRES)}.")
    if found is None and (wire is None or base_url is None):
        _refuse(model, _unknown(name))
    if found is None:
        return Provider(base_url or "")
    if base_url is None and not (found.url or found.urls):
        _refuse(
            model, f"{name} has a place for each of its users; give it as base_url=."
        )
    if wire and wire not in found.wires and base_url is None:
        _refuse(
            model, f"{name} speaks {', '.join(found.wires)}; for {wire} give base_url=."
        )
    return found


def _unknown(name: str) -> str:
    near = get_close_matches(name, [*PROVIDERS, "local"], 1)
    hint = (
        f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(PROVIDERS)}."
    )
    return f"no provider {name!r}. {hint} For a compatible server give wire= and base_url=."


def _given(model: str, key: object) -> Key:
    if isinstance(key, str):
        return key.strip()
    if key is None or callable(key):
        return cast("Key", key)
    kind = type(key).__name__  # alone: what it is may be shown nowhere
    _refuse(model, f"api_key= is of type {kind}; give text, or a function of none.")


def _kept_key(model: str, provider: Provider, *, needed: bool) -> str | None:
    if provider.key is None:
        return None
    key = os.environ.get(provider.key, "").strip()
    if needed and not key:
        _refuse(model, f"no API key. Set {provider.key} or pass api_key=.")
    return key or None


def _url(model: str, url: str) -> str:
    if not is_address(url):
        _refuse(
            model, f"base_url={bare(url)!r} is no address; write 'https://host/v1'."
        )
    if names_somebody(url):
        _refuse(
            model, "base_url holds a name or a password; pass api_key= or headers=."
        )
    return url


def _headers(model: str, headers: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in headers.items():
        pair = cast("tuple[object, object]", (name, value))
        if not all(isinstance(one, str) for one in pair):
            _refuse(model, f"headers: {name!r} and its value have to be text.")
        if not _HEADER.fullmatch(name):
            _refuse(model, f"headers: {name!r} is no name of a header.")
        if not _HEADER_VALUE.fullmatch(value):
            _refuse(model, f"headers[{name!r}] has a character that no header has.")
    return headers


def _timeouts(model: str, timeout: object) -> Timeouts:
    if isinstance(timeout, Timeouts):
        return timeout
    if not isinstance(timeout, int | float) or not timeout > 0:
        _refuse(model, f"timeout={timeout!r}; give a number of seconds above 0.")
    return Timeouts(min(timeout, Timeouts().connect), timeout, timeout)


def _check_options(model: str, options: Mapping[str, Json]) -> None:
    for name, value in options.items():
        near = get_close_matches(name, NAMED, 1, 0.85)
        if near:
            _refuse(
                model, f"{name}= would go into each request. Did you mean {near[0]}=?"
            )
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as problem:
            _refuse(model, f"the option {name}= is not JSON: {problem}.")
