"""Profile ``certified``: the radii of PRAE-S, found numerically and proved, in natural units.

Two ways to narrow a known interval ``|J - mu| <= known`` down to a radius, from ``n`` rewards:

- **mean**: the mean of ``clip(x - J, -M, M)`` plus Laplace noise;
- **windows**: the fullest of many overlapping windows, chosen with exponential noise.

For both, one Chernoff bound covers the sample and the noise together. The search over its
parameters needs no proof: whichever it finds, the bound holds for them. The scale of the noise is
``1/lambda``, with the ``lambda`` of that bound, so a release may cost *less* than the budget.

``failure`` is one-sided: the probability that the estimate lies more than the radius above the mean
(and also that it lies more than the radius below). Every formula cites its number in
``docs/theory/certified.md``, where the proofs are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from stoic.core import Floats, real
from stoic.privacy.queries import GRID

__all__ = [
    "Means",
    "Setting",
    "Windows",
    "breakdown",
    "floor",
    "mean_radius",
    "means",
    "share",
    "windows",
]

breakdown = 0.5

# Candidates of the searches. They do not depend on the budget, so a larger one only adds to them
# and radii are monotone in it; finer grids gain about one percent.
_RATES = np.geomspace(1e-7, 20, 1000)  # lambda of the mean, per reward
_MARGINS = np.geomspace(1e-2, 1e6, 200)  # M - known
_WINDOW_RATES = 3.0 * 1.02 ** -np.arange(860.0)  # lambda of the windows
_SLOWEST = 1 / 20  # of the largest lambda of windows that makes sense
_COUNTS = np.unique(np.geomspace(1, 1e6, 160).round())  # of windows

_LEAST = 1e-6  # that a release may spend: a PrivacyBudget

_SLACK = 1 + 1e-9  # for the rounding of these very computations


@dataclass(frozen=True, slots=True)
class Setting:
    """What is assumed of the rewards and promised to them: order ``k``, share ``alpha``, budget.

    >>> Setting(k=2, alpha=0.05, epsilon=0.5).alpha
    0.05
    """

    k: float
    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        real("k", self.k, above=1)
        real("contamination", self.alpha, at_least=0, below=breakdown)
        real("epsilon", self.epsilon, above=0)


def share(delta: float, epoch: int) -> float:
    """Failure probability of one epoch: ``3 delta/4`` of the first, ``delta/(4 t (t-1))`` of later.

    They sum to ``delta``. The first epoch plays every arm, so it gets the most.

    >>> share(0.1, epoch=1), share(0.1, epoch=2)
    (0.07500000000000001, 0.0125)
    """
    return 0.75 * delta if epoch == 1 else delta / (4 * epoch * (epoch - 1))


# --- Means --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Means:
    """A clipped mean: its size, its half width ``M``, and what it spends of the budget."""

    n: int
    half_width: float
    epsilon: float


def excess(rate: ArrayLike, below: ArrayLike, above: ArrayLike, k: float) -> Floats:
    """``C`` with ``E exp(rate clip(Z, -below, above)) <= 1 + C``, if ``E Z = 0``, ``E|Z|^k <= 1``.

    Needs ``below <= above``. (C2) for ``k <= 2``, (C3) beyond: a polynomial in ``z`` and ``|z|^k``
    lies above the exponential, so that its expectation bounds that of the exponential. The larger
    of a variance and a tail counts, where Bennett's inequality and a bias would add up.

    >>> round(float(excess(0.1, 2.0, 2.0, k=2)), 5)
    0.01379
    """
    rate, below, above = (np.asarray(part, dtype=np.float64) for part in (rate, below, above))
    height = rate * above
    with np.errstate(over="ignore"):
        curve = np.where(height < 1e-4, height**2 * (1 / 2 + height / 5), np.expm1(height) - height)
    depth = -np.expm1(-rate * below)
    tail = (k - 1) ** (k - 1) / k**k * rate**k / depth ** (k - 1)
    if k <= 2:
        found: Floats = np.maximum(curve / above**k, tail)
        return found
    square = curve / above**2
    both: Floats = np.minimum(np.maximum(square, rate**2 / (4 * depth)), square + tail)
    return both


def _drift(rate: Floats, margin: Floats, known: float | None, setting: Setting) -> Floats:
    """``log E exp(rate (Y - mu + J)) / rate`` at most: what the mean is off by, apart from noise.

    Half a grid step comes on top, since sums are in fixed point. (M1) about a centre with
    ``|J - mu| <= known``, worst at ``mu = J - known``; (M2) about 0 under a raw moment, worst at a
    mean that is found in closed form.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if known is not None:
            reach = margin + 2 * known
            inliers = (1 - setting.alpha) * excess(rate, margin, reach, setting.k)
            drift = np.log1p(inliers + setting.alpha * np.expm1(rate * reach)) / rate
            return drift + (margin + known) / GRID / 2
        inliers = (1 - setting.alpha) * excess(rate, margin, margin, setting.k)
        grown = inliers + setting.alpha * np.expm1(rate * margin)
        mu = np.clip(-(grown + setting.alpha) / ((1 - setting.alpha) * rate), -1, 1)
        moved = np.log1p(grown + (1 - setting.alpha) * rate * mu) / rate - mu
        return moved + margin / GRID / 2


