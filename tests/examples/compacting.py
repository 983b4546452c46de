# compacting.py
from loopcore import UserMessage
from loopcore.hooks import ContextUpdate, ContextView, Hooks, Need
from returns.result import Failure, Success

def compacting(at: int = 40, keep: int = 10) -> Hooks:
    def shorten(view: ContextView) -> ContextUpdate | Need:
        upto, summary = view.memo
        recent = list(view.transcript[upto:])
        shown = [UserMessage(summary), *recent] if summary else recent
        if len(shown) <= at:
            return ContextUpdate(messages=shown)
        match view.answers.get("summary"):
            case Success(reply):
                upto = len(view.transcript) - keep
                return ContextUpdate(messages=[UserMessage(reply.text), *recent[-keep:]],
                                     memo=(upto, reply.text))
            case Failure():
                return ContextUpdate(messages=shown)        # no summary today: show it all
            case _:
                return Need.model("summary", [*shown[:-keep], UserMessage("Summarise the work so far.")])

    return Hooks("compacting", memo=(0, ""), transform_context=shorten)
