"""The best arm survives whole runs with probability ``1 - delta``, whatever an adversary does.

The adversary knows the policy: the best arm's clean law loses all of its tail to the truncation and
its outliers pull it down, the worst arm keeps all and its outliers lift it, and the arms are so
close that nothing but the radius protects the best. A case raises a false alarm with probability
1e-11 at most, all of this file together with 1e-10.

How much room there is was measured: these runs lose the best arm once the radius is below 0.4
(PRAE-R without outliers), 0.3 (with), 0.28 (PRAE-C without), 0.38 (with) of what is proved, and
DPRSE once its 12 err are below 1 err.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

import stoic
from helpers.extreme import Observed, likely_centre, tail, tail_about
from helpers.survival import best_survives
from stoic.environments.finite import Discrete
from stoic.estimators import Estimator
from stoic.policies import create, dprse

pytestmark = pytest.mark.statistical

GAP = 1e-4
BEYOND, WITHIN = 1 + 1e-6, 1 - 1e-6


@dataclass(frozen=True)
class Shrunk:
    """The planted wrong estimator: all is right but the radius."""

    inner: Estimator
    factor: float

    def radius(self, n, failure):
        return self.factor * self.inner.radius(n, failure)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def shrink(policy, factor):
    return dataclasses.replace(policy, estimator=Shrunk(policy.estimator, factor))


# --- Adversaries --------------------------------------------------------------------------------


def constant(mean):
    return Discrete((mean,), (1.0,))


def decisive(policy, batch):
    """The query of the batch that the adversary aims at."""
    estimator = policy.estimator
    failure = estimator.share(policy.delta, policy.arms, batch)
    return estimator.query(estimator.sample_size(2**batch), failure)


def raw_arms(cut, k, alpha):
    best = tail(cut * BEYOND, k)
    return [
        Observed(best, alpha, -cut * WITHIN),
        Observed(constant(best.mean - GAP), alpha, np.nan),
        Observed(constant(best.mean - 2 * GAP), alpha, cut * WITHIN),
    ]


def central_arms(query, k, alpha):
    mean = query.locate.lo + 3 * query.locate.width * WITHIN
    centre = likely_centre(query.locate, mean)
    cut, far = query.half_width, (query.half_width + 2 * query.locate.width) * BEYOND
    return [
        Observed(tail_about(mean, far, k), alpha, centre - cut * WITHIN),
        Observed(constant(mean - GAP), alpha, np.inf),
        Observed(tail_about(mean - 2 * GAP, -far, k), alpha, centre + cut * WITHIN),
    ]


# --- PRAE-R, PRAE-C -----------------------------------------------------------------------------

# k, alpha, epsilon, the batch that the adversary aims at.
RAW = [(2.0, 0.0, 0.1, 13), (2.0, 0.05, 1.0, 18), (1.5, 0.05, 1.0, 18), (3.0, 0.02, 0.5, 18)]
CENTRAL = [(2.0, 0.0, 0.1, 19), (2.0, 0.02, 1.0, 28), (3.0, 0.1, 1.0, 28)]


def raw_run(k, alpha, epsilon, batch, delta):
    policy = create(
        "prae-r",
        arms=3,
        horizon=3 * 2 ** (batch + 2),
        moments=stoic.RawMoment(k, 1.0),
        epsilon=epsilon,
        contamination=alpha,
        delta=delta,
    )
    return policy, raw_arms(decisive(policy, batch).half_width, k, alpha)


def central_run(k, alpha, epsilon, batch, delta):
    policy = create(
        "prae-c",
        arms=3,
        horizon=3 * 2 ** (batch + 2),
        moments=stoic.CentralMoment(k, 1.0, (-16.0, 16.0)),
        epsilon=epsilon,
        contamination=alpha,
        delta=delta,
    )
    return policy, central_arms(decisive(policy, batch), k, alpha)


@pytest.mark.parametrize("delta", [0.1, 0.2])
@pytest.mark.parametrize(
    ("run", "setting"), [*((raw_run, s) for s in RAW), *((central_run, s) for s in CENTRAL)]
)
def test_the_best_arm_survives(run, setting, delta):
    policy, arms = run(*setting, delta)
    assert best_survives(policy, arms)


@pytest.mark.parametrize("delta", [0.1, 0.2])
@pytest.mark.parametrize(
    ("run", "setting"), [*((raw_run, s) for s in RAW), *((central_run, s) for s in CENTRAL)]
)
def test_a_radius_far_too_small_is_caught(run, setting, delta):
    policy, arms = run(*setting, delta)
    assert not best_survives(shrink(policy, 0.06), arms)


# --- DPRSE --------------------------------------------------------------------------------------


def dprse_run(k, delta, epoch=3):
    policy = create(
        "dprse", arms=3, horizon=10**7, moments=stoic.RawMoment(k, 1.0), epsilon=1.0, delta=delta
    )
    state = dataclasses.replace(policy.init(), epoch=epoch)
    cut = policy.truncation(state, policy.pulls(state))
    return policy, raw_arms(cut, 1 + policy.v, alpha=0.0)


@pytest.mark.parametrize("delta", [0.1, 0.2])
@pytest.mark.parametrize("k", [1.5, 2.0])
def test_the_best_arm_survives_dprse_without_outliers(k, delta):
    assert best_survives(*dprse_run(k, delta))


@pytest.mark.parametrize("delta", [0.1, 0.2])
@pytest.mark.parametrize("k", [1.5, 2.0])
def test_a_width_far_too_small_is_caught_in_dprse(k, delta, monkeypatch):
    narrow = dataclasses.replace(dprse._PROFILES["proof"], width=0.6)
    monkeypatch.setitem(dprse._PROFILES, "proof", narrow)
    assert not best_survives(*dprse_run(k, delta))
