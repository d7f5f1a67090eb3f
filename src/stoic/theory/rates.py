"""Rates of regret: the minimax lower bound and the paper's upper bounds, every constant 1.

They say how the terms grow, not how large they are; :mod:`stoic.theory.regret` has the bounds with
their constants. Everything is in the units of the rewards; a moment bound of 1 gives natural units.
A moment of order ``k = 1 + v`` with ``v < 1`` is taken wherever the argument holds for it.
"""

from __future__ import annotations

import math

from stoic.core import CentralMoment, Moment
from stoic.options import as_budget, as_contamination
from stoic.theory import proof
from stoic.theory.common import checked_run, iota

__all__ = ["lower_bound", "upper_bound"]


def lower_bound(
    *, arms: int, horizon: int, epsilon: float, moments: Moment, contamination: float = 0.0
) -> dict[str, float]:
    """``sqrt(KT)``, ``(K/eps)^(1-1/k) T^(1/k)`` and ``T alpha^(1-1/k)`` (Theorem 1).

    No epsilon-DP policy has less regret than the largest term, up to a constant, on every instance.
    The second term needs ``T eps >= K``; below that it is ``T`` (the print does not cap it, and
    would then exceed the regret of any policy).

    >>> from stoic.core import RawMoment
    >>> terms = lower_bound(
    ...     arms=5, horizon=100_000, epsilon=0.5, moments=RawMoment(2, 1.0), contamination=0.05
    ... )
    >>> {name: round(term) for name, term in terms.items()}
    {'sampling': 707, 'privacy': 1000, 'contamination': 22361}
    """
    arms, horizon, _ = checked_run(arms, horizon, None)
    epsilon, alpha = as_budget(epsilon).epsilon, as_contamination(contamination).alpha
    scale, power = moments.scale, 1 - 1 / moments.k
    return {
        "sampling": scale * math.sqrt(arms * horizon),
        "privacy": scale * horizon * min(1.0, arms / (epsilon * horizon)) ** power,
        "contamination": scale * horizon * alpha**power,
    }


def upper_bound(
    *, arms: int, horizon: int, epsilon: float, moments: Moment, contamination: float = 0.0
) -> dict[str, float]:
    """The terms of the regret of PRAE-R (Theorem 3) or PRAE-C (Theorems 5 and 6), ``delta = 1/T``.

    ``sqrt(K T log T)``, ``(K log T / eps)^(1-1/k) T^(1/k)``, ``T alpha^(1-1/k)``, and what the
    threshold costs: ``K log T / alpha`` for raw moments, none if ``alpha = 0``; for central ones
    ``gamma = K D log(DT) / eps``, with outliers also ``D K log T / alpha^2`` and
    ``iota D K log T / eps``. A setting that the theorem does not cover is refused.

    >>> terms = upper_bound(
    ...     arms=5, horizon=100_000, epsilon=0.5, moments=RawMoment(2, 1.0), contamination=0.05
    ... )
    >>> {name: round(term) for name, term in terms.items()}
    {'sampling': 2399, 'privacy': 3393, 'contamination': 22361, 'threshold': 1151}
    """
    arms, horizon, _ = checked_run(arms, horizon, None)
    epsilon, alpha = as_budget(epsilon).epsilon, as_contamination(contamination).alpha
    k, scale, log = moments.k, moments.scale, math.log(horizon)
    threshold = 0.0
    if isinstance(moments, CentralMoment):
        half_range = moments.half_range
        proof.check_central(epsilon=epsilon, alpha=alpha, k=k, half_range=half_range)
        threshold = arms * half_range * math.log(half_range * horizon) / epsilon
        if alpha > 0:
            threshold += half_range * arms * log * (1 / alpha**2 + iota(alpha) / epsilon)
    else:
        proof.check_raw(epsilon=epsilon, alpha=alpha)
        if alpha > 0:
            threshold = arms * log / alpha
    return {
        "sampling": scale * math.sqrt(arms * horizon * log),
        "privacy": scale * (arms * log / epsilon) ** (1 - 1 / k) * horizon ** (1 / k),
        "contamination": scale * horizon * alpha ** (1 - 1 / k),
        "threshold": scale * threshold,
    }
