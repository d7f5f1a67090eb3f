"""What a plan asks of rewards: mergeable accumulators that bound sensitivity and add noise.

A **mechanism** reads one fold of one arm's rewards. It starts from ``empty()``, takes blocks with
``add``, joins partial totals with ``merge`` and ends in ``release``. Totals are integers, so any
split and any order of the same rewards gives the same total, bit for bit: the simulator's blocks,
an agent's single rewards and a database's rows all feed the same object.

A **query** is a chain of mechanisms over disjoint folds: position ``i`` of the batch belongs to
fold ``i % folds``, and the mechanism of a later fold may depend on the releases of the earlier
ones. :func:`answer` runs the chain.

Fixed point. Means are summed on the grid ``half_width / GRID`` with ``GRID = 2**30``: a deviation
is divided by the grid step, rounded to an integer and clamped to ``[-GRID, GRID]``. One reward
therefore moves the sum by at most ``2 * GRID``, exactly, whatever the reward is and however the
division was rounded.

Non-finite rewards are values that an adversary may send. A mean that zeroes takes them as 0; a
clip takes infinities as the ends and NaN as the centre; a histogram puts infinities in its edge
bins and NaN in none; no window counts any of them. Nothing is dropped: ``n`` is the public number
of slots. Whatever the rewards are, nothing raises and every release is finite: centres, widths and
epsilon are bounded when a mechanism is built. Sensitivity arguments: beside each mechanism,
collected in ``docs/theory/privacy.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, PrivacyBudget, Query, Release, integer, real, settle, value
from stoic.errors import InvalidParameter, InvalidReward
from stoic.privacy.noise import Noise

__all__ = [
    "GRID",
    "Block",
    "ClippedMean",
    "Histogram",
    "Mechanism",
    "RecentredMean",
    "Statistic",
    "TruncatedMean",
    "Unprotected",
    "WindowCounts",
    "answer",
    "fold_sizes",
    "tame",
]

GRID = 2**30
_CHUNK = 65_536  # in cache, and far below the 2**23 values whose fixed-point sum is exact in float
_FAR = 1e200  # of centres and widths: their sums and products with counts stay finite
_MOST = 2**53  # bins or windows: as floats their numbers are still exact
_GARBAGE = 1e100  # the largest reward that a statistic sees

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

    def merge(self, one: Total, other: Total) -> Total:
        """The total of two disjoint sets of rewards."""
        ...

    def release(self, total: Total, n: int, *, noise: Noise) -> Release:
        """What leaves the private side, for the public number ``n`` of slots."""
        ...


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

    ``sizes`` are the public numbers of slots, also where fewer rewards came.

    >>> from stoic.privacy.simulated import SimulatedNoise
    >>> noise = SimulatedNoise(np.random.Generator(np.random.SFC64(1)))
    >>> query = TruncatedMean(centre=0.0, half_width=10.0, epsilon=1.0)
    >>> (release,) = answer(query, [[np.full(1000, 3.0)]], [1000], noise=noise)
    >>> abs(release.value - 3.0) < 0.2
    True
    """
    if not len(folds) == len(sizes) == query.folds or min(sizes) < 1:
        rule = f"must be {query.folds} folds of at least one slot each"
        raise InvalidParameter("sizes", tuple(sizes), rule)
    releases: tuple[Release, ...] = ()
    for fold, (blocks, n) in enumerate(zip(folds, sizes, strict=True)):
        mechanism = query.mechanism(fold, releases)
        total = mechanism.empty()
        for block in blocks:
            total = mechanism.add(total, block)
        releases += (mechanism.release(total, n, noise=noise),)
    return releases


class _OneFold:
    """A mechanism that is a whole query by itself."""

    __slots__ = ()
    folds: ClassVar[int] = 1

    def mechanism(self, fold: int, earlier: tuple[Release, ...]) -> Self:
        """Itself: there is one fold only."""
        return self


# --- Means --------------------------------------------------------------------------------------


