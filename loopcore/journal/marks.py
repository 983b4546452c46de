"""Marks of a configuration: digests by which two of them can be told apart.

They are hints. A journal is true of any configuration under which it replays.
"""

from types import CodeType
from typing import Any, Final

from loopcore.codec import to_json
from loopcore.config import AnyConfig, Nested
from loopcore.frozen import FrozenDict, Json
from loopcore.hooks import Hooks
from loopcore.journal.digests import digest_of

PLAIN: Final = (str, int, float, bool, type(None), bytes)


def config_digest(config: AnyConfig) -> str:
    """A digest of everything in a configuration that is data."""
    return digest_of(_told(config))


def _told(config: AnyConfig) -> Json:
    wanted = config.wanted
    return [
        to_json(config.settings),
        [hook.name for hook in config.hooks],
        [_told(tool.config) for tool in config.tools if isinstance(tool, Nested)],
        wanted.schema if wanted else None,
        [config.optional, config.repairs, config.parallel],
        [config.steering, config.follow_ups],
    ]


def hook_digests(config: AnyConfig) -> FrozenDict[str]:
    """A digest of each hook's code, by its name."""
    return FrozenDict((hook.name, hook_digest(hook)) for hook in config.hooks)


def hook_digest(hook: Hooks) -> str:
    """A digest of a hook's functions: their code, and the plain values that they hold."""
    told = {point: _function(f) for point, f in hook.functions.items()}
    return digest_of([told, sorted(hook.tools or ()), hook.fail_closed])


def _function(function: Any) -> Json:  # noqa: ANN401  # any callable
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return type(function).__qualname__
    cells = getattr(function, "__closure__", None) or ()
    return [_code(code), [_held(cell) for cell in cells]]


def _held(cell: Any) -> Json:  # noqa: ANN401  # a cell of a closure
    try:
        value = cell.cell_contents
    except ValueError:  # it holds nothing yet
        return None
    return repr(value) if isinstance(value, PLAIN) else type(value).__qualname__


def _code(code: CodeType) -> Json:
    """Byte code and constants. Where a function stands in its file does not count."""
    consts = [_const(const) for const in code.co_consts]
    return [code.co_code.hex(), list(code.co_names), consts]


def _const(value: object) -> Json:
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, frozenset):  # its own order is by the hash seed
        return sorted(map(repr, value))  # pyright: ignore[reportUnknownArgumentType]
    return repr(value)
