"""What real servers streamed is one reply, told in one way, wherever its bytes are cut."""

from pathlib import Path
from typing import Final

import pytest

from loopcore import AssistantMessage
from tests.chat_reading import READING as CHAT
from tests.messages_reading import READING as MESSAGES
from tests.reading import Reading, cut
from tests.responses_reading import READING as RESPONSES

RECORDINGS: Final = Path(__file__).parent / "data" / "recordings"
READINGS: Final = {"chat": CHAT, "msg": MESSAGES, "resp": RESPONSES}
STREAMS: Final = [
    *("chat_01_text", "chat_03_length", "chat_04_tool_auto"),
    *("msg_01_text", "msg_05_length", "msg_03_tool_any"),
    *("resp_01_text", "resp_06_length", "resp_04_tool_auto"),
]


def reading(name: str) -> Reading:
    """Of the wire that a recording is of; it holds what was told against the reply."""
    return READINGS[name.partition("_")[0]]


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_stream_is_one_reply_wherever_it_is_cut(name: str) -> None:
    """In two, at every place."""
    body = (RECORDINGS / f"q05__{name}.txt").read_bytes()
    whole = reading(name).feed([body])
    assert isinstance(whole, AssistantMessage), whole

    other = [
        place
        for place in range(1, len(body))
        if reading(name).feed(cut(body, [place])) != whole
    ]

    assert other == []
