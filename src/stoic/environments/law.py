"""What a law of rewards is: a mean, absolute moments and samples.

The two assumptions of the paper bound ``E|X|^k`` (finite k-th raw moment) and ``E|X - mean|^k``
(finite k-th central moment), so a law states both, for any real ``k > 0``: exactly where a closed
form exists, by numerical integration elsewhere, and as infinity where the moment does not exist.
A law without a mean cannot be built at all: regret would have no meaning.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import integrate

from stoic.core import Floats, real
from stoic.errors import InvalidParameter

__all__ = ["FiniteLaw", "Law", "Moments", "integral", "require_mean"]

_CRUMB = 1e-13
_FINE = 1e-11


@runtime_checkable
class Law(Protocol):
    """A probability law of rewards that has a mean."""

    @property
    def mean(self) -> float:
        """``E X``: it exists, and is finite."""
        ...

    def raw_moment(self, k: float) -> float:
        """``E|X|^k``, infinite where it does not exist."""
        ...

    def central_moment(self, k: float) -> float:
        """``E|X - mean|^k``, infinite where it does not exist."""
        ...

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        """``n`` independent draws."""
        ...


@runtime_checkable
class FiniteLaw(Law, Protocol):
    """A law with few values, of which huge samples come as counts."""

    def atoms(self) -> tuple[Floats, Floats]:
        """The values and their probabilities."""
        ...

    def counts(self, n: int, *, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
        """The values, and how often each of them occurs in a sample of size ``n``."""
        ...


class _Formulas(Protocol):
    """What a law must know for :class:`Moments` to do the rest."""

    @property
    def mean(self) -> float: ...

    @property
    def _variance(self) -> float: ...

    def _moment(self, k: float, about: float) -> float: ...


class Moments:
    """Raw and central moments from one formula for ``E|X - about|^k`` and one for the variance.

    The second moment, which every second assumption is about, is exact whenever the variance is. A
    moment too large for a float is infinite.
    """

    __slots__ = ()

    def raw_moment(self: _Formulas, k: float) -> float:
        """``E|X|^k``, infinite where it does not exist."""
        k = real("k", k, above=0)
        return _bounded(lambda: self._variance + self.mean**2 if k == 2 else self._moment(k, 0.0))

    def central_moment(self: _Formulas, k: float) -> float:
        """``E|X - mean|^k``, infinite where it does not exist."""
        k = real("k", k, above=0)
        return _bounded(lambda: self._variance if k == 2 else self._moment(k, self.mean))


def _bounded(moment: Callable[[], float]) -> float:
    try:
        with np.errstate(over="ignore"):
            return moment()
    except OverflowError:
        return math.inf


def require_mean(law: Law) -> None:
    """Refuse parameters whose mean does not exist, or is too large for a float."""
    if not math.isfinite(law.mean):
        raise InvalidParameter("mean", law.mean, "must exist and be finite")


def integral(function: Callable[[float], float], *points: float) -> float:
    """The integral from the least to the greatest of the points, piece by piece between them.

    >>> round(integral(abs, 3.0, -1.0, 0.0), 12)
    5.0
    """
    ends = sorted(points)
    crumb = _CRUMB * (ends[-1] - ends[0])  # left by two points that are one but for rounding
    pieces = [(a, b) for a, b in itertools.pairwise(ends) if b - a > crumb]
    # A piece that hardly counts need not be precise, and rounding may not even allow it.
    roughly = math.fsum((b - a) * abs(function((a + b) / 2)) for a, b in pieces)
    return math.fsum(
        integrate.quad(function, a, b, epsabs=_FINE * roughly, epsrel=1e-10, limit=200)[0]
        for a, b in pieces
    )
