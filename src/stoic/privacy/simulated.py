"""Seeded noise for simulations: the exact laws, from an ordinary generator. Protects nobody."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["SimulatedNoise"]


class SimulatedNoise:
    """The noise of :class:`stoic.SecureNoise`, reproducible and fast, and therefore not private.

    Whoever knows the seed can subtract the noise. Use it in simulations, never on real people.

    >>> noise = SimulatedNoise(np.random.Generator(np.random.SFC64(3)))
    >>> noise.private
    False
    >>> noise.laplace(1000, sensitivity=2, epsilon=0.5)
    997
    """

    private = False

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def laplace(self, exact: int, *, sensitivity: int, epsilon: float) -> int:
        """``exact`` plus discrete Laplace noise."""
        return exact + int(self._discrete_laplace(sensitivity / epsilon, 1)[0])

    def laplace_vector(
        self, exact: NDArray[np.int64], *, sensitivity: int, epsilon: float
    ) -> NDArray[np.int64]:
        """The same for every entry."""
        return exact + self._discrete_laplace(sensitivity / epsilon, exact.size)

    def noisy_max(self, scores: NDArray[np.int64], *, sensitivity: int, epsilon: float) -> int:
        """Index of the largest noisy score."""
        return int(
            np.argmax(scores + self._rng.exponential(2 * sensitivity / epsilon, scores.size))
        )

    def _discrete_laplace(self, scale: float, size: int) -> NDArray[np.int64]:
        # P(k) proportional to exp(-|k| / scale): the difference of two geometric variables.
        # floor of an exponential is geometric, and stays exact for the huge scales of fixed point.
        first, second = np.floor(self._rng.exponential(scale, (2, size)))
        noise: NDArray[np.int64] = (first - second).astype(np.int64)
        return noise
