"""Laws with finitely many values: Bernoulli, and any other.

A sample of such a law is known from its counts, so that tests of estimators can afford samples of
any size. A constant reward is a law with one value.

>>> Discrete(values=(3.0,), probabilities=(1.0,)).central_moment(2)
0.0
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from stoic.core import Floats, real, settle, value
from stoic.environments.law import Moments
from stoic.errors import InvalidParameter

__all__ = ["Bernoulli", "Discrete"]


class _Finite(Moments, ABC):
    """All that follows from the atoms."""

    __slots__ = ()

    @abstractmethod
    def atoms(self) -> tuple[Floats, Floats]: ...

    @property
    def mean(self) -> float:
        values, probabilities = self.atoms()
        return math.fsum(values * probabilities)

    @property
    def _variance(self) -> float:
        return self._moment(2.0, self.mean)

    def _moment(self, k: float, about: float) -> float:
        values, probabilities = self.atoms()
        return math.fsum(np.abs(values - about) ** k * probabilities)

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        values, probabilities = self.atoms()
        steps = np.cumsum(probabilities)[:-1]
        return values[np.searchsorted(steps, rng.random(n), side="right")]

    def counts(self, n: int, *, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
        values, probabilities = self.atoms()
        return values, rng.multinomial(n, probabilities)


@value
class Bernoulli(_Finite):
    """1 with probability ``p``, else 0.

    >>> rng = np.random.Generator(np.random.SFC64(1))
    >>> values, counts = Bernoulli(0.25).counts(10**12, rng=rng)
    >>> values, round(int(counts[1]) / 10**12, 3)
    (array([0., 1.]), 0.25)
    """

    p: float

    def __post_init__(self) -> None:
        settle(self, p=real("p", self.p, at_least=0, at_most=1))

    def atoms(self) -> tuple[Floats, Floats]:
        return np.array([0.0, 1.0]), np.array([1 - self.p, self.p])

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        return (rng.random(n) < self.p).astype(np.float64)


@value
class Discrete(_Finite):
    """Each of the distinct ``values`` with its probability.

    >>> Discrete(values=(0.0, 10.0), probabilities=(0.9, 0.1)).mean
    1.0
    """

    values: tuple[float, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("values", "probabilities"):
            if not isinstance(getattr(self, name), Iterable):
                raise InvalidParameter(name, getattr(self, name), "must be a list of numbers")
        values = tuple(real("values", one) for one in self.values)
        chances = tuple(real("probabilities", p, at_least=0) for p in self.probabilities)
        if not values or len(set(values)) != len(values):
            raise InvalidParameter("values", values, "must be distinct, and at least one")
        if len(chances) != len(values) or abs(math.fsum(chances) - 1) > 1e-9:
            raise InvalidParameter("probabilities", chances, "must be one per value, of sum 1")
        settle(self, values=values, probabilities=chances)

    def atoms(self) -> tuple[Floats, Floats]:
        chances = np.asarray(self.probabilities)
        return np.asarray(self.values), chances / math.fsum(self.probabilities)
