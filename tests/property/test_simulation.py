"""Laws of the engine for all plans, batches and checkpoints."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stoic
from helpers.arms import three_arms
from helpers.policies import NAMES, generator, one_of
from stoic.core import Plan
from stoic.environments import Gaussian, Huber, Instance, Pareto, Point, StudentT
from stoic.policies.policy import round_robin
from stoic.simulation import RewardStream, Streams, checkpoint_rounds, compare, replicate

SIZES = st.lists(st.integers(0, 200), min_size=1, max_size=8)


@dataclasses.dataclass(frozen=True)
class Scripted:
    """A policy that asks for the plans that it was given, one after another."""

    plans: tuple[Plan, ...]
    arms: int
    goal: str = "max"

    @property
    def horizon(self) -> int:
        return sum(plan.size for plan in self.plans)

    def init(self) -> int:
        return 0

    def ask(self, state: int, *, rng: np.random.Generator) -> Plan:
        return self.plans[state] if state < len(self.plans) else Plan((), ())

    def tell(self, state: int, plan: Plan, answers: Any) -> int:
        return state + 1

    def recommend(self, state: int) -> int:
        return 0


@st.composite
def plans(draw: st.DrawFn, arms: int) -> Plan:
    """A round robin of some arms, or any pulls of all in random order."""
    if draw(st.booleans()):
        some = draw(st.lists(st.integers(0, arms - 1), min_size=1, max_size=arms, unique=True))
        return round_robin(some, draw(st.integers(1, 50)), rng=generator(draw(st.integers(0, 99))))
    pulls = draw(st.lists(st.integers(0, 9), min_size=arms, max_size=arms).filter(any))
    return Plan(tuple(range(arms)), tuple(pulls), shuffle=draw(st.integers(0, 99)))


@given(st.data())
def test_regret_is_exact_at_every_round_of_any_plans(data: st.DataObject) -> None:
    arms = data.draw(st.integers(2, 5))
    means = data.draw(st.lists(st.floats(-1e3, 1e3), min_size=arms, max_size=arms))
    instance = Instance(tuple(Gaussian(mean, 1.0) for mean in means))
    policy = Scripted(tuple(data.draw(st.lists(plans(arms), min_size=1, max_size=5))), arms)
    rounds = data.draw(st.sets(st.integers(1, policy.horizon)))
    streams = Streams(instance, seed=1)

    played = replicate(
        policy, streams, replication=3, checkpoints=np.array(sorted(rounds), dtype=np.int64)
    )

    order = streams.labels(3).permutation(arms)
    walked = [
        instance.gaps[order[plan.arms[slot]]]
        for plan in policy.plans
        for slot in plan.deal(0, plan.size)
    ]
    exact = np.cumsum(walked)
    np.testing.assert_allclose(
        played.regret, exact[np.array(sorted(rounds), dtype=int) - 1], rtol=1e-12, atol=1e-9
    )
    np.testing.assert_allclose(played.final_regret, exact[-1], rtol=1e-12, atol=1e-9)
    assert played.pulls.sum() == policy.horizon
    assert played.draws == 0  # nothing was asked about


@given(
    SIZES,
    st.sampled_from([0.0, 0.01, 0.3, 0.95]),
    st.sampled_from([Gaussian(0.0, 1.0), StudentT(2.5), Pareto(2.5)]),
)
def test_any_batches_of_a_stream_are_the_pieces_of_one(
    sizes: list[int], alpha: float, clean: Any
) -> None:
    def stream() -> RewardStream:
        arm = Huber(clean, alpha, Point("nan"))
        return RewardStream(arm, *(generator(5, purpose) for purpose in range(3)))

    whole = stream().array(sum(sizes))
    by_one, in_blocks = stream(), stream()
    start = 0
    for n in sizes:
        piece = whole[start : start + n]
        np.testing.assert_array_equal(by_one.array(n), piece)
        blocks = np.concatenate([np.zeros(0), *in_blocks.take(n)])
        np.testing.assert_array_equal(np.sort(blocks), np.sort(piece))
        start += n
    assert by_one.drawn == in_blocks.drawn == sum(sizes)


@given(st.integers(1, 10**12), st.integers(0, 300))
def test_checkpoints_are_spaced_evenly_up_to_the_horizon(horizon: int, count: int) -> None:
    rounds = checkpoint_rounds(count, horizon)
    assert rounds.size == min(count, horizon)
    assert rounds.tolist() == sorted(set(rounds.tolist()))
    assert rounds.size == 0 or (rounds[0] >= 1 and rounds[-1] == horizon)
    if rounds.size:
        even = np.arange(1, rounds.size + 1) * (horizon / rounds.size)
        assert np.abs(rounds - even).max() <= 1


@settings(max_examples=15)
@given(st.sampled_from(NAMES), st.integers(3, 300), st.integers(0, 2**40), st.integers(0, 2**40))
def test_checkpoints_watch_and_change_nothing(
    name: str, horizon: int, seed: int, replication: int
) -> None:
    policy, instance = one_of(name, horizon=horizon), three_arms()
    everywhere, somewhere, nowhere = (
        stoic.simulate(
            policy, instance, replications=[replication], seed=seed, checkpoints=checkpoints
        )
        for checkpoints in (np.arange(1, horizon + 1), 7, 0)
    )
    np.testing.assert_array_equal(somewhere.regret, everywhere.regret[:, somewhere.checkpoints - 1])
    for field in ("final_regret", "pulls", "eliminated_at", "recommended", "draws"):
        np.testing.assert_array_equal(getattr(everywhere, field), getattr(nowhere, field))


@settings(max_examples=15)
@given(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 99))
def test_a_comparison_the_other_way_round_is_its_opposite(one: str, other: str, seed: int) -> None:
    results = [
        stoic.simulate(one_of(name, horizon=60), three_arms(), replications=4, seed=seed)
        for name in (one, other)
    ]
    there, back = compare(*results), compare(*reversed(results))
    assert there.difference == -back.difference
    assert there.standard_error == back.standard_error
    np.testing.assert_equal(there.variance_reduction, back.variance_reduction)
