"""What pilot data suggest: a moment bound, a range of means, a share of outliers.

The pilot is read without any privacy: it must be public, or historical data that may be looked at.
Suggestions are upper ends of 95 % intervals, since a bound that is too small breaks the guarantee
and one that is too large only costs users.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike

import numpy as np
from scipy import special

from stoic.core import CentralMoment, Contamination, Floats, real
from stoic.environments.files import digest_of, rewards_of
from stoic.errors import InvalidParameter

__all__ = ["Pilot", "read_pilot"]

_RESAMPLES = 400
_FAR = 10.0  # robust deviations from the median that clean rewards are unlikely to reach
_LEAST = 50  # rewards of an arm
_TO_SIGMA = 1.4826  # of a normal law, from the median absolute deviation
_TOP = 0.05  # of the rewards, for the tail index


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a pilot suggests, and how sure it is. Pairs are (estimate, upper 95 % end).

    ``tail_index`` is Hill's, with the lower 95 % end: moments of a higher order do not exist.
    """

    arms: int
    rewards: int
    k: float
    bound: tuple[float, float]
    mean_range: tuple[float, float]
    alpha: tuple[float, float]
    tail_index: tuple[float, float]

    @property
    def moments(self) -> CentralMoment:
        """The suggested moment bound and range, on the safe side."""
        return CentralMoment(self.k, self.bound[1], self.mean_range)

    @property
    def contamination(self) -> Contamination:
        """The suggested share of outliers, on the safe side."""
        return Contamination(min(self.alpha[1], 0.499))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against trusting it."""
        found = ["the pilot was read without privacy: it must be public, or may be looked at"]
        index, low = self.tail_index
        if low <= self.k:
            found.append(
                f"the tail index is {index:.2f}, at least {low:.2f} with 95 % confidence: moments "
                f"of order {self.k:g} may not exist; a smaller order may"
            )
        return tuple(found)


def read_pilot(
    file: str | PathLike[str],
    *,
    k: float = 2.0,
    reward: str = "reward",
    arm: str | None = None,
    seed: int = 1,
) -> Pilot:
    """Read a pilot from CSV, Parquet or NPY and say what it suggests.

    ``arm`` names the column of arms, where there is one. ``seed`` is that of the bootstrap.

    >>> import tempfile, pathlib
    >>> rng = np.random.Generator(np.random.SFC64(1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "pilot.npy"
    ...     np.save(file, rng.normal(20, 3, 2000))
    ...     pilot = read_pilot(file)
    >>> pilot.arms, round(pilot.bound[0]), pilot.alpha[0]
    (1, 9, 0.0)
    """
    k = real("k", k, above=1)
    by_arm = rewards_of(str(file), digest_of(file), arm, reward)
    for name, rewards in by_arm.items():
        if rewards.size < _LEAST:
            rule = f"must hold at least {_LEAST} rewards of each arm; {name!r} has {rewards.size}"
            raise InvalidParameter("pilot", str(file), rule)
    rng = np.random.Generator(np.random.SFC64(seed))
    arms = [_Arm(rewards, k, rng) for rewards in by_arm.values()]
    size = sum(one.all.size for one in arms)
    outliers = sum(one.all.size - one.clean.size for one in arms)
    low = min(one.mean - 2 * one.error for one in arms)
    high = max(one.mean + 2 * one.error for one in arms)
    spread = max(high - low, max(one.bound[1] for one in arms) ** (1 / k))
    return Pilot(
        arms=len(arms),
        rewards=size,
        k=k,
        bound=(max(one.bound[0] for one in arms), max(one.bound[1] for one in arms)),
        mean_range=(low - spread / 2, high + spread / 2),
        alpha=(outliers / size, _upper_share(outliers, size)),
        tail_index=min((one.index for one in arms), key=lambda pair: pair[1]),
    )


class _Arm:
    """One arm's rewards, with and without what looks like outliers."""

    def __init__(self, rewards: Floats, k: float, rng: np.random.Generator) -> None:
        middle = float(np.median(rewards))
        width = _TO_SIGMA * float(np.median(np.abs(rewards - middle)))
        near = np.abs(rewards - middle) <= _FAR * width
        self.all = rewards
        # Data of which more than half are one value have no robust width.
        self.clean = rewards[near] if width > 0 else rewards
        self.mean = float(self.clean.mean())
        self.error = float(self.clean.std() / math.sqrt(self.clean.size))
        self.bound = _with_upper(self.clean, k, rng)
        self.index = _tail_index(self.all, middle)


def _with_upper(rewards: Floats, k: float, rng: np.random.Generator) -> tuple[float, float]:
    """The central moment, and the upper end of its bootstrap interval."""

    def moment(sample: Floats) -> float:
        return float(np.mean(np.abs(sample - sample.mean()) ** k))

    found = moment(rewards)
    samples = (rewards[rng.integers(rewards.size, size=rewards.size)] for _ in range(_RESAMPLES))
    upper = float(np.quantile([moment(sample) for sample in samples], 0.95))
    least = np.finfo(float).tiny  # rewards that are all alike have no spread
    return max(found, least), max(upper, found, least)


def _tail_index(rewards: Floats, middle: float) -> tuple[float, float]:
    """Hill's estimate from the largest deviations, and its lower 95 % end."""
    far = np.sort(np.abs(rewards - middle))[::-1]
    count = max(10, int(_TOP * far.size))
    top = far[: count + 1]
    if top[-1] <= 0:
        return math.inf, math.inf
    mean = float(np.mean(np.log(top[:-1] / top[-1])))
    if mean == 0:
        return math.inf, math.inf
    return 1 / mean, 1 / mean * (1 - 1.645 / math.sqrt(count))


def _upper_share(hits: int, size: int) -> float:
    """Clopper and Pearson's upper 95 % end."""
    return 1.0 if hits == size else float(special.betaincinv(hits + 1, size - hits, 0.95))
