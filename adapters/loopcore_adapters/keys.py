"""Keys: got before each request, shown to nobody."""

import inspect
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, TypeAlias

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


def hide(
    result: AssistantMessage | ModelError, secrets: Iterable[str]
) -> AssistantMessage | ModelError:
    """The result, without these in its message: some servers repeat the key they refuse."""
    if not isinstance(result, ModelError):
        return result
    message = result.message
    for secret in secrets:
        if len(secret) >= SECRET:
            message = message.replace(secret, "[hidden]")
    return result if message == result.message else evolve(result, message=message)
