"""Many journals at once, over all cores where the platform can fork a process.

A configuration holds functions, which cannot be sent to another process, and so may a
journal; a forked one has them already.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from multiprocessing.pool import Pool

A = TypeVar("A")
B = TypeVar("B")

Told: TypeAlias = Callable[[int, int], None]
"""Is told how many are done, and of how many."""

FEW: Final = 64
"""So few are sooner done here than processes are started."""

ONE_PATH: Final = (
    "{}() takes journals, one after the other, but got {!r}. Write [path] for one file, "
    "and Path({!r}).glob('*.jsonl') for the files in a folder."
)

_WORK: list[tuple[Callable[[Any], Any], Sequence[Any]]] = []
"""What forked processes do, and with what: they have it from their parent."""


def several(name: str, given: Iterable[A]) -> tuple[A, ...]:
    """These, unless they are one path, whose letters would be taken for journals.

    Raises:
        TypeError: for a path.
    """
    if isinstance(given, str | PathLike):
        raise TypeError(ONE_PATH.format(name, given, str(given)))
    return tuple(given)


def each(
    work: Callable[[A], B],
    items: Sequence[A],
    workers: int | None = None,
    progress: Told | None = None,
) -> tuple[B, ...]:
    """What the work makes of each of these, in their order."""
    count = _workers(len(items)) if workers is None else workers
    found: list[B] = []
    for one in _done(work, items, count):
        found.append(one)
        if progress:
            progress(len(found), len(items))
    return tuple(found)


def _workers(items: int) -> int:
    # A forked process has no other thread than its own.
    if items < FEW or threading.active_count() > 1:
        return 1
    return os.cpu_count() or 1


def _done(work: Callable[[A], B], items: Sequence[A], workers: int) -> Iterator[B]:
    if workers <= 1 or not hasattr(os, "fork"):
        yield from map(work, items)
        return
    _WORK.append((work, items))
    try:
        with _pool(workers) as pool:
            size = max(1, min(32, len(items) // (workers * 4)))
            yield from pool.imap(_do, range(len(items)), size)
    finally:
        _WORK.pop()


def _pool(workers: int) -> "Pool":
    """Forked processes, deaf to Ctrl-C: it is their parent who hears it and ends them."""
    # Only who looks at many pays for the import.
    from multiprocessing import get_context  # noqa: PLC0415

    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return get_context("fork").Pool(workers)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)


def _do(place: int) -> Any:  # noqa: ANN401  # whatever comes of the work
    work, items = _WORK[-1]
    return work(items[place])
