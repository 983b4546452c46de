"""Reading Chat Completions responses."""

from typing import Final

from loopcore import CallModel, UserMessage
from loopcore_adapters.chat import Decoder
from loopcore_adapters.loose import Json
from tests.reading import Reading

MODEL: Final = "test:model"
CALL: Final = CallModel("r1.1.1.model.1", MODEL, [UserMessage("hi")])


READING: Final = Reading(Decoder, CALL)
feed, result, reply, error = (
    READING.feed,
    READING.result,
    READING.reply,
    READING.error,
)


def calls(*body: bytes) -> list[tuple[str, dict[str, Json]]]:
    """The calls of the reply that this body is; none of them malformed."""
    found = reply(*body)
    assert all(not call.malformed for call in found.calls)
    assert found.finish == "tools"
    return [(call.name, dict(call.arguments)) for call in found.calls]


def ids(*body: bytes) -> list[str]:
    """The ids of the calls of the reply that this body is."""
    return [call.id for call in reply(*body).calls]
