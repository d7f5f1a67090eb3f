"""Named instances: the paper's experiments, and the hard ones of its lower bounds.

>>> paper("student-t").central(k=2)
CentralMoment(k=2.0, bound=5.0, mean_range=(0.0, 100.0))

Hard instances have two-point arms: ``1/gamma`` with probability ``c gamma^k``, else 0, whose mean
is ``c gamma^(k-1)`` and whose raw moment of order ``k`` is ``c <= 1``. In the first instance of a
pair, arm 0 is the best with ``c = 1/2``, all others have ``c = 3/10``. In the second, one of these
has changed to ``c = 7/10`` and is now the best. Either way a wrong arm costs ``gamma^(k-1)/5``.

Gaps of a lower bound's order are too small for anybody. ``widened`` makes them larger by a factor,
so that a policy can just tell the arms apart, and its regret can be compared with the bound.
"""

from __future__ import annotations

import math

from stoic.core import PrivacyBudget, choice, integer, real
from stoic.environments.contamination import Huber
from stoic.environments.continuous import Gaussian, Pareto, StudentT
from stoic.environments.finite import Discrete
from stoic.environments.instance import Instance
from stoic.environments.law import Law
from stoic.errors import InvalidParameter

__all__ = [
    "hard",
    "hard_contaminated",
    "hard_pair",
    "hard_pair_contaminated",
    "hard_sampling",
    "paper",
]

_BEST, _OTHER, _CHANGED = 0.5, 0.3, 0.7  # c of the hard arms


def paper(family: str, *, alpha: float = 0.05) -> Instance:
    """The five arms of the paper's experiments, ``"student-t"`` or ``"pareto"``, all of variance 5.

    Their means are 100, 75, 50, 25 and 0; the contaminant is normal with mean 0 and deviation 50.

    >>> instance = paper("pareto", alpha=0.1)
    >>> instance.arms[0].clean
    Pareto(shape=2.5, scale=1.5, shift=97.5)
    >>> instance.raw(k=2)
    RawMoment(k=2.0, bound=10005.0)
    """

    def arm(mean: float) -> Law:
        if choice("family", family, ("student-t", "pareto")) == "pareto":
            return Pareto(shape=2.5, scale=1.5, shift=mean - 2.5)
        return StudentT(df=2.5, loc=mean)

    arms = tuple(arm(mean) for mean in (100.0, 75.0, 50.0, 25.0, 0.0))
    alpha = real("alpha", alpha, at_least=0, below=1)
    instance = Instance(arms, name=f"paper-{family}-{alpha:g}")
    return instance.contaminated(alpha, Gaussian(mean=0.0, sd=50.0))


def hard(
    arms: int,
    *,
    horizon: int,
    epsilon: float,
    k: float = 2.0,
    widened: float = 1.0,
    changed: int | None = None,
) -> Instance:
    """An instance that is hard under privacy, with ``gamma = ((K-1)/(T eps))^(1/k)``.

    Whoever plays the arm ``changed`` too rarely cannot tell this instance from the one without a
    change: the paper's lower bound ``T^(1/k) ((K-1)/eps)^(1-1/k)``. Gaps are ``widened`` times as
    large, by a ``gamma`` that is ``widened^(1/(k-1))`` times as large.

    >>> hard(5, horizon=1_000, epsilon=0.1).means
    array([0.1 , 0.06, 0.06, 0.06, 0.06])
    >>> hard(5, horizon=1_000, epsilon=0.1, changed=2).best
    2
    >>> hard(5, horizon=100_000, epsilon=0.1, widened=10).means
    array([0.1 , 0.06, 0.06, 0.06, 0.06])
    """
    arms, horizon = integer("arms", arms, at_least=2), integer("horizon", horizon, at_least=1)
    epsilon, k = PrivacyBudget(epsilon).epsilon, real("k", k, above=1)
    if horizon * epsilon < arms - 1:
        rule = f"must be at least (arms - 1) / epsilon = {(arms - 1) / epsilon:g}"
        raise InvalidParameter("horizon", horizon, rule)
    mass = (arms - 1) / (horizon * epsilon)
    mass *= _widened(widened, most=mass ** (1 / k - 1)) ** (k / (k - 1))
    laws = tuple(_two_point(c, mass, k) for c in _chances(arms, changed))
    return Instance(laws, name=_name("hard", changed))