@lru_cache(maxsize=512)
def _lines(known: float | None, setting: Setting) -> tuple[Floats, Floats, Floats]:
    """For each rate the least drift, and the half width that attains it.

    The radius is the least of the lines ``drift + log(1/(2 failure)) / (n rate)``.
    """
    centre_off = 0.0 if known is None else known
    # Noise of scale 1/rate on a sum of sensitivity 2M costs 2M rate: at most the budget.
    most = setting.epsilon / (2 * _RATES) - centre_off
    rate = _RATES[most >= _MARGINS[0]][:, None]
    drift = _drift(rate, _MARGINS, known, setting)
    allowed = most[: rate.size, None] >= _MARGINS
    allowed &= 2 * rate * (_MARGINS + centre_off) >= _LEAST
    drift = np.where(allowed & np.isfinite(drift), drift, np.inf)
    best = np.argmin(drift, axis=1)
    row = np.arange(best.size)
    return rate[:, 0], drift[row, best], _MARGINS[best] + centre_off


def means(radius: float, *, known: float | None, setting: Setting, failure: float) -> Means | None:
    """The smallest clipped mean of that radius, or None if there is none.

    ``known`` is the radius of the centre; None means a raw moment bound, about 0.

    >>> means(1.0, known=4.0, setting=Setting(k=2, alpha=0.05, epsilon=0.5), failure=1e-6).n
    1134
    """
    rate, drift, half_width = _lines(known, setting)
    room = radius / _SLACK - drift
    with np.errstate(divide="ignore"):
        needed = np.where(room > 0, _log_term(failure, setting) / (rate * room), np.inf)
    best = int(np.argmin(needed)) if needed.size else 0
    if not needed.size or not math.isfinite(needed[best]):
        return None
    width = float(half_width[best])
    return Means(
        math.ceil(needed[best]), width, min(setting.epsilon, 2 * width * float(rate[best]))
    )


def mean_radius(
    n: ArrayLike,
    *,
    known: float | None,
    setting: Setting,
    failure: float,
    planned: Means | None = None,
) -> Floats:
    """The radius of clipped means of ``n`` rewards: of the ``planned`` one, or the best for each.

    >>> setting = Setting(k=2, alpha=0.05, epsilon=0.5)
    >>> mean_radius([500, 5_000], known=4.0, setting=setting, failure=1e-6).round(3)
    array([1.318, 0.785])
    """
    n = np.asarray(n, dtype=np.float64)
    if planned is not None:
        rate = np.array([planned.epsilon / (2 * planned.half_width)])
        margin = np.array([planned.half_width - (known or 0.0)])
        drift = _drift(rate, margin, known, setting)
    else:
        rate, drift, _ = _lines(known, setting)
    noise = _log_term(failure, setting) / (n[..., None] * rate)
    radius: Floats = np.min(drift + noise, axis=-1, initial=np.inf) * _SLACK
    return radius


def _log_term(failure: float, setting: Setting) -> float:
    """``log(1/(2 failure))``, and what the grid adds when the noise is discrete (N2)."""
    return max(0.0, math.log(1 / (2 * failure))) + setting.epsilon / GRID / 4


