"""Samples follow the law that the moments belong to; a law that is a little off is seen.

Every judgement here raises a false alarm with probability 1e-9 at most: counts of cells by the
method of types (helpers.goodness), means by Chebyshev's inequality block by block and the exact
binomial tail of how many blocks may err.
"""

import math

import numpy as np
import pytest
from scipy import stats

from helpers.goodness import fits, same_law
from helpers.policies import generator
from stoic.environments import (
    Bernoulli,
    Discrete,
    Gaussian,
    Huber,
    LogNormal,
    Pareto,
    Point,
    Resampled,
    Scipy,
    StudentT,
    file_law,
    instances,
    lomax,
)

pytestmark = pytest.mark.statistical

ALARM = 1e-9
DRAWS = 400_000
BLOCKS, REACH = 100, 3.0

# Each law, what it is to SciPy, and what it is not.
CONTINUOUS = {
    "pareto": (
        Pareto(2.5, 1.5, shift=97.5),
        stats.pareto(2.5, loc=97.5, scale=1.5),
        [stats.pareto(2.9, loc=97.5, scale=1.5), stats.pareto(2.5, loc=97.3, scale=1.7)],
    ),
    "lomax": (
        lomax(1.5, 2.0),
        stats.lomax(1.5, scale=2.0),
        [stats.lomax(1.4, scale=2.0), stats.lomax(1.5, scale=2.2)],
    ),
    "student-t": (
        StudentT(2.5, loc=100.0),
        stats.t(2.5, loc=100.0),
        [stats.t(3.0, loc=100.0), stats.t(2.5, loc=100.0, scale=0.95), stats.t(2.5, loc=100.05)],
    ),
    "student-t-light": (
        StudentT(30.0, loc=-1.0, scale=3.0),
        stats.t(30.0, loc=-1.0, scale=3.0),
        [stats.norm(-1.0, 3.0), stats.t(30.0, loc=-0.8, scale=3.0)],
    ),
    "log-normal": (
        LogNormal(0.3, 1.2),
        stats.lognorm(1.2, scale=math.exp(0.3)),
        [stats.lognorm(1.15, scale=math.exp(0.3)), stats.lognorm(1.2, scale=math.exp(0.35))],
    ),
    "gaussian": (
        Gaussian(-2.0, 3.0),
        stats.norm(-2.0, 3.0),
        [stats.norm(-2.0, 3.15), stats.norm(-1.85, 3.0), stats.t(30.0, loc=-2.0, scale=3.0)],
    ),
    "scipy-gamma": (
        Scipy("gamma", (3.0,), loc=1.0, scale=2.0),
        stats.gamma(3.0, loc=1.0, scale=2.0),
        [stats.gamma(3.2, loc=1.0, scale=2.0), stats.gamma(3.0, loc=1.0, scale=2.1)],
    ),
    "scipy-beta": (
        Scipy("beta", (0.5, 2.0)),
        stats.beta(0.5, 2.0),
        [stats.beta(0.53, 2.0), stats.beta(0.5, 2.15)],
    ),
}
FINITE = {
    "bernoulli": (Bernoulli(0.3), Bernoulli(0.31)),
    "discrete": (
        Discrete((5.0, -1.0, 0.0, 2.0), (0.5, 0.0, 0.49, 0.01)),
        Discrete((5.0, -1.0, 0.0, 2.0), (0.5, 0.0, 0.487, 0.013)),
    ),
}

each_continuous = pytest.mark.parametrize("name", CONTINUOUS)
each_finite = pytest.mark.parametrize("name", FINITE)

# Cells reach far into both tails, where laws of bandits differ most.
TAILS = [1e-4, 1e-3, 1e-2, 0.05]
LEVELS = np.array([*TAILS, *np.arange(1, 10) / 10, *(1 - one for one in reversed(TAILS))])


def cells(draws, edges):
    return np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)


def masses(frozen, edges):
    """What the cells between the edges hold; the upper tail without cancellation."""
    middle = frozen.median()
    below, above = frozen.cdf(edges), frozen.sf(edges)
    inner = np.where(edges[1:] <= middle, np.diff(below), -np.diff(above))
    return np.array([below[0], *inner, above[-1]])


