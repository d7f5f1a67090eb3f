"""One replication: a policy plays an environment from the first round to the horizon.

The engine drives the same ``init``, ``ask`` and ``tell`` as everything else, phase by phase. A
phase draws what its queries ask for, in blocks that are reduced at once; what no query asks for is
never drawn, so the rounds after the last decision cost nothing.

Regret is clean pseudo-regret, from the means of the inliers. Within a phase arms are dealt round
robin, so it is known exactly at every round without walking through them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, Plan
from stoic.policies import Answers, Oracle, Policy
from stoic.privacy.noise import Noise
from stoic.privacy.queries import answer, fold_sizes
from stoic.privacy.simulated import SimulatedNoise
from stoic.simulation.kernels import fast_forward
from stoic.simulation.streams import RewardStream, Streams

__all__ = ["Replication", "replicate"]


@dataclass(frozen=True, eq=False, slots=True)
class Replication:
    """What came of one replication. Arms are those of the instance, whatever the policy calls them.

    ``regret`` is cumulative, at the checkpoints; ``left_at`` is the round after which an arm was
    out of play (-1: never); ``draws`` counts the rewards that were drawn and used.
    """

    regret: Floats
    final_regret: float
    pulls: NDArray[np.int64]
    left_at: NDArray[np.int64]
    recommended: int
    draws: int


def replicate(
    policy: Policy, streams: Streams, *, replication: int, checkpoints: NDArray[np.int64]
) -> Replication:
    """Play one replication; the same streams and number give the same numbers, always.

    >>> import stoic
    >>> instance = stoic.instances.paper("pareto", alpha=0.05)
    >>> policy = stoic.policies.create("uniform", arms=5, horizon=1000)
    >>> streams = Streams(instance, seed=1)
    >>> played = replicate(policy, streams, replication=0, checkpoints=np.array([500, 1000]))
    >>> played.regret, played.pulls, played.draws
    (array([25000., 50000.]), array([200, 200, 200, 200, 200]), 0)
    """
    run = _Run(streams, replication, checkpoints)
    if isinstance(policy, Oracle):  # what it is told is an arm of the instance
        policy = dataclasses.replace(policy, best=int(np.argmax(run.labels == policy.best)))
    play, noise = streams.play(replication), SimulatedNoise(streams.noise(replication))
    state = policy.init()
    plan = policy.ask(state, rng=play)
    while plan.size:
        state = policy.tell(state, plan, run.phase(plan, noise))
        run.note_who_left(state)
        state = fast_forward(policy, state, run)
        plan = policy.ask(state, rng=play)
    return run.result(policy.recommend(state))


class _Run:
    """The books of one replication, kept in the instance's numbering of the arms."""

    def __init__(self, streams: Streams, replication: int, checkpoints: NDArray[np.int64]) -> None:
        # The policy's arm i is the instance's arm labels[i]: an order that helps is luck only.
        arms = streams.instance.size
        self.labels = streams.labels(replication).permutation(arms)
        self.gaps = streams.instance.gaps
        self.checkpoints = checkpoints
        self.rounds = 0
        self.pulls = np.zeros(arms, dtype=np.int64)
        self.left_at = np.full(arms, -1, dtype=np.int64)
        self.regret = np.empty(checkpoints.size)
        self._streams = streams
        self._replication = replication
        self._rewards: dict[int, RewardStream] = {}

    def rewards(self, arm: int) -> RewardStream:
        """What the policy's arm pays."""
        label = int(self.labels[arm])
        if label not in self._rewards:
            self._rewards[label] = self._streams.rewards(self._replication, label)
        return self._rewards[label]

    def phase(self, plan: Plan, noise: Noise) -> Answers:
        """Draw what the plan asks for, release it, and write down the pulls."""
        answers = {}
        for arm, n, query in zip(plan.arms, plan.pulls, plan.queries, strict=False):
            sizes = fold_sizes(n, query.folds)
            stream = self.rewards(arm)
            folds = [stream.take(size) for size in sizes]
            answers[arm] = answer(query, folds, sizes, noise=noise)
        self._note(plan)
        return answers

    def _note(self, plan: Plan) -> None:
        arms = self.labels[list(plan.arms)]
        end = self.rounds + plan.size
        first, last = np.searchsorted(self.checkpoints, [self.rounds, end], side="right")
        if first < last:
            offsets = self.checkpoints[first:last] - self.rounds
            self.regret[first:last] = self._sofar() + _regret_within(plan, self.gaps[arms], offsets)
        self.pulls[arms] += plan.pulls
        self.rounds = end

    def note_rounds(self, pulls: NDArray[np.int64], snapshots: NDArray[np.int64]) -> None:
        """Write down rounds that were played at once: the policy's pulls, at the end and before."""
        gaps = self.gaps[self.labels]
        last = self.checkpoints.size
        self.regret[last - len(snapshots) :] = self._sofar() + snapshots @ gaps
        self.pulls[self.labels] += pulls
        self.rounds += int(pulls.sum())

    def _sofar(self) -> float:
        return float(self.pulls @ self.gaps)

    def note_who_left(self, state: Any) -> None:
        """Write down the round at which arms left, for policies that eliminate."""
        active = getattr(state, "active", None)
        if active is None or len(active) == self._in_play():
            return
        gone = np.ones(self.left_at.size, dtype=np.bool_)
        gone[self.labels[list(active)]] = False
        self.left_at[gone & (self.left_at < 0)] = self.rounds

    def _in_play(self) -> int:
        return int(np.count_nonzero(self.left_at < 0))

    def result(self, recommended: int) -> Replication:
        """All of it, when the horizon is spent."""
        return Replication(
            self.regret,
            self._sofar(),
            self.pulls,
            self.left_at,
            int(self.labels[recommended]),
            sum(stream.drawn for stream in self._rewards.values()),
        )


def _regret_within(plan: Plan, gaps: Floats, offsets: NDArray[np.int64]) -> Floats:
    """Regret of the first ``offsets`` slots of a plan, exactly."""
    if plan.shuffle is not None:
        return np.cumsum(gaps[plan.deal(0, plan.size)])[offsets - 1]
    rounds, rest = np.divmod(offsets, len(plan.arms))
    partial = np.concatenate([[0.0], np.cumsum(gaps)])
    regret: Floats = rounds * partial[-1] + partial[rest]
    return regret
