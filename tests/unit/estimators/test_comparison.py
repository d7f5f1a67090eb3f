"""The estimators that are openly not private, on small inputs and by hand."""

import itertools
import math

import numpy as np
import pytest

from helpers.refusals import refused
from helpers.spy import Spy
from stoic.core import CentralMoment, Contamination, RawMoment, dumps, loads
from stoic.estimators import STATISTICS, Comparison, create, estimate
from stoic.estimators.catoni import CatoniMean
from stoic.estimators.crossing import crossing
from stoic.estimators.empirical import Mean
from stoic.estimators.huber import HuberMean
from stoic.estimators.median_of_means import MedianOfMeans
from stoic.estimators.trimmed import TrimmedMean

CLEAN, DIRTY = Contamination(0.0), Contamination(0.04)
MOMENTS = RawMoment(2, 9)
TENTH = math.exp(-10)  # L = 10

each = pytest.mark.parametrize("name", STATISTICS)


def of(statistic, *values):
    return statistic.compute(np.sort(np.array(values, dtype=np.float64)))


def found(name, rewards, *, failure=0.5, moments=MOMENTS, contamination=0.0):
    estimator = create(name, moments=moments, contamination=contamination)
    return estimate(estimator, rewards, failure=failure, noise=Spy())


# --- Each statistic -----------------------------------------------------------------------------


def test_the_empirical_mean_goes_wherever_one_outlier_goes():
    assert of(Mean(), 1, 2, 6) == 3
    assert of(Mean(), 0, 0, 0, 4e99) == 1e99


def test_the_trimmed_mean_leaves_out_both_ends():
    ten = [-1e9, 0, 1, 2, 3, 4, 5, 6, 17, 1e9]
    assert of(TrimmedMean(0.1), *ten) == 38 / 8
    assert of(TrimmedMean(0.19), *ten) == 38 / 8
    assert of(TrimmedMean(0.2), *ten) == 21 / 6
    assert of(TrimmedMean(0.0), 1, 2, 6) == 3
    assert of(TrimmedMean(0.499), 1, 2, 6) == 2
    assert of(TrimmedMean(0.499), 1, 2) == 1.5
    assert of(TrimmedMean(0.499), 7) == 7


def test_the_trimmed_mean_is_tuned_to_the_share_of_outliers_and_to_chance():
    assert TrimmedMean.tuned(1000, TENTH, MOMENTS, DIRTY).fraction == pytest.approx(0.04 + 0.01)
    assert TrimmedMean.tuned(10, TENTH, MOMENTS, DIRTY).fraction == 0.499


def test_one_block_is_a_mean_and_as_many_blocks_as_values_a_median():
    assert of(MedianOfMeans(1), 1, 2, 6) == 3
    for blocks in (5, 9):
        assert of(MedianOfMeans(blocks), 1, 2, 6, 1e9, -1e9) == 2


def test_the_median_of_means_is_that_of_some_fair_division():
    values = [0.0, 1.0, 10.0, 100.0, 1000.0, 1e4, 1e5]
    for blocks, sizes in ((2, (3, 4)), (3, (2, 2, 3))):
        medians = {
            float(np.median([np.mean(part) for part in np.split(order, np.cumsum(sizes)[:-1])]))
            for order in map(list, itertools.permutations(values))
        }
        assert of(MedianOfMeans(blocks), *values) in medians


def test_blocks_do_not_follow_the_values():
    # Three blocks of sorted values would have a median far from the mean.
    values = [*[0.0] * 750, *[1.0] * 250]
    assert of(MedianOfMeans(3), *values) == pytest.approx(0.25, abs=0.1)


def test_the_median_of_means_is_tuned_to_the_number_of_outliers():
    assert MedianOfMeans.tuned(10**4, TENTH, MOMENTS, CLEAN).blocks == 80
    assert MedianOfMeans.tuned(10**4, TENTH, MOMENTS, DIRTY).blocks == 80 + 1600
    assert MedianOfMeans.tuned(50, TENTH, MOMENTS, CLEAN).blocks == 50
    assert MedianOfMeans.tuned(50, 0.9999999999999999, MOMENTS, CLEAN).blocks == 1


