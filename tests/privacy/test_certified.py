"""PRAE-S is attacked by what everybody sees: which arms it plays, and how often.

Sizes of later epochs follow from earlier releases, so they are part of what is audited. One user's
reward differs between two inputs where it matters most: where it tips the balance between two far
windows, or where an arm is on the edge of leaving. Planted bugs are caught by the same attacks.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import stoic
from helpers.attack import SURE, Weakened
from helpers.policies import generator
from stoic.policies import PRAES, create
from stoic.privacy.audit import audit_outcomes
from stoic.privacy.queries import ClippedMean, WindowCounts

pytestmark = pytest.mark.privacy

EPSILON = 1.0
RUNS = 8_000


@dataclass(frozen=True)
class Attack:
    """A policy, and what all others pay by phase and arm: two values, and the share of the first.

    The user is the first of arm 0 in the first phase.
    """

    policy: PRAES
    others: Callable[[int, int], tuple[float, float, float]]

    def run(self, reward: float, noise: Any) -> tuple[Any, ...]:
        """The arms of every phase and how often each was played."""
        state, phase, seen = self.policy.init(), 0, []
        rng = generator(1)
        while (plan := self.policy.ask(state, rng=rng)).size:
            phase += 1
            seen.append((tuple(sorted(plan.arms)), plan.size))
            answers = {}
            for arm, n, query in zip(plan.arms, plan.pulls, plan.queries, strict=False):
                mine = [reward] if (phase, arm) == (1, 0) else []
                first, second, share = self.others(phase, arm)
                count = round(share * (n - len(mine)))
                values = np.array([*mine, first, second])
                counts = np.array([*[1] * len(mine), count, n - len(mine) - count])
                total = query.add(query.empty(), (values, counts))
                answers[arm] = (query.release(total, n, noise=noise),)
            state = self.policy.tell(state, plan, answers)
        return tuple(seen)

    def outcomes(self, *rewards: float, noise: Any = None, runs: int = RUNS) -> list[list[Any]]:
        noise = simulated() if noise is None else noise
        return [[self.run(reward, noise) for _ in range(runs)] for reward in rewards]

    def loss(self, *rewards: float, **options: Any) -> float:
        return audit_outcomes(*self.outcomes(*rewards, **options), confidence=0.999).epsilon


def simulated() -> stoic.SimulatedNoise:
    return stoic.SimulatedNoise(generator(1))


def policy_of(half_range: float, epochs: float, alpha: float, delta: float) -> PRAES:
    """Two arms, and rounds for so many epochs of the first one's size."""
    moments = stoic.CentralMoment(2, 1.0, (-half_range, half_range))
    options = {"moments": moments, "epsilon": EPSILON, "contamination": alpha, "delta": delta}
    endless = create("prae-s", arms=2, horizon=10**6, **options)
    n = endless.next_step(endless.init()).n
    policy = create("prae-s", arms=2, horizon=math.ceil(2 * n * epochs), **options)
    assert isinstance(policy, PRAES)
    return policy


FAR = 80.0


def window_attack() -> Attack:
    """Half of arm 0's users pay far below the middle, half far above, and the user decides."""
    policy = policy_of(100.0, epochs=5.0, alpha=0.2, delta=0.1)
    step = policy.next_step(policy.init())
    assert isinstance(step.query, WindowCounts)
    assert 2 * step.radius < FAR
    share = (step.n // 2) / (step.n - 1)

    def others(phase: int, arm: int) -> tuple[float, float, float]:
        return (-FAR, FAR, share) if phase == 1 and arm == 0 else (0.0, 0.0, 1.0)

    return Attack(policy, others)


def mean_attack() -> Attack:
    """Arm 0 leads, and both are on the edge of leaving after the first epoch and the second."""
    policy = policy_of(2.0, epochs=12.0, alpha=0.0, delta=0.5)
    step = policy.next_step(policy.init())
    assert isinstance(step.query, ClippedMean)
    edge = step.radius - 2 * 2 * step.query.half_width / (step.n * step.query.epsilon)
    edges = {1: edge, 2: edge / 2}

    def others(phase: int, arm: int) -> tuple[float, float, float]:
        value = edges.get(phase, 0.0)
        return (-value if arm == 0 else value), 0.0, 1.0

    return Attack(policy, others)


# The attack, the user's rewards, and what share of epsilon must be seen.
ATTACKS = {
    "windows": (window_attack, -FAR, FAR, 0.5),
    "means": (mean_attack, -100.0, 100.0, 0.3),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_changed_reward_costs_epsilon_at_most(name: str) -> None:
    attack, one, other, visible = ATTACKS[name]
    seen = attack().outcomes(one, other)
    assert audit_outcomes(*seen, confidence=SURE).epsilon <= EPSILON
    assert audit_outcomes(*seen, confidence=0.9).epsilon >= visible * EPSILON
    assert len({len(run) for run in seen[0]}) > 1  # sizes and numbers of epochs do differ


@pytest.mark.parametrize("reward", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ATTACKS)
def test_a_reward_that_is_no_number_costs_epsilon_at_most(name: str, reward: float) -> None:
    attack, one, _, _ = ATTACKS[name]
    seen = attack().outcomes(one, reward, runs=2_000)
    assert audit_outcomes(*seen, confidence=SURE).epsilon <= EPSILON


@pytest.mark.parametrize("name", ATTACKS)
def test_secure_noise_keeps_the_promise_too(name: str) -> None:
    attack, one, other, _ = ATTACKS[name]
    seen = attack().outcomes(one, other, noise=stoic.SecureNoise(), runs=800)
    assert audit_outcomes(*seen, confidence=SURE).epsilon <= EPSILON
    assert set(seen[0]) & set(seen[1])


@pytest.mark.parametrize("name", ATTACKS)
def test_noise_for_half_the_sensitivity_is_caught(name: str) -> None:
    attack, one, other, _ = ATTACKS[name]
    assert attack().loss(one, other, noise=Weakened(simulated())) > EPSILON
