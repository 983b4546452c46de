"""A summary in place of what is old."""

from typing import Final

from returns.result import Failure, Success

from loopcore.frozen import dump_json
from loopcore.hooks import ContextUpdate, ContextView, Hooks, Need
from loopcore.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    Text,
    ToolResultMessage,
    UserMessage,
)
from loopcore.policies.given import refuse_unless_whole
from loopcore.policies.places import Place, places
from loopcore.policies.rounds import rounds
from loopcore.settings import ModelLike

WISH: Final = (
    "Summarise this conversation so that the work can go on from the summary alone: the "
    "task, what was decided and found out, names, numbers and paths, and what is left."
)
HEAD: Final = "Summary of the conversation so far:\n\n"


def compact(at: int, *, keep: int = 10, model: ModelLike | None = None) -> Hooks:
    """Show a summary of the older part once more than `at` messages would be shown.

    A model writes it (`model`, else the run's own), of whole rounds, with about `keep` of
    the newest messages left as they are. Each part is summarised once: a later summary is
    made of the earlier one and what came since. It is kept in the run's memory, so it is
    saved, forked and replayed with the run. The stored transcript stays whole. If no
    summary can be had, everything is shown. It is made of what the rules before this one
    show: what they hide stays hidden, and messages that they add are never summarised.

    Raises:
        ValueError: for a `keep` that is not below `at`.
    """
    refuse_unless_whole("compact", 1, at=at, keep=keep)
    if keep >= at:
        message = (
            f"compact({at}, keep={keep}): keep fewer than that, or nothing is gained"
        )
        raise ValueError(message)

    def shorten(view: ContextView) -> ContextUpdate | Need | None:
        upto, summary = _known(view)
        left = _since(upto, view)
        recent = tuple(message for message, _ in left)
        shown, cut = _with(summary, recent), _cut(recent, keep)
        old = [(message, place) for message, place in left[:cut] if place is not None]
        if len(shown) <= at or not old:
            return ContextUpdate(shown) if summary else None
        match view.answers.get("summary"):
            case None:
                asked = _asked(summary, tuple(message for message, _ in old))
                return Need.model("summary", asked, model=model)
            case Success(AssistantMessage() as reply) if reply.text.strip():
                added = tuple(message for message, place in left[:cut] if place is None)
                reached = max(place for _, place in old)
                memo = (reached + 1, reply.text, _mark(view.transcript[reached]))
                return ContextUpdate(
                    _with(reply.text, (*added, *recent[cut:])), memo=memo
                )
            case Success() | Failure():
                return ContextUpdate(shown) if summary else None

    return Hooks("compact", memo=NOTHING, transform_context=shorten)


NOTHING: Final = (0, "")


def _since(upto: int, view: ContextView) -> list[tuple[Message, Place]]:
    """What is shown and not summarised yet, and where it is stored."""
    found = places(view.messages, view.transcript)
    pairs = zip(view.messages, found, strict=True)
    return [pair for pair in pairs if pair[1] is None or pair[1] >= upto]


def _known(view: ContextView) -> tuple[int, str]:
    """How far the summary reaches: where its last message is, if others were taken away.

    Journals of an older loopcore remember no mark: there it is where it was.
    """
    upto, summary, *mark = view.memo
    if not mark:
        return (upto, summary) if upto < len(view.transcript) else (0, "")
    for reach in range(min(upto, len(view.transcript)), 0, -1):
        if [_mark(view.transcript[reach - 1])] == mark:
            return reach, summary
    return 0, ""


def _mark(message: Message) -> tuple[str, ...]:
    """What a message is known by when the stored transcript was rewritten.

    These are texts of its own, and no digest of them: in a record of which something was
    redacted, they and the message are hidden alike.
    """
    texts = (part.text for part in message.parts if isinstance(part, Text))
    match message:
        case AssistantMessage():
            return (*(call.id for call in message.calls), *texts)
        case ToolResultMessage():
            return (message.call_id, *texts)
        case _:
            return tuple(texts)


def _with(summary: str, recent: tuple[Message, ...]) -> tuple[Message, ...]:
    return (UserMessage(HEAD + summary), *recent) if summary else recent


def _cut(recent: tuple[Message, ...], keep: int) -> int:
    """Where the newest part begins: a place between rounds, never parting a pair."""
    begins = [group[0] for group in rounds(recent)]
    return max((place for place in begins if place <= len(recent) - keep), default=0)


def _asked(summary: str, old: tuple[Message, ...]) -> tuple[Message, ...]:
    """The old part as one text, so that no tool has to be offered to speak of its calls."""
    said = "\n".join(filter(None, map(_said, old)))
    before = f"{HEAD}{summary}\n\n" if summary else ""
    return (UserMessage(f"{WISH}\n\n{before}{said}"),)


def _said(message: Message) -> str:
    """One line of JSON, so that no text in it can pass for another message."""
    match message:
        case UserMessage():
            return dump_json({"user": message.text})
        case SystemMessage():
            return dump_json({"instruction": message.text})
        case AssistantMessage():
            calls = [f"{call.name}({call.text})" for call in message.calls]
            said = {"assistant": message.text}
            return dump_json({**said, "calls": calls} if calls else said)
        case ToolResultMessage():
            said = {"result of": message.name, "outcome": message.outcome}
            return dump_json({**said, "text": message.text})
        case _:
            return ""
