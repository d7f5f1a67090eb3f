"""Time and memory as the horizon grows from 1e4 to 1e9, and the number of arms from 2 to 1,000.

One replication each, with 200 checkpoints. ``decided`` is PRAE-R without outliers: once one arm is
left nothing is drawn. ``undecided`` is PRAE-R under 5% of outliers, whose radius never gets small
enough for all arms, so it draws to the end. Memory is the peak of what Python and NumPy allocate
during a run (tracemalloc), in a run apart from the one that is timed.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Iterator

import stoic
from measure import seconds, table
from stoic.environments import Gaussian, Instance, StudentT

POLICIES = {"decided": 10**9, "undecided": 10**9, "ucb1": 10**8}  # and how far they are taken
HORIZONS = [10**power for power in range(4, 10)]
ARMS = [2, 5, 10, 30, 100, 300, 1000]
CHECKPOINTS = 200


def instance_of(arms: int, alpha: float) -> Instance:
    """Arms of Student's t, their means spread from 100 to 0."""
    laws = tuple(StudentT(2.5, loc=100 - 100 * i / (arms - 1)) for i in range(arms))
    return Instance(laws).contaminated(alpha, Gaussian(0.0, 50.0))


def row(name: str, arms: int, horizon: int) -> tuple[object, ...]:
    alpha = 0.05 if name == "undecided" else 0.0
    instance = instance_of(arms, alpha)
    common = {"arms": arms, "horizon": horizon, "moments": instance.raw(2)}
    if name == "ucb1":
        policy = stoic.policies.create("ucb1", **common)
    else:
        private = {"epsilon": 0.5, "contamination": alpha, "profile": "unit"}
        policy = stoic.policies.create("prae-r", **common, **private)

    def play() -> stoic.simulation.Result:
        return stoic.simulate(policy, instance, replications=1, seed=1, checkpoints=CHECKPOINTS)

    took = seconds(play, time.process_time)
    if took < 1:
        took = min(took, *(seconds(play, time.process_time) for _ in range(4)))
    tracemalloc.start()
    result = play()
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    drawn = int(result.draws[0])
    left = int((result.eliminated_at[0] < 0).sum())
    return (
        f"{name}, K = {arms}",
        f"{horizon:.0e}",
        f"{drawn:,}",
        left,
        float(took),
        float(1e9 * took / horizon),
        f"{held / 1e6:.2f}",
    )


def rows(longest: int, most: int) -> Iterator[tuple[object, ...]]:
    row("ucb1", 2, 1000)  # compiles
    for name, limit in POLICIES.items():
        for horizon in HORIZONS:
            if horizon <= min(limit, longest):
                yield row(name, 5, horizon)
    for name in POLICIES:
        for arms in ARMS:
            if arms <= most:
                yield row(name, arms, 10**6)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory as horizon and arms grow.")
    parser.add_argument("--longest", type=float, default=1e9, help="horizon to go to")
    parser.add_argument("--most", type=int, default=1000, help="arms to go to")
    given = parser.parse_args()
    head = ("policy", "rounds", "rewards drawn", "arms left", "seconds", "ns a round", "peak MB")
    table(head, rows(int(given.longest), given.most))


if __name__ == "__main__":
    main()
