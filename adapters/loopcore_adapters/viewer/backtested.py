"""A backtest as pages: a cell for each journal, a table, and a page for each that changes."""

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import islice
from pathlib import Path, PurePath
from typing import Final

from loopcore.journal import Backtest, Change, Finding, Journal, TornLine
from loopcore_adapters.viewer.page import page
from loopcore_adapters.viewer.spies import AnyConfig

STYLE: Final = files("loopcore_adapters.viewer") / "assets" / "backtest.css"
COLOURS: Final = 8
"""So many hooks have a colour of their own; more of them begin again with the first."""

OWNER_ONLY: Final = 0o600

MOST: Final = 500
"""So many journals have a page of their own."""

PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Backtest · loopcore</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<p>{counts}</p>
<ul class="legend">{legend}</ul>
<div class="cells" role="list">{cells}</div>
<table>
<thead><tr><th>run</th><th>turn</th><th>what</th><th>old</th><th>new</th><th>hook</th></tr></thead>
<tbody>{rows}</tbody>
</table>
</body>
</html>
"""


def write_pages(
    found: Backtest, new: AnyConfig, folder: Path, *, redact: Sequence[str] = ()
) -> Path:
    """Write a backtest as pages in this folder; gives the first one, `index.html`.

    Each journal that changes has a page under the new configuration, which says where it
    leaves the record.

    Args:
        found: what the backtest found.
        new: the configuration that was tried.
        folder: where to.
        redact: what `Journal.read` was told to hide.

    Raises:
        FileExistsError: if there is such a page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    changed = dict.fromkeys(one.journal for one in found.findings if one.changes)
    links: dict[str, str] = {}
    for name in islice(changed, MOST):
        if past := _past(name, redact):
            links[name] = f"{len(links):04}.html"
            _write(folder / links[name], page(new, past))
    _write(folder / "index.html", index(found, links))
    return folder / "index.html"


def _past(name: str, redact: Sequence[str]) -> Journal | None:
    """The journal, if it is a file. That its last line is torn is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornLine)
        return Journal.read(name, redact=redact).value_or(None)


def _write(file: Path, text: str) -> None:
    with open(file, "x", encoding="utf-8", newline="\n", opener=_private) as opened:
        opened.write(text)


def _private(path: str, flags: int) -> int:
    """Open a page that its owner alone may read, as the journals that it shows."""
    return os.open(path, flags, OWNER_ONLY)


def index(found: Backtest, links: Mapping[str, str]) -> str:
    """The page of a whole backtest; `links` are the pages of journals, by their names."""
    colours = {hook: n % COLOURS for n, hook in enumerate(found.by_hook)}
    counts = {
        "same": len(found.same),
        "changed": sum(1 for one in found.findings if one.changes),
        "stale": len(found.stale),
        "broken": len(found.broken),
    }
    return PAGE.format(
        style=STYLE.read_text(encoding="utf-8"),
        title=f"{len(found.findings):,} journals",
        counts=" · ".join(f"{count:,} {name}" for name, count in counts.items()),
        legend="".join(_legend(found, colours)),
        cells="".join(_cell(one, colours, links) for one in found.findings),
        rows="".join(_row(change, links) for change in found.changed),
    )


def _legend(found: Backtest, colours: Mapping[str, int]) -> Iterable[str]:
    for hook, count in found.by_hook.items():
        named = escape(hook or "settings")
        yield f'<li><span class="cell c{colours[hook]}"></span> {named} {count:,}</li>'


def _cell(one: Finding, colours: Mapping[str, int], links: Mapping[str, str]) -> str:
    """A journal: in the colour of the first hook that changes something in it."""
    name = escape(PurePath(one.journal).stem, quote=True)
    kind = _kind(one, colours)
    said = escape(_said(one), quote=True)
    inside = f'class="cell {kind}" role="listitem" title="{name}: {said}"'
    link = links.get(one.journal)
    return f'<a href="{link}" {inside}></a>' if link else f"<span {inside}></span>"


def _kind(one: Finding, colours: Mapping[str, int]) -> str:
    if one.changes:
        return f"c{colours[one.changes[0].hook]}"
    return "stale" if one.stale else "broken" if one.broken else "same"


def _said(one: Finding) -> str:
    if one.changes:
        first = one.changes[0]
        return f"turn {first.turn}, {first.what}: {first.old} → {first.new}"
    return str(one.stale or one.broken or "the same")


def _row(change: Change, links: Mapping[str, str]) -> str:
    name = escape(PurePath(change.journal).stem)
    link = links.get(change.journal)
    shown = f'<a href="{link}">{name}</a>' if link else name
    cells = (change.turn, change.what, change.old, change.new, change.hook)
    return f"<tr><td>{shown}</td>{''.join(map(_td, cells))}</tr>\n"


def _td(value: object) -> str:
    return f"<td>{escape(str(value))}</td>"
