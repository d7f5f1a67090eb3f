"""Laws with a density: Pareto (Lomax, shifted), Student t, log-normal and Gaussian.

Pareto and Student t are the two families of the paper's experiments. Their moments of order ``k``
exist for ``k`` below the shape, or the degrees of freedom. Where no closed form exists, we
integrate in a variable in which a power tail becomes an exponential one, up to where it is purely
exponential, and add what remains in closed form.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from stoic.core import Floats, real, settle, value
from stoic.environments.law import Moments, integral, require_mean
from stoic.errors import InvalidParameter

__all__ = ["Gaussian", "LogNormal", "Pareto", "StudentT", "lomax"]

_NEGLIGIBLE = 40.0  # exp(-40) is lost beside 1 in floating point
_BLOCK = 8_192  # draws of Student's t made at a time: its intermediate arrays stay in cache
# Taylor's coefficients of sin(pi x): up to |x| = 1/2 what is left out is lost in floating point.
_SINE: list[float] = [
    (-1) ** m * math.pi ** (2 * m + 1) / math.factorial(2 * m + 1) for m in range(10)
]


@value
class Pareto(Moments):
    """``shift + X`` with density ``shape scale^shape / x^(shape + 1)`` of ``X`` on ``x >= scale``.

    >>> law = Pareto(shape=2.5, scale=1.5, shift=97.5)
    >>> law.mean, law.central_moment(2), law.central_moment(2.5)
    (100.0, 5.0, inf)
    """

    shape: float
    scale: float = 1.0
    shift: float = 0.0

    def __post_init__(self) -> None:
        settle(
            self,
            shape=real("shape", self.shape, above=1),
            scale=real("scale", self.scale, above=0),
            shift=real("shift", self.shift),
        )
        require_mean(self)

    @property
    def mean(self) -> float:
        return self.scale / (self.shape - 1) + (self.scale + self.shift)

    @property
    def _variance(self) -> float:
        if self.shape <= 2:
            return math.inf
        return self.shape / (self.shape - 2) * (self.scale / (self.shape - 1)) ** 2

    def _moment(self, k: float, about: float) -> float:
        if k >= self.shape:
            return math.inf
        # X = scale exp(V / shape) with V standard exponential; rate is what is left of its decay.
        distance = about - self.shift
        rate = 1 - k / self.shape

        def integrand(v: float) -> float:
            deviation = self.scale - distance * math.exp(-v / self.shape)
            return math.exp(-rate * v) * math.pow(abs(deviation), k)

        kink = self.shape * math.log(max(distance / self.scale, 1.0))
        end = kink + self.shape * (_NEGLIGIBLE + math.log1p(abs(distance) / self.scale))
        steps = (kink + step for step in (1, 10, 100, 1000) if kink + step < end)
        return integral(integrand, 0.0, kink, *steps, end) + integrand(end) / rate

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        draws = rng.standard_exponential(n)
        draws /= self.shape
        np.expm1(draws, out=draws)
        draws *= self.scale
        draws += self.scale + self.shift
        return draws


def lomax(shape: float, scale: float = 1.0) -> Pareto:
    """The Lomax law (Pareto of the second kind): a Pareto law shifted to start at 0.

    >>> lomax(3.0, scale=2.0).mean
    1.0
    """
    return Pareto(shape, scale, -scale)


@value
class StudentT(Moments):
    """``loc + scale T`` with ``T`` of Student's t-distribution with ``df`` degrees of freedom.

    Draws are made as Bailey (Mathematics of Computation 62, 1994) proposed. The t-distribution is
    the first coordinate of a point ``(R cos A, R sin A)`` in the plane with the density
    ``(1 + r^2/df)^-(df/2 + 1) / (2 pi)``, whose angle is uniform and whose radius has the tail
    ``P(R > r) = (1 + r^2/df)^(-df/2)``, which is easy to invert. So the law is exact for every
    ``df``, far into the tails: a uniform number, of resolution ``2^-53``, makes the radius. Two
    uniform numbers a draw and arithmetic on whole arrays take less time than NumPy's own sampler.

    >>> law = StudentT(df=2.5, loc=100.0)
    >>> law.mean, law.central_moment(2), law.central_moment(2.5)
    (100.0, 5.0, inf)
    """

    df: float
    loc: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        settle(
            self,
            df=real("df", self.df, above=1),
            loc=real("loc", self.loc),
            scale=real("scale", self.scale, above=0),
        )

    @property
    def mean(self) -> float:
        return self.loc

    @property
    def _variance(self) -> float:
        return self.scale**2 * self.df / (self.df - 2) if self.df > 2 else math.inf

    def _moment(self, k: float, about: float) -> float:
        df = self.df
        if k >= df:
            return math.inf
        offset = (about - self.loc) / self.scale
        log_beta = float(special.betaln(0.5, df / 2))
        if offset == 0:
            log_moment = float(special.betaln((k + 1) / 2, (df - k) / 2)) - log_beta
            return math.pow(self.scale * math.sqrt(df), k) * math.exp(log_moment)

        def integrand(y: float) -> float:
            t = math.sinh(y)
            log_density = -(df + 1) / 2 * math.log1p(t**2 / df) - math.log(df) / 2 - log_beta
            log_power = float(special.xlogy(k, abs(t - offset)))
            return math.exp(log_power + log_density) * math.cosh(y)

        kink = math.asinh(offset)
        end = _NEGLIGIBLE + abs(kink)
        body = integral(integrand, -end, -10.0, -1.0, 0.0, kink, 1.0, 10.0, end)
        tails = (integrand(-end) + integrand(end)) / (df - k)
        return math.pow(self.scale, k) * (body + tails)

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        draws = np.empty(n)
        for start in range(0, n, _BLOCK):
            # Pairs, so that a draw takes the same numbers however many are asked for at a time.
            radii = draws[start : start + _BLOCK]
            pairs = rng.random((radii.size, 2))
            np.log(np.subtract(1, pairs[:, 0], out=radii), out=radii)
            radii *= -2 / self.df
            np.expm1(radii, out=radii)
            radii *= self.df
            np.sqrt(radii, out=radii)
            radii *= _sine(pairs[:, 1] - 0.5)
        draws *= self.scale
        draws += self.loc
        return draws


def _sine(half_turns: Floats) -> Floats:
    """``sin(pi x)`` for ``|x| <= 1/2``, faster than NumPy's, which has to serve all angles."""
    squares = half_turns * half_turns
    sines = squares * _SINE[-1]
    for coefficient in _SINE[-2:0:-1]:
        sines += coefficient
        sines *= squares
    sines += _SINE[0]
    sines *= half_turns
    return sines


