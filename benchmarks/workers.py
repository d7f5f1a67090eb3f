"""How much faster two workers are than one: the same study in this process and in processes.

The processes are started before the clock. Two things say what a busy machine hides. ``two halves
apart`` is the ceiling that the machine gave in the same rounds: two processes that share nothing,
with half of the work each. ``processor`` is the time that all processes together spent on a
processor: what two workers spend more than one is what sharing the work costs, and ``possible`` is
the speed-up that this leaves if each worker has a processor to itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable, Iterator

import numpy as np
import psutil

import stoic
from engine import setting
from measure import interleaved, table


def play(replications: range, jobs: int) -> None:
    policy, instance = setting("student-t", 0.05, 10**6)
    stoic.simulate(policy, instance, replications=replications, seed=1, jobs=jobs)


def halves(pool: Callable[..., object], replications: int) -> None:
    """Both halves of the replications at once, in processes that know nothing of each other."""
    middle = replications // 2
    pool(play, [(range(middle), 1), (range(middle, replications), 1)])


def spent() -> float:
    """Seconds on a processor, of this process and of all that it started."""
    me = psutil.Process()
    times = [one.cpu_times() for one in (me, *me.children(recursive=True))]
    return sum(one.user + one.system for one in times)


def rows(replications: int, workers: list[int], repeats: int) -> Iterator[tuple[object, ...]]:
    every = range(replications)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        runs: dict[str, Callable[[], object]] = {
            f"{n} worker{'s' * (n > 1)}": lambda n=n: play(every, n) for n in workers
        }
        runs["two halves apart"] = lambda: halves(pool.starmap, replications)
        took = interleaved(runs, repeats)
        on_processor = interleaved(runs, repeats, spent)
    one, alone = next(iter(took.values())), next(iter(on_processor.values())).min()
    for name, times in took.items():
        processor = on_processor[name].min()
        yield (
            name,
            f"{times.min():.2f}",
            f"{one.min() / times.min():.2f}",
            f"{np.median(one / times):.2f}",
            f"{processor:.2f}",
            f"{alone / processor * (2 if 'halves' in name else int(name.split()[0])):.2f}",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed-up from one worker to more.")
    parser.add_argument("--replications", type=int, default=64)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=7)
    given = parser.parse_args()
    print(f"PRAE-R, T = 1e6, Student t with 5% outliers, {given.replications} replications")
    head = ("", "seconds", "speed-up", "median", "processor", "possible")
    table(head, rows(given.replications, given.workers, given.repeats))


if __name__ == "__main__":
    main()