def test_catonis_mean_solves_its_equation():
    root = of(CatoniMean(1.0), 0, 0, 3)
    # 2 log(1 + r + r^2/2) = log(1 + (3 - r) + (3 - r)^2/2)
    assert (1 + root + root**2 / 2) ** 2 == pytest.approx(1 + (3 - root) + (3 - root) ** 2 / 2)
    assert of(CatoniMean(0.5), 0, 0, 6) == pytest.approx(2 * root)
    assert of(CatoniMean(1.0), 4) == 4
    assert of(CatoniMean(1.0), 0, 7) == pytest.approx(3.5)


def test_an_outlier_moves_catonis_mean_by_its_logarithm():
    near, far = (of(CatoniMean(0.01), *[0.0] * 99, outlier) for outlier in (1e6, 1e12))
    assert 0 < near < far < 3.0 * near < 100
    assert of(CatoniMean(1e-9), 1, 2, 6) == pytest.approx(3)


def test_catonis_mean_is_tuned_in_natural_units():
    tuned = CatoniMean.tuned(1000, 2 * TENTH, RawMoment(2, 9), CLEAN)
    assert tuned.shrinkage == pytest.approx(math.sqrt(20 / 1000) / 3)
    heavy = CatoniMean.tuned(1000, 2 * TENTH, RawMoment(1.5, 8), CLEAN)
    assert heavy.shrinkage == pytest.approx((20 / 1000) ** (1 / 1.5) / 4)
    light = CatoniMean.tuned(1000, 2 * TENTH, RawMoment(4, 16), CLEAN)
    assert light.shrinkage == pytest.approx(math.sqrt(20 / 1000) / 2)


def test_hubers_mean_by_hand():
    # 3 r = 1: the value far away pulls with the threshold.
    for far in (10, 1e9, 1e100):
        assert of(HuberMean(1.0), 0, 0, 0, far) == pytest.approx(1 / 3)
    assert of(HuberMean(1e9), 1, 2, 6) == pytest.approx(3)
    assert of(HuberMean(1e-9), 1, 2, 6) == pytest.approx(2, abs=1e-8)
    assert of(HuberMean(2.0), -1, 0, 4) == pytest.approx(0.5)


def test_where_hubers_equation_has_many_roots_the_median_is_taken():
    assert of(HuberMean(1.0), 0, 10) == 5
    assert of(HuberMean(1.0), 0, 0, 10, 10) == 5
    assert of(HuberMean(1.0), 0, 0, 0, 10, 10, 10) == 5
    assert of(HuberMean(0.1), 0, 0, 0, 0.3, 0.3, 0.3) == 0.15  # where 3 * 0.1 is not 0.3


def test_hubers_mean_is_tuned_in_natural_units():
    assert HuberMean.tuned(1000, TENTH, RawMoment(2, 9), CLEAN).threshold == pytest.approx(30)
    assert HuberMean.tuned(1000, TENTH, RawMoment(2, 9), DIRTY).threshold == pytest.approx(15)
    heavy = HuberMean.tuned(1000, TENTH, RawMoment(1.5, 8), CLEAN)
    assert heavy.threshold == pytest.approx(4 * 100 ** (1 / 1.5))


@pytest.mark.parametrize(
    ("parameter", "kind", "wrong"),
    [
        ("fraction", TrimmedMean, [-0.1, 0.5, math.nan, None]),
        ("blocks", MedianOfMeans, [0, 1.5, -1, None]),
        ("shrinkage", CatoniMean, [0.0, -1.0, math.inf, None]),
        ("threshold", HuberMean, [0.0, -1.0, math.inf, None]),
    ],
)
def test_wrong_tunings_are_refused(parameter, kind, wrong):
    for one in wrong:
        assert refused(parameter, kind, one)


# --- Where a function crosses zero --------------------------------------------------------------


@pytest.mark.parametrize("zero", [0.0, 1.0, -3.7, 1e10, -1e100])
@pytest.mark.parametrize("step", [1e-3, 1.0, 1e3])
def test_a_crossing_is_found_however_far(zero, step):
    assert crossing(lambda x: zero - x, 1.0, step) == pytest.approx(zero, rel=1e-9, abs=1e-9 * step)


def test_a_jump_across_zero_is_found():
    assert crossing(lambda x: 1.0 if x < 0.3 else -5.0, 40.0, 1.0) == pytest.approx(0.3)


def test_a_zero_at_the_start_is_taken_as_it_is():
    assert crossing(lambda x: 0.0, 7.0, 1.0) == 7.0


# --- All in one shape ---------------------------------------------------------------------------


