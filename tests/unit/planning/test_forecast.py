"""Forecasts: their paths, their bounds, and what they say when nothing can be done."""

import dataclasses
import itertools

import numpy as np
import pytest

import stoic
from stoic.core import Release
from stoic.environments import Instance, Point, StudentT
from stoic.errors import InvalidParameter
from stoic.planning import costs, describe, forecast_of, plan, what_if
from stoic.planning.forecast import _most_from, most_users, typical_path
from stoic.policies import PRAES
from stoic.policies.prae_s import possible_steps
from stoic.theory import certified

CENTRAL = stoic.CentralMoment(2, 5, (0, 100))


def planned(**changes):
    setting = {"arms": 5, "horizon": 100_000, "epsilon": 0.5, "moments": CENTRAL}
    return plan(**{**setting, "contamination": 0.05, **changes})


def simulated(policy, gap, law=StudentT, replications=40):
    """All arms but one that gap behind, with the outliers of the paper."""
    middle = policy.estimator.moments.middle
    means = [middle + gap / 2] + [middle - gap / 2] * (policy.arms - 1)
    arms = [StudentT(df=2.5, loc=mean) if law is StudentT else Point(mean) for mean in means]
    instance = Instance(tuple(arms))
    return stoic.simulate(policy, instance, replications=replications, seed=1)


@pytest.mark.parametrize("gap", [4.0, 10.0, 25.0, 80.0])
def test_the_typical_path_is_typical(gap):
    """On laws far milder than assumed, half of the runs lie within a factor of two."""
    found = planned(gap=gap)
    result = simulated(found.policy, gap)
    worst = np.sort(np.max(result.pulls[:, 1:], axis=1))
    assert found.typical.separated
    assert found.typical.users / 2 <= np.median(worst) <= 2 * found.typical.users
    assert found.typical.regret == gap * 4 * found.typical.users


@pytest.mark.parametrize("gap", [10.0, 25.0, 80.0])
def test_no_run_needs_more_than_the_certified_number(gap):
    policy = planned().policy
    most = most_users(policy, gap)
    pulls = simulated(policy, gap).pulls[:, 1:]
    assert pulls.max() <= most
    assert pulls.max() > most / 50  # a bound fifty times smaller is wrong
    assert most_users(dataclasses.replace(policy, horizon=10 * most), gap) == most
    assert most_users(dataclasses.replace(policy, horizon=9 * most), gap) is None


def test_certified_numbers_fall_with_the_gap():
    policy = planned(horizon=10**9).policy
    most = [most_users(policy, gap) for gap in (6, 10, 20, 50, 100)]
    assert most == sorted(most, reverse=True)
    assert most_users(policy, 4 * policy.nearest) is None


def test_more_rounds_never_raise_the_certified_regret_of_a_round():
    regrets = [
        planned(horizon=horizon).regret_at_most / horizon for horizon in (10**4, 10**6, 10**8)
    ]
    assert regrets == sorted(regrets, reverse=True)
    outliers = planned().policy.nearest * 8  # below that, nothing is certain
    assert planned(horizon=10**8).regret_at_most <= 2 * outliers * 10**8


def test_a_second_epoch_counts_as_the_second():
    """Its failure probability is smaller, however little the first epoch narrowed the range."""
    policy = planned(moments=stoic.CentralMoment(2, 1, (0, 2 * 2 ** (1 / 16)))).policy
    estimator, latest = policy.estimator, certified.share(policy.delta, 2) / policy.arms
    dearest = max(step.n for step in possible_steps(estimator, known=1.0, failure=latest))
    assert _most_from(policy, known=1.0, gap=4.0) == dearest


def test_a_step_that_was_cheap_enough_when_surer_is_counted():
    """Over budgets and failures: what an epoch may choose is counted at the smaller failure too."""
    counted = {}
    for epsilon, surely in itertools.product((0.1, 1.0, 10.0), (1.2, 1.5)):
        estimator = PRAES.build(5, 10**6, CENTRAL, epsilon, contamination=0.05).estimator
        for known in (10.0, 20.0, 40.0):
            chosen = possible_steps(estimator, known, 1e-5)
            failure = (2 * 1e-5) ** surely / 2
            later = possible_steps(estimator, known, failure, surely)
            assert {step.radius for step in chosen} <= {step.radius for step in later}
            narrow = possible_steps(estimator, known, failure)
            counted[epsilon, surely, known] = len(later) - len(narrow)
    assert max(counted.values()) > 0


def test_the_certified_regret_covers_arms_with_different_gaps():
    """One arm far behind is as dear as it can be while another is too near to be found."""
    found = planned(horizon=10**9, arms=3)
    gaps = np.geomspace(2 * found.policy.nearest, 100, 300)
    users = [most_users(found.policy, gap) for gap in gaps]
    hidden = max(gap for gap, most in zip(gaps, users, strict=True) if most is None)
    dearest = max(gap * most for gap, most in zip(gaps, users, strict=True) if most is not None)
    assert found.regret_at_most >= dearest + hidden * (10**9 - max(filter(None, users)))
    assert found.regret_at_most <= 2 * (dearest + hidden * 10**9)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.4, 0.45, 0.49])