def hard_contaminated(
    arms: int, *, alpha: float, k: float = 2.0, changed: int | None = None
) -> Instance:
    """An instance that is hard under contamination, with ``gamma = alpha^(1/k)``.

    The contaminants make *all* arms look alike, changed or not, so nothing can be learned: the
    paper's lower bound ``T alpha^(1-1/k)``. With the laws ``r`` of the arms, the largest of them
    point by point, and the law ``H`` that is always 0, what is observed is::

        Q = (1-alpha) max(r) + slack H = (1-alpha) r + alpha G

    At ``1/gamma`` this solves to ``G = (1-alpha) (7/10 - c)``; the rest of ``G`` lies at 0.

    >>> instance = hard_contaminated(3, alpha=0.25)
    >>> instance.means, [round(float(arm.contaminant.probabilities[0]), 3) for arm in instance.arms]
    (array([0.25, 0.15, 0.15]), [0.15, 0.3, 0.3])
    """
    arms, k = integer("arms", arms, at_least=2), real("k", k, above=1)
    alpha = real("alpha", alpha, above=0, below=1)
    height = alpha ** (-1 / k)

    def arm(c: float) -> Huber:
        lifted = (1 - alpha) * (_CHANGED - c)
        contaminant = Discrete((height, 0.0), (lifted, 1 - lifted))
        return Huber(_two_point(c, alpha, k), alpha, contaminant)

    made = tuple(arm(c) for c in _chances(arms, changed))
    return Instance(made, name=_name("hard-contaminated", changed))


def hard_sampling(
    arms: int, *, horizon: int, widened: float = 1.0, changed: int | None = None
) -> Instance:
    """An instance that is hard for everybody: the lower bound ``sqrt((K-1) T)`` without privacy.

    Arms pay 1 or -1, so that all their raw moments are 1. The best has mean
    ``widened sqrt((K-1)/T)``, the others 0; the arm ``changed`` twice the mean of arm 0.

    >>> hard_sampling(5, horizon=40_000).means
    array([0.01, 0.  , 0.  , 0.  , 0.  ])
    >>> hard_sampling(5, horizon=40_000, widened=20, changed=3).means
    array([0.2, 0. , 0. , 0.4, 0. ])
    """
    arms, horizon = integer("arms", arms, at_least=2), integer("horizon", horizon, at_least=1)
    times = [1.0] + [0.0] * (arms - 1)
    if changed is not None:
        times[_changed(changed, arms)] = 2.0
    least = (arms - 1) * max(times) ** 2
    if horizon < least:
        raise InvalidParameter("horizon", horizon, f"must be at least {least:g}")
    gap = math.sqrt((arms - 1) / horizon)
    gap *= _widened(widened, most=1 / (max(times) * gap))
    means = [gap * one for one in times]
    laws = tuple(Discrete((1.0, -1.0), ((1 + mean) / 2, (1 - mean) / 2)) for mean in means)
    return Instance(laws, name=_name("hard-sampling", changed))


def hard_pair(
    arms: int, *, horizon: int, epsilon: float, k: float = 2.0
) -> tuple[Instance, Instance]:
    """Two instances that a private policy can hardly tell apart: :func:`hard`, and arm 1 changed.

    >>> first, second = hard_pair(2, horizon=100, epsilon=1.0)
    >>> first.best, second.best
    (0, 1)
    """
    first, second = (
        hard(arms, horizon=horizon, epsilon=epsilon, k=k, changed=changed) for changed in (None, 1)
    )
    return first, second


def hard_pair_contaminated(arms: int, *, alpha: float, k: float = 2.0) -> tuple[Instance, Instance]:
    """Two instances whose observed rewards have one law: :func:`hard_contaminated`, arm 1 changed.

    >>> first, second = hard_pair_contaminated(2, alpha=0.1)
    >>> first.best, second.best
    (0, 1)
    """
    first, second = (
        hard_contaminated(arms, alpha=alpha, k=k, changed=changed) for changed in (None, 1)
    )
    return first, second


def _chances(arms: int, changed: int | None) -> list[float]:
    chances = [_BEST] + [_OTHER] * (arms - 1)
    if changed is not None:
        chances[_changed(changed, arms)] = _CHANGED
    return chances


def _changed(changed: int, arms: int) -> int:
    if integer("changed", changed, at_least=1) >= arms:
        raise InvalidParameter("changed", changed, f"must be an arm from 1 to {arms - 1}")
    return changed


def _widened(widened: float, most: float) -> float:
    """A probability is at most 1."""
    if real("widened", widened, at_least=1) > most:
        raise InvalidParameter("widened", widened, f"must be at most {most:g} at this horizon")
    return float(widened)


def _two_point(c: float, mass: float, k: float) -> Discrete:
    """``1/gamma`` with probability ``c gamma^k``, where ``mass = gamma^k``."""
    return Discrete((mass ** (-1 / k), 0.0), (c * mass, 1 - c * mass))


def _name(name: str, changed: int | None) -> str:
    return name if changed is None else f"{name}-changed-{changed}"
