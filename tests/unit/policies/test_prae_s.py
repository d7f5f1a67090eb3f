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
