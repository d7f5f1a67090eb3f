"""The regret of PRAE-S grows with rounds, arms, 1/epsilon and outliers as the lower bound does.

On the hard instances gaps follow the minimax rate, a constant factor above it. Uniform play alone
has the slopes of the bound there, so two things are asked: the slopes, and that every arm but the
best has left at every point. Slopes are taken over the geometric means of the regret at gaps of two
octaves, because at one gap it grows in steps.

The failure probability is so small that its logarithm hardly grows with the number of arms, and
that nearly all replications take the same steps. Over six seeds the standard deviation of the
slopes was at most 0.018 with one replication, so 0.011 with three; they lie off the exponents by up
to 0.03 besides, since gaps are few and steps are not quite even. The tolerance leaves room for five
standard deviations at the worst of eleven slopes, and tells 1/3, 1/2, 2/3 and 1 apart.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from stoic import RawMoment, policies
from stoic.environments import instances
from stoic.experiments import read, run
from stoic.experiments.report.rows import panels_of
from stoic.experiments.report.scaling import growths, slope
from stoic.simulation import simulate

pytestmark = pytest.mark.statistical

PAPER = Path(__file__).parents[2] / "paper" / "scaling.toml"
TOLERANCE = 0.08
DELTA = 1e-30
SHARES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)

# Of each order k: the smallest factor on the gaps that lets all arms be told apart, epsilon, and
# the shortest horizon.
SETTINGS = {1.5: (140, 0.1, 10**10), 2: (500, 0.1, 10**9), 3: (1900, 0.001, 10**10)}


def played(instance, *, horizon, epsilon, told, seed):
    """Mean final regret, and whether only the best arm was left in every replication."""
    policy = policies.create(
        "prae-s",
        arms=instance.size,
        horizon=horizon,
        moments=RawMoment(told, 1.0),
        epsilon=epsilon,
        delta=DELTA,
    )
    result = simulate(policy, instance, replications=3, seed=seed)
    left = (result.eliminated_at < 0).sum(axis=1)
    return result.mean, bool((left == 1).all() and result.best_kept.all())


def over_gaps(make, first, **setting):
    """The geometric mean of the regret over gaps of two octaves, which levels the steps."""
    widths = np.geomspace(first, 4 * first, 12, endpoint=False)
    found = [played(make(widened), **setting) for widened in widths]
    return float(np.exp(np.mean([np.log(mean) for mean, _ in found]))), all(one for _, one in found)


def sweep(k, quantity):
    """The values of a quantity, and what each makes of arms, horizon and epsilon."""
    _, epsilon, shortest = SETTINGS[k]
    if quantity == "horizon":
        values = [round(shortest * 10 ** (j / 2)) for j in range(6)]
        return values, [(5, horizon, epsilon) for horizon in values]
    if quantity == "others":  # arms but one, of which the bound's proof speaks
        values = [8, 16, 32, 64, 128]
        return values, [(others + 1, 10**12, epsilon) for others in values]
    values = [10 ** (j / 2) / epsilon for j in range(5)]
    return values, [(5, 10**12, 1 / value) for value in values]


def under_privacy(k, quantity, *, fixed=False, told=None, seed=1):
    """The slope of regret on ``hard``, and whether all arms were told apart at each point.

    ``fixed``: gaps do not follow, all are as wide as the widest. ``told``: the order of the moment
    that the policy knows of.
    """
    values, points = sweep(k, quantity)
    found = []
    for arms, horizon, epsilon in points:
        widest = points[0 if quantity == "horizon" else -1]
        gaps = dict(
            zip(("horizon", "epsilon"), widest[1:] if fixed else (horizon, epsilon), strict=True)
        )
        make = partial(made, instances.hard, arms, k=k, **gaps)
        setting = {"horizon": horizon, "epsilon": epsilon, "told": told or k, "seed": seed}
        found.append(over_gaps(make, SETTINGS[k][0], **setting))
    regret, apart = zip(*found, strict=True)
    return slope(values, regret)[0], all(apart)


def under_sampling(quantity, *, seed=1):
    """The same on ``hard-sampling``, with privacy that costs little."""
    values = [10**6 * 4**j for j in range(5)] if quantity == "horizon" else [8, 16, 32, 64, 128]
    found = []
    for value in values:
        arms, horizon = (5, value) if quantity == "horizon" else (value + 1, 10**9)
        make = partial(made, instances.hard_sampling, arms, horizon=horizon)
        found.append(over_gaps(make, 120, horizon=horizon, epsilon=10.0, told=2, seed=seed))
    regret, apart = zip(*found, strict=True)
    return slope(values, regret)[0], all(apart)


def made(instance, arms, widened, **gaps):
    return instance(arms, widened=widened, **gaps)


def agrees(found, exponent):
    return abs(found - exponent) <= TOLERANCE


def agreeing(found):
    """Those of the exponents in question that a slope agrees with."""
    return [one for one in (0, 1 / 3, 1 / 2, 2 / 3, 1) if agrees(found, one)]


@pytest.mark.parametrize("k", SETTINGS)
@pytest.mark.parametrize(
    ("quantity", "exponent"),
    [
        ("horizon", lambda k: 1 / k),
        ("others", lambda k: 1 - 1 / k),
        ("epsilon", lambda k: 1 - 1 / k),
    ],
)
def test_under_privacy_regret_has_the_slopes_of_the_bound(k, quantity, exponent):
    found, apart = under_privacy(k, quantity)
    assert apart
    assert agreeing(found) == [pytest.approx(exponent(k))]


@pytest.mark.parametrize("quantity", ["horizon", "others"])
def test_without_privacy_regret_grows_with_the_root_of_rounds_and_arms(quantity):
    found, apart = under_sampling(quantity)
    assert apart
    assert agreeing(found) == [1 / 2]


def test_gaps_that_do_not_follow_have_other_slopes():
    """Regret at one gap goes with 1/epsilon itself, and hardly with the horizon."""
    for quantity, exponent in (("epsilon", 1), ("horizon", 0)):
        found, apart = under_privacy(3, quantity, fixed=True)
        assert apart
        assert agreeing(found) == [exponent]


def test_a_policy_of_a_worse_rate_does_not_tell_the_arms_apart():
    """Told of the moment of order 1.5 alone, it needs gap^-3 rewards where gap^-1.5 would do."""
    assert under_privacy(3, "horizon")[1]
    assert not under_privacy(3, "horizon", told=1.5)[1]


# Under outliers nothing can be learned on these instances: regret is that of a random arm, right in
# 1 of 5 replications. A mean has a relative standard error of 0.5 / sqrt(150) = 0.041, and a slope
# over two decades and seven points one of 0.011.


def under_outliers(k, shares, *, order=None, seed=1):
    regret = []
    for alpha in shares:
        policy = policies.create(
            "prae-s",
            arms=5,
            horizon=10**6,
            moments=RawMoment(k, 1.0),
            epsilon=1.0,
            contamination=alpha,
            delta=DELTA,
        )
        instance = instances.hard_contaminated(5, alpha=alpha, k=order or k)
        regret.append(simulate(policy, instance, replications=150, seed=seed).mean)
    return slope(shares, regret)[0]


@pytest.mark.parametrize("k", [1.5, 2])
def test_regret_grows_with_outliers_as_the_bound_does(k):
    found = under_outliers(k, SHARES)
    assert agreeing(found) == [pytest.approx(1 - 1 / k)]


def test_outliers_of_another_law_have_another_slope():
    assert agreeing(under_outliers(2, SHARES, order=1.5)) == [pytest.approx(1 / 3)]


# The study that draws all this, with fewer replications.


def test_the_study_of_the_paper_shows_these_slopes(tmp_path):
    study = read(PAPER)
    outcome = run(study.repeated(3), tmp_path)
    drawn = {one.label: one for one in growths(outcome, panels_of(outcome))}
    assert len(drawn) == 12
    for sweep, growth in zip(study.sweeps, drawn.values(), strict=True):
        (row,) = growth.slopes
        cell = next(cell for cell in study.cells if cell.panel == sweep.panels[0])
        k, kind = cell.player.estimator.moments.k, sweep.label.partition(",")[0]
        exponent = {
            ("Sampling", "horizon"): 1 / 2,
            ("Sampling", "arms"): 1 / 2,
            ("Privacy", "horizon"): 1 / k,
            ("Privacy", "arms"): 1 - 1 / k,
            ("Privacy", "epsilon"): 1 - 1 / k,
            ("Outliers", "horizon"): 1,
            ("Outliers", "alpha"): 1 - 1 / k,
        }[kind, sweep.key]
        assert row["bound"] == pytest.approx(exponent), sweep.label
        assert kind == "Outliers" or agrees(row["slope"], exponent), sweep.label
    private = [cell.result for cell in outcome.cells if not cell.panel.startswith("Outliers")]
    assert all(result.best_kept.all() for result in private)
