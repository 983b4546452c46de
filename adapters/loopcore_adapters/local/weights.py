"""Weights: fetched once, checked, and kept in the user's cache."""

import asyncio
import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from loopcore import ModelError
from loopcore_adapters.local.hub import hub
from loopcore_adapters.local.job import Failed, Job, Source
from loopcore_adapters.local.known import Weights
from loopcore_adapters.local.lock import alone
from loopcore_adapters.local.progress import MB, Progress
from loopcore_adapters.local.wheels import INDEX

STEP: Final = 2**20
OFFICIAL: Final = "https://huggingface.co"


class NoWeights(Exception):
    """There are no weights to be had. `error` is what a call answers."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(error.message)
        self.error = error


def cache(environ: Mapping[str, str] = os.environ) -> Path:
    """Where weights are kept: LOOPCORE_CACHE, else a folder in the user's cache."""
    if own := environ.get("LOOPCORE_CACHE"):
        return Path(own).expanduser()
    common = environ.get("XDG_CACHE_HOME") or environ.get("LOCALAPPDATA")
    return Path(common or "~/.cache").expanduser() / "loopcore"


def sources(environ: Mapping[str, str] = os.environ) -> tuple[Source, ...]:
    """Who may have them, in the order in which they are asked.

    HF_ENDPOINT names a mirror of the official host, as it does for that host's own tools.
    """
    return (hub(environ.get("HF_ENDPOINT") or OFFICIAL), INDEX)


async def fetch(
    weights: Weights, folder: Path, asked: Iterable[Source], progress: Progress
) -> Path:
    """The file of these weights, fetched if it is not there yet.

    Raises:
        NoWeights: saying what was tried.
    """
    target = folder / weights.file
    if _there(target, weights):
        return target
    try:
        lock = _made(folder) / f"{weights.file}.lock"
        job = Job(weights, folder / f"{weights.file}.part", progress)
        async with alone(lock, lambda: progress.say(ELSEWHERE.format(weights.name))):
            await _fetch(job, target, asked)
    except (OSError, sqlite3.Error) as problem:
        raise NoWeights(_unkept(weights, folder, str(problem))) from problem
    return target


ELSEWHERE: Final = "Another process is fetching the weights of {}; waiting for it."


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _there(target: Path, weights: Weights) -> bool:
    """Whether it is whole: it gets its name only after its bytes were checked."""
    return target.is_file() and target.stat().st_size == weights.size


async def _fetch(job: Job, target: Path, asked: Iterable[Source]) -> None:
    if _there(target, job.weights):  # by now: somebody else held the lock
        return
    _make_room(job)
    job.progress.say(_announcement(job))
    failures: list[str] = []
    for source in asked:
        job.progress.say(f"  from {source.name}")
        try:
            await source.fetch(job)
            await _check(job)
        except Failed as problem:
            failures.append(f"{source.name}: {problem}.")
            job.progress.say(f"  {failures[-1]}")
        else:
            job.part.replace(target)
            job.progress.say("  The file is whole: its checksum is right.")
            return
    raise NoWeights(_unfetched(job.weights, failures))


def _announcement(job: Job) -> str:
    weights, have = job.weights, job.have
    some = f" ({have / MB:.0f} MB are there already)" if have else ""
    return (
        f"The weights of {weights.name} are fetched, once: {weights.size / MB:.0f} MB "
        f"into {job.part.parent}{some}"
    )


def _make_room(job: Job) -> None:
    weights, folder = job.weights, job.part.parent
    if job.have > weights.size:
        job.keep(0)
    free = shutil.disk_usage(folder).free
    if free < weights.size - job.have:
        problem = f"only {free / MB:.0f} MB are free there"
        raise NoWeights(_unkept(weights, folder, problem))


async def _check(job: Job) -> None:
    """Refuse other bytes than the known ones, and delete them."""
    digest = hashlib.sha256()
    with job.part.open("rb") as file:
        while data := file.read(STEP):
            digest.update(data)
            await asyncio.sleep(0)
    if digest.hexdigest() == job.weights.sha256:
        return
    job.part.unlink()
    message = (
        f"the file is damaged: its sha256 is {digest.hexdigest()}, "
        f"not {job.weights.sha256}; it was deleted"
    )
    raise Failed(message)


def _unkept(weights: Weights, folder: Path, problem: str) -> ModelError:
    message = (
        f"The weights of {weights.name!r} ({weights.size / MB:.0f} MB) cannot be kept in "
        f"{folder}: {problem}. Make room there, or name another folder in LOOPCORE_CACHE."
    )
    return ModelError(message, "raised")


def _unfetched(weights: Weights, failures: Iterable[str]) -> ModelError:
    message = (
        f"The weights of {weights.name!r} ({weights.size / MB:.0f} MB) could not be "
        f"fetched. {' '.join(failures)} What came so far is kept: call again once the "
        "network is back, or name a file of your own, connect('local:/path/to/it.gguf')."
    )
    return ModelError(message, "network")
