"""PRM-R and PRM-C cover the clean mean at the radius of profile ``proof``, on worst-case laws.

Every estimate of 200 may miss with probability ``failure``; a case raises a false alarm with
probability 1e-11 at most, all of this file together with 1e-8.

How much room the radius leaves was measured: the smallest share of it that would still cover, on
the worst of these laws, is 0.74 for PRM-R (k = 2, no outliers, eps = 0.1, n = 3,000), from 0.43 to
0.69 with outliers, and for PRM-C from 0.15 (k = 3, eps = 1) to 0.6 (k = 1.5, eps = 0.1), 0.35 to
0.46 with outliers. So half the radius of PRM-R and a sixth of that of PRM-C must be caught.
"""

import functools
import itertools
import math

import numpy as np
import pytest

import stoic
from helpers.extreme import Observed, fair, likely_centre, tail, tail_about
from helpers.shares import too_often
from stoic.environments.finite import Discrete
from stoic.estimators import PRMC, PRMR, estimate
from stoic.privacy.mechanism import numbers
from stoic.privacy.queries import Histogram, RecentredMean

pytestmark = pytest.mark.statistical

ALARM = 1e-11
RUNS = 200
BEYOND, WITHIN = 1 + 1e-6, 1 - 1e-6


def errors(estimator, n, failure, law):
    """Distances from the clean mean, each from a fresh batch given as counts."""
    streams = np.random.SeedSequence(1).spawn(2)
    rng, secret = (np.random.Generator(np.random.SFC64(stream)) for stream in streams)
    noise = stoic.SimulatedNoise(secret)
    folds = estimator.query(n, failure).folds
    found = np.empty(RUNS)
    for run in range(RUNS):
        batch = [law.counts(n, rng=rng) for _ in range(folds)]
        found[run] = estimate(estimator, batch, failure=failure, noise=noise).value
    return np.abs(found - law.mean)


def covers(distances, radius, failure):
    return not too_often(int((distances > radius).sum()), RUNS, failure, alarm=ALARM)


# --- PRM-R --------------------------------------------------------------------------------------


@functools.cache
def raw_estimator(k, epsilon, alpha):
    return PRMR.build(stoic.RawMoment(k, 1.0), epsilon, alpha)


def raw_laws(estimator, n, failure):
    """Extreme clean laws, each with the outliers that pull the same way."""
    k, alpha = estimator.moments.k, estimator.contamination.alpha
    cut = estimator.query(n, failure).half_width
    least = max(cut * BEYOND, 1.0)  # no law of moment 1 has mass 1 farther out
    lost = tail(least, k)
    return {
        "a tail that is cut off": Observed(lost, alpha, -cut * WITHIN),
        "a tail that just stays": Observed(tail(-cut * WITHIN, k), alpha, -cut * WITHIN),
        "the largest variance": Observed(fair(0.0), alpha, cut * WITHIN),
        "mean as high as can be": Observed(Discrete((1.0,), (1.0,)), alpha, -cut * WITHIN),
        "mean as low as can be": Observed(Discrete((-1.0,), (1.0,)), alpha, cut * WITHIN),
        "outliers that are nan": Observed(lost, alpha, math.nan),
        "outliers that are -inf": Observed(lost, alpha, -math.inf),
    }


def raw_sizes(estimator, failure):
    least = int(estimator.threshold(failure))
    return least, max(100 * least, 3_000), 10**9


RAW = list(itertools.product((1.5, 2.0, 3.0), ((0.1, 0.0), (1.0, 0.0), (0.1, 0.02), (1.0, 0.1))))


@pytest.mark.parametrize("failure", [0.1, 0.2])
@pytest.mark.parametrize(("k", "setting"), RAW)
def test_prm_r_covers(k, setting, failure):
    estimator = raw_estimator(k, *setting)
    for n in raw_sizes(estimator, failure):
        radius = estimator.radius(n, failure)
        for name, law in raw_laws(estimator, n, failure).items():
            assert law.clean.raw_moment(k) <= 1 + 1e-9
            assert covers(errors(estimator, n, failure, law), radius, failure), (n, name)


@pytest.mark.parametrize(("alpha", "n"), [(0.0, 3_000), (0.02, 25_400)])
@pytest.mark.parametrize("k", [1.5, 2.0, 3.0])
def test_half_the_radius_of_prm_r_is_caught(k, alpha, n):
    estimator = raw_estimator(k, 0.1, alpha)
    law = raw_laws(estimator, n, 0.1)["a tail that is cut off"]
    assert not covers(errors(estimator, n, 0.1, law), estimator.radius(n, 0.1) / 2, 0.1)


