"""The engine: what it plays is what a naive loop plays, and it draws no more than is asked for."""

from __future__ import annotations

import dataclasses
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import stoic
from helpers.arms import ENVIRONMENTS, Counting, environment, three_arms
from helpers.policies import NAMES, one_of
from helpers.rounds import shared_rounds
from stoic import options
from stoic.core import Plan
from stoic.environments import Gaussian, Instance
from stoic.policies import POLICIES, Policy
from stoic.policies.fixed import FixedState
from stoic.simulation import Streams, replicate


def paper(alpha: float = 0.05) -> Instance:
    return stoic.instances.paper("pareto", alpha=alpha)


def suited(name: str, instance: Instance, horizon: int, **changes: object) -> Policy:
    """A policy of that name that suits the instance; of the other options, those that it has."""
    moments = instance.central(1.5)
    lo, hi = moments.mean_range
    given = {
        "moments": dataclasses.replace(moments, mean_range=(lo - 9, hi)),
        "best": instance.best,
        **changes,
    }
    known = {option: given[option] for option in given if option in options.of(POLICIES[name])}
    return one_of(name, arms=instance.size, horizon=horizon, goal=instance.goal, **known)


# --- Against the naive loop ---------------------------------------------------------------------


def assert_same(policy: Policy, instance: Instance, *, seed: int, replication: int) -> None:
    every_round = np.arange(1, policy.horizon + 1)
    result = stoic.simulate(
        policy, instance, replications=[replication], seed=seed, checkpoints=every_round
    )
    naive = shared_rounds(policy, instance, seed=seed, replication=replication)
    np.testing.assert_allclose(result.regret[0], naive.regret, rtol=1e-12, atol=1e-9)
    assert result.final_regret[0] == pytest.approx(naive.regret[-1], rel=1e-12)
    assert result.pulls[0].tolist() == naive.pulls
    assert result.eliminated_at[0].tolist() == naive.left_at
    assert result.recommended[0] == naive.recommended
    assert result.draws[0] == naive.used


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("horizon", [3, 10, 77, 2500])
def test_it_plays_what_a_naive_loop_plays_on_the_same_rewards(name: str, horizon: int) -> None:
    for replication in range(3):
        assert_same(one_of(name, horizon=horizon), three_arms(), seed=1, replication=replication)


@pytest.mark.parametrize("first_phase", ["batch", "round", "greedy", "explore"])
def test_every_first_phase_is_what_a_naive_loop_plays(first_phase: str) -> None:
    instance = paper()
    policy = suited("prae-r", instance, 3000, contamination=0.05, first_phase=first_phase)
    for replication in range(4):
        assert_same(policy, instance, seed=2, replication=replication)


def test_costs_are_what_a_naive_loop_makes_of_them() -> None:
    instance = dataclasses.replace(three_arms(), goal="min")
    for name in ("prae-c", "ucb1", "dprse"):
        assert_same(one_of(name, horizon=1500, goal="min"), instance, seed=3, replication=0)


# --- Everything plays everywhere ----------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("where", ENVIRONMENTS)
def test_every_policy_plays_in_every_environment(name: str, where: str, tmp_path: Path) -> None:
    instance = environment(where, tmp_path)
    policy = suited(name, instance, 400)
    result = stoic.simulate(policy, instance, replications=2, seed=1, checkpoints=[1, 399, 400])
    assert result.pulls.sum(axis=1).tolist() == [400, 400]
    assert result.final_regret == pytest.approx(result.pulls @ instance.gaps)
    assert result.regret[:, -1] == pytest.approx(result.final_regret)
    assert (np.diff(result.regret, axis=1) >= -1e-9).all()


# --- What is drawn ------------------------------------------------------------------------------


