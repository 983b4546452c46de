"""What the tools of a server are called: names that every model service takes."""

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Final

LONGEST: Final = 64
FOREIGN: Final = re.compile(r"[^A-Za-z0-9_-]")
MARK: Final = 8


def fitting(name: str) -> str:
    """The name if it can be taken, else the nearest that can.

    >>> fitting("files.read")
    'files_read'
    """
    plain = FOREIGN.sub("_", name) or "_"
    return plain if len(plain) <= LONGEST else marked(name, name)


def marked(name: str, whole: str) -> str:
    """A name that nothing else has: its own beginning, and a digest of the whole."""
    digest = sha256(whole.encode(errors="replace")).hexdigest()[:MARK]
    return f"{FOREIGN.sub('_', name)[: LONGEST - MARK - 1]}_{digest}"


def named(
    tools: Iterable[str], prefix: str, known: Mapping[str, str]
) -> dict[str, str]:
    """What each tool is called. One that has a name keeps it, whatever comes later.

    Where two would get the same name, the one that had to change is marked.

    >>> named(["a.b", "a_b"], "", {})
    {'a_b': 'a_b', 'a.b': 'a_b_2e7336dc'}
    """
    names = dict(known)
    for tool in sorted(tools, key=lambda tool: fitting(prefix + tool) != prefix + tool):
        name = fitting(prefix + tool)
        taken = name in names.values()
        names.setdefault(tool, marked(name, prefix + tool) if taken else name)
    return names
