"""What every mean estimator provides, and one call to use it alone.

An estimator is a frozen value. It says which query to ask of ``n`` rewards and how far the answer
may be from the clean mean: with probability at least ``1 - failure`` within ``radius(n, failure)``,
for every ``n >= threshold(failure)``, if ``guaranteed``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from stoic.core import Privacy, Query, integer, real
from stoic.errors import InvalidParameter
from stoic.privacy.noise import Noise
from stoic.privacy.queries import answer, fold_sizes

__all__ = ["Estimate", "Estimator", "estimate"]


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


def estimate(estimator: Estimator, rewards: ArrayLike, *, failure: float, noise: Noise) -> Estimate:
    """Estimate the mean of one batch of rewards, each of which must not be used again.

    >>> from stoic import RawMoment, SimulatedNoise
    >>> from stoic.estimators import create
    >>> rng = np.random.Generator(np.random.SFC64(1))
    >>> estimator = create("prm-r", moments=RawMoment(2, 2), epsilon=1.0)
    >>> found = estimate(
    ...     estimator, 1 + rng.standard_normal(5000), failure=0.1, noise=SimulatedNoise(rng)
    ... )
    >>> found.interval[0] < 1 < found.interval[1]
    True
    """
    failure = real("failure", failure, above=0, below=1)
    batch = np.asarray(rewards, dtype=np.float64)
    if batch.ndim != 1:
        raise InvalidParameter("rewards", f"shape {batch.shape}", "must be one-dimensional")
    n = estimator.sample_size(batch.size)
    integer("n", n, at_least=1)
    query = estimator.query(n, failure)
    folds = [(batch[fold :: query.folds],) for fold in range(query.folds)]
    releases = answer(query, folds, fold_sizes(batch.size, query.folds), noise=noise)
    return Estimate(
        value=releases[-1].value,
        radius=estimator.radius(n, failure),
        n=n,
        guaranteed=estimator.guaranteed and n >= estimator.threshold(failure),
    )
