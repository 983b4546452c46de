"""The official host: the file over HTTP, from where an earlier try stopped."""

from functools import partial
from typing import Final

import httpx

from loopcore_adapters.local.job import Failed, Job, Source

TIMEOUT: Final = httpx.Timeout(30, connect=5)
PARTIAL: Final = 206
TRIES: Final = 5
"""How often it goes on after a broken connection that brought something."""


def hub(address: str) -> Source:
    """The host at this address."""
    return Source(httpx.URL(address).host, partial(_fetch, address.rstrip("/")))


async def _fetch(address: str, job: Job) -> None:
    url = f"{address}/{job.weights.page}/resolve/main/{job.weights.file}"
    async with httpx.AsyncClient(timeout=TIMEOUT, follow_redirects=True) as client:
        await _complete(client, url, job)


async def _complete(client: httpx.AsyncClient, url: str, job: Job) -> None:
    for _ in range(TRIES):
        if job.have >= job.weights.size:
            return
        await _try(client, url, job)
    message = f"the connection broke {TRIES} times"
    raise Failed(message)


async def _try(client: httpx.AsyncClient, url: str, job: Job) -> None:
    """Go on until the connection breaks, which is no failure if something came."""
    had = job.have
    try:
        await _go_on(client, url, job)
    except httpx.HTTPError as problem:
        if job.have <= had:
            raise Failed(_why(problem)) from problem


async def _go_on(client: httpx.AsyncClient, url: str, job: Job) -> None:
    headers = {"accept-encoding": "identity"}
    if job.have:
        headers["range"] = f"bytes={job.have}-"
    async with client.stream("GET", url, headers=headers) as response:
        job.keep(_start(response, job))
        await _write(response, job)


async def _write(response: httpx.Response, job: Job) -> None:
    with job.part.open("ab", buffering=0) as file:
        async for data in response.aiter_bytes():
            file.write(data)
            job.got()


def _start(response: httpx.Response, job: Job) -> int:
    """From which byte on it answers. It must be the file that is known, by its size."""
    if not response.is_success:
        message = f"it answers {response.status_code} {response.reason_phrase}"
        raise Failed(message)
    start = job.have if response.status_code == PARTIAL else 0
    size = start + int(response.headers.get("content-length", -1))
    if size != job.weights.size:
        message = (
            f"what it has there is not the file: it has another size ({size} bytes)"
        )
        raise Failed(message)
    return start


def _why(problem: httpx.HTTPError) -> str:
    return f"it cannot be reached ({str(problem) or type(problem).__name__})"
