"""The official host: what broke off is gone on with, what is not the file is refused."""

from pathlib import Path

from loopcore_adapters.local.hub import TRIES, hub
from tests.weights_host import Host, serving
from tests.weights_told import BODY, WHOLE, Told, get, refusal


def test_a_file_is_fetched_checked_and_kept_under_its_name(tmp_path: Path) -> None:
    told = Told()
    with serving(Host(BODY)) as host:
        path = get(tmp_path / "new", hub(host.url), told=told)
    assert path == tmp_path / "new" / "tiny.gguf"
    assert path.read_bytes() == BODY
    assert host.asked == [("/some/page/resolve/main/tiny.gguf", "")]
    assert told.lines == [
        f"The weights of tiny are fetched, once: 0 MB into {tmp_path / 'new'}",
        "  from 127.0.0.1",
        WHOLE,
    ]
    assert told.marks[-1] == len(BODY)


def test_a_broken_connection_is_gone_on_with(tmp_path: Path) -> None:
    with serving(Host(BODY, cuts=[30_000, 20_000])) as host:
        assert get(tmp_path, hub(host.url)).read_bytes() == BODY
    assert [wanted for _, wanted in host.asked] == ["", "bytes=30000-", "bytes=50000-"]


def test_what_an_earlier_process_left_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(BODY[:40_000])
    told = Told()
    with serving(Host(BODY)) as host:
        assert get(tmp_path, hub(host.url), told=told).read_bytes() == BODY
    assert host.asked[0][1] == "bytes=40000-"
    assert told.lines[0].endswith("(0 MB are there already)")
    assert not (tmp_path / "tiny.gguf.part").exists()


def test_a_host_that_cannot_begin_in_the_middle_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(b"x" * 40_000)
    with serving(Host(BODY, ranges=False)) as host:
        assert get(tmp_path, hub(host.url)).read_bytes() == BODY
    assert len(host.asked) == 1


def test_a_whole_part_is_only_checked(tmp_path: Path) -> None:
    """Its process was ended between the last byte and the check."""
    (tmp_path / "tiny.gguf.part").write_bytes(BODY)
    with serving(Host(BODY)) as host:
        assert get(tmp_path, hub(host.url)).read_bytes() == BODY
    assert host.asked == []


def test_a_part_that_is_too_long_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.part").write_bytes(BODY + b"more")
    with serving(Host(BODY)) as host:
        assert get(tmp_path, hub(host.url)).read_bytes() == BODY
    assert host.asked[0][1] == ""


def test_a_host_may_send_on_to_another_address(tmp_path: Path) -> None:
    with serving(Host(BODY, moved=True)) as host:
        assert get(tmp_path, hub(f"{host.url}/")).read_bytes() == BODY
    assert [path for path, _ in host.asked][-1] == "/elsewhere"


def test_a_file_of_another_size_is_refused_before_a_byte_is_kept(
    tmp_path: Path,
) -> None:
    """Behind a hotel's login page everything is a success, and 5 kB long."""
    (tmp_path / "tiny.gguf.part").write_bytes(BODY[:40_000])
    with serving(Host(b"<html>log in", ranges=False)) as host:
        why = refusal(tmp_path, hub(host.url))
    assert "what it has there is not the file: it has another size (12 bytes)." in why
    assert (tmp_path / "tiny.gguf.part").read_bytes() == BODY[:40_000]


def test_a_host_without_the_file_says_so(tmp_path: Path) -> None:
    with serving(Host(BODY, status=404)) as host:
        why = refusal(tmp_path, hub(host.url))
    assert "127.0.0.1: it answers 404 Not Found." in why


def test_a_host_that_breaks_each_connection_is_given_up(tmp_path: Path) -> None:
    with serving(Host(BODY, cuts=[1000] * TRIES)) as host:
        why = refusal(tmp_path, hub(host.url))
    assert f"the connection broke {TRIES} times." in why
    assert (tmp_path / "tiny.gguf.part").read_bytes() == BODY[: 1000 * TRIES]


def test_a_host_that_gives_nothing_is_given_up_at_once(tmp_path: Path) -> None:
    with serving(Host(BODY, cuts=[0])) as host:
        why = refusal(tmp_path, hub(host.url))
    assert "127.0.0.1: it cannot be reached (" in why
    assert len(host.asked) == 1