class Watched:
    """A policy, and the plans that it made."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.plans: list[stoic.core.Plan] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self.policy, name)

    def ask(self, state: object, *, rng: np.random.Generator) -> stoic.core.Plan:
        plan = self.policy.ask(state, rng=rng)
        self.plans.append(plan)
        return plan

    @property
    def asked(self) -> int:
        return sum(plan.size for plan in self.plans if plan.queries)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_draws_are_what_the_plans_asked_about(name: str, alpha: float) -> None:
    instance = Instance((Counting(0.0), Counting(2.0), Counting(-2.0)))
    if alpha:
        garbage = Gaussian(0.0, 9.0)
        dirty = [stoic.environments.Huber(Gaussian(m, 1.0), alpha, garbage) for m in (0, 2, -2)]
        instance = Instance(tuple(dirty))
    watched = Watched(one_of(name, horizon=5000))
    Counting.drawn.clear()
    played = replicate(
        watched, Streams(instance, seed=1), replication=0, checkpoints=np.array([5000])
    )
    assert played.draws == watched.asked
    assert sum(plan.size for plan in watched.plans) == played.pulls.sum() == 5000
    if not alpha:
        assert sum(Counting.drawn) == played.draws


def test_a_kernel_counts_the_rewards_that_it_used_and_draws_few_more() -> None:
    instance = Instance((Counting(0.0), Counting(2.0), Counting(-2.0)))
    Counting.drawn.clear()
    result = stoic.simulate(one_of("ucb1", horizon=5000), instance, replications=1, seed=1)
    assert result.draws.tolist() == [5000]
    assert 5000 <= sum(Counting.drawn) <= 2 * 5000 + 3 * 64


def test_a_billion_rounds_cost_the_rewards_that_decisions_needed() -> None:
    instance = Instance((Counting(0.0), Counting(2.0), Counting(-2.0)))
    costs = {}
    for horizon in (10**6, 10**9):
        Counting.drawn.clear()
        policy = one_of("prae-r", horizon=horizon)
        began = time.process_time()
        result = stoic.simulate(policy, instance, replications=1, seed=1, checkpoints=100)
        assert time.process_time() - began < 5
        assert sum(Counting.drawn) == result.draws[0]
        assert result.pulls.sum() == horizon
        assert np.count_nonzero(result.eliminated_at[0] >= 0) == 2
        # Once one arm is left, nothing is lost and nothing is drawn.
        assert result.draws[0] <= result.eliminated_at[0].max()
        assert result.regret[0, -1] == result.regret[0, 50] == result.final_regret[0]
        costs[horizon] = result.draws[0]
    assert costs[10**9] == costs[10**6] < 10**4


# --- Memory -------------------------------------------------------------------------------------


def peak(policy: Policy, instance: Instance, **how: object) -> tuple[int, int]:
    """Bytes that a simulation holds at most, and rewards that it draws."""
    stoic.simulate(policy, instance, replications=1, seed=1)  # imports, compiled code
    tracemalloc.start()
    try:
        result = stoic.simulate(policy, instance, seed=1, **how)
        return tracemalloc.get_traced_memory()[1], int(result.draws.sum())
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["prae-r", "prae-c", "dprse", "ucb1", "uniform", "oracle"])
def test_memory_does_not_grow_with_the_horizon(name: str) -> None:
    close = tuple(stoic.environments.law("student-t", df=2.5, loc=loc) for loc in (0.0, 1e-4))
    instance = Instance(close).contaminated(0.1, Gaussian(0.0, 50.0))
    drawn, limit = 0, 2_000_000
    for horizon in (10**5, 4 * 10**6):
        policy = suited(name, instance, horizon, contamination=0.1)
        held, drawn = peak(policy, instance, replications=1, checkpoints=50)
        assert held < limit
    if name not in ("uniform", "oracle"):
        assert 8 * drawn > 2 * limit  # it would show if the rewards were kept


def test_memory_is_that_of_replications_times_checkpoints() -> None:
    instance = paper()
    policy = suited("prae-r", instance, 1000)

    def held(replications: int, checkpoints: int) -> int:
        return peak(policy, instance, replications=replications, checkpoints=checkpoints)[0]

    small = held(10, 10)
    # A row for each replication, and the table that is made of them.
    assert held(10, 1000) - small < 3 * 8 * 10 * 1000 + 20_000
    assert held(50, 1000) - small < 3 * 8 * 50 * 1000 + 100_000
    assert held(100, 10) - small < 100 * 2000


# --- The same, whoever plays --------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_replication_alone_is_the_same_as_among_others(name: str) -> None:
    policy, options = one_of(name, horizon=600), {"seed": 7, "checkpoints": 20}
    together = stoic.simulate(policy, three_arms(), replications=6, **options)
    alone = stoic.simulate(policy, three_arms(), replications=[4], **options)
    mixed = stoic.simulate(policy, three_arms(), replications=[5, 4, 0], **options)
    for field in ("regret", "final_regret", "pulls", "eliminated_at", "recommended", "draws"):
        rows = getattr(together, field)
        np.testing.assert_array_equal(getattr(alone, field)[0], rows[4])
        np.testing.assert_array_equal(getattr(mixed, field), rows[[5, 4, 0]])


def test_another_seed_gives_other_numbers() -> None:
    policy = one_of("prae-r", horizon=600)
    one, other = (stoic.simulate(policy, three_arms(), replications=9, seed=s) for s in (1, 2))
    assert one.final_regret.tolist() != other.final_regret.tolist()


def test_arms_are_met_in_an_order_of_each_replications_own() -> None:
    # With one order for all, whoever plays the first arm only would look good or bad by it.
    class First(stoic.policies.Uniform):
        def ask(self, state: FixedState, *, rng: np.random.Generator) -> Plan:
            return Plan((0,), (5,)) if not state.spent else Plan((), ())

    result = stoic.simulate(First(arms=5, horizon=5), paper(), replications=2000, seed=1)
    assert (result.pulls.sum(axis=0) / 5).tolist() == pytest.approx([400] * 5, abs=120)


def test_the_oracle_plays_the_best_arm_in_whatever_order_the_arms_are_met() -> None:
    policy = stoic.policies.create("oracle", arms=5, horizon=5, best=2)
    result = stoic.simulate(policy, paper(), replications=50, seed=1)
    assert result.pulls.tolist() == [[0, 0, 5, 0, 0]] * 50
    assert result.recommended.tolist() == [2] * 50
