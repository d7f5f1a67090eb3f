"""Who does the work: this process, several processes, or a Dask cluster.

Tasks are pure functions of their arguments, so it does not matter who runs them, in which order or
how often; results come back as they are finished.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from stoic.core import integer
from stoic.errors import MissingExtra

__all__ = ["Workers", "as_completed"]

Item = TypeVar("Item")
Made = TypeVar("Made")

Workers = int | str
"""A number of processes on this machine (1: this one), or the address of a Dask scheduler
(``"tcp://..."``; ``"local"`` starts one here)."""


def as_completed(
    task: Callable[[Item], Made], items: Sequence[Item], workers: Workers
) -> Iterator[tuple[int, Made]]:
    """The index and result of every item, in the order in which they are finished.

    >>> sorted(as_completed(abs, [3, -1], 1))
    [(0, 3), (1, 1)]
    """
    if isinstance(workers, str):
        yield from _on_dask(task, items, workers)
    elif integer("jobs", workers, at_least=1) == 1 or len(items) < 2:
        yield from ((index, task(item)) for index, item in enumerate(items))
    else:
        yield from _in_processes(task, items, int(workers))


def _in_processes(
    task: Callable[[Item], Made], items: Sequence[Item], workers: int
) -> Iterator[tuple[int, Made]]:
    try:
        import joblib
    except ImportError:
        raise MissingExtra("joblib", extra="lab") from None
    parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)
    running = parallel(joblib.delayed(_numbered)(task, pair) for pair in enumerate(items))
    with contextlib.closing(running):  # an interrupt stops what has not begun
        yield from running


def _on_dask(
    task: Callable[[Item], Made], items: Sequence[Item], address: str
) -> Iterator[tuple[int, Made]]:
    try:
        import distributed
    except ImportError:
        raise MissingExtra("distributed", extra="dask") from None
    where: dict[str, Any] = {"processes": True} if address == "local" else {"address": address}
    with distributed.Client(**where, set_as_default=False) as client:
        # Not pure: a new run must not be answered from the memory of an old one.
        futures = client.map(_numbered, [task] * len(items), list(enumerate(items)), pure=False)
        for future in distributed.as_completed(futures, loop=client.loop):
            yield future.result()
            future.release()


def _numbered(task: Callable[[Item], Made], pair: tuple[int, Item]) -> tuple[int, Made]:
    index, item = pair
    return index, task(item)
