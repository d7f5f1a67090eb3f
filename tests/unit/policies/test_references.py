"""The references by hand: UCB1, successive elimination, uniform play, the oracle."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest

import stoic
from helpers.play import play
from helpers.policies import generator
from helpers.spy import Spy
from stoic.core import Plan, Release
from stoic.environments import Discrete
from stoic.errors import InvalidParameter
from stoic.policies import UCB1, Oracle, SuccessiveElimination, Uniform
from stoic.policies.fixed import FixedState
from stoic.policies.successive_elimination import SuccessiveEliminationState
from stoic.policies.ucb1 import UCB1State

UNIT = stoic.RawMoment(2, 1.0)
ARMS = [Discrete((mean,), (1.0,)) for mean in (0.2, 0.9, -0.5)]


def told(policy: Any, state: Any, *values: float, seed: int = 1) -> Any:
    plan = policy.ask(state, rng=generator(seed))
    found = {arm: (Release("mean", values[arm], n=1, epsilon=None),) for arm in plan.arms}
    return policy.tell(state, plan, found)


# --- UCB1 ---------------------------------------------------------------------------------------


def test_ucb1_pulls_every_arm_once_in_random_order() -> None:
    policy, firsts = UCB1.build(3, 100, UNIT), set()
    for seed in range(40):
        state, arms = policy.init(), []
        for _ in range(3):
            plan = policy.ask(state, rng=generator(seed))
            arms += plan.arms
            state = policy.tell(state, plan, {plan.arms[0]: (release(1.0),)})
        assert sorted(arms) == [0, 1, 2]
        assert state == UCB1State((1, 1, 1), (1.0, 1.0, 1.0))
        firsts.add(arms[0])
    assert firsts == {0, 1, 2}


def release(value: float) -> Release:
    return Release("mean", value, n=1, epsilon=None)


def test_the_index_is_the_mean_and_what_is_left_to_learn() -> None:
    policy = UCB1.build(3, 100, stoic.RawMoment(2, 4.0))
    state = UCB1State((2, 4, 10), (3.0, 2.0, -5.0))
    log = math.log(16)
    by_hand = [1.5 + 2 * math.sqrt(log), 0.5 + 2 * math.sqrt(log / 2)]
    by_hand.append(-0.5 + 2 * math.sqrt(log / 5))
    assert policy.index(state).tolist() == pytest.approx(by_hand)
    assert policy.ask(state, rng=generator(1)).arms == (0,)
    costs = dataclasses.replace(policy, goal="min")
    turned = UCB1State(state.pulls, tuple(-total for total in state.sums))
    assert costs.index(turned).tolist() == policy.index(state).tolist()


def test_ucb1_pulls_one_at_a_time_and_adds_up() -> None:
    policy = UCB1.build(2, 100, UNIT)
    state = UCB1State((3, 50), (2.5, 1.0))
    plan = policy.ask(state, rng=generator(1))
    assert (plan.arms, plan.pulls) == ((0,), (1,))
    assert policy.tell(state, plan, {0: (release(0.25),)}) == UCB1State((4, 50), (2.75, 1.0))


def test_an_arm_that_was_left_alone_long_enough_is_tried_again() -> None:
    policy = UCB1.build(2, 10**6, UNIT)
    pulls = [
        n
        for n in range(1, 2000)
        if policy.ask(UCB1State((n, 2), (0.5 * n, -1.0)), rng=None).arms == (1,)
    ]
    first = pulls[0]
    assert math.sqrt(math.log(first + 2)) - 0.5 > 0.5 + math.sqrt(2 * math.log(first + 2) / first)
    assert pulls == list(range(first, 2000))


def test_ucb1_recommends_the_best_mean() -> None:
    policy = UCB1.build(3, 100, UNIT)
    state = UCB1State((2, 4, 0), (3.0, 8.0, 0.0))
    assert policy.recommend(state) == 1
    assert dataclasses.replace(policy, goal="min").recommend(state) == 0


def test_ucb1_plays_the_best_arm_most() -> None:
    trace = play(UCB1.build(3, 3000, UNIT), ARMS, rng=generator(1), noise=Spy())
    assert trace.totals.sum() == 3000
    assert trace.totals[1] > 2800
    # The bound of the paper for a scale of 1: 8 log(T) / gap^2 + 1 + pi^2 / 3 pulls.
    for arm, gap in ((0, 0.7), (2, 1.4)):
        assert trace.totals[arm] <= 8 * math.log(3000) / gap**2 + 1 + math.pi**2 / 3


# --- Successive elimination ---------------------------------------------------------------------


def successive(arms: int = 3, horizon: int = 1000, **options: Any) -> SuccessiveElimination:
    return SuccessiveElimination.build(arms, horizon, UNIT, **{"delta": 0.1, **options})


def test_the_radius_is_that_of_sub_gaussian_means() -> None:
    policy = SuccessiveElimination.build(5, 1000, stoic.RawMoment(2, 9.0), delta=0.1)
    assert policy.radius(8) == pytest.approx(3 * math.sqrt(2 * math.log(4 * 5 * 64 / 0.1) / 8))


def test_every_active_arm_is_pulled_once_a_round() -> None:
    policy = successive()
    state = policy.init()
    for turn in range(1, 4):
        plan = policy.ask(state, rng=generator(turn))
        assert sorted(plan.arms) == [0, 1, 2]
        assert plan.pulls == (1, 1, 1)
        state = told(policy, state, 0.1, 0.2, 0.3, seed=turn)
    assert state.sums == pytest.approx((0.3, 0.6, 0.9))
    assert (state.rounds, state.spent, state.active) == (3, 9, (0, 1, 2))
    assert policy.recommend(state) == 2


def test_arms_whose_mean_over_all_rounds_is_two_radii_behind_leave() -> None:
    policy = successive()
    width = 2 * policy.radius(10)
    near, far = -10 * width * (1 - 1e-9), -10 * width * (1 + 1e-9)
    state = SuccessiveEliminationState(9, (0, 1, 2), 27, (-1.0, near - 1.0, far - 1.0))
    after = told(policy, state, 1.0, 1.0, 1.0)
    assert after.active == (0, 1)
    assert after.sums == pytest.approx((0.0, near, far))
    costs = dataclasses.replace(policy, goal="min")
    state = SuccessiveEliminationState(9, (0, 1, 2), 27, (1.0, 1.0 - near, 1.0 - far))
    assert told(costs, state, -1.0, -1.0, -1.0).active == (0, 1)


def test_a_round_that_does_not_fit_is_played_without_looking() -> None:
    policy = successive(horizon=11)
    state = SuccessiveEliminationState(3, (0, 1, 2), 9, (0.0, 0.0, 0.0))
    plan = policy.ask(state, rng=generator(1))
    assert (plan.size, plan.queries) == (2, ())
    after = policy.tell(state, plan, {})
    assert after == dataclasses.replace(state, spent=11)
    assert policy.ask(after, rng=generator(1)) == Plan((), ())
    assert successive(horizon=12).ask(state, rng=generator(1)).queries


def test_the_last_arm_of_successive_elimination_is_played_for_ever() -> None:
    policy = successive(horizon=5000)
    trace = play(policy, ARMS, rng=generator(1), noise=Spy())
    assert trace.surviving == (1,)
    assert trace.plans[-1].arms == (1,)
    assert trace.totals.sum() == 5000


# --- Uniform play, the oracle -------------------------------------------------------------------


def test_uniform_play_gives_all_arms_their_turn() -> None:
    policy = Uniform(3, 100)
    plan = policy.ask(policy.init(), rng=generator(1))
    assert sorted(plan.pulls) == [33, 33, 34]
    assert plan.queries == ()
    longer = {policy.ask(policy.init(), rng=generator(seed)).arms[0] for seed in range(40)}
    assert longer == {0, 1, 2}
    assert policy.tell(policy.init(), plan, {}) == FixedState(100)
    assert policy.recommend(FixedState(100)) == 0


def test_the_regret_of_uniform_play_is_the_mean_gap() -> None:
    trace = play(Uniform(3, 3000), ARMS, rng=generator(1), noise=Spy())
    assert trace.regret == pytest.approx(3000 * (0.7 + 0.0 + 1.4) / 3)
    costs = play(Uniform(3, 3000, goal="min"), ARMS, rng=generator(1), noise=Spy())
    assert costs.regret == pytest.approx(3000 * (0.7 + 1.4 + 0.0) / 3)


def test_the_oracle_plays_what_it_was_told() -> None:
    policy = Oracle(3, 3000, best=1)
    assert policy.ask(policy.init(), rng=generator(1)) == Plan((1,), (3000,))
    trace = play(policy, ARMS, rng=generator(1), noise=Spy())
    assert (trace.regret, trace.totals.tolist()) == (0.0, [0, 3000, 0])
    assert play(Oracle(3, 10, best=2), ARMS, rng=generator(1), noise=Spy()).regret > 0


def test_policies_that_never_look_draw_no_reward() -> None:
    class Untouchable:
        mean = 0.0

    for policy in (Uniform(2, 50), Oracle(2, 50, best=0)):
        trace = play(policy, [Untouchable(), Untouchable()], rng=generator(1), noise=Spy())
        assert trace.totals.sum() == 50
        assert (policy.privacy, policy.epsilon) == ("central", None)


@pytest.mark.parametrize("best", [3, -1, 1.5, None])
def test_the_oracle_needs_an_arm_that_there_is(best: Any) -> None:
    with pytest.raises(InvalidParameter, match="best = "):
        Oracle(3, 100, best=best)


@pytest.mark.parametrize("moments", [None, 3, "raw"])
@pytest.mark.parametrize("build", [UCB1.build, SuccessiveElimination.build])
def test_references_need_moments_for_their_scale(build: Any, moments: Any) -> None:
    with pytest.raises(InvalidParameter, match="moments = "):
        build(3, 100, moments)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_a_scale_is_positive(scale: float) -> None:
    with pytest.raises(InvalidParameter, match="scale = "):
        UCB1(2, 10, "max", scale)
    with pytest.raises(InvalidParameter, match="scale = "):
        SuccessiveElimination(2, 10, "max", scale, 0.1)
