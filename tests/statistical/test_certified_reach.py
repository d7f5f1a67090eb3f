"""PRAE-S where things get hard: many outliers, heavy tails, little budget, many arms, wide ranges.

It finds the best arm against outliers that all lie on one side, or the plan says why it cannot. A
run may lose the best arm with probability 1e-9, so all of them together raise a false alarm with
less than 1e-6. Planted wrong: outliers that were not reckoned with.
"""

import numpy as np
import pytest

import stoic
from helpers.extreme import fair
from helpers.shares import too_often
from stoic.environments import Huber, Instance, Pareto, Point
from stoic.estimators.prm_s import PRMS

pytestmark = pytest.mark.statistical

DELTA = 1e-9
RUNS = 20


def moments(half_range, k):
    return stoic.CentralMoment(k, 1.0, (-half_range, half_range))


def simulated(arms, half_range, gap, k, epsilon, alpha, horizon, told=None):
    """All arms but one that gap behind; the outliers of all lie on the best one's wrong side."""
    policy = stoic.policies.create(
        "prae-s",
        arms=arms,
        horizon=horizon,
        moments=moments(half_range, k),
        epsilon=epsilon,
        contamination=alpha if told is None else told,
        delta=DELTA,
    )
    laws = [fair(gap / 2)] + [fair(-gap / 2)] * (arms - 1)
    far = [-0.9 * half_range] + [0.9 * half_range] * (arms - 1)
    if alpha:
        pairs = zip(laws, far, strict=True)
        laws = [Huber(law, alpha, Point(outlier)) for law, outlier in pairs]
    return stoic.simulate(policy, Instance(tuple(laws)), replications=RUNS, seed=1)


# Arms, half the range of the means, gap, order, epsilon, share of outliers, horizon.
HARD = {
    "little budget, 20 % outliers, k = 1.5": (2, 10, 10, 1.5, 0.05, 0.2, 10**6),
    "large budget, 30 % outliers, k = 4": (2, 10, 10, 4, 10, 0.3, 10**6),
    "200 arms": (200, 10, 10, 2, 0.5, 0.05, 10**6),
    "200 arms, 20 % outliers, k = 1.5": (200, 10, 10, 1.5, 10, 0.2, 10**6),
    "a range of a million": (2, 5e5, 1000, 2, 0.5, 0.05, 10**5),
    "45 % outliers": (2, 100, 60, 2, 1, 0.45, 10**6),
    "49 % outliers": (2, 1000, 300, 2, 1, 0.49, 10**7),
    "k = 1.2": (2, 10, 8, 1.2, 1, 0.0, 10**6),
}


@pytest.mark.parametrize("name", HARD)
def test_it_finds_the_best_arm(name):
    arms, half_range, gap, k, epsilon, alpha, horizon = HARD[name]
    result = simulated(*HARD[name])
    assert result.best_kept.all()
    assert (result.pulls[:, 0] > result.pulls[:, 1:].max(axis=1)).all()
    planned = stoic.plan(
        arms=arms,
        horizon=horizon,
        epsilon=epsilon,
        moments=moments(half_range, k),
        contamination=alpha,
        delta=DELTA,
        gap=gap,
    )
    assert planned.feasible
    assert np.median(result.pulls[:, 1:]) <= 4 * planned.typical.users


@pytest.mark.parametrize("name", ["45 % outliers", "49 % outliers"])
def test_outliers_that_were_not_reckoned_with_are_noticed(name):
    result = simulated(*HARD[name], told=0.01)
    assert not result.best_kept.all()


@pytest.mark.parametrize(("gap", "alpha"), [(0.3, 0.1), (2.0, 0.4)])
def test_gaps_below_the_floor_stay_undecided_and_the_plan_says_so(gap, alpha):
    setting = {"arms": 3, "horizon": 10**5, "epsilon": 1.0, "delta": DELTA}
    found = stoic.plan(moments=moments(20, 2), contamination=alpha, gap=gap, **setting)
    assert not found.feasible
    assert found.why == f"PRAE-S cannot tell a gap of {gap:g} from outliers"
    assert found.remedies
    assert simulated(3, 20, gap, 2, 1.0, alpha, 10**5).best_kept.all()


# --- Pareto laws with just enough moments -------------------------------------------------------


@pytest.mark.parametrize("failure", [0.05, 0.2])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(("k", "shape"), [(1.5, 1.6), (2.0, 2.1), (4.0, 4.1)])
def test_means_cover_pareto_laws_with_just_enough_moments(k, shape, side, failure):
    """The centre as far off as it may be, outliers where clipping starts; half the radius fails."""
    law = Pareto(shape, 1.0)
    scale = law.central_moment(k) ** (1 / k)
    alpha, known = 0.1, 2.0
    estimator = PRMS.build(moments(known, k), epsilon=1.0, contamination=alpha)
    step = estimator.step(1.2, known=known, failure=failure)
    query = step.about(known)  # the mean is 0
    streams = np.random.SeedSequence(1).spawn(2)
    rng, secret = (np.random.Generator(np.random.SFC64(stream)) for stream in streams)
    noise = stoic.SimulatedNoise(secret)
    found = np.empty(1000)
    for run in range(found.size):
        rewards = side * (law.sample(step.n, rng=rng) - law.mean) / scale
        rewards[rng.random(step.n) < alpha] = known + query.half_width
        found[run] = query.release(query.add(query.empty(), rewards), step.n, noise=noise).value

    def missed(radius):
        return too_often(int((found > radius).sum()), found.size, failure, alarm=1e-9)

    assert not missed(step.radius)
    assert missed(step.radius / 2)
