"""What every mean estimator provides, and one call to use it alone.

An estimator is a frozen value. It says which query to ask of ``n`` rewards and how far the answer
may be from the clean mean: with probability at least ``1 - failure`` within ``radius(n, failure)``,
for every ``n >= threshold(failure)``, if ``guaranteed``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stoic.core import Privacy, Query, integer, real
from stoic.errors import InvalidParameter, InvalidReward
from stoic.privacy.mechanism import Block, numbers
from stoic.privacy.noise import Noise
from stoic.privacy.queries import answer, fold_sizes

__all__ = ["Estimate", "Estimator", "checked", "checked_failure", "estimate"]


class Estimator(Protocol):
    """A mean estimator for the meta-algorithm and for use on its own."""

    @property
    def name(self) -> str:
        """Under which it is known to :func:`stoic.estimators.create`."""
        ...

    @property
    def privacy(self) -> Privacy:
        """``central`` (its query is epsilon-DP) or ``none``."""
        ...

    @property
    def epsilon(self) -> float | None:
        """What one estimate costs each of its rewards; None when not private."""
        ...

    @property
    def guaranteed(self) -> bool:
        """Whether the radius is a theorem."""
        ...

    def sample_size(self, batch: int) -> int:
        """The ``n`` of the theory that a batch of so many rewards gives (rewards averaged)."""
        ...

    def query(self, n: int, failure: float) -> Query:
        """What to ask of a batch with that ``n``."""
        ...

    def radius(self, n: int, failure: float) -> float:
        """Distance from the clean mean that is exceeded with probability at most ``failure``."""
        ...

    def threshold(self, failure: float) -> float:
        """Least ``n`` for which the radius holds."""
        ...

    def share(self, delta: float, active: int, batch: int) -> float:
        """The ``failure`` of one of ``active`` estimates in batch ``batch``; ``delta`` in all."""
        ...


@dataclass(frozen=True, slots=True)
class Estimate:
    """A released mean with its radius (in the rewards' own units).

    ``guaranteed`` says whether the radius is a theorem at this ``n``.

    >>> Estimate(value=3.0, radius=0.5, n=100, guaranteed=True).interval
    (2.5, 3.5)
    """

    value: float
    radius: float
    n: int
    guaranteed: bool

    @property
    def interval(self) -> tuple[float, float]:
        """``value - radius`` and ``value + radius``."""
        return self.value - self.radius, self.value + self.radius


def checked(n: object, failure: object) -> tuple[int, float]:
    """The arguments of ``query`` and ``radius``, or an error that names the wrong one.

    >>> checked(0, failure=0.1)
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: n = 0: must be an integer, >= 1
    """
    return integer("n", n, at_least=1), checked_failure(failure)


def checked_failure(failure: object) -> float:
    """The argument of ``threshold``, or an error.

    >>> checked_failure(0.1)
    0.1
    """
    return real("failure", failure, at_least=1e-300, below=1)  # its reciprocal is a float


def estimate(
    estimator: Estimator,
    rewards: ArrayLike | Block | Sequence[Block],
    *,
    failure: float,
    noise: Noise,
) -> Estimate:
    """Estimate the mean of one batch of rewards, each of which must not be used again.

    ``rewards`` is a row of numbers, or a tuple of two arrays ``(values, counts)`` for a huge sample
    with few distinct values. An estimator that splits its batch (PRM-C: in two) does so by
    position, and counts have no positions: it takes one such pair for each fold, the larger first.

    >>> from stoic import RawMoment, SimulatedNoise
    >>> from stoic.estimators import create
    >>> rng = np.random.Generator(np.random.SFC64(1))
    >>> estimator = create("prm-r", moments=RawMoment(2, 2), epsilon=1.0)
    >>> found = estimate(
    ...     estimator, 1 + rng.standard_normal(5000), failure=0.1, noise=SimulatedNoise(rng)
    ... )
    >>> found.interval[0] < 1 < found.interval[1]
    True
    >>> huge = ([0.0, 1.0], [10**15, 3 * 10**15])
    >>> found = estimate(estimator, huge, failure=0.1, noise=SimulatedNoise(rng))
    >>> round(found.value, 2)
    0.75
    """
    failure = checked_failure(failure)
    blocks = _blocks(rewards)
    size = sum(map(_size, blocks))
    n = estimator.sample_size(size)
    if n < 1:
        rule = f"must be more: {estimator.name} has nothing to average"
        raise InvalidParameter("number of rewards", size, rule)
    query = estimator.query(n, failure)
    sizes = fold_sizes(size, query.folds)
    releases = answer(query, _split(blocks, sizes), sizes, noise=noise)
    return Estimate(
        value=releases[-1].value,
        radius=estimator.radius(n, failure),
        n=n,
        guaranteed=estimator.guaranteed and n >= estimator.threshold(failure),
    )


def _blocks(rewards: Any) -> list[Block]:
    """The rewards as one array, or as pairs of values and counts."""
    if _is_pair(rewards):
        rewards = (rewards,)
    if isinstance(rewards, (list, tuple)) and rewards and all(map(_is_pair, rewards)):
        return list(rewards)
    row = _array(rewards)
    if row.ndim != 1:
        rule = "must be one-dimensional, or pairs of values and counts"
        raise InvalidParameter("rewards", f"shape {row.shape}", rule)
    return [row]


def _is_pair(item: object) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and all(_array(one).ndim == 1 for one in item)


def _array(item: Any) -> NDArray[Any]:
    try:
        return np.asarray(item)
    except Exception:  # NumPy's own message may show the reward
        raise InvalidReward("rewards must be one row of real numbers") from None


def _size(block: Block) -> int:
    values, counts = numbers(block)
    return values.size if counts is None else sum(counts.tolist())


def _split(blocks: list[Block], sizes: tuple[int, ...]) -> list[tuple[Block]]:
    """One block for each fold: by position for a row, as they are for pairs."""
    first = blocks[0]
    if not isinstance(first, tuple):
        return [(first[fold :: len(sizes)],) for fold in range(len(sizes))]
    given = tuple(map(_size, blocks))
    if given != sizes:
        rule = f"must be {sizes}: one pair for each fold of the batch"
        raise InvalidParameter("sums of counts", given, rule)
    return [(block,) for block in blocks]
