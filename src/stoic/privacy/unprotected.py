"""Openly not private: statistics of the raw rewards, for the comparators."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from stoic.core import Floats, Release, value
from stoic.privacy.mechanism import Block, OneFold, numbers
from stoic.privacy.noise import Noise

__all__ = ["Statistic", "Unprotected", "tame"]

_GARBAGE = 1e100  # the largest reward that a statistic sees


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
    """What a statistic sees of any rewards: NaN as 0, -0 as 0, and nothing beyond 1e100.

    >>> tame(np.array([1.0, np.nan, -np.inf]))
    array([ 1.e+000,  0.e+000, -1.e+100])
    """
    # Sorting leaves 0 and -0 in any order; adding 0 makes them the same bits.
    return np.clip(np.where(np.isnan(rewards), 0.0, rewards), -_GARBAGE, _GARBAGE) + 0.0


@value
class Unprotected(OneFold):
    """Releases a statistic of the rewards as it is: no bound, no noise, no privacy.

    Only policies that declare ``privacy = "none"`` may ask this. Here too garbage has a stated
    meaning and nothing is dropped: NaN and missing rewards count as 0, and whatever lies beyond
    1e100 in size, infinities included, as 1e100 of that sign.

    >>> from stoic.privacy.simulated import SimulatedNoise
    >>> class Range:
    ...     name = "range"
    ...     def compute(self, values):
    ...         return float(values[-1] - values[0])
    >>> from stoic.privacy.queries import answer
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
        values, counts = numbers(block)
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
