"""`explain`: where a message, a field, a request or the stop of a recorded run came from."""

from collections.abc import Callable, Iterator
from typing import Final

from loopcore.config import AnyConfig
from loopcore.journal.explain.messages import message
from loopcore.journal.explain.others import memory, request, stop
from loopcore.journal.explain.past import Past, Unknown, folded
from loopcore.journal.explain.settings import setting
from loopcore.journal.journal import Journal
from loopcore.wording import one_line

__all__ = ["Unknown", "explain"]


def explain(config: AnyConfig, journal: Journal, what: int | str) -> str:
    """Where something of a recorded run came from, in a few lines of text.

    Args:
        config: what the run is.
        journal: the record.
        what: "stop"; "message 3" (from 1) or its number, or one field of it, such as
            "message 3.content"; "request" and the id of a request; "memory" and the name
            of a hook; "setting" and a name.

    Raises:
        Unknown: if the journal has no such thing.
        ValueError: for anything else.
    """
    past = folded(config, journal)
    asked = f"message {what}" if isinstance(what, int) else what.strip()
    name, _, rest = asked.partition(" ")
    tell = TELL.get(name)
    if tell is None:
        raise ValueError(WHAT.format(what))
    lines = [one_line(line) for line in tell(past, rest.strip())]
    return "\n".join([*lines, *past.notes])


TELL: Final[dict[str, Callable[[Past, str], Iterator[str]]]] = {
    "stop": stop,
    "message": message,
    "request": request,
    "memory": memory,
    "setting": setting,
}

WHAT: Final = (
    'explain() tells of "stop", "message 3", "message 3.content", "request r1.1.2.model.1", '
    '"memory NAME" or "setting model"; it got {!r}'
)
