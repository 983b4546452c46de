"""The page of a journal: one HTML file that needs no server and asks no network."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any, Final

from loopcore import Message
from loopcore.journal import Journal
from loopcore_adapters.viewer.side import Side
from loopcore_adapters.viewer.spies import AnyConfig
from loopcore_adapters.viewer.tables import Tables
from loopcore_adapters.viewer.timeline import Timeline, timeline

ASSETS: Final = files("loopcore_adapters.viewer") / "assets"
SCRIPTS: Final = (
    "values.js",
    "past.js",
    "draw.js",
    "list.js",
    "align.js",
    "chart.js",
    "panels.js",
    "main.js",
)
"""One script when they are put together; each uses what stands before it."""

POLICY: Final = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


def page(
    config: AnyConfig,
    journal: Journal,
    other: Journal | None = None,
    *,
    at: int | None = None,
) -> str:
    """A page with a time slider over the inputs of a journal.

    A journal that does not replay under the configuration has a page too: it says what
    differs and where, and of what came later it shows what was recorded.

    Args:
        config: what the run is.
        journal: the record.
        other: the record of another run under the same configuration, such as a fork, to
            be shown beside it.
        at: the input at which the page opens; the last one unless given.
    """
    sides = [timeline(config, one) for one in (journal, other) if one is not None]
    return page_of(*sides, at=at)


def page_of(*sides: Timeline, at: int | None = None) -> str:
    """The page of one timeline, or of two side by side."""
    style = _asset("view.css")
    script = _script()
    slots = {
        "policy": POLICY.format(script=_hash(script), style=_hash(style)),
        "title": _escaped(f"{sides[0].run_id} · loopcore"),
        "style": style,
        "script": script,
        "data": embedded(_told(sides, at)),
    }
    return _filled(_asset("page.html"), slots)


def _told(sides: tuple[Timeline, ...], at: int | None) -> dict[str, Any]:
    tables, same = Tables(), dict[Message, int]()
    told = [Side(tables, one, same).told() for one in sides]
    return {"sides": told, "texts": tables.texts, "values": tables.values, "at": at}


def embedded(value: Any) -> str:  # noqa: ANN401  # any JSON
    r"""JSON that can stand in a script element, and be written as UTF-8.

    >>> embedded({"a": "</script><!--"})
    '{"a":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


UNSAFE: Final = re.compile("[<>&\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def _escaped(text: str) -> str:
    """Text that can stand in an element; what XML has no character for is left out."""
    return re.sub(r"[^\x20-\x7e\xa0-\ud7ff\ue000-\ufffd]", "\ufffd", text).translate(
        {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;"}
    )


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _script() -> str:
    return "".join(("(() => {\n", '"use strict";\n', *map(_asset, SCRIPTS), "})();\n"))


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _filled(template: str, slots: Mapping[str, str]) -> str:
    """The template with its slots filled; what fills one is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: slots[match[1]], template)
