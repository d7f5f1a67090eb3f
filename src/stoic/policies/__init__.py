"""Bandit policies: the paper's, its baseline, and non-private references.

======================== ======= ==============================================================
policy                   private what it is
======================== ======= ==============================================================
``prae-r``               yes     the paper's elimination for bounded raw moments
``prae-c``               yes     the paper's elimination for bounded central moments
``prae-s``               yes     our own: elimination with certified radii, at hundreds of users
``dprse``                yes     private elimination without robustness (Tao et al. 2022)
``elimination``          no      the same elimination over a non-private estimator
``successive-elimination`` no    Even-Dar, Mannor, Mansour 2006
``ucb1``                 no      Auer, Cesa-Bianchi, Fischer 2002
``uniform``              yes     all arms in turn
``oracle``               yes     the best arm, always
======================== ======= ==============================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stoic.options import make
from stoic.policies.dprse import DPRSE
from stoic.policies.elimination import Elimination
from stoic.policies.fixed import Oracle, Uniform
from stoic.policies.policy import Answers, Policy
from stoic.policies.prae_s import PRAES
from stoic.policies.successive_elimination import SuccessiveElimination
from stoic.policies.ucb1 import UCB1

__all__ = [
    "DPRSE",
    "POLICIES",
    "PRAES",
    "UCB1",
    "Answers",
    "Elimination",
    "Oracle",
    "Policy",
    "SuccessiveElimination",
    "Uniform",
    "create",
]

POLICIES: dict[str, Callable[..., Policy]] = {
    "prae-r": Elimination.raw,
    "prae-c": Elimination.central,
    "prae-s": PRAES.build,
    "dprse": DPRSE.build,
    "elimination": Elimination.comparing,
    "successive-elimination": SuccessiveElimination.build,
    "ucb1": UCB1.build,
    "uniform": Uniform,
    "oracle": Oracle,
}


def create(name: str, *, arms: int, horizon: int, **options: Any) -> Policy:
    """A policy by name, for ``arms`` arms and ``horizon`` rounds.

    Options, where a policy has them: ``moments`` (:class:`stoic.RawMoment` or
    :class:`stoic.CentralMoment`), ``epsilon``, ``contamination`` (the share of outliers, 0 unless
    given), ``profile`` (``"proof"`` or ``"unit"``; of prae-s ``"certified"``), ``delta``
    (1 / horizon unless given), ``first_phase`` (``"batch"``, ``"round"``, ``"greedy"``,
    ``"explore"``), ``statistic``, ``best`` and ``goal`` (``"max"``, or ``"min"`` for costs).

    >>> import stoic
    >>> policy = stoic.policies.create(
    ...     "prae-c", arms=5, horizon=100_000, epsilon=0.5,
    ...     moments=stoic.CentralMoment(2, 5, (0, 100)), contamination=0.05, profile="unit",
    ... )
    >>> policy.privacy, policy.epsilon
    ('central', 0.5)
    """
    return make("policy", name, POLICIES, {"arms": arms, "horizon": horizon, **options})
