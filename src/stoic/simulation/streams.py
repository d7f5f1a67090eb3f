"""Where the random numbers of a replication come from.

Every stream has an address: the seed, the environment, the replication and what it is for. The
policy is not part of it. So policies that are compared meet the same rewards (common random
numbers): the j-th reward that an arm pays in a replication is the same for all of them, however
they ask for it. And any replication can be run again alone, on any worker.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, dumps
from stoic.environments import Arm, FiniteLaw, Huber, Instance, Source
from stoic.privacy.queries import Block

__all__ = ["RewardStream", "Streams"]

_BLOCK = 16_384  # rewards drawn at a time: what is computed on them stays in cache
_AHEAD = 64  # outliers whose places are drawn at the least
_NEVER = 2**50  # of distances between outliers: their sums stay integers of 64 bits

_CLEAN, _GARBAGE, _PLACES, _LABELS, _PLAY, _NOISE = range(6)


class Streams:
    """All streams of one replication.

    >>> import stoic
    >>> instance = stoic.instances.paper("pareto", alpha=0.0)
    >>> streams = Streams(instance, seed=1, replication=0)
    >>> again = Streams(instance, seed=1, replication=0)
    >>> bool(streams.play().integers(2**63) == again.play().integers(2**63))
    True
    """

    def __init__(self, instance: Instance, *, seed: int, replication: int) -> None:
        digest = hashlib.sha256(dumps(instance).encode()).digest()[:16]
        self._instance = instance
        self._entropy = seed
        self._address = (*np.frombuffer(digest, dtype="<u4").tolist(), replication)

    def labels(self) -> np.random.Generator:
        """For the order in which the policy meets the arms."""
        return self._generator(_LABELS)

    def play(self) -> np.random.Generator:
        """For the policy's public randomness."""
        return self._generator(_PLAY)

    def noise(self) -> np.random.Generator:
        """For privacy noise."""
        return self._generator(_NOISE)

    def rewards(self, arm: int) -> RewardStream:
        """What an arm of the instance pays."""
        purposes = (_CLEAN, _GARBAGE, _PLACES)
        return RewardStream(
            self._instance.arms[arm], *(self._generator(purpose, arm) for purpose in purposes)
        )

    def _generator(self, *purpose: int) -> np.random.Generator:
        key = (*self._address, *purpose)
        seeds = np.random.SeedSequence(self._entropy, spawn_key=key)
        return np.random.Generator(np.random.SFC64(seeds))


class RewardStream:
    """The rewards of one arm, drawn once, in cache-sized blocks, and never all at once.

    Clean rewards, outliers and the places of the outliers have a generator each, so the j-th reward
    does not depend on how many were asked for at a time (where the law's ``sample`` is invariant
    under splitting). Laws with few values come as counts when the order is of no interest: then a
    clean sample of any size costs next to nothing.
    """

    def __init__(
        self,
        arm: Arm,
        clean: np.random.Generator,
        garbage: np.random.Generator,
        places: np.random.Generator,
    ) -> None:
        self._law: Source = arm
        self._contaminant: Source = arm
        self._places = None
        if isinstance(arm, Huber):
            self._law, self._contaminant = arm.clean, arm.contaminant
            self._places = _Places(arm.alpha, places) if arm.alpha else None
        self._clean = clean
        self._garbage = garbage
        self.drawn = 0

    def take(self, n: int) -> Iterator[Block]:
        """The next ``n`` rewards in blocks, outliers apart from the others."""
        self.drawn += n
        if self._places is None and isinstance(self._law, FiniteLaw):
            yield _sample(self._law, n, self._clean)
            return
        for size in _blocks(n):
            outliers = 0 if self._places is None else self._places.among(size).size
            yield _sample(self._law, size - outliers, self._clean)
            if outliers:
                yield _sample(self._contaminant, outliers, self._garbage)

    def array(self, n: int) -> Floats:
        """The next ``n`` rewards, one by one in their order."""
        self.drawn += n
        if self._places is None:
            return self._law.sample(n, rng=self._clean)
        places = self._places.among(n)
        rewards = np.empty(n)
        usual = np.ones(n, dtype=np.bool_)
        usual[places] = False
        rewards[usual] = self._law.sample(n - places.size, rng=self._clean)
        rewards[places] = self._contaminant.sample(places.size, rng=self._garbage)
        return rewards


class _Places:
    """Which rewards of a stream are outliers: each with probability ``alpha``, independently.

    The distances between them are geometric, which takes ``alpha`` random numbers for each reward
    where a mask would take one.
    """

    def __init__(self, alpha: float, rng: np.random.Generator) -> None:
        self._alpha = alpha
        self._rng = rng
        self._coming = np.zeros(0, dtype=np.int64)  # counted from the next reward
        self._last = -1

    def among(self, n: int) -> NDArray[np.int64]:
        """The outliers among the next ``n`` rewards, as places from 0 to ``n - 1``."""
        while self._last < n:
            gaps = self._rng.geometric(self._alpha, _AHEAD + int(self._alpha * n))
            fresh = self._last + np.cumsum(np.minimum(gaps, _NEVER))
            self._coming = np.concatenate([self._coming, fresh])
            self._last = int(fresh[-1])
        count = int(np.searchsorted(self._coming, n))
        found, self._coming = self._coming[:count], self._coming[count:] - n
        self._last -= n
        return found


def _sample(law: Source, n: int, rng: np.random.Generator) -> Block:
    return law.counts(n, rng=rng) if isinstance(law, FiniteLaw) else law.sample(n, rng=rng)


def _blocks(n: int) -> Iterator[int]:
    full, rest = divmod(n, _BLOCK)
    yield from itertools.repeat(_BLOCK, full)
    if rest:
        yield rest
