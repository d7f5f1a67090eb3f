"""The live path and the simulation engine play the same game: their regret has the same law."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoic
from helpers.goodness import same_law
from helpers.live import Clock, database

pytestmark = [pytest.mark.live, pytest.mark.statistical, pytest.mark.slow]

HORIZON, EPSILON = 200, 2.0
LIVE, ENGINE = 72, 3000
ALARM = 1e-9
DAY = 86_400.0
SETTING = {
    "policy": "prae-r",
    "horizon": HORIZON,
    "moments": stoic.RawMoment(2, 1),
    "profile": "unit",
    "delta": 0.2,
}
MEANS = np.array([0.9, -0.9])


def played_live(seed: int) -> Counter[int]:
    """Pulls of the worse arm in each of many live experiments: regret, but for a factor."""
    rng = np.random.Generator(np.random.SFC64(seed))
    clock, pulls = Clock(), Counter[int]()
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        noise = stoic.SimulatedNoise(rng)
        with database(f"sqlite:///{folder}/live.db", noise=noise, clock=clock) as db:
            for number in range(LIVE):
                exp = db.create(
                    f"e{number}",
                    arms=["good", "bad"],
                    epsilon=EPSILON,
                    reward_deadline="1d",
                    **SETTING,
                )
                pulls[play(exp, clock, rng)] += 1
    return pulls


def play(exp: Any, clock: Clock, rng: np.random.Generator) -> int:
    worse = asked = 0
    while (left := exp.summary()).status == "running":
        block = exp.ask_many(f"user-{asked + i}" for i in range(left.size))
        asked += left.size
        arms = np.array([exp.arms.index(ticket.arm) for ticket in block])
        worse += int(arms.sum())
        exp.tell_many(block, np.where(rng.random(arms.size) < (1 + MEANS[arms]) / 2, 1.0, -1.0))
        clock.now += 2 * DAY
        exp.tick()
    return worse


def played_by_engine(worse: int) -> Counter[int]:
    """The same of the engine; the other arm is what a mix-up of arms would give."""
    laws = [
        stoic.environments.Discrete((-1.0, 1.0), ((1 - mean) / 2, (1 + mean) / 2)) for mean in MEANS
    ]
    instance = stoic.environments.Instance(tuple(laws))
    given = {key: value for key, value in SETTING.items() if key != "policy"}
    policy = stoic.policies.create("prae-r", arms=2, epsilon=EPSILON, **given)
    result = stoic.simulate(policy, instance, replications=ENGINE, seed=1)
    return Counter(result.pulls[:, worse].tolist())


def alike(one: Counter[int], other: Counter[int]) -> bool:
    edges = (0, 7, 15, 31, HORIZON)  # the ends of batches: few cells, so that samples can be small
    cells = [np.histogram([*counts.elements()], edges)[0] for counts in (one, other)]
    return same_law(*cells, alarm=ALARM)


def test_the_live_path_has_the_regret_of_the_engine() -> None:
    found = played_live(seed=1)
    assert len(found) >= 3
    assert alike(found, played_by_engine(worse=1))
    assert not alike(found, played_by_engine(worse=0))


def test_a_live_process_holds_nothing_that_simulates() -> None:
    code = """
import sys, tempfile, stoic
with tempfile.TemporaryDirectory() as folder:
    with stoic.live.open(f"sqlite:///{folder}/live.db") as db:
        exp = db.create("shop", policy="prae-s", arms=["A", "B"], horizon=1000, epsilon=1.0,
                        moments=stoic.RawMoment(2, 1), reward_deadline="1d")
        exp.tell(exp.ask("ann"), 0.5)
        exp.tick(), exp.summary(), exp.privacy(), list(exp.export())
loaded = {name for name in sys.modules if name.startswith("stoic.")}
assert "stoic.privacy.secure" in loaded
assert not any(part in name for name in loaded for part in ("simulat", "environments")), loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)
