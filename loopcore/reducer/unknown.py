"""What a model is told about a tool that does not exist: the nearest ones, then the rest."""

from collections.abc import Iterable
from typing import Final

from loopcore.tools import ToolSpec, near

MOST_NAMES: Final = 50


def unknown(tools: Iterable[ToolSpec], name: str) -> str:
    """There is no such tool; which may have been meant, and which there are."""
    names = [tool.name for tool in tools]
    if not names:
        return f"There is no tool {name!r}; no tools are available now."
    found = near(name, names)
    rest = [other for other in names if other not in found][:MOST_NAMES]
    hint = f" Did you mean {' or '.join(map(repr, found))}?" if found else ""
    listed = f" Available: {', '.join((*found, *rest))}."
    return f"There is no tool {name!r}.{hint}{listed}"
