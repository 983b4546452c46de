"""How two updates of one field become one: the algebra of `|`.

Every rule is associative, and UNSET is its identity. A *value* goes to the later writer, a
*verdict* is joined, `inject` adds up.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from loopcore.frozen import UNSET, clean, constructor

Rule: TypeAlias = Callable[[Any, Any], Any]


@constructor
@frozen
class Allow:
    """A verdict on a tool call: it may run, and nobody need be asked."""


@constructor
@frozen
class Ask:
    """A verdict on a tool call: ask a person."""

    question: str = field(default="", converter=clean)


@constructor
@frozen
class Block:
    """A verdict on a tool call: it does not run; the model reads the reason."""

    reason: str = field(default="", converter=clean)


Verdict: TypeAlias = Allow | Ask | Block


def later(old: Any, new: Any) -> Any:  # noqa: ANN401  # any field's value
    """The later writer's value."""
    return old if new is UNSET else new


def strictest(old: "Verdict | Any", new: "Verdict | Any") -> Any:  # noqa: ANN401  # a verdict or UNSET
    """`Block > Ask > Allow`; of equals the earlier, two questions joined."""
    if new is UNSET or old is UNSET:
        return later(old, new)
    if isinstance(old, Ask) and isinstance(new, Ask):
        return Ask("\n".join(filter(None, (old.question, new.question))))
    return new if _rank(new) > _rank(old) else old


def _rank(verdict: object) -> int:
    return next(n for n, kind in enumerate(STRICT) if isinstance(verdict, kind))


STRICT: Final = (Allow, Ask, Block)


def any_stop(old: Any, new: Any) -> Any:  # noqa: ANN401  # bool, text or Stop
    """Any yes is a yes; the first is kept."""
    return old if old or new is UNSET else new


def give_up(old: Any, new: Any) -> Any:  # noqa: ANN401  # bool or UNSET
    """No beats yes: a budget must be able to say no."""
    if new is UNSET or old is UNSET:
        return later(old, new)
    return old and new


def both(old: Any, new: Any) -> Any:  # noqa: ANN401  # tuples of messages
    """Both, in order."""
    if new is UNSET or old is UNSET:
        return later(old, new)
    return old + new
