"""PRAE-S: what its epochs ask for."""

import numpy as np
import pytest

import stoic
from stoic.core import Release

RNG = np.random.Generator(np.random.SFC64(1))


def second_epoch(moments):
    """The queries of the second epoch, after estimates 0.5 and 0.45 in the first."""
    policy = stoic.policies.create(
        "prae-s", arms=2, horizon=10**8, moments=moments, epsilon=1.0, delta=0.05
    )
    plan = policy.ask(policy.init(), rng=RNG)
    assert all(query.centre == 0 for query in plan.queries)
    answers = {
        arm: (Release("clipped-mean", value, n=plan.pulls[0], epsilon=1.0),)
        for arm, value in enumerate((0.5, 0.45))
    }
    state = policy.tell(policy.init(), plan, answers)
    assert state.active == (0, 1)
    second = policy.ask(state, rng=RNG)
    return dict(zip(second.arms, second.queries, strict=True))


def test_later_epochs_are_about_the_latest_estimates():
    queries = second_epoch(stoic.CentralMoment(2, 1.0, (-2, 2)))
    assert [queries[arm].centre for arm in (0, 1)] == [0.5, 0.45]


def test_under_a_raw_moment_every_epoch_is_about_zero():
    """What is proved of raw moments is proved about 0."""
    assert all(query.centre == 0 for query in second_epoch(stoic.RawMoment(2, 1.0)).values())


@pytest.mark.parametrize("alpha", [0.2, 0.25])
def test_many_outliers_under_a_raw_moment(alpha):
    """Means about 0 come nearer than means about a centre: arms far apart can be told apart."""
    moments = stoic.RawMoment(2, 1.0)
    found = stoic.plan(
        arms=2, horizon=10**7, epsilon=1.0, moments=moments, contamination=alpha, delta=0.05
    )
    assert found.first is not None
    assert found.smallest_ever < found.smallest_in_time <= 2


# --- Epochs that ran out of time ----------------------------------------------------------------


def told(policy, state, sizes, values=(5.0, 0.0)):
    """The state after an epoch in which only so many rewards of each arm were asked for."""
    plan = policy.ask(state, rng=RNG)
    answers = {
        arm: (Release(type(query).__name__, values[arm], n=sizes[arm], epsilon=query.epsilon),)
        for arm, query in zip(plan.arms, plan.queries, strict=True)
        if sizes[arm]
    }
    return policy.tell(state, plan, answers)


def policy_between(low, high):
    return stoic.policies.create(
        "prae-s",
        arms=2,
        horizon=10**6,
        moments=stoic.CentralMoment(2, 1.0, (low, high)),
        epsilon=1.0,
        contamination=0.05,
    )


def test_a_mean_of_fewer_rewards_counts_at_the_radius_of_the_fewest():
    policy = policy_between(0, 6)
    state = policy.init()
    n = policy.next_step(state).n
    full, short, uneven = (
        told(policy, state, sizes, (3.1, 3.0)) for sizes in ((n, n), (n - 5, n - 5), (n, n - 5))
    )
    assert full.radius < short.radius < state.radius
    assert uneven == short
    assert short.estimates == (3.1, 3.0)


def test_fewer_rewards_can_remove_fewer_arms():
    policy = policy_between(0, 6)
    state = policy.init()
    n = policy.next_step(state).n
    behind = 2 * policy.next_step(state).radius + 1e-6
    assert told(policy, state, (n, n), (behind, 0.0)).active == (0,)
    assert told(policy, state, (n - 5, n - 5), (behind, 0.0)).active == (0, 1)


@pytest.mark.parametrize("missing", ["one reward", "all of one arm", "all"])
def test_a_choice_among_windows_that_came_out_smaller_decides_nothing(missing):
    policy = policy_between(0, 1000)
    state = policy.init()
    n = policy.next_step(state).n
    sizes = {"one reward": (n, n - 1), "all of one arm": (n, 0), "all": (0, 0)}[missing]
    after = told(policy, state, sizes, (900.0, 100.0))
    assert told(policy, state, (n, n), (900.0, 100.0)).active == (0,)
    assert after.active == (0, 1)
    assert after.estimates == (None, None)
    assert after.radius == state.radius
    assert after.epoch == 2  # its share of the failure probability is spent
