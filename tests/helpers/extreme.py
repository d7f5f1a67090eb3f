"""Laws on which the bounds of the theory are attained, in natural units, and outliers on top.

All have finitely many values, so a sample of any size is a draw of counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stoic.environments.finite import Discrete
from stoic.privacy.queries import Histogram

__all__ = ["Observed", "fair", "likely_centre", "tail", "tail_about"]


@dataclass(frozen=True)
class Observed:
    """A clean law of which a share ``alpha`` is replaced by outliers at one point (any float)."""

    clean: Discrete
    alpha: float = 0.0
    outlier: float = 0.0

    @property
    def mean(self) -> float:
        return self.clean.mean

    def counts(self, n: int, *, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        values, probabilities = self.clean.atoms()
        shares = np.append((1 - self.alpha) * probabilities, self.alpha)
        return np.append(values, self.outlier), rng.multinomial(n, shares)


def fair(mean: float) -> Discrete:
    """``mean - 1`` or ``mean + 1``: every central moment is 1, and no variance is larger."""
    return Discrete((mean - 1, mean + 1), (0.5, 0.5))


def tail(at: float, k: float) -> Discrete:
    """0, and ``at`` as often as ``E|X|^k <= 1`` allows: equality in Markov and in Hoelder."""
    often = min(1.0, abs(at) ** -k)
    return Discrete((0.0, at), (1 - often, often))


def tail_about(mean: float, by: float, k: float) -> Discrete:
    """``mean + by`` nearly as often as ``E|X - mean|^k <= 1`` allows, else just past the mean."""
    often = abs(by) ** -k
    often /= often * abs(by) ** k + (1 - often) * abs(by * often / (1 - often)) ** k
    return Discrete((mean + by, mean - by * often / (1 - often)), (often, 1 - often))


def likely_centre(bins: Histogram, mean: float) -> float:
    """The left end of the bin that holds the mean: what a histogram of many rewards releases."""
    return bins.lo + min((mean - bins.lo) // bins.width, bins.bins - 1) * bins.width
