"""UCB1, round by round: nanoseconds of a round here, and in river, MABWiser and SMPyBandits.

The rivals are installed apart from this project, for example (SMPyBandits needs an older SciPy)::

    python3 -m venv build/rivals
    build/rivals/bin/pip install numpy river mabwiser
    python3 -m venv build/rivals-old
    build/rivals-old/bin/pip install numba SMPyBandits 'scipy<1.14'
    .venv/bin/python benchmarks/ucb1.py --python build/rivals/bin/python build/rivals-old/bin/python

A rival that none of these interpreters can import is named and left out. Each plays as its users
would: choose an arm, look the reward up, tell it. Their rewards are drawn beforehand, and only the
loop is timed; ours include the drawing, the outliers and the regret at 200 checkpoints. Five arms,
Student's t with 2.5 degrees of freedom. All times are processor time, the best of several runs
that take turns.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterator

import numpy as np

ARMS = 5
RIVALS = ("river", "mabwiser", "smpybandits")
ROUNDS = {"river": 50_000, "mabwiser": 3_000, "smpybandits": 20_000}


# --- In a rival's interpreter: nothing here imports this project ---------------------------------


def river_run(rewards: list[list[float]]) -> None:
    from river import bandit

    arms = list(range(ARMS))
    policy = bandit.UCB(delta=1, seed=1)
    for row in rewards:
        arm = policy.pull(arms)
        policy.update(arm, row[arm])


def mabwiser_run(rewards: list[list[float]]) -> None:
    from mabwiser.mab import MAB, LearningPolicy

    arms = list(range(ARMS))
    policy = MAB(arms, LearningPolicy.UCB1(alpha=1), seed=1)
    policy.fit(arms, rewards[0])
    for row in rewards[1:]:
        arm = policy.predict()
        policy.partial_fit([arm], [row[arm]])


def smpybandits_run(rewards: list[list[float]]) -> None:
    from SMPyBandits.Policies import UCB

    policy = UCB(ARMS)
    policy.startGame()
    for row in rewards:
        arm = policy.choice()
        policy.getReward(arm, row[arm])


RUNS = {"river": river_run, "mabwiser": mabwiser_run, "smpybandits": smpybandits_run}


def measure_rival(name: str) -> None:
    """Print the nanoseconds of one round, as JSON: this is what a rival's interpreter runs."""
    rng = np.random.Generator(np.random.SFC64(1))
    rewards = (np.arange(ARMS) / 4 + rng.standard_t(2.5, (ROUNDS[name], ARMS))).tolist()
    RUNS[name](rewards[:100])
    start = time.process_time()
    RUNS[name](rewards)
    print(json.dumps(1e9 * (time.process_time() - start) / len(rewards)))


# --- Here ----------------------------------------------------------------------------------------


def available(name: str, pythons: list[str]) -> str | None:
    """The first of the interpreters in which the rival runs."""
    for python in pythons:
        if rival(name, python) is not None:
            return python
    return None


def rival(name: str, python: str) -> float | None:
    command = [python, "-W", "ignore", __file__, "--measure", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    except (OSError, subprocess.SubprocessError):
        return None
    return float(json.loads(done.stdout.splitlines()[-1]))


def here(rounds: int, alpha: float, compiled: bool) -> Callable[[], object]:
    import stoic
    from stoic.environments import Gaussian, Instance, StudentT
    from stoic.simulation import kernels

    instance = Instance(tuple(StudentT(2.5, arm / 4) for arm in range(ARMS)))
    instance = instance.contaminated(alpha, Gaussian(0.0, 50.0))
    policy = stoic.policies.create(
        "ucb1", arms=ARMS, horizon=rounds, moments=stoic.RawMoment(2, 1.0)
    )

    def play() -> None:
        honest = kernels._compiled
        if not compiled:
            kernels._compiled = lambda rounds: rounds  # as it is without numba
        try:
            stoic.simulate(policy, instance, replications=1, seed=1, checkpoints=200)
        finally:
            kernels._compiled = honest

    return play


def rows(pythons: list[str], rounds: int, repeats: int) -> Iterator[tuple[object, ...]]:
    from measure import seconds

    ours = {
        "stoic": (rounds, here(rounds, 0.0, compiled=True)),
        "stoic, 5% outliers": (rounds, here(rounds, 0.05, compiled=True)),
        "stoic without numba": (20_000, here(20_000, 0.0, compiled=False)),
    }
    found = {name: python for name in RIVALS if (python := available(name, pythons))}
    for name in RIVALS:
        if name not in found:
            print(f"LEFT OUT: {name} is in none of {', '.join(pythons) or 'no --python'}")
    times: dict[str, list[float]] = {name: [] for name in (*ours, *found)}
    for _, run in ours.values():
        run()  # compiles
    for _ in range(repeats):
        for name, (n, run) in ours.items():
            times[name].append(1e9 * seconds(run, time.process_time) / n)
        for name, python in found.items():
            took = rival(name, python)
            if took is not None:
                times[name].append(took)
    best = {name: min(one) for name, one in times.items()}
    for name, one in best.items():
        yield name, f"{one:,.0f}", f"{np.median(times[name]):,.0f}", f"{one / best['stoic']:,.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python", nargs="*", default=[], metavar="PATH", help="interpreters with rivals"
    )
    parser.add_argument("--rounds", type=int, default=1_000_000, help="of our own runs")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--measure", choices=RIVALS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure_rival(given.measure)
        return
    from measure import table

    head = ("UCB1, 5 arms", "ns a round", "median", "times stoic")
    table(head, rows(given.python, given.rounds, given.repeats))


if __name__ == "__main__":
    main()