# --- PRM-C --------------------------------------------------------------------------------------

HALF_RANGE = 16.0


@functools.cache
def central_estimator(k, epsilon, alpha):
    return PRMC.build(stoic.CentralMoment(k, 1.0, (-HALF_RANGE, HALF_RANGE)), epsilon, alpha)


def central_laws(estimator, n, failure):
    """Extreme clean laws at both ends of the range and about the edge of a bin."""
    k, alpha = estimator.moments.k, estimator.contamination.alpha
    query = estimator.query(n, failure)
    lo, width = query.locate.lo, query.locate.width
    cut = query.half_width
    far = (cut + 2 * width) * BEYOND  # cut off wherever the centre is
    means = {
        "lo": -HALF_RANGE,
        "hi": HALF_RANGE,
        "left end of a bin": lo + 2 * width * BEYOND,
        "right end of a bin": lo + 3 * width * WITHIN,
    }
    laws = {}
    for place, mean in means.items():
        centre = likely_centre(query.locate, mean)
        above, below = centre + cut * WITHIN, centre - cut * WITHIN
        upper, lower = tail_about(mean, far, k), tail_about(mean, -far, k)
        laws |= {
            (place, "an upper tail that is cut off"): Observed(upper, alpha, below),
            (place, "a lower tail that is cut off"): Observed(lower, alpha, above),
            (place, "the largest variance"): Observed(fair(mean), alpha, above),
        }
    lowest = laws["lo", "an upper tail that is cut off"].clean
    for outlier in (math.nan, math.inf, -math.inf):
        laws["lo", f"outliers that are {outlier}"] = Observed(lowest, alpha, outlier)
    return laws


CENTRAL = list(
    itertools.product((1.5, 2.0, 3.0), ((0.1, 0.0), (1.0, 0.0), (1.0, 0.02), (1.0, 0.13)))
)


@pytest.mark.parametrize("failure", [0.1, 0.2])
@pytest.mark.parametrize(("k", "setting"), CENTRAL)
def test_prm_c_covers(k, setting, failure):
    estimator = central_estimator(k, *setting)
    least = int(estimator.threshold(failure))
    n = least if failure == 0.1 else 40 * least
    radius = estimator.radius(n, failure)
    for name, law in central_laws(estimator, n, failure).items():
        assert law.clean.central_moment(k) <= 1 + 1e-9
        assert covers(errors(estimator, n, failure, law), radius, failure), name


@pytest.mark.parametrize("setting", [(0.1, 0.0), (1.0, 0.02), (1.0, 0.13)])
@pytest.mark.parametrize("k", [1.5, 2.0, 3.0])
def test_a_sixth_of_the_radius_of_prm_c_is_caught(k, setting):
    estimator = central_estimator(k, *setting)
    n = int(estimator.threshold(0.1))
    law = central_laws(estimator, n, 0.1)["right end of a bin", "an upper tail that is cut off"]
    assert not covers(errors(estimator, n, 0.1, law), estimator.radius(n, 0.1) / 6, 0.1)


class DropsWhatIsOutside(Histogram):
    """The planted wrong build: the paper's bins as printed, which see nothing beyond the range."""

    def add(self, total, block):
        values, counts = numbers(block)
        inside = (values >= self.lo) & (values < self.lo + self.bins * self.width)
        return super().add(total, (values[inside], counts[inside]))


class Careless(PRMC):
    def query(self, n, failure):
        right = super().query(n, failure)
        where = right.locate
        wrong = DropsWhatIsOutside(where.lo, where.width, where.bins, where.epsilon)
        return RecentredMean(wrong, right.half_width)


@pytest.mark.parametrize(("build", "right"), [(PRMC.build, True), (Careless.build, False)])
def test_the_edge_bins_take_what_lies_outside(build, right):
    # The mean is lo, nearly all rewards lie just below it, and the rest lies out of reach.
    estimator = build(stoic.CentralMoment(2, 1.0, (0.0, 4_000.0)), 1.0)
    n = int(estimator.threshold(0.1))
    law = Observed(tail_about(0.0, estimator.query(n, 0.1).half_width + 10, 2))
    assert covers(errors(estimator, n, 0.1, law), estimator.radius(n, 0.1), 0.1) is right
