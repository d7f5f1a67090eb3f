"""Rewards as they are told: any real number, garbage included, and nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from stoic.core import Floats
from stoic.errors import InvalidReward

__all__ = ["as_reward", "as_rewards"]


def as_reward(reward: object) -> float:
    """One reward as a float, or :class:`~stoic.errors.InvalidReward`, which does not show it.

    >>> as_reward(10**400)
    inf
    """
    if isinstance(reward, (int, float, np.integer, np.floating)) and not isinstance(reward, bool):
        try:
            return float(reward)
        except OverflowError:
            return float("inf") if reward > 0 else float("-inf")
    raise InvalidReward(f"a reward must be a real number, not a {type(reward).__name__}")


def as_rewards(rewards: ArrayLike) -> Floats:
    """Many rewards as an array of floats.

    >>> as_rewards([1, 2.5])
    array([1. , 2.5])
    """
    amounts = np.asarray(rewards)
    if amounts.dtype.kind == "O":  # Python integers beyond 64 bits, or no numbers at all
        return np.array([as_reward(one) for one in amounts.ravel()]).reshape(amounts.shape)
    if amounts.dtype.kind not in "iuf":
        raise InvalidReward(f"rewards must be real numbers, not {amounts.dtype.name}")
    with np.errstate(all="ignore"):  # signalling NaN, long doubles beyond float64
        return amounts.astype(np.float64)