@value
class LogNormal(Moments):
    """``exp(mu + sigma Z)`` with ``Z`` standard normal.

    >>> round(LogNormal(mu=0.0, sigma=1.0).mean, 6)
    1.648721
    """

    mu: float
    sigma: float

    def __post_init__(self) -> None:
        settle(self, mu=real("mu", self.mu), sigma=real("sigma", self.sigma, above=0))
        if self.mu + self.sigma**2 / 2 > 700:
            raise InvalidParameter("mu", self.mu, "must leave mu + sigma^2/2 at most 700")

    @property
    def mean(self) -> float:
        return math.exp(self.mu + self.sigma**2 / 2)

    @property
    def _variance(self) -> float:
        return self.mean**2 * math.expm1(self.sigma**2)

    def _moment(self, k: float, about: float) -> float:
        if about == 0:
            return math.exp(k * self.mu + (k * self.sigma) ** 2 / 2)
        middle = (math.log(about) - self.mu) / self.sigma

        def integrand(z: float) -> float:
            # |exp(w) - 1| = exp(max(w, 0)) (1 - exp(-|w|)), which cannot overflow too early.
            w = self.sigma * (z - middle)
            power = k * max(w, 0.0) - z**2 / 2
            return math.exp(power) * math.pow(-math.expm1(-abs(w)), k)

        peak = k * self.sigma
        body = integral(integrand, -_NEGLIGIBLE, 0.0, middle, peak, peak + _NEGLIGIBLE)
        return math.pow(about, k) * body / math.sqrt(2 * math.pi)

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        draws = rng.standard_normal(n)
        draws *= self.sigma
        draws += self.mu
        return np.exp(draws, out=draws)


@value
class Gaussian(Moments):
    """The normal law.

    >>> Gaussian(mean=0.0, sd=50.0).raw_moment(2)
    2500.0
    """

    mean: float
    sd: float

    def __post_init__(self) -> None:
        settle(self, mean=real("mean", self.mean), sd=real("sd", self.sd, above=0))

    @property
    def _variance(self) -> float:
        return self.sd**2

    def _moment(self, k: float, about: float) -> float:
        offset = (about - self.mean) / self.sd
        if offset == 0:
            factor = math.exp(math.lgamma((k + 1) / 2) + k * math.log(2) / 2)
            return math.pow(self.sd, k) * factor / math.sqrt(math.pi)

        def integrand(z: float) -> float:
            return math.pow(abs(z - offset), k) * math.exp(-(z**2) / 2)

        end = _NEGLIGIBLE + math.sqrt(k)
        kink = min(max(offset, -end), end)
        body = integral(integrand, -end, kink, 0.0, end)
        return math.pow(self.sd, k) * body / math.sqrt(2 * math.pi)

    def sample(self, n: int, *, rng: np.random.Generator) -> Floats:
        draws = rng.standard_normal(n)
        draws *= self.sd
        draws += self.mean
        return draws
