"""Keys: got before each request, shown to nobody."""

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, Final, TypeAlias
from urllib.parse import quote, unquote_plus

from attrs import evolve

from loopcore import AssistantMessage, ModelError

Key: TypeAlias = str | Callable[[], str | Awaitable[str]] | None
"""A key, where to ask for it before each request, or none."""

SECRET: Final = 8
"""From how many characters on a key is hidden in errors: shorter ones are words."""


class NoKey(Exception):
    """There is no key to be had."""


async def ask(source: Key) -> str:
    """The key, empty if there is none. What is wrong with it is said without showing it."""
    key = (await _called(source) if callable(source) else source or "").strip()
    if not (key.isascii() and key.isprintable() and " " not in key):
        message = "The API key has a character in it that no key has."
        raise NoKey(message)
    return key


async def _called(source: Callable[[], str | Awaitable[str]]) -> str:
    try:
        given = source()
        key: Any = await given if inspect.isawaitable(given) else given
    except Exception as problem:
        message = f"api_key() raised {type(problem).__name__}."
        raise NoKey(message) from problem
    if isinstance(key, str) and key.strip():
        return key
    what = "blank text" if isinstance(key, str) else f"a {type(key).__name__}"
    message = f"api_key() gave {what}, not a key."
    raise NoKey(message)


def bare(address: str) -> str:
    """The address as it is shown: a name, a password, or a query may be a key.

    >>> bare("https://me:pw@host/v1?key=k#f")
    'https://host/v1'
    """
    shown = _NAMED.sub("//", _BEHIND.split(address, 1)[0])
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}{CUT}"


_BEHIND: Final = re.compile("[?#]")
_NAMED: Final = re.compile("//[^/]*@")
SHOWN: Final = 300
"""How many characters of an address are shown."""


def queried(address: str) -> tuple[str, ...]:
    """The values in the query of an address, as they stand there and as they are meant.

    >>> queried("https://host/v1?api-version=2024-10-21&key=a%2Bb")
    ('a%2Bb', 'a+b')
    """
    query = address.partition("?")[2].partition("#")[0]
    pairs = [pair.partition("=") for pair in query.split("&")]
    values = [value or name for name, _, value in pairs if name not in VERSIONS]
    return tuple(form for one in values if one for form in (one, unquote_plus(one)))


VERSIONS: Final = ("api-version", "api_version", "version")
"""What is no key, and what servers speak of."""


def hide(
    result: AssistantMessage | ModelError, secrets: Iterable[str]
) -> AssistantMessage | ModelError:
    """The result, without these in what it says: some servers repeat the key they refuse."""
    if not isinstance(result, ModelError):
        return result
    forms = {form for secret in secrets for form in _forms(secret)}
    longest_first = sorted(forms, key=len, reverse=True)
    message = _without(result.message, longest_first)
    request_id = result.request_id and _without(result.request_id, longest_first)
    if (message, request_id) == (result.message, result.request_id):
        return result
    return evolve(result, message=message, request_id=request_id)


def _forms(secret: str) -> Iterator[str]:
    """What to look for: it, its words ("Bearer ..."), and how JSON and URLs write them."""
    for form in (secret, *secret.split()):
        if len(form) >= SECRET:
            yield form
            yield json.dumps(form)[1:-1]
            yield quote(form, safe="")


def _without(said: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        said = said.replace(secret, HIDDEN)
        if CUT in said:
            said = _without_start(said, secret)
    return said


def _without_start(said: str, secret: str) -> str:
    """The text, without the start of a secret where it was shortened within it."""
    for length in range(len(secret) - 1, SECRET // 2 - 1, -1):
        if secret[:length] + CUT in said:
            return said.replace(secret[:length] + CUT, HIDDEN + CUT)
    return said


HIDDEN: Final = "[hidden]"
CUT: Final = "…"
"""What stands where a text was shortened."""
