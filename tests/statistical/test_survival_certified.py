"""PRAE-S keeps the best arm with probability ``1 - delta``, whatever an adversary does.

The adversary knows the policy. At each step it aims at, the best arm's clean law loses its tail and
its outliers pull it down, the worst arm's do the opposite, and the arms are so close that nothing
but the radius protects the best.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

import stoic
from helpers.extreme import Observed, fair, tail, tail_about
from helpers.survival import best_survives
from stoic.environments.finite import Discrete
from stoic.estimators.prm_s import PRMS
from stoic.policies import create
from stoic.privacy.queries import WindowCounts

pytestmark = pytest.mark.statistical

GAP = 1e-4
BEYOND = 1 + 1e-6


@dataclass(frozen=True)
class Shrunk:
    """The planted wrong estimator: all is right but the radius that arms are judged by."""

    inner: PRMS
    factor: float

    def radius(self, step, n, *, failure):
        found = self.inner.radius(step, n, failure=failure)
        return None if found is None else self.factor * found

    def __getattr__(self, name):
        return getattr(self.inner, name)


def shrink(policy, factor):
    return dataclasses.replace(policy, estimator=Shrunk(policy.estimator, factor))


def central(half_range, k=2.0):
    return stoic.CentralMoment(k, 1.0, (-half_range, half_range))


def raw(k=2.0):
    return stoic.RawMoment(k, 1.0)


def about_windows(step, k, alpha):
    """Rewards that leave the window at the mean, and outliers just beyond the radius."""
    inner = step.query.half_width - step.query.step / 2
    off = (inner * BEYOND) ** -k / 2
    leaving = Discrete((-inner * BEYOND, 0.0, inner * BEYOND), (off, 1 - 2 * off, off))
    reach = step.radius + step.query.half_width
    return [
        Observed(leaving, alpha, -reach),
        Observed(fair(-GAP)),
        Observed(fair(-2 * GAP), alpha, reach),
    ]


def about_mean(step, k, alpha, tail_at):
    """A tail that is clipped and outliers far out, to the best arm's harm and the worst's good."""
    far = max(step.query.half_width * k / (k - 1), 1.5)
    best = tail_at(0.0, far, k)
    return [
        Observed(best, alpha, -100.0),
        Observed(Discrete((best.mean - GAP,), (1.0,)), alpha, np.nan),
        Observed(tail_at(best.mean - 2 * GAP, -far, k), alpha, 100.0),
    ]


def raw_tail(mean, by, k):
    return tail(by, k) if by > 0 else Discrete((mean,), (1.0,))


# The moments, epsilon, alpha, and a share of the radius that must be caught.
RUNS = {
    "a mean": (central(2.0), 1.0, 0.0, 0.3),
    "a mean with outliers": (central(2.0), 1.0, 0.1, 0.5),
    "heavy tails": (central(2.0, 1.5), 0.5, 0.05, 0.5),
    "windows, then means": (central(30.0), 0.5, 0.05, 0.3),
    "windows, many outliers": (central(30.0), 0.5, 0.3, 0.3),
    "a raw moment": (raw(), 0.5, 0.05, 0.3),
}


def run(name, delta):
    moments, epsilon, alpha, _ = RUNS[name]
    policy = create(
        "prae-s",
        arms=3,
        horizon=10**7,
        moments=moments,
        epsilon=epsilon,
        contamination=alpha,
        delta=delta,
    )
    step = policy.next_step(policy.init())
    if isinstance(step.query, WindowCounts):
        return policy, about_windows(step, moments.k, alpha)
    tail_at = raw_tail if isinstance(moments, stoic.RawMoment) else tail_about
    return policy, about_mean(step, moments.k, alpha, tail_at)


@pytest.mark.parametrize("delta", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("name", RUNS)
def test_the_best_arm_survives(name, delta):
    assert best_survives(*run(name, delta))


@pytest.mark.parametrize("delta", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("name", RUNS)
def test_a_radius_too_small_is_caught(name, delta):
    policy, arms = run(name, delta)
    assert not best_survives(shrink(policy, RUNS[name][-1]), arms)
