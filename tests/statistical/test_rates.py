"""The error of PRM-R and PRM-C falls at the rate of the theorems, and wrong rates are told apart.

The root mean square of 600 errors has a relative standard error of 3 % for normal errors and of
5 % for Laplace ones, so a slope fitted through seven points over three decades has one of at most
0.008. The tolerance is eight of those: with normal tails a slope raises a false alarm with
probability 2e-15, all slopes of this file together with 1e-13.
"""

import numpy as np
import pytest

import stoic
from helpers.extreme import Observed, fair, likely_centre, tail, tail_about
from stoic.estimators import PRMC, PRMR, estimate

pytestmark = pytest.mark.statistical

FAILURE = 0.1
RUNS = 600
TOLERANCE = 0.06
BEYOND, WITHIN = 1 + 1e-6, 1 - 1e-6


def raw(k, epsilon, alpha=0.0, build=PRMR.build):
    return build(stoic.RawMoment(k, 1.0), epsilon, alpha)


def central(k, epsilon, alpha=0.0):
    return PRMC.build(stoic.CentralMoment(k, 1.0, (-16.0, 16.0)), epsilon, alpha)


def coin(estimator, n):
    """Nothing is cut off: sampling error, and noise."""
    return Observed(fair(0.0))


def heavy(estimator, n):
    """A tail that just stays: the largest sampling error where the variance may be infinite."""
    return Observed(tail(estimator.query(n, FAILURE).half_width * WITHIN, estimator.moments.k))


def lost(estimator, n):
    """A tail that is cut off, with outliers that pull the same way: bias, and noise."""
    k, alpha = estimator.moments.k, estimator.contamination.alpha
    query = estimator.query(n, FAILURE)
    cut = query.half_width
    if estimator.name == "prm-r":
        return Observed(tail(cut * BEYOND, k), alpha, -cut * WITHIN)
    mean = query.locate.lo + 1.5 * query.locate.width
    far = cut + 2 * query.locate.width * BEYOND
    low = likely_centre(query.locate, mean) - cut * WITHIN
    return Observed(tail_about(mean, far, k), alpha, low)


def rms(estimator, n, law, runs=RUNS):
    streams = np.random.SeedSequence(n % 2**32).spawn(2)
    rng, secret = (np.random.Generator(np.random.SFC64(stream)) for stream in streams)
    noise = stoic.SimulatedNoise(secret)
    folds = estimator.query(n, FAILURE).folds
    found = [
        estimate(
            estimator,
            [law.counts(n, rng=rng) for _ in range(folds)],
            failure=FAILURE,
            noise=noise,
        ).value
        for _ in range(runs)
    ]
    return float(np.sqrt(np.mean((np.array(found) - law.mean) ** 2)))


def slope(xs, errors):
    return float(np.polyfit(np.log(xs), np.log(errors), 1)[0])


def slope_in_n(estimator, law, start):
    """Over three decades from ``start``."""
    sizes = [int(n) for n in np.geomspace(start, 1000 * start, 7)]
    return slope(sizes, [rms(estimator, n, law(estimator, n)) for n in sizes])


def close(found, rate):
    return abs(found - rate) <= TOLERANCE


# --- In n ---------------------------------------------------------------------------------------

# Sampling dominates: n^-1/2. PRM-C needs eps <= 1, and so a higher moment, for noise to be small.
SAMPLING = [
    (raw(2, 100.0), 10**4),
    (raw(3, 100.0), 10**4),
    (central(8, 1.0), 10**5),
]

# Privacy dominates: (n eps)^-(1-1/k).
PRIVATE = [
    (raw(1.5, 0.01), 10**5),
    (raw(2, 0.01), 10**5),
    (raw(3, 0.001), 10**6),
    (central(1.5, 0.01), 10**6),
    (central(2, 0.01), 10**6),
    (central(3, 0.001), 10**7),
]


def names(cases):
    return [f"{estimator.name}, k = {estimator.moments.k:g}" for estimator, _ in cases]


@pytest.mark.parametrize(("estimator", "start"), SAMPLING, ids=names(SAMPLING))
def test_sampling_error_falls_with_the_root_of_n(estimator, start):
    assert close(slope_in_n(estimator, coin, start), -1 / 2)


def test_sampling_error_without_a_variance_falls_as_slowly_as_the_private_one():
    assert close(slope_in_n(raw(1.5, 1.0), heavy, 10**4), -(1 - 1 / 1.5))


@pytest.mark.parametrize(("estimator", "start"), PRIVATE, ids=names(PRIVATE))
def test_private_error_falls_as_the_theorem_says(estimator, start):
    found = slope_in_n(estimator, lost, start)
    assert close(found, -(1 - 1 / estimator.moments.k))


# --- In epsilon and alpha -----------------------------------------------------------------------


@pytest.mark.parametrize("k", [1.5, 2.0, 3.0])
def test_private_error_depends_on_n_times_epsilon(k):
    budgets = np.geomspace(1e-3, 1.0, 7)
    estimators = [raw(k, epsilon) for epsilon in budgets]
    n = 10**8
    found = slope(budgets, [rms(one, n, lost(one, n)) for one in estimators])
    assert close(found, -(1 - 1 / k))


def test_sampling_error_does_not_depend_on_epsilon():
    budgets = np.geomspace(100.0, 1e5, 7)
    n = 10**5
    found = slope(budgets, [rms(raw(3, epsilon), n, coin(None, n)) for epsilon in budgets])
    assert close(found, 0.0)


@pytest.mark.parametrize("make", [raw, central])
@pytest.mark.parametrize("k", [1.5, 2.0, 3.0])
def test_bias_by_outliers_does_not_fall_with_n_and_grows_as_the_theorem_says(make, k):
    shares = np.geomspace(1e-4, 1e-2, 7)
    estimators = [make(k, 1.0, alpha) for alpha in shares]
    few, many = 10**9, 10**11  # so many that nothing but the bias is left
    before, after = (
        [rms(one, n, lost(one, n), runs=20) for one in estimators] for n in (few, many)
    )
    assert np.allclose(before, after, rtol=0.01)
    assert close(slope(shares, after), 1 - 1 / k)


# --- Planted wrong rates ------------------------------------------------------------------------


class FixedCut(PRMR):
    """Truncates where 100,000 rewards would have it, however many there are."""

    def _cut(self, n, failure):
        return super()._cut(10**5, failure)


class WrongPower(PRMR):
    """Truncates at ``(n eps / 4L)^(1/2)`` whatever k is."""

    def _cut(self, n, failure):
        return super()._cut(n, failure) ** (self.moments.k / 2)


@pytest.mark.parametrize("build", [FixedCut.build, WrongPower.build])
@pytest.mark.parametrize(("k", "epsilon", "start"), [(1.5, 0.01, 10**5), (3.0, 0.001, 10**6)])
def test_a_wrong_truncation_has_a_rate_of_its_own(build, k, epsilon, start):
    found = slope_in_n(raw(k, epsilon, build=build), lost, start)
    assert not close(found, -(1 - 1 / k))


def test_a_fixed_truncation_keeps_its_bias():
    assert close(slope_in_n(raw(2, 0.01, build=FixedCut.build), lost, 10**7), 0.0)


def test_noise_that_is_not_divided_by_n_is_caught():
    class Undivided(PRMR):
        def query(self, n, failure):
            return super().query(1000, failure)

    assert not close(slope_in_n(raw(2, 0.01, build=Undivided.build), lost, 10**5), -1 / 2)
