"""Typed outputs: a run that wants a number ends with one, or says why not."""

from typing import Final

from attrs import define

from loopcore import AssistantMessage, UserMessage
from loopcore.events import MessageAdded, RunEnd, RunStart
from property_tests.world import Forks, Moment

NONE_YET: Final = AssistantMessage("0")
REPAIRS: Final = 1
SENT_BACK: Final = "Your reply could not be used"


@define(eq=False)
class Outputs(Forks):
    """D79, D85: a reply that does not fit is sent back, but steering goes first.

    It is sent back so often and no more, a refusal never; every follow-up counts anew.
    """

    sent: int = 0
    reply: AssistantMessage = NONE_YET

    def see(self, moment: Moment) -> None:
        root = moment.after.run_id
        steered = len(moment.after.steering) < len(moment.before.steering)
        for event in moment.effects.tell:
            if event.run_id != root:
                continue
            match event:
                case RunStart():
                    self.sent, self.reply = 0, NONE_YET
                case MessageAdded(message=AssistantMessage() as reply):
                    self.reply = reply
                case MessageAdded(message=UserMessage() as said):
                    self.hear(said.text, steered=steered)
                case RunEnd(stop=stop):
                    self.end(stop.reason)
                case _:
                    pass

    def hear(self, text: str, *, steered: bool) -> None:
        """A message of a user: a wish for another answer, or one that was queued."""
        if text.startswith("follow"):
            assert fits(self.reply) or self.reply.calls
            self.sent = 0
        if text.startswith(SENT_BACK):
            self.sent += 1
            assert not steered
            assert self.sent <= REPAIRS
            assert not fits(self.reply)
            assert self.reply.finish != "refusal"

    def end(self, reason: str) -> None:
        """The outer run is over."""
        if reason == "done":
            assert fits(self.reply)
        if reason == "output_error":
            assert not fits(self.reply)
            assert self.sent == REPAIRS or self.reply.finish == "refusal"


def fits(reply: AssistantMessage) -> bool:
    """Whether a reply is a number, as these programs say one."""
    return reply.text.isdecimal() and reply.finish != "refusal"
