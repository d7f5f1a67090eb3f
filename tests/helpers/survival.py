"""How often whole runs lose the best arm."""

from __future__ import annotations

import numpy as np

import stoic
from helpers.play import play
from helpers.shares import too_often

__all__ = ["best_survives"]

RUNS = 150
ALARM = 1e-11


def losses(policy, arms):
    """In how many runs the best arm, which is the first, was removed."""
    lost = 0
    for seed in np.random.SeedSequence(1).spawn(RUNS):
        rng, secret = (np.random.Generator(np.random.SFC64(part)) for part in seed.spawn(2))
        trace = play(policy, arms, rng=rng, noise=stoic.SimulatedNoise(secret))
        lost += 0 not in trace.surviving
    return lost


def best_survives(policy, arms):
    """Whether the best arm was lost no more often than ``delta`` allows."""
    return not too_often(losses(policy, arms), RUNS, policy.delta, alarm=ALARM)