def near(draws, mean, sd):
    """Whether the median of the block means is within ``REACH`` standard errors of a block.

    Each block errs by more with probability 1/9 at most, and half of them must.
    """
    blocks = draws.reshape(BLOCKS, -1)
    return abs(np.median(blocks.mean(axis=1)) - mean) <= REACH * sd / math.sqrt(blocks.shape[1])


def test_half_of_the_blocks_err_once_in_a_billion_runs_at_most():
    assert stats.binom.sf(BLOCKS // 2 - 1, BLOCKS, 1 / REACH**2) < ALARM


# --- Laws ---------------------------------------------------------------------------------------


@each_continuous
def test_samples_follow_the_distribution_function(name):
    law, right, wrong = CONTINUOUS[name]
    edges = right.ppf(LEVELS)
    counts = cells(law.sample(DRAWS, rng=generator(1)), edges)
    assert fits(counts, masses(right, edges), alarm=ALARM)
    for other in wrong:
        assert not fits(counts, masses(other, edges), alarm=ALARM)


@each_continuous
def test_samples_have_the_stated_moments(name):
    law, *_ = CONTINUOUS[name]
    draws = law.sample(DRAWS, rng=generator(2))
    for k in (0.25, 0.5, 1.0, 2.0):
        for moment, powers in (
            (law.raw_moment, np.abs(draws) ** k),
            (law.central_moment, np.abs(draws - law.mean) ** k),
        ):
            if math.isinf(moment(2 * k)):
                continue  # blocks say nothing then: the cells above do
            sd = math.sqrt(moment(2 * k) - moment(k) ** 2)
            assert near(powers, moment(k), sd)
            assert not near(powers, moment(k) + 0.1 * sd, sd)
            assert not near(powers, moment(k) - 0.1 * sd, sd)


@each_continuous
def test_samples_have_the_stated_mean(name):
    law, *_ = CONTINUOUS[name]
    if math.isinf(law.central_moment(2)):
        law = lomax(2.5, 2.0)  # the same code, with a variance
    sd = math.sqrt(law.central_moment(2))
    draws = law.sample(DRAWS, rng=generator(3))
    assert near(draws, law.mean, sd)
    assert not near(draws, law.mean + 0.1 * sd, sd)


@each_finite
def test_samples_and_counts_of_finite_laws_have_the_stated_frequencies(name):
    law, wrong = FINITE[name]
    values, right = law.atoms()
    drawn = law.sample(DRAWS, rng=generator(4))
    sampled = [int((drawn == one).sum()) for one in values]
    assert sum(sampled) == DRAWS
    for counts in (sampled, law.counts(DRAWS, rng=generator(5))[1]):
        assert fits(counts, right, alarm=ALARM)
        assert not fits(counts, wrong.atoms()[1], alarm=ALARM)


def test_samples_of_a_discrete_law_of_scipy_have_the_stated_frequencies():
    law = Scipy("poisson", (4.0,), loc=-1.0)
    drawn = law.sample(DRAWS, rng=generator(6)).astype(np.int64) + 1
    counts = np.bincount(np.minimum(drawn, 12), minlength=13)
    for rate, right in ((4.0, True), (4.1, False)):
        frozen = stats.poisson(rate)
        chances = [*frozen.pmf(np.arange(12)), frozen.sf(11)]
        assert fits(counts, chances, alarm=ALARM) is right


def test_data_are_drawn_with_replacement_and_equal_chances(tmp_path):
    rewards = np.array([3.0, -1.0, 7.0, 0.5, 11.0, 2.0, 9.0])
    np.save(tmp_path / "data.npy", rewards)
    for law in (Resampled(tuple(rewards)), file_law(tmp_path / "data.npy")):
        drawn = law.sample(DRAWS, rng=generator(7))
        counts = [int((drawn == one).sum()) for one in rewards]
        assert sum(counts) == DRAWS
        assert fits(counts, np.full(7, 1 / 7), alarm=ALARM)
        assert not fits(counts, np.array([1.2, *[1] * 6]) / 7.2, alarm=ALARM)
        follows = np.bincount(7 * codes(drawn[:-1], rewards) + codes(drawn[1:], rewards))
        assert fits(follows, np.full(49, 1 / 49), alarm=ALARM)
        shuffled = np.tile(generator(8).permutation(rewards), DRAWS // 7)  # without replacement
        follows = np.bincount(7 * codes(shuffled[:-1], rewards) + codes(shuffled[1:], rewards))
        assert not fits(np.pad(follows, (0, 49 - follows.size)), np.full(49, 1 / 49), alarm=ALARM)


def codes(drawn, rewards):
    order = np.argsort(rewards)
    return np.searchsorted(rewards[order], drawn)


# --- Contamination ------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.5])
def test_the_number_of_outliers_is_exactly_binomial(alpha):
    rng, arm = generator(9), Huber(Gaussian(0.0, 1.0), alpha, Point("nan"))
    rewards, runs = 25, 20_000
    outliers = np.isnan([arm.sample(rewards, rng=rng) for _ in range(runs)])
    counts = np.bincount(outliers.sum(axis=1), minlength=rewards + 1)
    for share, right in ((alpha, True), (1.3 * alpha, False), (alpha / 1.3, False)):
        chances = stats.binom.pmf(np.arange(rewards + 1), rewards, share)
        assert fits(counts, chances, alarm=ALARM) is right
        places = outliers.sum(axis=0)
        assert fits(places, np.full(rewards, 1 / rewards), alarm=ALARM)
    fixed = np.bincount([round(alpha * rewards)] * runs, minlength=rewards + 1)
    chances = stats.binom.pmf(np.arange(rewards + 1), rewards, alpha)
    assert not fits(fixed, chances, alarm=ALARM)


@pytest.mark.parametrize("family", ["student-t", "pareto"])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_every_arm_of_the_papers_instance_pays_the_stated_mixture(family, alpha):
    instance = instances.paper(family, alpha=alpha)
    for number, (arm, mean) in enumerate(zip(instance.arms, [100, 75, 50, 25, 0], strict=True)):
        clean = (
            stats.t(2.5, loc=mean)
            if family == "student-t"
            else stats.pareto(2.5, loc=mean - 2.5, scale=1.5)
        )
        edges = clean.ppf(LEVELS)
        counts = cells(arm.sample(DRAWS // 4, rng=generator(10, number)), edges)
        mixtures = [
            (1 - share) * masses(clean, edges) + share * masses(stats.norm(0, width), edges)
            for share, width in ((alpha, 50), (alpha + 0.02, 50))
        ]
        assert fits(counts, mixtures[0], alarm=ALARM)
        assert not fits(counts, mixtures[1], alarm=ALARM)


def test_each_arm_has_outliers_of_its_own_contaminant():
    clean = Discrete((0.0,), (1.0,))
    garbage = (Discrete((1.0, 2.0), (0.2, 0.8)), Discrete((1.0, 2.0), (0.5, 0.5)))
    for arm, one in enumerate(garbage):
        dirty = instances.Instance((clean, clean)).contaminated(0.3, garbage).arms[arm]
        counts = np.bincount(dirty.sample(DRAWS, rng=generator(11)).astype(np.int64))
        for law, right in ((one, True), (garbage[1 - arm], False)):
            chances = [0.7, *(0.3 * law.atoms()[1])]
            assert fits(counts, chances, alarm=ALARM) is right


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_equalised_arms_cannot_be_told_apart_and_clean_ones_can(alpha):
    plain, changed = instances.hard_pair_contaminated(3, alpha=alpha)
    dirty = [paid(arm, 12) for arm in (*plain.arms, *changed.arms)]
    clean = [paid(arm.clean, 13) for arm in (*plain.arms, *changed.arms)]
    for other in dirty[1:]:
        assert same_law(dirty[0], other, alarm=ALARM)
    best, worse, _, _, changed_arm, _ = clean
    assert not same_law(best, worse, alarm=ALARM)
    assert not same_law(best, changed_arm, alarm=ALARM)


def paid(arm, seed):
    """How many rewards are nothing, and how many are not."""
    positive = int((arm.sample(DRAWS, rng=generator(seed)) > 0).sum())
    return [DRAWS - positive, positive]
