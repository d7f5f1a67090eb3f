"""Queries: chains of mechanisms over disjoint folds, and how one is answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from stoic.core import Query, Release, settle, value
from stoic.errors import InvalidParameter
from stoic.privacy.locating import Histogram
from stoic.privacy.means import TruncatedMean
from stoic.privacy.mechanism import MOST, Block, Mechanism
from stoic.privacy.noise import Noise

__all__ = ["RecentredMean", "answer", "fold_sizes"]


def fold_sizes(n: int, folds: int) -> tuple[int, ...]:
    """How many of ``n`` positions fall in each fold.

    >>> fold_sizes(5, 2)
    (3, 2)
    """
    return tuple(len(range(fold, n, folds)) for fold in range(folds))


def answer(
    query: Query, folds: Sequence[Iterable[Block]], sizes: Sequence[int], *, noise: Noise
) -> tuple[Release, ...]:
    """Run the chain: each fold's blocks through its mechanism, one release per fold.

    ``sizes`` are the public numbers of slots: as many as the rewards, or more where some are
    missing.

    >>> import numpy as np
    >>> from stoic.privacy.simulated import SimulatedNoise
    >>> noise = SimulatedNoise(np.random.Generator(np.random.SFC64(1)))
    >>> query = TruncatedMean(centre=0.0, half_width=10.0, epsilon=1.0)
    >>> (release,) = answer(query, [[np.full(1000, 3.0)]], [1000], noise=noise)
    >>> abs(release.value - 3.0) < 0.2
    True
    """
    if not len(folds) == len(sizes) == query.folds or not all(0 < n <= MOST for n in sizes):
        rule = f"must be {query.folds} folds of 1 to 2**62 slots each"
        raise InvalidParameter("sizes", tuple(sizes), rule)
    releases: tuple[Release, ...] = ()
    for fold, (blocks, n) in enumerate(zip(folds, map(int, sizes), strict=True)):
        mechanism = query.mechanism(fold, releases)
        total = mechanism.empty()
        for block in blocks:
            total = mechanism.add(total, block)
        releases += (mechanism.release(total, n, noise=noise),)
    return releases


@value
class RecentredMean:
    """Even positions find a centre, odd positions are averaged about it (paper, Alg. 3).

    The folds are disjoint and fixed by position, so nobody's arrival shifts anybody's fold and
    each reward is in one release only: the pair is epsilon-DP with the epsilon of each.

    >>> query = RecentredMean(Histogram(lo=0, width=2, bins=5, epsilon=1), half_width=8)
    >>> query.mechanism(1, (Release("histogram", 4.0, n=10, epsilon=1.0),)).centre
    4.0
    """

    locate: Histogram
    half_width: float
    folds: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if not isinstance(self.locate, Histogram):
            raise InvalidParameter("locate", self.locate, "must be a Histogram")
        settle(self, half_width=TruncatedMean(0.0, self.half_width, self.locate.epsilon).half_width)

    def mechanism(self, fold: int, earlier: tuple[Release, ...]) -> Mechanism[Any]:
        """The histogram; then the truncated mean about its release."""
        if fold == 0:
            return self.locate
        return TruncatedMean(earlier[0].value, self.half_width, self.locate.epsilon)

    def reach(self, fold: int) -> tuple[float, float]:
        """Beyond these ends a reward counts as nothing, wherever the centre turns out to be."""
        last = self.locate.lo + (self.locate.bins - 1) * self.locate.width
        return self.locate.lo - 2 * self.half_width, last + 2 * self.half_width
