"""The median of means: average in blocks, take the median of the averages. Not private."""

from __future__ import annotations

import math

import numpy as np

from stoic.core import Contamination, Floats, Moment, integer, settle, value

__all__ = ["MedianOfMeans"]


@value
class MedianOfMeans:
    """Median over ``blocks`` blocks of their means.

    >>> MedianOfMeans(3).compute(np.array([1.0, 2.0, 1e9]))
    2.0
    """

    blocks: int

    def __post_init__(self) -> None:
        settle(self, blocks=integer("blocks", self.blocks, at_least=1))

    @property
    def name(self) -> str:
        """What a release of it is called."""
        return "median-of-means"

    @staticmethod
    def tuned(
        n: int, failure: float, moments: Moment, contamination: Contamination
    ) -> MedianOfMeans:
        """``8 log(1/failure)`` blocks, and four for each expected outlier."""
        wanted = math.ceil(4 * contamination.alpha * n - 8 * math.log(failure))
        return MedianOfMeans(max(1, min(n, wanted)))

    def compute(self, values: Floats) -> float:
        """The median of the block means.

        Blocks must not follow the values, which come sorted. A fixed shuffle deals them out, so
        that the answer depends on nothing but the values.
        """
        blocks = min(self.blocks, values.size)
        shuffle = np.random.Generator(np.random.SFC64(0)).permutation(values.size)
        edges = np.arange(blocks + 1) * values.size // blocks
        sums = np.add.reduceat(values[shuffle], edges[:-1])
        return float(np.median(sums / np.diff(edges)))
