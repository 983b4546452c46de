"""Server-sent events come out the same however the bytes are cut."""

from itertools import pairwise

import pytest

from loopcore_adapters.sse import Event, Events, TooLarge


def events(*reads: bytes) -> list[Event]:
    """What comes of these reads."""
    decoder = Events()
    found = [event for read in reads for event in decoder.feed(read)]
    return found + list(decoder.finish())


def data(*reads: bytes) -> list[str]:
    return [event.data for event in events(*reads)]


def cut(body: bytes, *places: int) -> list[bytes]:
    return [body[a:b] for a, b in pairwise((0, *places, len(body)))]


def test_an_event_ends_with_a_blank_line() -> None:
    assert data(b"data: a\n\ndata: b\n\n") == ["a", "b"]


def test_data_lines_are_joined_by_line_feeds() -> None:
    assert data(b"data: a\ndata:\ndata: b\n\n") == ["a\n\nb"]


def test_an_event_may_have_a_name() -> None:
    assert events(b"event: error\ndata: a\n\ndata: b\n\n") == [
        Event("a", "error"),
        Event("b", "message"),
    ]


def test_a_name_without_data_is_no_event_and_is_forgotten() -> None:
    assert events(b"event: error\n\ndata: b\n\n") == [Event("b", "message")]


def test_fields_that_nobody_needs_are_passed_over() -> None:
    assert data(b"id: 7\nretry: 10\nwhat: x\ndata: a\nalone\n\n") == ["a"]


def test_an_error_that_is_no_event_is_one() -> None:
    """Servers that break off say so in ways that the standard would pass over."""
    assert data(b'data: a\n\nerror: {"b":1}\n\n') == ["a", '{"b":1}']
    assert data(b': ping\n\n{"b": "c"}\n') == ['{"b": "c"}']
    assert data(b'{\n"b": 1\n}\n\n') == []


def test_one_space_after_the_colon_belongs_to_the_format() -> None:
    """Report 49: the space is optional. A second one is data."""
    assert data(b"data:a\n\ndata: b\n\ndata:  c\n\n") == ["a", "b", " c"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_may_end_in_any_way(end: bytes) -> None:
    """Report 47: CRLF and a lone CR mean the same as LF."""
    body = b"data: A\ndata: B\n\ndata: C\n\n".replace(b"\n", end)
    assert data(body) == ["A\nB", "C"]


def test_a_crlf_pair_may_be_cut() -> None:
    """Report 46: CR at the end of a read and LF in the next are one line end."""
    assert data(b"data: A\r\n", b"data: B\r", b"\ndata: C\r\n", b"\r\n") == ["A\nB\nC"]


def test_an_empty_read_does_not_part_a_crlf_pair() -> None:
    assert data(b"data: A\r", b"", b"\ndata: B\r\n\r\n") == ["A\nB"]


def test_an_event_that_ends_in_lone_crs_is_given_at_once() -> None:
    assert list(Events().feed(b"data: A\r\r")) == [Event("A")]


def test_a_character_may_be_cut_anywhere() -> None:
    """Report 44: "中" has three bytes."""
    body = 'data: {"a":"中"}\n\n'.encode()
    every = [data(*cut(body, place)) for place in range(len(body))]
    assert every == [['{"a":"中"}']] * len(body)
    assert data(*cut(body, *range(1, len(body)))) == ['{"a":"中"}']


def test_a_byte_that_is_no_text_becomes_a_replacement_character() -> None:
    assert data(b"data: a\xffb\n\n") == ["a\ufffdb"]


@pytest.mark.parametrize("places", [(), (1,), (2,), (1, 2), (3,)])
def test_one_leading_byte_order_mark_is_removed(places: tuple[int, ...]) -> None:
    """Report 48: whole or cut; only one, and only in front."""
    body = "\ufeffdata: \ufeffa\n\n\ufeffdata: b\n\n".encode()
    assert data(*cut(body, *places)) == ["\ufeffa"]


def test_comments_leave_nothing_behind() -> None:
    """Reports 50 and 51: bare colons and heartbeats, also alone in a read."""
    assert data(b":\n\n", b": WAIT\n\n", b":x\ndata: a\n:\n\n", b": ping\n\n") == ["a"]


def test_a_ping_has_empty_data() -> None:
    """Report 50: who reads the events passes over blank data."""
    assert events(b"event: ping\ndata:\n\n") == [Event("", "ping")]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r"])
def test_the_last_event_needs_no_blank_line(end: bytes) -> None:
    """Report 52: it is given when the stream is finished, not dropped."""
    decoder = Events()
    assert list(decoder.feed(b"data: a\ndata: b" + end)) == []
    assert list(decoder.finish()) == [Event("a\nb")]


def test_a_stream_without_events_has_none() -> None:
    assert data(b"") == []
    assert data(b"\n\n\r\n") == []


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_an_event_that_is_too_large_is_refused(size: int) -> None:
    """However it is cut, after the events before it."""
    body = b"data: a\n\ndata: " + b"x" * 90 + b"\ndata: y\n\n"
    decoder = Events(limit=100)
    reads = cut(body, *range(size, len(body), size))
    found = (event for read in reads for event in decoder.feed(read))
    assert next(found) == Event("a")
    with pytest.raises(
        TooLarge, match="an event of the stream has more than 100 bytes"
    ):
        next(found)


def test_a_line_that_never_ends_is_refused() -> None:
    decoder = Events(limit=100)
    with pytest.raises(TooLarge):
        list(decoder.feed(b"x" * 101))
