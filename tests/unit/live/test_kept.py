"""What is kept of a reward gives the total that the reward itself gives, bit for bit."""

from __future__ import annotations

import dataclasses

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

from helpers.policies import generator, one_of
from stoic.core import Release
from stoic.errors import InvalidParameter, InvalidReward
from stoic.privacy.queries import (
    GRID,
    ClippedMean,
    Histogram,
    RecentredMean,
    TruncatedMean,
    WindowCounts,
    add_kept,
    keep,
)

QUERIES = {
    "truncated": TruncatedMean(centre=0.5, half_width=3.0, epsilon=1.0),
    "clipped": ClippedMean(centre=-1.0, half_width=0.7, epsilon=1.0),
    "histogram": Histogram(lo=-5.0, width=0.75, bins=13, epsilon=1.0),
    "windows": WindowCounts(lo=-4.0, step=0.5, windows=17, half_width=1.3, epsilon=1.0),
    "recentred": RecentredMean(Histogram(lo=-5.0, width=0.75, bins=13, epsilon=1.0), 3.0),
}
EARLIER = (Release("histogram", -5.0 + 4 * 0.75, n=9, epsilon=1.0),)

rewards = st.lists(st.floats(width=64) | st.floats(-8, 8), max_size=30).map(np.array)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@given(values=rewards)
def test_kept_rewards_give_the_same_total(query, values) -> None:
    for fold in range(query.folds):
        earlier = EARLIER[:fold]
        mechanism = query.mechanism(fold, earlier)
        total = add_kept(query, fold, earlier, mechanism.empty(), keep(query, fold, values))
        assert_array_equal(total, mechanism.add(mechanism.empty(), values))


@given(values=rewards, centre=st.integers(0, 12))
def test_the_reach_of_a_later_fold_cuts_nothing_off_wherever_the_centre_is(values, centre) -> None:
    query = QUERIES["recentred"]
    earlier = (Release("histogram", -5.0 + centre * 0.75, n=9, epsilon=1.0),)
    mechanism = query.mechanism(1, earlier)
    assert add_kept(query, 1, earlier, 0, keep(query, 1, values)) == mechanism.add(0, values)


def test_nothing_kept_is_larger_than_what_a_release_may_see() -> None:
    extreme = np.array([np.inf, -np.inf, 1e308, -1e308])
    assert set(keep(QUERIES["clipped"], 0, extreme).tolist()) == {GRID, -GRID}
    lo, hi = QUERIES["recentred"].reach(1)
    assert set(keep(QUERIES["recentred"], 1, extreme).view(np.float64).tolist()) == {lo, hi}


def test_what_was_tampered_with_moves_no_total_further_than_one_reward_could() -> None:
    wild = np.array([2**62, -(2**62), 7])
    assert add_kept(QUERIES["clipped"], 0, (), 0, wild[:1]) == GRID
    for name in ("histogram", "windows"):
        mechanism = QUERIES[name]
        assert np.abs(mechanism.add_kept(mechanism.empty(), wild)).sum() <= 2


def test_a_query_that_cannot_say_how_far_it_reaches_is_refused() -> None:
    class Silent:
        folds = 2

    with pytest.raises(InvalidParameter, match="must say how far its later folds reach"):
        keep(Silent(), 1, np.zeros(1))


def test_what_is_no_number_is_refused_without_showing_it() -> None:
    with pytest.raises(InvalidReward) as caught:
        keep(QUERIES["clipped"], 0, np.array(["4711"]))
    assert "4711" not in str(caught.value)


# --- A batch that was closed before all of it was dealt ------------------------------------------


@pytest.mark.parametrize("name", ["prae-r", "prae-c", "dprse"])
def test_fewer_rewards_than_planned_widen_the_radius(name) -> None:
    policy = one_of(name, horizon=10**7)
    state, plan = policy.init(), None
    while plan is None or plan.size < 3000:
        plan = policy.ask(state, rng=generator(1))
        state, before = policy.tell(state, plan, answers(plan, 1.0, lambda arm: 0.0)), state
    gap = 1e-9 + next(
        gap for gap in np.geomspace(1e-3, 1e3, 600) if left(policy, before, plan, 1.0, gap) < 3
    )
    assert left(policy, before, plan, 1.0, gap) < 3
    assert left(policy, before, plan, 0.5, gap) == 3
    assert left(policy, before, plan, 0.5, 2.1 * gap) < 3


def test_nothing_is_eliminated_below_the_threshold() -> None:
    policy = one_of("prae-r", contamination=0.05, horizon=10**7)
    state = dataclasses.replace(policy.init(), batch=20)
    plan = policy.ask(state, rng=generator(1))
    enough = policy.threshold(state) / plan.pulls[0]
    assert left(policy, state, plan, 1.01 * enough, 1e6) < 3
    assert left(policy, state, plan, 0.99 * enough, 1e6) == 3


def answers(plan, share, value):
    return {
        arm: tuple(
            Release("any", value(arm), n=int(pulls * share / query.folds), epsilon=1.0)
            for _ in range(query.folds)
        )
        for arm, pulls, query in zip(plan.arms, plan.pulls, plan.queries, strict=False)
    }


def left(policy, state, plan, share, gap) -> int:
    after = policy.tell(state, plan, answers(plan, share, lambda arm: gap * (arm == 1)))
    return len(after.active)