@each
@pytest.mark.parametrize("moments", [MOMENTS, CentralMoment(3, 8, (-5, 5)), RawMoment(1.5, 1)])
def test_the_common_shape(name, moments):
    estimator = create(name, moments=moments, contamination=0.04)
    assert estimator == Comparison.build(name, moments, 0.04)
    assert loads(dumps(estimator)) == estimator
    assert loads(dumps(estimator.query(100, 0.1))) == estimator.query(100, 0.1)
    assert (estimator.name, estimator.privacy, estimator.epsilon) == (name, "none", None)
    assert (estimator.sample_size(9), estimator.threshold(0.1)) == (9, 1.0)
    assert estimator.share(0.1, 5, 3) == pytest.approx(0.1 / 90)
    sampling = (10 / 1000) ** (1 - 1 / min(moments.k, 2))
    bias = 0.04 ** (1 - 1 / moments.k)
    assert estimator.radius(1000, TENTH) == pytest.approx((sampling + bias) * moments.scale)
    assert not estimator.guaranteed


@each
def test_a_release_says_what_it_is_and_that_it_is_not_private(name):
    query = create(name, moments=MOMENTS).query(3, 0.5)
    release = query.release(query.add(query.empty(), np.array([1.0, 2.0, 6.0])), 3, noise=Spy())
    assert name.split("-")[0] in release.mechanism
    assert (release.n, release.epsilon) == (3, None)


@each
def test_no_noise_is_asked_for(name):
    spy = Spy()
    estimator = create(name, moments=MOMENTS)
    result = estimate(estimator, [1.0, 2.0, 6.0], failure=0.5, noise=spy)
    assert spy.calls == []
    assert not result.guaranteed


@each
def test_a_constant_is_its_own_mean(name):
    for constant in (0.0, -7.25, 1e9):
        assert found(name, np.full(20, constant)).value == pytest.approx(constant)


@each
def test_garbage_has_a_stated_meaning(name):
    rewards = np.array([1.0, 2.0, np.nan, np.inf, -np.inf, 1e200, -1e200, 3.0])
    tamed = np.array([1.0, 2.0, 0.0, 1e100, -1e100, 1e100, -1e100, 3.0])
    result = found(name, rewards)
    assert result == found(name, tamed)
    assert math.isfinite(result.value)


@each
def test_values_with_counts_are_the_same_as_an_array(name):
    values, counts = np.array([1.0, np.nan, -2.0, 1e9]), np.array([3, 1, 2, 0])
    assert found(name, (values, counts)) == found(name, np.repeat(values, counts))


@pytest.mark.parametrize("name", ["trimmed", "median-of-means", "huber"])
def test_robust_means_survive_a_few_outliers_and_the_empirical_one_does_not(name):
    rewards = np.concatenate([np.linspace(-1, 1, 960), np.full(40, 1e6)])
    assert abs(found(name, rewards, contamination=0.04, failure=0.1).value) < 10
    assert found("empirical", rewards, contamination=0.04, failure=0.1).value > 1e4


@each
@pytest.mark.parametrize(
    ("parameter", "options"),
    [
        ("moments", {"moments": 3.0}),
        ("moments", {}),
        ("contamination", {"moments": MOMENTS, "contamination": 1.0}),
        ("contamination", {"moments": MOMENTS, "contamination": math.nan}),
        ("epsilon", {"moments": MOMENTS, "epsilon": 1.0}),
        ("profile", {"moments": MOMENTS, "profile": "unit"}),
    ],
)
def test_wrong_settings_are_refused(name, parameter, options):
    assert refused(parameter, create, name, **options)


@each
def test_wrong_arguments_are_refused(name):
    estimator = create(name, moments=MOMENTS)
    for failure in (0.0, 1e-301, 1.0, math.nan, None):
        assert refused("failure", estimator.query, 10, failure)
        assert refused("failure", estimator.radius, 10, failure)
        assert refused("failure", estimator.threshold, failure)
    for n in (0, 1.5, None):
        assert refused("n", estimator.query, n, 0.1)
        assert refused("n", estimator.radius, n, 0.1)
    assert refused("number of rewards", found, name, [])


@each
def test_failure_may_be_next_to_nothing_and_next_to_certain(name):
    for failure in (1e-300, 0.9999999999999999):
        result = found(name, [1.0, 2.0, 6.0], failure=failure)
        assert 1 <= result.value <= 6
        assert math.isfinite(result.radius)


def test_only_the_named_statistics_are_estimators():
    assert refused("statistic", Comparison, "mode", MOMENTS, CLEAN)
    assert refused("estimator", create, "mode", moments=MOMENTS)