def test_sure_gaps_are_four_times_the_radius_at_which_an_endless_run_ends(alpha):
    """On the path where nothing ever separates, it narrows to that radius and no further."""
    moments = stoic.CentralMoment(2, 1, (0, 1000))
    found = planned(moments=moments, contamination=alpha, horizon=10**15, delta=0.05)
    policy = found.policy
    state, rng = policy.init(), np.random.Generator(np.random.SFC64(0))
    while (step := policy.next_step(state)) is not None:
        answers = {
            arm: (Release("mean", 500.0, n=step.n, epsilon=step.query.epsilon),)
            for arm in state.active
        }
        state = policy.tell(state, policy.ask(state, rng=rng), answers)
    assert len(state.active) == 5
    assert policy.nearest <= state.radius <= found.smallest_sure / 4 * (1 + 1e-9)
    assert state.radius > found.smallest_sure / 4 / 1.4


@pytest.mark.parametrize("gap", [1.0, 3.0, 10.0])
def test_the_smallest_gap_in_time_is_where_finding_ends(gap):
    found = planned(horizon=30_000)
    edge = found.smallest_in_time
    assert typical_path(found.policy, edge * 1.05).separated
    assert found.smallest_ever < edge
    again = forecast_of(found.policy, gap=gap)
    assert again.feasible == (gap > edge) or abs(gap / edge - 1) < 0.1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"gap": 0.5}, "PRAE-S cannot tell a gap of 0.5 from outliers"),
        ({"epsilon": 1e-3}, "the first decision takes"),
        ({"moments": stoic.CentralMoment(2, 1e20, (0, 1)), "contamination": 0.0}, "not even 10^15"),
        ({"horizon": 300, "gap": 20}, "too few to find a gap of 20"),
        (
            {"moments": stoic.CentralMoment(2, 5, (0, 1)), "contamination": 0.4},
            "cannot tell any gap",
        ),
    ],
)
def test_what_cannot_be_done_is_said_with_what_would_help(changes, why):
    found = planned(**changes)
    assert not found.feasible
    assert why in found.why
    assert f"This cannot be done: {found.why}." in describe(found)


def test_every_remedy_works():
    setting = {"gap": 25, "delta": 1e-5}
    found = planned(epsilon=1e-3, **setting)
    rounds, epsilon = found.remedies[:2]
    longer = int(rounds.split()[2].replace(",", ""))
    assert planned(epsilon=1e-3, horizon=longer, **setting).feasible
    assert planned(epsilon=1.02 * float(epsilon.split()[-1]), **setting).feasible
    hidden = planned(gap=0.5)
    assert planned(gap=1.02 * float(hidden.remedies[-1].split()[-1])).feasible


def test_bad_gaps_are_refused():
    for gap in (0, -1, 101, float("nan")):
        with pytest.raises(InvalidParameter, match="gap"):
            planned(gap=gap)


def test_costs_are_minimised_alike():
    assert planned(gap=25, goal="min").typical == planned(gap=25).typical


def test_what_if_contains_the_plan_itself():
    found = planned(gap=25)
    grid = what_if(found)
    row, column = grid.epsilons.index(0.5), grid.alphas.index(0.05)
    assert grid.users[row][column] == found.typical.users
    first = planned()
    assert what_if(first).users[row][column] == first.first
    assert what_if(planned(gap=0.5)).users[row][column] is None


def test_first_decisions_take_fewer_users_with_more_budget_and_fewer_outliers():
    users = np.array(what_if(planned()).users)
    assert (np.diff(users, axis=0) <= 0).all()
    assert (np.diff(users, axis=1) >= 0).all()


@pytest.mark.parametrize(
    ("changes", "dearest"),
    [
        ({"epsilon": 0.05, "gap": 25}, "privacy"),
        ({"epsilon": 10, "contamination": 0.0, "gap": 0.5}, "heavy tails"),
        ({"epsilon": 5, "contamination": 0.2, "gap": 6}, "outliers"),
    ],
)
def test_the_assumption_that_costs_most_is_named(changes, dearest):
    found = planned(**{"horizon": 10**7, **changes})
    assert costs(found)[0].assumption == dearest
    assert f"What costs most: {dearest}" in describe(found)


def test_a_plan_for_raw_moments():
    found = plan(arms=3, horizon=10**6, epsilon=1.0, moments=stoic.RawMoment(2, 100), gap=5)
    assert found.feasible
    assert isinstance(found.policy, PRAES)
    assert all(cost.assumption != "wide range of means" for cost in costs(found))