def floor(setting: Setting, *, raw: bool = False) -> float:
    """What these radii do not get below, however many the rewards.

    Of means about a centre, the radius that reproduces itself (F1); of windows, which do better
    near the breakdown point, the limit of (W3) (F2); of means under a raw moment the least that
    (M2) allows, which is at most (F3).

    >>> round(floor(Setting(k=2, alpha=0.05, epsilon=0.5)), 3)
    0.242
    >>> round(floor(Setting(k=2, alpha=0.05, epsilon=0.5), raw=True), 3)
    0.266
    """
    k, alpha = setting.k, setting.alpha
    if alpha == 0:
        return 0.0
    tail = (k - 1) ** (k - 1) / k**k * (1 - alpha)
    margin = ((k - 1) * tail / alpha) ** (1 / k)
    bias = tail / margin ** (k - 1) + alpha * margin
    if raw:
        _, drift, _ = _lines(None, setting)
        return float(np.min(drift, initial=bias + alpha))
    inner = ((1 - alpha) / (1 - 2 * alpha)) ** (1 / k)
    return float(min(bias / (1 - 2 * alpha), inner * (1 + 2 ** (1 / k))))


# --- Windows ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Windows:
    """A choice among ``count`` windows whose centres divide the known interval evenly."""

    n: int
    count: int
    step: float
    half_width: float
    epsilon: float


@lru_cache(maxsize=4096)
def windows(radius: float, *, known: float, setting: Setting, failure: float) -> Windows | None:
    """The smallest choice of windows of that radius, or None if there is none.

    >>> windows(10.0, known=22.4, setting=Setting(k=2, alpha=0.05, epsilon=0.5), failure=1e-6).n
    77
    """
    most = setting.epsilon / 2
    # Beyond log((1 - alpha)/alpha), outliers alone can fill a window: the bound would not fall.
    useful = math.log1p(-setting.alpha) - math.log(setting.alpha) if setting.alpha else math.inf
    slowest = max(_SLOWEST * min(most, _WINDOW_RATES[0], useful), _LEAST / 2)
    rate = _WINDOW_RATES[(most >= _WINDOW_RATES) & (slowest <= _WINDOW_RATES)][:, None]
    step = 2 * known / _COUNTS
    bad = np.maximum(_COUNTS - np.floor(radius / step + 0.5), 0)
    # The mean is within step/2 of a centre. (W2): half widths that spend the moment equally well
    # on leaving the good window and on filling a bad one.
    inner = (radius - step / 2) / (1 + (1 + np.exp(rate)) ** (1 / setting.k))
    usable = (inner > 1) & (bad > 0)
    inner = np.where(usable, inner, np.inf)
    inlier = np.exp(-rate) - np.expm1(-rate) / inner**setting.k
    crowd = (1 - setting.alpha) * inlier + setting.alpha * np.exp(rate)
    usable &= crowd < 1
    if not usable.any():
        return None
    where, count = np.nonzero(usable)
    rate, step, bad, inner, inlier, crowd = (
        np.broadcast_to(part, usable.shape)[where, count]
        for part in (rate, step, bad, inner, inlier, crowd)
    )
    fast = -np.log(crowd)
    slow = -np.log((1 - setting.alpha) * inlier + setting.alpha)
    half_width = inner + step / 2
    hit = np.minimum(bad, np.floor(2 * half_width / step) + 1)  # windows that one outlier can fill
    needed = _least(hit, fast, bad - hit, slow, 2 * failure / _SLACK)
    best = int(np.argmin(needed))
    return Windows(
        n=math.ceil(needed[best]),
        count=int(_COUNTS[count[best]]),
        step=float(step[best]),
        half_width=float(half_width[best]),
        epsilon=min(setting.epsilon, 2 * float(rate[best])),
    )


def _least(hit: Floats, fast: Floats, others: Floats, slow: Floats, most: float) -> Floats:
    """The least ``n`` with ``hit exp(-n fast) + others exp(-n slow) <= most`` (W3), by bisection.

    ``slow >= fast``, so that the hit windows alone give a lower end and all of them, at the rate
    ``fast``, an upper one. What cannot be the least of all stays at its upper end.
    """
    low = np.maximum(np.log(hit / most) / fast, 0.0)
    found: Floats = np.maximum(np.log((hit + others) / most) / fast, 1.0)
    (close,) = np.nonzero(low <= found.min())
    low, high = low[close], found[close]
    hit, fast, others, slow = (part[close] for part in (hit, fast, others, slow))
    for _ in range(30):
        middle = (low + high) / 2
        enough = hit * np.exp(-middle * fast) + others * np.exp(-middle * slow) <= most
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    found[close] = high
    return found
