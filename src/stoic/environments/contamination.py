"""Huber contamination: with probability ``alpha`` a reward is replaced by something arbitrary.

The contaminant may be any law, another one for each arm, and need not even have a mean. It may
send NaN and infinities, as an adversary would:

>>> from stoic.environments import Gaussian
>>> rng = np.random.Generator(np.random.SFC64(1))
>>> arm = Huber(Gaussian(mean=3.0, sd=1.0), alpha=0.25, contaminant=Point(math.inf))
>>> arm.mean, int(np.isinf(arm.sample(1_000, rng=rng)).sum())
(3.0, 244)
"""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import numpy as np

from stoic.core import Contamination, Floats, real, settle, value
from stoic.environments.law import Law
from stoic.errors import InvalidParameter

__all__ = ["Arm", "Huber", "Point", "Source", "clean"]

_NOT_FINITE = ("nan", "inf", "-inf")


@runtime_checkable
class Source(Protocol):
    """Anything that sends numbers: a law, or garbage without a mean."""

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        """``n`` independent draws, in an array of its own."""
        ...


@runtime_checkable
class Arm(Source, Protocol):
    """What a bandit plays: rewards as they are observed, and the mean that counts for regret."""

    @property
    def mean(self) -> float:
        """The mean of the clean rewards."""
        ...


@value
class Point:
    """Always the same number, which may be NaN or infinite.

    JSON has neither, so ``at`` keeps them as text.

    >>> Point(math.nan), Point(math.nan) == Point("nan")
    (Point(at='nan'), True)
    """

    at: float | str

    def __post_init__(self) -> None:
        if isinstance(self.at, str):
            if self.at not in _NOT_FINITE:
                rule = f"must be a number, or one of {', '.join(_NOT_FINITE)}"
                raise InvalidParameter("at", self.at, rule)
        elif isinstance(self.at, float) and not math.isfinite(self.at):
            settle(self, at=str(float(self.at)))
        else:
            settle(self, at=real("at", self.at))

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        return np.full(n, float(self.at))


@value
class Huber:
    """A clean law whose rewards the contaminant replaces with probability ``alpha`` each.

    One generator serves all three draws here, so two samples are not the halves of a longer one.
    Simulations draw the parts from streams of their own.

    >>> arm = Huber(Gaussian(mean=3.0, sd=1.0), alpha=0.0, contaminant=Point("nan"))
    >>> len(arm.sample(5, rng=np.random.Generator(np.random.SFC64(1))))
    5
    """

    clean: Law
    alpha: float
    contaminant: Source

    def __post_init__(self) -> None:
        if not isinstance(self.clean, Law):
            raise InvalidParameter("clean", self.clean, "must be a law: mean, moments and samples")
        if not isinstance(self.contaminant, Source):
            raise InvalidParameter("contaminant", self.contaminant, "must have a sample method")
        settle(self, alpha=Contamination(self.alpha).alpha)

    @property
    def mean(self) -> float:
        return self.clean.mean

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        """``n`` independent rewards as they are observed, outliers in random places."""
        rewards = self.clean.sample(n, rng=rng)
        outliers = np.flatnonzero(rng.random(n) < self.alpha)
        rewards[outliers] = self.contaminant.sample(len(outliers), rng=rng)
        return rewards


def clean(arm: Arm) -> Arm:
    """The arm without its contamination.

    >>> clean(Huber(Gaussian(mean=3.0, sd=1.0), alpha=0.1, contaminant=Point(1e9)))
    Gaussian(mean=3.0, sd=1.0)
    """
    return arm.clean if isinstance(arm, Huber) else arm
