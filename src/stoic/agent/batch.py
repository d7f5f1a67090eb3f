"""The open batch: the slots of one plan, dealt in order, and the rewards told for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, Plan, Release
from stoic.privacy.noise import Noise
from stoic.privacy.queries import answer, fold_sizes

__all__ = ["OpenBatch"]


class OpenBatch:
    """Deals the slots of a plan and keeps the first reward of each, if the plan asks for rewards.

    ``missing`` counts the slots that it still waits for: to be told or, where the plan asks for
    nothing, to be dealt. At 0 the batch is over. Memory grows with the slots dealt, by nine bytes
    each, and only for rewards that are asked for.

    >>> batch = OpenBatch(Plan(arms=(2, 0), pulls=(1, 1)))
    >>> batch.deal(), batch.deal(), batch.missing
    (2, 0, 0)
    """

    __slots__ = ("_order", "_rewards", "_told", "asks", "issued", "missing", "plan", "size")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.asks = bool(plan.queries)
        self.size = self.missing = plan.size
        self.issued = 0
        self._order = None if plan.shuffle is None else plan.deal(0, plan.size)
        self._told = np.zeros(0, dtype=np.bool_)
        self._rewards = np.zeros(0)

    def deal(self) -> int:
        """The arm of the next slot."""
        slot = self.issued
        self._grant(slot + 1)
        place = slot % len(self.plan.arms) if self._order is None else self._order[slot]
        return self.plan.arms[place]

    def deal_many(self, n: int) -> NDArray[np.int64]:
        """The arms of the next ``n`` slots."""
        slots = np.arange(self.issued, self.issued + n)
        self._grant(self.issued + n)
        places = slots % len(self.plan.arms) if self._order is None else self._order[slots]
        return np.asarray(self.plan.arms, dtype=np.int64)[places]

    def take(self, slot: int, reward: float) -> None:
        """Keep the reward of a dealt slot, unless it has one."""
        if self.asks and not self._told[slot]:
            self._told[slot] = True
            self._rewards[slot] = reward
            self.missing -= 1

    def take_many(self, slots: NDArray[np.int64], rewards: Floats) -> None:
        """Keep the rewards of dealt slots, the first of each."""
        if not self.asks:
            return
        slots, first = np.unique(slots, return_index=True)
        fresh = ~self._told[slots]
        self._told[slots[fresh]] = True
        self._rewards[slots[fresh]] = rewards[first][fresh]
        self.missing -= int(np.count_nonzero(fresh))

    def fill(self, default: float) -> None:
        """Give every dealt slot without a reward this one."""
        lost = np.flatnonzero(~self._told[: self.issued])
        self.take_many(lost, np.full(lost.size, default))

    def answers(self, *, noise: Noise) -> dict[int, tuple[Release, ...]]:
        """What the plan asks of the rewards, arm by arm. For a batch that is over."""
        turns = len(self.plan.arms)
        answers = {}
        for place, (arm, query) in enumerate(zip(self.plan.arms, self.plan.queries, strict=False)):
            rewards = self._rewards[place : self.size : turns]
            folds = [(rewards[fold :: query.folds],) for fold in range(query.folds)]
            sizes = fold_sizes(rewards.size, query.folds)
            answers[arm] = answer(query, folds, sizes, noise=noise)
        return answers

    def contents(self) -> tuple[NDArray[np.bool_], Floats]:
        """Which of the dealt slots have a reward, and the rewards."""
        return self._told[: self.issued], self._rewards[: self.issued]

    def restore(self, issued: int, told: NDArray[np.bool_], rewards: Floats) -> None:
        """Go on where another batch of the same plan stood (:meth:`contents`)."""
        self._grant(issued)
        slots = np.flatnonzero(told)
        self.take_many(slots, rewards[slots])

    def _grant(self, issued: int) -> None:
        """Deal up to this many slots."""
        if not self.asks:
            self.missing -= issued - self.issued
        elif issued > self._told.size:
            added = min(self.size, max(issued, 2 * self._told.size, 1024)) - self._told.size
            self._told = np.concatenate([self._told, np.zeros(added, dtype=np.bool_)])
            self._rewards = np.concatenate([self._rewards, np.zeros(added)])
        self.issued = issued
