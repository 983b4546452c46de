"""Bytes that are made once: they are the right ones, for whoever asks, and not for ever."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from loopcore import (
    AssistantMessage,
    CallModel,
    Message,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    project,
)
from loopcore_adapters.beginnings import Beginnings
from loopcore_adapters.connect import WIRES
from loopcore_adapters.pieces import Pieces
from tests.wire_rules import MODELS, encoder

HI: Final = UserMessage("hi")


def talk(turns: int, who: str = "") -> list[Message]:
    """A conversation of so many turns, whose call ids come again."""
    said: list[Message] = [UserMessage(f"hi {who}")]
    for turn in range(turns):
        call = ToolCall("look", {"turn": turn}, f"call|{turn % 3}")
        said += [
            AssistantMessage([call], model=MODELS["chat"], finish="tools"),
            ToolResultMessage(call.id, "look", f"{who} {turn}"),
        ]
    return said


class Spoken:
    """Makes bytes of messages, and counts how many."""

    def __init__(self) -> None:
        self.made = 0

    def speak(self, messages: Any, names: list[str]) -> Any:
        for message in messages:
            self.made += 1
            names.append(message.text)
            yield f"{len(names)}:{message.text}".encode()

    def of(self, known: Beginnings[list[str]], said: Any, key: object = 0) -> Any:
        return known.go_on(said, key, list, self.speak)


def fresh(said: Any) -> Any:
    """What is said of these by whoever saw nothing before."""
    return Spoken().of(Beginnings(), said)


def test_only_what_is_new_is_made() -> None:
    spoken, known, said = Spoken(), Beginnings[list[str]](), talk(50)
    for length in range(1, len(said) + 1, 2):
        assert spoken.of(known, said[:length]) == fresh(said[:length])
    assert spoken.made == len(said)


def test_the_same_again_is_made_once() -> None:
    """A retry shows what was shown."""
    spoken, known = Spoken(), Beginnings[list[str]]()
    assert spoken.of(known, [HI]) == spoken.of(known, [HI]) == (b"1:hi",)
    assert spoken.made == 1


def test_an_equal_message_is_another_one() -> None:
    spoken, known = Spoken(), Beginnings[list[str]]()
    spoken.of(known, [HI])
    assert spoken.of(known, [UserMessage("hi")]) == (b"1:hi",)
    assert spoken.made == 2


def test_another_end_goes_on_from_the_beginning_or_is_made_anew() -> None:
    """Two forks: the first takes what is known along, the second has the same bytes."""
    spoken, known, said = Spoken(), Beginnings[list[str]](), talk(3)
    spoken.of(known, said)
    for end in ("a", "b"):
        fork = [*said, UserMessage(end)]
        assert spoken.of(known, fork) == fresh(fork)


def test_what_a_later_result_may_change_is_not_kept() -> None:
    """A call without its result has a stand-in, until the result comes."""
    spoken, known, said = Spoken(), Beginnings[list[str]](), talk(1)
    open_call = said[:2]
    assert spoken.of(known, open_call) == fresh(open_call)
    displaced = [*open_call, UserMessage("and?"), said[2]]
    assert spoken.of(known, displaced) == fresh(displaced)
    assert [m.text for m in project(displaced)][2] == " 0"


def test_another_key_is_another_conversation() -> None:
    spoken, known = Spoken(), Beginnings[list[str]]()
    assert spoken.of(known, [HI], "a") == spoken.of(known, [HI], "b")
    assert spoken.made == 2


def test_there_is_room_for_so_many_bytes() -> None:
    """What was used last is kept."""
    size = sum(map(len, fresh(talk(2, "a"))))
    spoken, known = Spoken(), Beginnings[list[str]](room=2 * size)
    first, second, third = (talk(2, who) for who in "abc")
    for said in (first, second, first, third):
        spoken.of(known, said)
    assert spoken.made == 15
    spoken.of(known, first)
    assert spoken.made == 15
    spoken.of(known, second)
    assert spoken.made == 20


def test_pieces_that_have_no_room_are_made_again() -> None:
    made = list[object]()

    def make(message: object, _: None) -> bytes:
        made.append(message)
        return b"12345"

    pieces, (a, b, c) = Pieces(room=10), (object(), object(), object())
    for one in (a, b, a, b, c, b, a):
        assert pieces.get(one, None, make) == b"12345"
    assert made == [a, b, c, a]


@pytest.mark.parametrize("wire", WIRES)
def test_requests_that_are_made_at_once_do_not_mix(wire: str) -> None:
    """Reports 170, 171: one model serves many runs, in threads that know of no other."""
    encode, talks = encoder(wire), [talk(8, str(who)) for who in range(6)]

    def ask(number: int) -> tuple[CallModel, bytes]:
        said = talks[number % 6][: 1 + 2 * (number // 6)]
        call = CallModel("i", MODELS[wire], said, f"You are {number % 6}.")
        return call, encode(call).body

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ask, range(54), chunksize=1))
    for call, body in found:
        assert json.loads(body) == json.loads(encoder(wire)(call).body)
