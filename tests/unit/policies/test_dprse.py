"""DPRSE by hand: its sample sizes, cuts and removals, in both profiles."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal, getcontext
from typing import Any

import pytest

import stoic
from helpers.play import play
from helpers.policies import generator
from helpers.spy import Spy
from stoic.core import Plan, Release
from stoic.environments import Discrete
from stoic.errors import InvalidParameter
from stoic.policies import DPRSE
from stoic.policies.dprse import DPRSEState
from stoic.privacy.queries import TruncatedMean

getcontext().prec = 50

L4 = 12 * math.exp(-4)  # a delta for which 3 arms have l = log(4 * 3 / delta) = 4 in epoch 1


def dprse(
    arms: int = 3, horizon: int = 10**7, k: float = 2.0, bound: float = 1.0, **options: Any
) -> DPRSE:
    given = {"epsilon": 1.0, "delta": L4, "profile": "unit", **options}
    return DPRSE.build(arms, horizon, stoic.RawMoment(k, bound), **given)


def at(policy: DPRSE, epoch: int, **changes: Any) -> DPRSEState:
    return dataclasses.replace(policy.init(), epoch=epoch, **changes)


def told(policy: DPRSE, state: DPRSEState, *values: float, issued: int = 0) -> DPRSEState:
    plan = policy.ask(state, rng=generator(1))
    n = issued or plan.pulls[0]
    found = {arm: (Release("scripted", values[arm], n=n, epsilon=1.0),) for arm in plan.arms}
    return policy.tell(state, plan, found)


def exact_pulls(policy: DPRSE, state: DPRSEState) -> int:
    """R in 50 digits, as printed: ``ceil(24^((1+v)/v) l / (eps D^((1+v)/v)) + 1)``."""
    v = min(Decimal(policy.moments.k) - 1, Decimal(1))
    power = (1 + v) / v
    constant = Decimal(24 if policy.profile == "proof" else 1)
    log = (Decimal(4 * len(state.active) * state.epoch**2) / Decimal(policy.delta)).ln()
    width = Decimal(2) ** -state.epoch
    found = constant**power * log / (Decimal(policy.epsilon) * width**power) + 1
    return math.ceil(found)


# --- How many pulls, cut where ------------------------------------------------------------------


def test_the_first_epochs_by_hand() -> None:
    unit, proof = dprse(delta=0.5), dprse(delta=0.5, profile="proof")
    log = math.log(24)  # 4 |S| tau^2 / delta
    assert unit.log_term(unit.init()) == pytest.approx(log)
    assert unit.pulls(unit.init()) == math.ceil(4 * log + 1) == 14
    assert proof.pulls(proof.init()) == math.ceil(576 * 4 * log + 1) == 7324
    # Order 1.5: v = 1/2, (1 + v) / v = 3.
    assert dprse(k=1.5, delta=0.5).pulls(unit.init()) == math.ceil(8 * log + 1) == 27


@pytest.mark.parametrize("profile", ["proof", "unit"])
@pytest.mark.parametrize("k", [1.2, 1.5, 1.9, 2.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0])
def test_the_number_of_pulls_is_the_printed_one(profile: str, k: float, epsilon: float) -> None:
    policy = dprse(k=k, epsilon=epsilon, profile=profile, delta=0.01, horizon=10**12)
    for epoch in range(1, 12):
        for active in ((0, 1, 2), (0, 2)):
            state = at(policy, epoch, active=active)
            expected = exact_pulls(policy, state)
            if expected < 10**12:
                assert policy.pulls(state) == expected


def test_more_pulls_than_the_horizon_are_as_good_as_infinity() -> None:
    policy = dprse(horizon=1000, k=1.05)
    for epoch in (5, 100, 10**6):
        assert policy.pulls(at(policy, epoch)) >= 1000
        plan = policy.ask(at(policy, epoch), rng=generator(1))
        assert (plan.size, plan.queries) == (1000, ())


def test_every_active_arm_is_pulled_so_often_and_cut_at_the_truncation() -> None:
    policy = dprse(bound=9.0, epsilon=0.5)
    state = at(policy, 2, active=(0, 2))
    plan = policy.ask(state, rng=generator(1))
    log = math.log(4 * 2 * 4 / L4)
    pulls = math.ceil(log * 16 / 0.5 + 1)
    assert sorted(plan.arms) == [0, 2]
    assert plan.pulls == (pulls, pulls)
    cut = 3 * math.sqrt(pulls * 0.5 / log)
    assert plan.queries == (TruncatedMean(0.0, plan.queries[0].half_width, 0.5),) * 2
    assert plan.queries[0].half_width == pytest.approx(cut)


def test_a_higher_moment_is_used_as_a_second_one() -> None:
    high = dprse(k=4.0, bound=16.0)  # E X^2 <= 16^(1/2) = 4
    second = dprse(k=2.0, bound=4.0)
    assert high.v == second.v == 1
    for epoch in (1, 4):
        plans = [one.ask(at(one, epoch), rng=generator(1)) for one in (high, second)]
        assert plans[0] == plans[1]


def test_the_noise_is_laplace_of_twice_the_cut() -> None:
    policy = dprse(bound=9.0, epsilon=0.5)
    query = policy.ask(policy.init(), rng=generator(1)).queries[0]
    spy = Spy()
    query.release(0, 100, noise=spy)
    ((_, sensitivity, _, epsilon),) = spy.calls
    assert sensitivity / epsilon * query.half_width / 2**30 == 2 * query.half_width / 0.5


# --- Who leaves ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("profile", "width"), [("proof", 12), ("unit", 2)])
@pytest.mark.parametrize("k", [1.5, 2.0, 5.0])
def test_arms_so_many_errors_behind_leave(profile: str, width: int, k: float) -> None:
    policy = dprse(k=k, profile=profile, bound=9.0, horizon=10**9)
    state = at(policy, 2)
    n, log, v = policy.pulls(state), math.log(4 * 3 * 4 / L4), min(k - 1, 1)
    limit = width * 9 ** (1 / k) * (log / n) ** (v / (1 + v))
    less, more = limit * (1 - 1e-9), limit * (1 + 1e-9)
    assert told(policy, state, 0.5, 0.5 - less, 0.5 - more).active == (0, 1)
    assert told(policy, state, -more, 0.0, -more).active == (1,)
    costs = dataclasses.replace(policy, goal="min")
    assert told(costs, state, -0.5, less - 0.5, more - 0.5).active == (0, 1)


@pytest.mark.parametrize("k", [1.3, 2.0, 3.0])
def test_the_error_is_at_most_a_24th_of_the_gap_that_the_epoch_aims_at(k: float) -> None:
    policy = dprse(k=k, profile="proof", horizon=10**15)
    for epoch in range(1, 6):
        state = at(policy, epoch)
        error = policy.error(state, policy.pulls(state))
        assert 0.99 < error * 24 * 2**epoch <= 1


def test_fewer_rewards_than_planned_widen_the_error() -> None:
    policy = dprse(delta=0.5)
    state = policy.init()  # 14 of each
    limit = 2 * math.sqrt(math.log(24) / 14)
    assert told(policy, state, 0.0, -1.001 * limit, 0.0).active == (0, 2)
    assert told(policy, state, 0.0, -1.999 * limit, 0.0, issued=7).active == (0, 1, 2)
    assert told(policy, state, 0.0, -2.001 * limit, 0.0, issued=7).active == (0, 2)


def test_the_radius_belongs_to_the_arms_that_were_pulled_not_to_those_that_stay() -> None:
    policy = dprse()
    state = at(policy, 3)
    after = told(policy, state, 5.0, 4.9, -9.0)
    assert (after.epoch, after.active) == (4, (0, 1))
    assert policy.log_term(after) == pytest.approx(math.log(4 * 2 * 16 / L4))


def test_estimates_and_counters_are_all_that_is_kept() -> None:
    policy = dprse()
    after = told(policy, policy.init(), 0.1, -0.2, 0.3)
    assert after == DPRSEState(2, (0, 1, 2), 3 * policy.pulls(policy.init()), (0.1, -0.2, 0.3))
    assert policy.recommend(after) == 2


# --- Exits --------------------------------------------------------------------------------------


def test_an_epoch_that_does_not_fit_is_played_without_looking() -> None:
    pulls = dprse().pulls(dprse().init())
    for spare, asks in ((0, True), (-1, False)):
        policy = dprse(horizon=3 * pulls + spare)
        plan = policy.ask(policy.init(), rng=generator(1))
        assert bool(plan.queries) == asks
        assert plan.size == policy.horizon
    after = policy.tell(policy.init(), plan, {})
    assert (after.spent, after.estimates) == (policy.horizon, (None,) * 3)
    assert policy.ask(after, rng=generator(1)) == Plan((), ())


def test_the_last_arm_is_played_for_ever() -> None:
    policy = dprse(horizon=10**9)
    state = told(policy, policy.init(), 0.0, 9.0, 0.0)
    plan = policy.ask(state, rng=generator(1))
    assert plan == Plan((1,), (10**9 - state.spent,))


def test_a_whole_run_finds_the_best_arm_and_forgets_nothing_it_should_keep() -> None:
    policy = dprse(arms=4, horizon=200_000)
    arms = [Discrete((mean,), (1.0,)) for mean in (0.5, 0.4, -0.4, 0.0)]
    trace = play(policy, arms, rng=generator(1), noise=Spy())
    assert trace.surviving == (0,)
    assert [len(state.active) for state in trace.states] == sorted(
        (len(state.active) for state in trace.states), reverse=True
    )
    for state, answers in zip(trace.states, trace.answers, strict=True):
        for arm, (release,) in answers.items():
            assert state.estimates[arm] == release.value == pytest.approx(arms[arm].mean, abs=1e-6)


# --- Settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1.0000001, 10.0])
def test_the_guarantee_ends_at_a_budget_of_one(epsilon: float) -> None:
    assert dprse(epsilon=epsilon).epsilon == epsilon
    with pytest.raises(InvalidParameter, match=r"epsilon = .*must be <= 1 for DPRSE"):
        dprse(epsilon=epsilon, profile="proof")


def test_it_knows_nothing_of_contamination() -> None:
    with pytest.raises(InvalidParameter, match=r"contamination = 0\.1: not an option"):
        stoic.policies.create(
            "dprse",
            arms=2,
            horizon=10,
            moments=stoic.RawMoment(2, 1),
            epsilon=1.0,
            contamination=0.1,
        )


def test_central_moments_become_raw_ones() -> None:
    moments = stoic.CentralMoment(2, 5, (0, 100))
    assert DPRSE.build(2, 100, moments, epsilon=1.0).moments == stoic.RawMoment(2, 10_005)


@pytest.mark.parametrize("wrong", [{"profile": "best"}, {"delta": 0.0}, {"delta": 1.0}], ids=str)
def test_other_settings_are_refused(wrong: dict[str, Any]) -> None:
    ((parameter, _),) = wrong.items()
    with pytest.raises(InvalidParameter, match=parameter):
        dprse(**wrong)
