"""What the benchmarks share: runs in turn, and a table.

The runs that are compared take turns, so that whatever else the machine does meets all of them.
What disturbs a run only adds to its time: the best of several says most. What runs in one thread is
timed by its processor time, which a busy machine disturbs less than the clock on the wall.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

__all__ = ["interleaved", "seconds", "table"]


def seconds(run: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long one run takes, by the clock on the wall unless given another."""
    start = clock()
    run()
    return clock() - start


def interleaved(
    runs: Mapping[str, Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, np.ndarray]:
    """The times of every run, round by round; one round before, to warm up, is not counted."""
    for run in runs.values():
        run()
    rounds = [{name: seconds(run, clock) for name, run in runs.items()} for _ in range(repeats)]
    return {name: np.array([took[name] for took in rounds]) for name in runs}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as they come, the first column to the left; then how busy the machine was."""
    widths = [30, *(max(len(name), 9) + 2 for name in head[1:])]
    for row in itertools.chain([head], rows):
        first, *rest = (f"{cell:,.4g}" if isinstance(cell, float) else str(cell) for cell in row)
        cells = (f"{cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True))
        print(f"{first:{widths[0]}}" + "".join(cells), flush=True)
    print(
        f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    )
