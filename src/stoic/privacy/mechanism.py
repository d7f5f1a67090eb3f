"""What every mechanism is, and how it reads a block of rewards."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, Release
from stoic.errors import InvalidParameter, InvalidReward
from stoic.privacy.noise import Noise

__all__ = ["FAR", "MOST", "Block", "Mechanism", "OneFold", "numbers"]

FAR = 1e200  # of centres and widths: their sums and products with counts stay finite
MOST = 2**62  # rewards in one release: their counts and the noise on them fit into 64 bits

Block = Floats | tuple[Floats, NDArray[np.int64]]
"""Rewards as an array, or as (values, counts) for huge samples from laws with few values."""

Total = TypeVar("Total")


class Mechanism(Protocol[Total]):
    """One release from one fold of rewards."""

    @property
    def epsilon(self) -> float | None:
        """What its release costs each reward of the fold; None if it is not private."""
        ...

    def empty(self) -> Total:
        """The total of no rewards."""
        ...

    def add(self, total: Total, block: Block) -> Total:
        """The total with a block of rewards added."""
        ...

    def keep(self, rewards: Floats) -> NDArray[np.int64]:
        """All that it will ever need of each reward, as one integer."""
        ...

    def add_kept(self, total: Total, kept: NDArray[np.int64]) -> Total:
        """``add``, from what ``keep`` made of the rewards: the same total, bit for bit."""
        ...

    def merge(self, one: Total, other: Total) -> Total:
        """The total of two disjoint sets of rewards."""
        ...

    def release(self, total: Total, n: int, *, noise: Noise) -> Release:
        """What leaves the private side, for the public number ``n`` of slots."""
        ...


class OneFold:
    """A mechanism that is a whole query by itself."""

    __slots__ = ()
    folds: ClassVar[int] = 1

    def mechanism(self, fold: int, earlier: tuple[Release, ...]) -> Self:
        """Itself: there is one fold only."""
        return self


def numbers(block: Block) -> tuple[Floats, NDArray[np.int64] | None]:
    """A block's values as a flat float64 array, and its counts; in silence, whatever they are.

    >>> numbers((np.array([0, 1]), np.array([70, 30])))
    (array([0., 1.]), array([70, 30]))
    """
    values, counts = block if isinstance(block, tuple) else (block, None)
    rewards = np.asarray(values)
    if rewards.dtype.kind not in "iuf":  # NumPy's own error would show the reward
        raise InvalidReward(f"a block holds real numbers, not {rewards.dtype.name}")
    with np.errstate(all="ignore"):  # signalling NaN, long doubles beyond float64
        rewards = rewards.astype(np.float64, copy=False).ravel()
    if counts is None:
        return rewards, None
    times = np.asarray(counts)
    fit = times.dtype.kind in "iu" and times.shape == rewards.shape
    if not fit or ((times < 0) | (times > MOST)).any():
        rule = "must be integers from 0 to 2**62, one for each value"
        raise InvalidParameter("counts", f"{times.dtype.name} of shape {times.shape}", rule)
    return rewards, times.astype(np.int64, copy=False)
