"""What the engine takes, against the bare drawing of its rewards.

For each setting, the time of a simulation (PRAE-R with the profile ``unit`` on the paper's
instance, 8 replications, one worker) is divided by the time that NumPy's own generator takes to
draw as many numbers of the same family: SFC64, in blocks of 65,536, neither shifted nor used.
Below 1 the whole simulation, with its outliers, estimates and releases, is faster than that. The
aims, for a horizon of 1e6 under outliers: below 1.0 for Pareto, at most 1.15 for Student t.
Without outliers so little is drawn that the fixed cost of a replication is all there is; its last
column says what that is, per replication, in milliseconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

import stoic
from measure import interleaved, table
from stoic.environments import Instance
from stoic.policies import Policy

REPLICATIONS = 8
BLOCK = 65_536
SHAPE = 2.5
AIMS = {"pareto": 1.0, "student-t": 1.15}


def setting(family: str, alpha: float, horizon: int) -> tuple[Policy, Instance]:
    instance = stoic.instances.paper(family, alpha=alpha)
    policy = stoic.policies.create(
        "prae-r",
        arms=instance.size,
        horizon=horizon,
        epsilon=0.5,
        moments=instance.raw(2),
        contamination=alpha,
        profile="unit",
    )
    return policy, instance


def draw(family: str, n: int) -> None:
    """As many numbers as the engine drew, with NumPy's own sampler."""
    rng = np.random.Generator(np.random.SFC64(1))
    sample = {"pareto": rng.pareto, "student-t": rng.standard_t}[family]
    for start in range(0, n, BLOCK):
        sample(SHAPE, min(BLOCK, n - start))


def rows(horizons: list[int], alphas: list[float], repeats: int) -> Iterator[tuple[object, ...]]:
    for horizon in horizons:
        for family in AIMS:
            for alpha in alphas:
                policy, instance = setting(family, alpha, horizon)

                def play(policy: Policy = policy, instance: Instance = instance) -> int:
                    result = stoic.simulate(policy, instance, replications=REPLICATIONS, seed=1)
                    return int(result.draws.sum())

                n = play()
                runs = {"engine": play, "numpy": lambda f=family, n=n: draw(f, n)}
                took = interleaved(runs, repeats, time.process_time)
                engine, numpy = took["engine"].min(), took["numpy"].min()
                aim = f"{AIMS[family]:.2f}" if horizon == 10**6 and alpha else ""
                yield (
                    f"{family}, T = {horizon:.0e}, {alpha:.0%}",
                    f"{n:,}",
                    float(1e9 * engine / n),
                    float(1e9 * numpy / n),
                    f"{engine / numpy:.2f}",
                    f"{np.median(took['engine'] / took['numpy']):.2f}",
                    aim,
                    f"{1e3 * engine / REPLICATIONS:.2f}",
                )


def main() -> None:
    parser = argparse.ArgumentParser(description="Engine against the bare drawing of its rewards.")
    parser.add_argument("--horizon", type=float, nargs="+", default=[1e6, 1e5])
    parser.add_argument("--alpha", type=float, nargs="+", default=[0.02, 0.05, 0.1, 0.0])
    parser.add_argument("--repeats", type=int, default=15)
    given = parser.parse_args()
    head = ("instance", "rewards", "ns each", "NumPy ns", "ratio", "median", "aim", "ms a run")
    table(head, rows([int(t) for t in given.horizon], given.alpha, given.repeats))


if __name__ == "__main__":
    main()
