"""Any named law of SciPy, as a value that goes to JSON.

>>> import scipy.stats
>>> scipy_law(scipy.stats.gamma(3.0, scale=2.0))
Scipy(name='gamma', args=(3.0,), loc=0.0, scale=2.0)

Whether a moment exists is read off the tail: of a density that falls like ``x^-(index + 1)`` the
moments below ``index`` exist. SciPy's own opinion is asked too, but only on mean and variance; its
higher moments are sometimes finite where there are none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from stoic.core import Floats, real, settle, value
from stoic.environments.law import Moments, integral, require_mean
from stoic.errors import InvalidParameter

__all__ = ["Scipy", "scipy_law"]

_FAR = 1e12  # times as far out as a rare draw: where a power tail is judged
_RARE = 1e-6
_NEAR = 80.0  # exp(-80): how close to the centre an integral starts, in relative terms
_WINDOW = 2**19  # how many integers on either side of the median are summed one by one
_LEVELS = (1e-3, 0.05, 0.25, 0.5, 0.75, 0.95)  # to cut an integral at: what lies beyond, and
_FAR_LEVELS = (1e-3, 1e-6, 1e-9)  # farther out


@value
class Scipy(Moments):
    """``scipy.stats.<name>(*args, loc=loc, scale=scale)``.

    >>> law = Scipy("gamma", args=(3.0,), scale=2.0)
    >>> law.mean, law.central_moment(2)
    (6.0, 12.0)
    """

    name: str
    args: tuple[float, ...] = ()
    loc: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        found = getattr(stats, self.name, None) if isinstance(self.name, str) else None
        if not isinstance(found, (stats.rv_continuous, stats.rv_discrete)):
            raise InvalidParameter("name", self.name, "must name a law of scipy.stats")
        family: Any = found
        settle(
            self,
            args=tuple(real("args", one) for one in self.args),
            loc=real("loc", self.loc),
            scale=real("scale", self.scale, above=0),
        )
        if len(self.args) != family.numargs:
            rule = f"must be the {family.numargs} shape parameters ({family.shapes or 'none'})"
            raise InvalidParameter("args", self.args, rule)
        if isinstance(family, stats.rv_discrete) and self.scale != 1:
            raise InvalidParameter("scale", self.scale, "must be 1: the law is discrete")
        if not all(edge == edge for edge in self._frozen().support()):
            raise InvalidParameter("args", self.args, f"must be in the domain of {self.name}")
        require_mean(self)

    def _frozen(self) -> Any:
        # Made anew for each use: drawing from a frozen law of SciPy writes to it.
        family = getattr(stats, self.name)
        scale = {} if isinstance(family, stats.rv_discrete) else {"scale": self.scale}
        return family(*self.args, loc=self.loc, **scale)

    def _standard(self) -> Any:
        # Where integrals are taken and tails judged: a far origin would drown all distances.
        return getattr(stats, self.name)(*self.args)

    @property
    def mean(self) -> float:
        law = self._frozen()
        return float(law.mean()) if _tail_index(self._standard()) > 1 else math.inf

    @property
    def _variance(self) -> float:
        law = self._standard()
        variance = self.scale**2 * float(law.var())
        return variance if _tail_index(law) > 2 and math.isfinite(variance) else math.inf

    def _moment(self, k: float, about: float) -> float:
        law = self._standard()
        if _tail_index(law) <= k or (k > 2 and not math.isfinite(law.var())):
            return math.inf
        centre = (about - self.loc) / self.scale
        if isinstance(law.dist, stats.rv_discrete):
            return _discrete_moment(law, k, centre)
        moment = _one_side(law, k, centre, -1) + _one_side(law, k, centre, 1)
        return math.pow(self.scale, k) * moment

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        return np.asarray(self._frozen().rvs(size=n, random_state=rng), dtype=np.float64)


def scipy_law(frozen: Any) -> Scipy:
    """The value of a frozen law such as ``scipy.stats.gamma(3.0)``.

    >>> import scipy.stats
    >>> scipy_law(scipy.stats.poisson(mu=4.0)).mean
    4.0
    """
    if not hasattr(frozen, "dist") or not hasattr(frozen.dist, "shapes"):
        raise InvalidParameter("frozen", type(frozen).__name__, "must be a frozen law of SciPy")
    shapes = frozen.dist.shapes.split(", ") if frozen.dist.shapes else []
    given = dict(zip([*shapes, "loc", "scale"], frozen.args, strict=False)) | frozen.kwds
    return Scipy(
        frozen.dist.name,
        args=tuple(given[shape] for shape in shapes),
        loc=given.get("loc", 0.0),
        scale=given.get("scale", 1.0),
    )


def _tail_index(law: Any) -> float:
    """Moments below this exist: the smaller index of both tails, less a margin for rounding."""
    if isinstance(law.dist, stats.rv_discrete):
        return math.inf  # judged while summing
    return min(_index(law, -1), _index(law, 1)) - 1e-6


def _index(law: Any, side: int) -> float:
    """``a`` if the density falls like ``x^-(a + 1)`` on this side, infinity if it falls faster."""
    with np.errstate(all="ignore"):
        near, far = law.logpdf(law.median() + side * _far(law, side) * np.array([0.1, 1.0]))
    return float(near - far) / math.log(10) - 1 if math.isfinite(far) else math.inf


def _far(law: Any, side: int) -> float:
    """A distance from the median at which there is nothing but the tail."""
    end = law.isf(_RARE) if side > 0 else law.ppf(_RARE)
    return _FAR * max(side * float(end - law.median()), float(law.ppf(0.75) - law.ppf(0.25)))


def _one_side(law: Any, k: float, about: float, side: int) -> float:
    """``E|X - about|^k`` on one side of ``about``.

    Up to a distance ``c``, by the probability of lying beyond, which stays bounded where a density
    may not: ``E min(|X - about|, c)^k`` is the integral of ``P(|X - about| > u^(1/k))`` over ``u``
    up to ``c^k``. What a long tail holds beyond ``c``, by the density over the log of the distance.
    """
    beyond, level = (law.sf, law.isf) if side > 0 else (law.cdf, law.ppf)
    ends = [side * (edge - about) for edge in law.support()]
    bounded = math.isfinite(max(ends))
    reach = max(max(ends) if bounded else side * float(level(_LEVELS[0]) - about), 0.0)
    inner = [side * (float(q) - about) for q in level(_LEVELS)]
    points = {min(max(one, 0.0), reach) ** k for one in (0.0, *ends, *inner)}
    body = integral(lambda u: float(beyond(about + side * u ** (1 / k))), *points, reach**k)
    return body if bounded else body + _tail(law, k, about, side, reach)


def _tail(law: Any, k: float, about: float, side: int, reach: float) -> float:
    """``E (|X - about|^k - reach^k)`` on one side, beyond ``reach``."""
    level = law.isf if side > 0 else law.ppf
    distance = side * float(law.median() - about) + _far(law, side)
    if distance <= reach:
        return 0.0  # all is on the other side
    last = math.log(distance)
    marks = [side * (float(q) - about) for q in level(_FAR_LEVELS)]
    points = {math.log(one) for one in (reach, *marks) if one > 0} | {last}
    start = math.log(reach) if reach > 0 else min(points) - _NEAR

    def integrand(y: float) -> float:
        with np.errstate(all="ignore"):
            density = math.exp((k + 1) * y + law.logpdf(about + side * math.exp(y)))
        return density * -math.expm1(k * (math.log(reach) - y)) if reach > 0 else density

    body = integral(integrand, start, *(one for one in points if one > start))
    index = _index(law, side)
    return body if index == math.inf else body + integrand(last) / (index - k)


def _discrete_moment(law: Any, k: float, about: float) -> float:
    """The sum around the median; beyond, shells of twice the size follow a geometric series."""
    steps = np.arange(-_WINDOW, _WINDOW + 1)
    probabilities = law.pmf(law.median() + steps)
    if abs(probabilities.sum() - 1) > 1e-3:
        raise InvalidParameter("k", k, "this law is too wide for its moments to be summed")
    terms = np.abs(law.median() + steps - about) ** k * probabilities
    outer = float(terms[np.abs(steps) > _WINDOW // 2].sum())
    inner = float(terms[np.abs(steps) > _WINDOW // 4].sum()) - outer
    bounded = all(abs(edge - law.median()) <= _WINDOW for edge in law.support())
    if bounded or outer == 0:
        return float(terms.sum())
    ratio = outer / inner
    return float(terms.sum()) + outer * ratio / (1 - ratio) if ratio < 0.9999 else math.inf
