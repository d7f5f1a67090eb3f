"""Noisy means of bounded deviations from a public centre, summed in integers.

Fixed point: the grid is ``half_width / GRID`` with ``GRID = 2**30``. A deviation is divided by the
grid step, rounded to an integer and clamped to ``[-GRID, GRID]``. One reward therefore moves the
sum by at most ``2 * GRID``, exactly, whatever the reward is and however the division was rounded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, PrivacyBudget, Release, real, settle, value
from stoic.privacy.mechanism import FAR, Block, OneFold, numbers
from stoic.privacy.noise import Noise

__all__ = ["GRID", "ClippedMean", "TruncatedMean"]

GRID = 2**30
_CHUNK = 65_536  # in cache, and far below the 2**23 values whose fixed-point sum is exact in float


class _FixedPointMean(OneFold, ABC):
    """A noisy mean of bounded deviations from a public centre, summed in integers.

    Sensitivity: every reward contributes one integer in ``[-GRID, GRID]``, so changing one reward
    changes the sum by at most ``2 * GRID`` and the mean by at most ``2 half_width / n``. The bound
    is attained (one reward from ``centre - half_width`` to ``centre + half_width``), which is why
    ``half_width / n`` would not do. Noise of scale ``2 GRID / epsilon`` on the integer sum is then
    epsilon-DP, and dividing by the public ``n`` is post-processing.

    A subclass says what becomes of the deviations beyond ``half_width`` and of NaN.
    """

    __slots__ = ()
    centre: float
    half_width: float
    epsilon: float
    _name: ClassVar[str]

    def __post_init__(self) -> None:
        settle(
            self,
            centre=real("centre", self.centre, at_least=-FAR, at_most=FAR),
            half_width=real("half_width", self.half_width, at_least=1 / FAR, at_most=FAR),
            epsilon=PrivacyBudget(self.epsilon).epsilon,
        )

    def empty(self) -> int:
        """Zero."""
        return 0

    def add(self, total: int, block: Block) -> int:
        """The sum, in grid steps, with the deviations of a block."""
        rewards, counts = numbers(block)
        if counts is None:
            chunks = (rewards[at : at + _CHUNK] for at in range(0, rewards.size, _CHUNK))
            return total + sum(int(self._steps(chunk).sum()) for chunk in chunks)
        pairs = zip(self._steps(rewards).tolist(), counts.tolist(), strict=True)
        return total + sum(int(step) * int(times) for step, times in pairs)

    def keep(self, rewards: Floats) -> NDArray[np.int64]:
        """Its deviation in grid steps, bounded."""
        return self._steps(rewards).astype(np.int64)

    def add_kept(self, total: int, kept: NDArray[np.int64]) -> int:
        """The sum with these steps, clamped once more: what is stored may be tampered with."""
        return total + int(np.clip(kept, -GRID, GRID).sum())

    def merge(self, one: int, other: int) -> int:
        """Their sum."""
        return one + other

    def release(self, total: int, n: int, *, noise: Noise) -> Release:
        """The centre plus the noisy sum over ``n``."""
        noisy = noise.laplace(total, sensitivity=2 * GRID, epsilon=self.epsilon)
        mean = self.centre + noisy / n / GRID * self.half_width
        return Release(self._name, mean, n=n, epsilon=self.epsilon)

    def _steps(self, rewards: Floats) -> Floats:
        """What each reward contributes to the sum: an integer in ``[-GRID, GRID]``."""
        with np.errstate(all="ignore"):
            steps = self._tame(rewards - self.centre)
            steps *= GRID / self.half_width
            np.rint(steps, out=steps)
            return np.clip(steps, -GRID, GRID, out=steps)

    @abstractmethod
    def _tame(self, deviations: Floats) -> Floats: ...


@value
class TruncatedMean(_FixedPointMean):
    """``centre + mean((x - centre) 1{|x - centre| <= half_width}) + Lap(2 half_width / (n eps))``.

    Rewards outside the range, and all that is not finite, count as the centre (paper, Alg. 2 and
    second step of Alg. 3).

    >>> TruncatedMean(centre=0, half_width=2, epsilon=1).add(0, np.array([1.0, np.nan, 3.0])) / GRID
    0.5
    """

    centre: float
    half_width: float
    epsilon: float
    _name: ClassVar[str] = "truncated-mean"

    def _tame(self, deviations: Floats) -> Floats:
        return np.where(np.abs(deviations) <= self.half_width, deviations, 0.0)


@value
class ClippedMean(_FixedPointMean):
    """``centre + mean(clip(x - centre, -half_width, half_width)) + Lap(2 half_width / (n eps))``.

    Infinities clip to the ends, NaN counts as the centre.

    >>> ClippedMean(centre=0, half_width=2, epsilon=1).add(0, np.array([1.0, np.nan, 3.0])) / GRID
    1.5
    """

    centre: float
    half_width: float
    epsilon: float
    _name: ClassVar[str] = "clipped-mean"

    def _tame(self, deviations: Floats) -> Floats:
        # Every fixed-point sum is clamped; only NaN needs a word.
        return np.where(np.isnan(deviations), 0.0, deviations)
