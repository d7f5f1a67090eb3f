"""How long an agent takes for one user: ``python benchmarks/agent.py [--users N] [--repeats N]``.

Measured is a whole run to the horizon, so the releases at the end of every batch are part of it.
Each figure is the best of several repeats, since whatever else the machine does only adds; the
last column says how many calls of an empty Python function fit into the same time, measured in the
same rounds, which compares across machines. Aims: below 5 microseconds for one ask and one tell,
below 0.2 in blocks of 1,000. Successive elimination thinks after every round of two pulls, so it
has no blocks; it shows what a phase costs, and no aim is set for it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import stoic
from stoic.policies import Policy

AIMS = {"one at a time": 5.0, "in blocks of 1,000": 0.2}
BLOCK = 1000
SETTINGS = {
    "prae-r": {"epsilon": 1.0, "profile": "unit"},
    "prae-r, outliers": {"epsilon": 1.0, "profile": "unit", "contamination": 0.01},
    "prae-c": {"epsilon": 1.0, "profile": "unit"},
    "dprse": {"epsilon": 1.0, "profile": "unit"},
    "successive-elimination": {},
    "uniform": {},
}


def policy_of(setting: str, users: int) -> Policy:
    """Two arms that nothing ever tells apart, so that rewards are asked for to the end."""
    options = SETTINGS[setting]
    if setting != "uniform":
        options = {**options, "moments": stoic.CentralMoment(2, 1, (-10, 10))}
    return stoic.policies.create(setting.split(",")[0], arms=2, horizon=users, **options)


def agent_of(policy: Policy) -> stoic.Agent:
    noise, play = (np.random.Generator(np.random.SFC64([1, part])) for part in (0, 1))
    return stoic.Agent(policy, noise=stoic.SimulatedNoise(noise), rng=play)


def one_at_a_time(agent: stoic.Agent, users: int) -> None:
    for _ in range(users):
        agent.tell(agent.ask(), 0.5)


def in_blocks(agent: stoic.Agent, users: int) -> None:
    rewards = np.full(BLOCK, 0.5)
    dealt = 0
    while dealt < users:
        # A block ends where its batch does: nobody waits for others' rewards in this run.
        block = agent.ask_many(min(BLOCK, agent.open_slots))
        agent.tell_many(block, rewards[: len(block)])
        dealt += len(block)


def nothing() -> None:
    """What every call costs before it does anything."""


def empty_calls(users: int) -> None:
    for _ in range(users):
        nothing()


def seconds(run: Callable[[], None]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(setting: str, play: Callable[[stoic.Agent, int], None], users: int, repeats: int) -> tuple:
    """Microseconds for one user, and for one empty call in between: the best of the repeats."""
    policy, took, empty = policy_of(setting, users), [], []
    for _ in range(repeats):
        agent = agent_of(policy)
        took.append(seconds(lambda agent=agent: play(agent, users)))
        empty.append(seconds(lambda: empty_calls(users)))
        assert not agent.open_slots
    return 1e6 * min(took) / users, 1e6 * min(empty) / users


def main() -> None:
    parser = argparse.ArgumentParser(description="How long an agent takes for one user.")
    parser.add_argument("--users", type=int, default=100_000, help="in one run, one at a time")
    parser.add_argument("--repeats", type=int, default=20)
    given = parser.parse_args()
    ways = {"one at a time": (one_at_a_time, 1), "in blocks of 1,000": (in_blocks, 10)}
    print(f"{'':24}{'':20}{'microseconds':>12}{'aim':>8}{'empty calls':>13}")
    for setting in SETTINGS:
        for way, (play, times) in ways.items():
            every_round = setting == "successive-elimination"
            if every_round and way != "one at a time":
                continue
            users = times * given.users // (20 if every_round else 1)
            took, empty = best(setting, play, users, given.repeats)
            aim = "" if every_round else f"{AIMS[way]:.1f}"
            print(f"{setting:24}{way:20}{took:12.3f}{aim:>8}{took / empty:13.1f}")


if __name__ == "__main__":
    main()
