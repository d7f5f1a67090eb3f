"""Who does the work: this process, several processes, or a Dask cluster.

Tasks are pure functions of their arguments, so it does not matter who runs them, in which order or
how often; results come back as they are finished.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from typing import Any, TypeVar

from stoic.core import integer
from stoic.errors import InvalidParameter, LostWorkers, MissingExtra

__all__ = ["Workers", "as_completed"]

Item = TypeVar("Item")
Made = TypeVar("Made")

Workers = int | str
"""A number of processes on this machine (1: this one), or the address of a Dask scheduler
(``"tcp://..."``; ``"local"`` starts one here)."""

_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://.+:\d{1,5}")
_PATIENCE = 10  # seconds for a scheduler to answer


def as_completed(
    task: Callable[[Item], Made], items: Sequence[Item], workers: Workers
) -> Generator[tuple[int, Made], None, None]:
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
    tasks = (joblib.delayed(_alongside)(os.getpid(), task, pair) for pair in enumerate(items))
    with _unheard_interrupts():
        running = parallel(tasks)  # starts the processes
    try:
        yield from (pair for pair in running)  # a generator of ours, so that we close theirs
    except BrokenExecutor:
        raise LostWorkers("a worker process died; it may have run out of memory") from None
    finally:
        with warnings.catch_warnings():  # an interrupt stops what has not begun: that is no news
            warnings.simplefilter("ignore", UserWarning)
            running.close()


@contextlib.contextmanager
def _unheard_interrupts() -> Iterator[None]:
    """Processes started here never hear of Ctrl-C, which a terminal sends to all of them.

    It is up to this one to end them, without a traceback from each.
    """
    if threading.current_thread() is not threading.main_thread():  # it alone sets handlers
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is ignored here is so there
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _alongside(
    parent: int, task: Callable[[Item], Made], pair: tuple[int, Item]
) -> tuple[int, Made]:
    _end_with(parent)
    return _numbered(task, pair)


@functools.cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent, which tells nobody when it is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_dask(
    task: Callable[[Item], Made], items: Sequence[Item], address: str
) -> Iterator[tuple[int, Made]]:
    try:
        import distributed
    except ImportError:
        raise MissingExtra("distributed", extra="dask") from None
    with _connected(distributed, address) as client:
        # Not pure: a new run must not be answered from the memory of an old one.
        futures = client.map(_numbered, [task] * len(items), list(enumerate(items)), pure=False)
        for future in distributed.as_completed(futures, loop=client.loop):
            try:
                made = future.result()
            except (
                CancelledError,
                distributed.KilledWorker,
                distributed.comm.core.CommClosedError,
            ):
                raise LostWorkers(f"{address}: the scheduler or its workers are gone") from None
            yield made
            future.release()


def _connected(distributed: Any, address: str) -> Any:
    """A client of the scheduler at this address, or of one that is started here."""
    where: dict[str, Any] = {"address": address, "timeout": _PATIENCE}
    if address == "local":
        # Any free port for its dashboard, which cannot be left out: others may have the usual one.
        where = {"processes": True, "dashboard_address": "127.0.0.1:0"}
        where["silence_logs"] = logging.ERROR
    elif not _ADDRESS.fullmatch(address):
        raise InvalidParameter("scheduler", address, "must be like tcp://host:8786, or 'local'")
    # What goes wrong is raised; the log would say it again, at length.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        return distributed.Client(**where, set_as_default=False)
    except OSError as error:
        raise LostWorkers(f"{address}: no Dask scheduler answers there ({error})") from None


def _numbered(task: Callable[[Item], Made], pair: tuple[int, Item]) -> tuple[int, Made]:
    index, item = pair
    return index, task(item)
