"""Where the random numbers of a replication come from.

Every stream has an address: the seed, the environment, the replication and what it is for. The
policy is not part of it. So policies that are compared meet the same rewards (common random
numbers): the j-th reward that an arm pays in a replication is the same for all of them, however
they ask for it. And any replication can be run again alone, on any worker.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Iterator
from typing import cast

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, dumps
from stoic.environments import Arm, FiniteLaw, Huber, Instance, Source
from stoic.privacy.queries import Block

__all__ = ["RewardStream", "Streams"]

_BLOCK = 16_384  # rewards drawn at a time: what is computed on them stays in cache
_LONG = 1_024  # rewards of a law with few values, from which on they are only counted
_AHEAD = 64  # outliers whose places are drawn ahead at the least,
_PLACES = 4_096  # and about how many at the most
_NEVER = 2**50  # of distances between outliers: their sums stay integers of 64 bits

_LABELS, _PLAY, _NOISE, *_REWARDS = range(6)


class Streams:
    """All streams of an instance's replications.

    >>> import stoic
    >>> instance = stoic.instances.paper("pareto", alpha=0.0)
    >>> one, again = Streams(instance, seed=1), Streams(instance, seed=1)
    >>> bool(one.play(7).integers(2**63) == again.play(7).integers(2**63))
    True
    """

    def __init__(self, instance: Instance, *, seed: int) -> None:
        self.instance = instance
        self.seed = seed
        digest = hashlib.sha256(dumps(instance).encode()).digest()[:16]
        self._address = np.frombuffer(digest, dtype="<u4").tolist()

    def labels(self, replication: int) -> np.random.Generator:
        """For the order in which the policy meets the arms."""
        return self._generator(replication, _LABELS)

    def play(self, replication: int) -> np.random.Generator:
        """For the policy's public randomness."""
        return self._generator(replication, _PLAY)

    def noise(self, replication: int) -> np.random.Generator:
        """For privacy noise."""
        return self._generator(replication, _NOISE)

    def rewards(self, replication: int, arm: int) -> RewardStream:
        """What an arm of the instance pays."""
        return RewardStream(
            self.instance.arms[arm],
            *(self._generator(replication, purpose, arm) for purpose in _REWARDS),
        )

    def _generator(self, *address: int) -> np.random.Generator:
        seeds = np.random.SeedSequence(self.seed, spawn_key=(*self._address, *address))
        return np.random.Generator(np.random.SFC64(seeds))


class RewardStream:
    """The rewards of one arm, drawn once, in cache-sized blocks, and never all at once.

    Clean rewards, outliers and the places of the outliers have a generator each, so the j-th reward
    does not depend on how many are asked for at a time, as long as two samples of the law are the
    parts of a longer one. Long samples of laws with few values are the exception: they come as
    counts, at next to no cost, and are common to policies that ask for the same numbers only.
    """

    def __init__(
        self,
        arm: Arm,
        clean: np.random.Generator,
        garbage: np.random.Generator,
        places: np.random.Generator,
    ) -> None:
        law: Source = arm
        contaminant: Source = arm
        alpha = 0.0
        if isinstance(arm, Huber):
            law, contaminant, alpha = arm.clean, arm.contaminant, arm.alpha
        self._clean = _Sampler(law, clean)
        self._garbage = _Sampler(contaminant, garbage)
        self._places = _Places(alpha, places)
        self.drawn = 0

    def take(self, n: int) -> Iterator[Block]:
        """The next ``n`` rewards in blocks, outliers apart from the others."""
        self.drawn += n
        outliers = self._places.count(n)
        yield from self._clean.blocks(n - outliers)
        yield from self._garbage.blocks(outliers)

    def array(self, n: int) -> Floats:
        """The next ``n`` rewards, one by one in their order."""
        self.drawn += n
        places = self._places.among(n)
        usual = np.ones(n, dtype=np.bool_)
        usual[places] = False
        rewards = np.empty(n)
        rewards[usual] = self._clean.array(n - places.size)
        rewards[places] = self._garbage.array(places.size)
        return rewards


class _Sampler:
    """Draws from one source with one generator."""

    def __init__(self, source: Source, rng: np.random.Generator) -> None:
        self._source = source
        self._rng = rng
        self._finite = cast(FiniteLaw, source) if _is_finite(type(source)) else None

    def blocks(self, n: int) -> Iterator[Block]:
        if self._finite and n >= max(_LONG, len(self._finite.atoms()[0])):
            yield self._finite.counts(n, rng=self._rng)
        else:
            yield from map(self.array, _parts(n, _BLOCK))

    def array(self, n: int) -> Floats:
        return self._source.sample(n, rng=self._rng)


@functools.cache
def _is_finite(kind: type) -> bool:
    """Whether sources of this type are laws with few values (asking a protocol takes long)."""
    return hasattr(kind, "atoms") and hasattr(kind, "counts")


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

    def count(self, n: int) -> int:
        """How many of the next ``n`` rewards are outliers."""
        if not self._alpha:
            return 0
        return sum(self.among(part).size for part in _parts(n, int(_PLACES / self._alpha)))

    def among(self, n: int) -> NDArray[np.int64]:
        """The outliers among the next ``n`` rewards, as places from 0 to ``n - 1``."""
        while self._alpha and self._last < n:
            gaps = self._rng.geometric(self._alpha, _AHEAD + int(self._alpha * n))
            fresh = self._last + np.cumsum(np.minimum(gaps, _NEVER))
            self._coming = np.concatenate([self._coming, fresh])
            self._last = int(fresh[-1])
        count = int(np.searchsorted(self._coming, n))
        found, self._coming = self._coming[:count], self._coming[count:] - n
        self._last -= n
        return found


def _parts(n: int, most: int) -> Iterator[int]:
    full, rest = divmod(n, most)
    yield from itertools.repeat(most, full)
    if rest:
        yield rest
