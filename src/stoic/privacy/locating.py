"""Where most rewards are: noisy counts of bins or windows; only the fullest is released."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, PrivacyBudget, Release, integer, real, settle, value
from stoic.errors import InvalidParameter
from stoic.privacy.mechanism import FAR, Block, OneFold, numbers
from stoic.privacy.noise import Noise

__all__ = ["Histogram", "WindowCounts"]

_MOST = 2**53  # bins or windows: as floats their numbers are still exact
_MOST_KEPT = 2**31 - 2


@value
class Histogram(OneFold):
    """Left end of the fullest of ``bins`` bins ``[lo + j width, lo + (j + 1) width)``, privately.

    Values outside are clamped into the edge bins (dropping them breaks the accuracy proof there);
    NaN falls in none. Sensitivity: a changed reward leaves one bin and enters another, so the
    counts move by at most 2 in the L1 norm; each count gets discrete Laplace noise of scale
    ``2 / epsilon``. Which noisy count is largest is post-processing; only that leaves.

    >>> Histogram(lo=0, width=1, bins=3, epsilon=1).add(np.zeros(3, int), np.array([-9, 1.5, 9]))
    array([1, 1, 1])
    """

    lo: float
    width: float
    bins: int
    epsilon: float

    def __post_init__(self) -> None:
        settle(
            self,
            lo=real("lo", self.lo, at_least=-FAR, at_most=FAR),
            width=real("width", self.width, above=0, at_most=FAR),
            bins=integer("bins", self.bins, at_least=1),
            epsilon=PrivacyBudget(self.epsilon).epsilon,
        )
        _check_last("bins", self.bins, self.lo, self.width)

    def empty(self) -> NDArray[np.int64]:
        """A zero for every bin."""
        return np.zeros(self.bins, dtype=np.int64)

    def add(self, total: NDArray[np.int64], block: Block) -> NDArray[np.int64]:
        """The counts with a block's rewards in their bins."""
        values, counts = numbers(block)
        return total + _tally(self._index(values), counts, self.bins)

    def keep(self, rewards: Floats) -> NDArray[np.int64]:
        """Its bin; -1 for none."""
        return np.nan_to_num(self._index(rewards), nan=-1.0).astype(np.int64)

    def add_kept(self, total: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counts with one more in each of these bins."""
        known = kept[(kept >= 0) & (kept < self.bins)]
        return total + np.bincount(known, minlength=self.bins)

    def merge(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Their sum."""
        return one + other

    def release(self, total: NDArray[np.int64], n: int, *, noise: Noise) -> Release:
        """The left end of the bin whose noisy count is largest."""
        noisy = noise.laplace_vector(total, sensitivity=2, epsilon=self.epsilon)
        left_end = self.lo + int(np.argmax(noisy)) * self.width
        return Release("histogram", left_end, n=n, epsilon=self.epsilon)

    def _index(self, values: Floats) -> Floats:
        with np.errstate(all="ignore"):
            position = np.floor((values - self.lo) / self.width)
            return np.clip(position, 0, self.bins - 1)


@value
class WindowCounts(OneFold):
    """Centre of the fullest of many overlapping windows ``|x - (lo + j step)| <= half_width``.

    Report-noisy-max with exponential noise (arXiv 2105.07260). Sensitivity: a changed reward moves
    each window's count by at most 1, some up and some down (not monotone), hence the scale
    ``2 / epsilon``; only the index of the largest noisy count leaves. Its cost grows with the
    logarithm of the number of windows. No window counts what is not finite.

    >>> windows = WindowCounts(lo=0, step=1, windows=4, half_width=1, epsilon=1)
    >>> windows.add(windows.empty(), np.array([1.0, 1.5, np.inf])).cumsum()[:4]
    array([1, 2, 2, 0])
    """

    lo: float
    step: float
    windows: int
    half_width: float
    epsilon: float

    def __post_init__(self) -> None:
        settle(
            self,
            lo=real("lo", self.lo, at_least=-FAR, at_most=FAR),
            step=real("step", self.step, above=0, at_most=FAR),
            windows=integer("windows", self.windows, at_least=1),
            half_width=real("half_width", self.half_width, at_least=0, at_most=FAR),
            epsilon=PrivacyBudget(self.epsilon).epsilon,
        )
        _check_last("windows", self.windows, self.lo, self.step)

    def empty(self) -> NDArray[np.int64]:
        """Zeros: differences of the counts of neighbouring windows."""
        return np.zeros(self.windows + 1, dtype=np.int64)

    def add(self, total: NDArray[np.int64], block: Block) -> NDArray[np.int64]:
        """+1 where each reward's run of windows starts, -1 after its end."""
        values, counts = numbers(block)
        first, end, seen = self._run(values)
        weights = None if counts is None else counts[seen]
        starts = _tally(first[seen], weights, self.windows + 1)
        return total + starts - _tally(end[seen], weights, self.windows + 1)

    def keep(self, rewards: Floats) -> NDArray[np.int64]:
        """Its run of windows, the first and the one after the last in one integer; -1 for none."""
        first, end, seen = self._run(rewards)
        kept = np.full(seen.shape, -1, dtype=np.int64)
        kept[seen] = first[seen].astype(np.int64) * self._base + end[seen].astype(np.int64)
        return kept

    def add_kept(self, total: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """The differences with those of these runs."""
        first, end = np.divmod(kept[kept >= 0], self._base)
        known = (first < end) & (end <= self.windows)
        starts = np.bincount(first[known], minlength=self.windows + 1)
        return total + starts - np.bincount(end[known], minlength=self.windows + 1)

    def merge(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Their sum."""
        return one + other

    def release(self, total: NDArray[np.int64], n: int, *, noise: Noise) -> Release:
        """The centre of the window whose noisy count is largest."""
        scores = np.cumsum(total)[: self.windows]
        index = noise.noisy_max(scores, sensitivity=1, epsilon=self.epsilon)
        return Release("window-counts", self.lo + index * self.step, n=n, epsilon=self.epsilon)

    @property
    def _base(self) -> int:
        # Two numbers below it share 63 bits; the counts of more windows fill no memory anyway.
        if self.windows > _MOST_KEPT:
            rule = "must be at most 2**31 - 2 where rewards are kept"
            raise InvalidParameter("windows", self.windows, rule)
        return self.windows + 1

    def _run(self, values: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The first window that holds each value, the one after the last, and whether any does."""
        with np.errstate(all="ignore"):
            first = np.ceil((values - self.half_width - self.lo) / self.step)
            last = np.floor((values + self.half_width - self.lo) / self.step)
            first, last = np.maximum(first, 0), np.minimum(last, self.windows - 1)
            return first, last + 1, np.isfinite(values) & (first <= last)


def _check_last(name: str, number: int, lo: float, step: float) -> None:
    # Any of them may be released, and a later mean must take it as its centre without raising.
    if number > _MOST or lo + (number - 1) * step > FAR:
        raise InvalidParameter(name, number, f"must be at most 2**53 and end within {FAR:g}")


def _tally(index: Floats, counts: NDArray[np.int64] | None, size: int) -> NDArray[np.int64]:
    """How often each index occurs; NaN nowhere."""
    known = ~np.isnan(index)
    tally = np.zeros(size, dtype=np.int64)
    if counts is None:
        return tally + np.bincount(index[known].astype(np.int64), minlength=size)
    np.add.at(tally, index[known].astype(np.int64), counts[known])
    return tally