class _FixedPointMean(_OneFold, ABC):
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
            centre=real("centre", self.centre, at_least=-_FAR, at_most=_FAR),
            half_width=real("half_width", self.half_width, at_least=1 / _FAR, at_most=_FAR),
            epsilon=PrivacyBudget(self.epsilon).epsilon,
        )

    def empty(self) -> int:
        """Zero."""
        return 0

    def add(self, total: int, block: Block) -> int:
        """The sum, in grid steps, with the deviations of a block."""
        rewards, counts = _numbers(block)
        if counts is None:
            chunks = (rewards[at : at + _CHUNK] for at in range(0, rewards.size, _CHUNK))
            return total + sum(int(self._steps(chunk).sum()) for chunk in chunks)
        pairs = zip(self._steps(rewards).tolist(), counts.tolist(), strict=True)
        return total + sum(int(step) * int(times) for step, times in pairs)

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


# --- Locating -----------------------------------------------------------------------------------


@value
class Histogram(_OneFold):
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
            lo=real("lo", self.lo, at_least=-_FAR, at_most=_FAR),
            width=real("width", self.width, above=0, at_most=_FAR),
            bins=integer("bins", self.bins, at_least=1),
            epsilon=PrivacyBudget(self.epsilon).epsilon,
        )
        _check_last("bins", self.bins, self.lo, self.width)

    def empty(self) -> NDArray[np.int64]:
        """A zero for every bin."""
        return np.zeros(self.bins, dtype=np.int64)

    def add(self, total: NDArray[np.int64], block: Block) -> NDArray[np.int64]:
        """The counts with a block's rewards in their bins."""
        values, counts = _numbers(block)
        with np.errstate(all="ignore"):
            position = np.floor((values - self.lo) / self.width)
        index = np.clip(position, 0, self.bins - 1)
        return total + _tally(index, counts, self.bins)

    def merge(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Their sum."""
        return one + other

    def release(self, total: NDArray[np.int64], n: int, *, noise: Noise) -> Release:
        """The left end of the bin whose noisy count is largest."""
        noisy = noise.laplace_vector(total, sensitivity=2, epsilon=self.epsilon)
        left_end = self.lo + int(np.argmax(noisy)) * self.width
        return Release("histogram", left_end, n=n, epsilon=self.epsilon)


@value
class WindowCounts(_OneFold):
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
            lo=real("lo", self.lo, at_least=-_FAR, at_most=_FAR),
            step=real("step", self.step, above=0, at_most=_FAR),
            windows=integer("windows", self.windows, at_least=1),
            half_width=real("half_width", self.half_width, at_least=0, at_most=_FAR),
            epsilon=PrivacyBudget(self.epsilon).epsilon,
        )
        _check_last("windows", self.windows, self.lo, self.step)

    def empty(self) -> NDArray[np.int64]:
        """Zeros: differences of the counts of neighbouring windows."""
        return np.zeros(self.windows + 1, dtype=np.int64)

    def add(self, total: NDArray[np.int64], block: Block) -> NDArray[np.int64]:
        """+1 where each reward's run of windows starts, -1 after its end."""
        values, counts = _numbers(block)
        with np.errstate(all="ignore"):
            first = np.ceil((values - self.half_width - self.lo) / self.step)
            last = np.floor((values + self.half_width - self.lo) / self.step)
        first, last = np.maximum(first, 0), np.minimum(last, self.windows - 1)
        seen = np.isfinite(values) & (first <= last)
        weights = None if counts is None else counts[seen]
        starts = _tally(first[seen], weights, self.windows + 1)
        return total + starts - _tally(last[seen] + 1, weights, self.windows + 1)

    def merge(self, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Their sum."""
        return one + other

    def release(self, total: NDArray[np.int64], n: int, *, noise: Noise) -> Release:
        """The centre of the window whose noisy count is largest."""
        scores = np.cumsum(total)[: self.windows]
        index = noise.noisy_max(scores, sensitivity=1, epsilon=self.epsilon)
        return Release("window-counts", self.lo + index * self.step, n=n, epsilon=self.epsilon)


def _check_last(name: str, number: int, lo: float, step: float) -> None:
    # Any of them may be released, and a later mean must take it as its centre without raising.
    if number > _MOST or lo + (number - 1) * step > _FAR:
        raise InvalidParameter(name, number, f"must be at most 2**53 and end within {_FAR:g}")


def _numbers(block: Block) -> tuple[Floats, NDArray[np.int64] | None]:
    """A block's values as a flat float64 array, and its counts; in silence, whatever they are."""
    values, counts = block if isinstance(block, tuple) else (block, None)
    rewards = np.asarray(values)
    if rewards.dtype.kind not in "iuf":  # NumPy's own error would show the reward
        raise InvalidReward(f"a block holds real numbers, not {rewards.dtype.name}")
    with np.errstate(all="ignore"):  # signalling NaN, long doubles beyond float64
        rewards = rewards.astype(np.float64, copy=False).ravel()
    if counts is None:
        return rewards, None
    times = np.asarray(counts)
    if times.dtype.kind not in "iu" or times.shape != rewards.shape or (times < 0).any():
        rule = "must be integers >= 0, one for each value"
        raise InvalidParameter("counts", f"{times.dtype.name} of shape {times.shape}", rule)
    return rewards, times.astype(np.int64, copy=False)


def _tally(index: Floats, counts: NDArray[np.int64] | None, size: int) -> NDArray[np.int64]:
    """How often each index occurs; NaN nowhere."""
    known = ~np.isnan(index)
    tally = np.zeros(size, dtype=np.int64)
    if counts is None:
        return tally + np.bincount(index[known].astype(np.int64), minlength=size)
    np.add.at(tally, index[known].astype(np.int64), counts[known])
    return tally


# --- Chains -------------------------------------------------------------------------------------


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


# --- Openly not private -------------------------------------------------------------------------


class Statistic(Protocol):
    """A function of the raw rewards, for the non-private comparators."""

    @property
    def name(self) -> str:
        """What a release of it is called."""
        ...

    def compute(self, values: Floats) -> float:
        """The statistic: finite, for one or more values in ascending order within 1e100."""
        ...


def tame(rewards: Floats) -> Floats:
    """What a statistic sees of any rewards: NaN as 0, and nothing beyond 1e100.

    >>> tame(np.array([1.0, np.nan, -np.inf]))
    array([ 1.e+000,  0.e+000, -1.e+100])
    """
    return np.clip(np.where(np.isnan(rewards), 0.0, rewards), -_GARBAGE, _GARBAGE)


@value
class Unprotected(_OneFold):
    """Releases a statistic of the rewards as it is: no bound, no noise, no privacy.

    Only policies that declare ``privacy = "none"`` may ask this. Here too garbage has a stated
    meaning and nothing is dropped: NaN and missing rewards count as 0, and whatever lies beyond
    1e100 in size, infinities included, as 1e100 of that sign.

    >>> from stoic.privacy.simulated import SimulatedNoise
    >>> class Range:
    ...     name = "range"
    ...     def compute(self, values):
    ...         return float(values[-1] - values[0])
    >>> unused = SimulatedNoise(np.random.Generator(np.random.SFC64(1)))
    >>> answer(Unprotected(Range()), [[np.array([1.0, np.nan, 5.0])]], [3], noise=unused)[0].value
    5.0
    """

    statistic: Statistic

    @property
    def epsilon(self) -> None:
        """None: there is no bound on what it reveals."""
        return None

    def empty(self) -> tuple[Floats, ...]:
        """No rewards."""
        return ()

    def add(self, total: tuple[Floats, ...], block: Block) -> tuple[Floats, ...]:
        """The rewards with a copy of the block's."""
        values, counts = _numbers(block)
        return (*total, values.copy() if counts is None else np.repeat(values, counts))

    def merge(self, one: tuple[Floats, ...], other: tuple[Floats, ...]) -> tuple[Floats, ...]:
        """The rewards of both."""
        return one + other

    def release(self, total: tuple[Floats, ...], n: int, *, noise: Noise) -> Release:
        """The statistic of the ``n`` rewards, sorted: any order of arrival gives the same bits."""
        missing = np.zeros(max(0, n - sum(part.size for part in total)))
        rewards = np.concatenate([*total, missing])
        name, result = self.statistic.name, self.statistic.compute(np.sort(tame(rewards)))
        return Release(name, result, n=n, epsilon=None)
