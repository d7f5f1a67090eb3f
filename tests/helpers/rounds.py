"""A naive simulator: one round after another, everything kept. The engine must agree with it.

It shares the policy and the mechanisms with the engine, and nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stoic.core import Plan, Release
from stoic.environments import Instance
from stoic.policies import Oracle, Policy
from stoic.privacy.noise import Noise
from stoic.privacy.simulated import SimulatedNoise
from stoic.simulation import Streams

__all__ = ["Pay", "Rounds", "play_rounds", "shared_rounds"]

Pay = Callable[[int, int, int], Sequence[float]]
"""Arm of the instance, how many slots, into how many folds they are split: the slots' rewards."""


@dataclass(frozen=True)
class Rounds:
    """A run, round by round; arms are those of the instance."""

    arms: NDArray[np.int64]
    regret: NDArray[np.float64]
    """Cumulative, after each round."""
    left_at: list[int]
    """After which round each arm was out of play, or -1."""
    used: int
    """Rewards that a query read."""
    recommended: int

    @property
    def pulls(self) -> list[int]:
        return np.bincount(self.arms, minlength=len(self.left_at)).tolist()


def play_rounds(
    policy: Policy,
    instance: Instance,
    *,
    order: Sequence[int],
    pay: Pay,
    rng: np.random.Generator,
    noise: Noise,
) -> Rounds:
    """The policy's arm ``i`` is the instance's arm ``order[i]``; the oracle is told the latter."""
    if isinstance(policy, Oracle):
        policy = dataclasses.replace(policy, best=list(order).index(policy.best))
    gaps, played, regret = instance.gaps.tolist(), [], []
    left_at, used, lost = [-1] * policy.arms, 0, 0.0
    state = policy.init()
    while (plan := policy.ask(state, rng=rng)).size:
        folds = dict(zip(plan.arms, (query.folds for query in plan.queries), strict=False))
        sizes = dict(zip(plan.arms, plan.pulls, strict=True))
        rewards = {arm: iter(pay(order[arm], sizes[arm], n)) for arm, n in folds.items()}
        batches: dict[int, list[float]] = {arm: [] for arm in rewards}
        for place in _turns(plan):
            arm = plan.arms[place]
            played.append(order[arm])
            lost += gaps[order[arm]]
            regret.append(lost)
            if arm in rewards:
                batches[arm].append(float(next(rewards[arm])))
                used += 1
        answers = {
            arm: _ask(query, batches[arm], noise)
            for arm, query in zip(plan.arms, plan.queries, strict=False)
        }
        state = policy.tell(state, plan, answers)
        for arm in set(range(policy.arms)) - set(getattr(state, "active", range(policy.arms))):
            if left_at[order[arm]] < 0:
                left_at[order[arm]] = len(played)
    best = order[policy.recommend(state)]
    return Rounds(np.array(played), np.array(regret), left_at, used, best)


def shared_rounds(policy: Policy, instance: Instance, *, seed: int, replication: int) -> Rounds:
    """The replication that the engine plays, from the very same streams."""
    streams = Streams(instance, seed=seed)
    paid = [streams.rewards(replication, arm) for arm in range(instance.size)]

    def pay(arm: int, n: int, folds: int) -> Sequence[float]:
        # A stream pays fold by fold.
        slots = np.argsort(np.arange(n) % folds, kind="stable")
        rewards = np.empty(n)
        rewards[slots] = paid[arm].array(n)
        return rewards.tolist()

    return play_rounds(
        policy,
        instance,
        order=streams.labels(replication).permutation(instance.size).tolist(),
        pay=pay,
        rng=streams.play(replication),
        noise=SimulatedNoise(streams.noise(replication)),
    )


def _turns(plan: Plan) -> Iterator[int]:
    """Whose turn it is: an index into the plan's arms for every slot."""
    if plan.shuffle is not None:
        yield from plan.deal(0, plan.size).tolist()
        return
    left = list(plan.pulls)
    while any(left):
        for place in range(len(left)):
            if left[place]:
                left[place] -= 1
                yield place


def _ask(query: Any, rewards: list[float], noise: Noise) -> tuple[Release, ...]:
    """Position ``i`` belongs to fold ``i`` modulo the number of folds."""
    releases: tuple[Release, ...] = ()
    for fold in range(query.folds):
        mechanism = query.mechanism(fold, releases)
        mine = [reward for i, reward in enumerate(rewards) if i % query.folds == fold]
        total = mechanism.add(mechanism.empty(), np.array(mine))
        releases += (mechanism.release(total, len(mine), noise=noise),)
    return releases
