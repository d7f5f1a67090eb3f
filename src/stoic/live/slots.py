"""The order in which an epoch deals its plan.

A plan of K arms is dealt in blocks of K slots; each block is a fresh random permutation of the
arms, from a key that the operating system's entropy gave the epoch. So the order is random, the
arms never differ by more than one slot whenever the epoch is closed, the j-th slot of an arm is in
block j whoever comes first (folds go by it), and nothing but a counter and a key is stored. The
permutations come from SHAKE-256, not from a generator of a library that may change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from stoic.core import Plan

__all__ = ["Dealer"]

_CHUNK = 8_192  # slots whose order is computed at a time


class Dealer:
    """Deals the slots of one epoch; the same plan and key give the same order, always.

    >>> dealer = Dealer(Plan(arms=(4, 2), pulls=(3, 2)), b"key")
    >>> sorted(dealer.places(0, 4).tolist()), dealer.counts(5)
    ([0, 0, 1, 1], [3, 2])
    """

    def __init__(self, plan: Plan, key: bytes) -> None:
        self.plan = plan
        self.size = plan.size
        self.arms = np.asarray(plan.arms, dtype=np.int64)
        self._key = key
        self._turns = max(1, len(plan.arms))
        self._blocks = max(1, _CHUNK // self._turns)
        self._known: tuple[int, NDArray[np.int64]] | None = None

    def places(self, start: int, stop: int) -> NDArray[np.int64]:
        """Which arm, as an index into the plan's, each slot from ``start`` to ``stop`` has."""
        if self.plan.shuffle is not None:
            return self.plan.deal(start, stop)
        length = self._blocks * self._turns
        first, last = start // length, max(start, stop - 1) // length
        dealt = np.concatenate([self._chunk(chunk) for chunk in range(first, last + 1)])
        return dealt[start - first * length : stop - first * length]

    def fold(self, slots: NDArray[np.int64], folds: int) -> NDArray[np.int64]:
        """The fold of each slot: an arm's j-th slot is in fold ``j % folds``."""
        return slots // self._turns % folds

    def take(
        self, issued: int, n: int, without: Collection[int]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """The next ``n`` slots of arms not in ``without``, those arms, and the new ``issued``.

        Slots of the others are passed over, at the end of the plan too.
        """
        if without and set(self.plan.arms) <= set(without):
            issued = self.size  # however many slots that may be
        barred = np.asarray(sorted(without), dtype=np.int64)
        slots, arms = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        wanted = n
        while issued < self.size:
            stop = min(self.size, issued + max(wanted + len(barred), _CHUNK if len(barred) else 0))
            dealt = self.arms[self.places(issued, stop)]
            allowed = np.flatnonzero(~np.isin(dealt, barred))
            taken = allowed[:wanted]
            slots.append(issued + taken)
            arms.append(dealt[taken])
            wanted -= taken.size
            if taken.size < allowed.size:
                issued += int(allowed[taken.size])  # the first slot that somebody else may have
                break
            issued = stop
            if not wanted and not len(barred):
                break
        return np.concatenate(slots), np.concatenate(arms), issued

    def counts(self, issued: int) -> list[int]:
        """How many of the first ``issued`` slots each of the plan's arms has."""
        turns = len(self.plan.arms)
        if self.plan.shuffle is not None:
            return _listed(np.bincount(self.places(0, issued), minlength=turns))
        if not turns:
            return []
        full = issued // turns
        partial = np.bincount(self.places(full * turns, issued), minlength=turns)
        return _listed(full + partial)

    def dealt(self, issued: int) -> Plan:
        """The plan as it was dealt, if it ends here; without queries if a fold would be empty."""
        plan = self.plan
        if issued >= self.size:
            return plan
        counts = self.counts(issued)
        if plan.shuffle is not None:
            return Plan(plan.arms, tuple(counts), shuffle=plan.shuffle)
        order = sorted(range(len(plan.arms)), key=lambda place: -counts[place])
        enough = plan.queries and all(
            n >= query.folds for n, query in zip(counts, plan.queries, strict=True)
        )
        return Plan(
            tuple(plan.arms[place] for place in order),
            tuple(counts[place] for place in order),
            tuple(plan.queries[place] for place in order) if enough else (),
        )

    def _chunk(self, chunk: int) -> NDArray[np.int64]:
        known = self._known  # another thread may replace it meanwhile
        if known is None or known[0] != chunk:
            words = hashlib.shake_256(self._key + chunk.to_bytes(8)).digest(
                8 * self._blocks * self._turns
            )
            ranks = np.frombuffer(words, dtype="<u8").reshape(self._blocks, self._turns)
            order = np.argsort(ranks, axis=1, kind="stable")
            full, rest = divmod(self.size, self._turns)
            last = full - chunk * self._blocks
            if rest and 0 <= last < self._blocks:  # the last, shorter turn
                order[last, :rest] = np.argsort(ranks[last, :rest], kind="stable")
            self._known = known = chunk, order.ravel()
        return known[1]


def _listed(counts: NDArray[np.int64]) -> list[int]:
    return [int(count) for count in counts]
