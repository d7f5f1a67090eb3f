"""Means and moments: closed forms, by hand, and against SciPy; what is no law is refused."""

import math
import pickle

import numpy as np
import pytest
from scipy import stats

from helpers.policies import generator
from helpers.refusals import refused
from stoic import environments
from stoic.core import dumps, loads
from stoic.environments import (
    FAMILIES,
    Bernoulli,
    Discrete,
    FiniteLaw,
    Gaussian,
    Law,
    LogNormal,
    Pareto,
    Resampled,
    Scipy,
    StudentT,
    law,
    lomax,
    scipy_law,
)
from stoic.errors import InvalidParameter, InvalidState

ORDERS = [0.5, 1.0, 1.5, 2.0, 2.4, 3.0, 4.0, 6.3]

# Each family, and the law of SciPy that it is.
CONTINUOUS = {
    "pareto": (Pareto(2.5, 1.5, shift=97.5), stats.pareto(2.5, loc=97.5, scale=1.5)),
    "pareto-light": (Pareto(9.0, 2.0, shift=-3.0), stats.pareto(9.0, loc=-3.0, scale=2.0)),
    "lomax": (lomax(3.0, scale=2.0), stats.lomax(3.0, scale=2.0)),
    "student-t": (StudentT(2.5, loc=100.0), stats.t(2.5, loc=100.0)),
    "student-t-light": (StudentT(8.0, -1.0, 0.5), stats.t(8.0, loc=-1.0, scale=0.5)),
    "log-normal": (LogNormal(0.3, 0.8), stats.lognorm(0.8, scale=math.exp(0.3))),
    "gaussian": (Gaussian(-2.0, 3.0), stats.norm(-2.0, 3.0)),
}
FINITE = {
    "bernoulli": (Bernoulli(0.3), stats.bernoulli(0.3)),
    "discrete": (Discrete((0.0, 1.0, 2.0, 3.0), (0.125, 0.375, 0.375, 0.125)), stats.binom(3, 0.5)),
}
LAWS = {name: pair[0] for name, pair in (CONTINUOUS | FINITE).items()}
LAWS |= {
    "scipy": Scipy("gamma", (3.0,), scale=2.0),
    "scipy-discrete": Scipy("poisson", (4.0,), loc=-1.0),
    "resampled": Resampled((0.5, -1.0, 7.0)),
}

each_law = pytest.mark.parametrize("one", LAWS.values(), ids=LAWS)
each_continuous = pytest.mark.parametrize("pair", CONTINUOUS.values(), ids=CONTINUOUS)


# --- Exact moments ------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", (CONTINUOUS | FINITE).values(), ids=CONTINUOUS | FINITE)
def test_mean_and_variance_are_those_that_scipy_knows(pair):
    one, frozen = pair
    assert one.mean == pytest.approx(frozen.mean(), rel=1e-12)
    assert one.central_moment(2) == pytest.approx(frozen.var(), rel=1e-12)
    assert one.raw_moment(2) == pytest.approx(frozen.var() + frozen.mean() ** 2, rel=1e-12)


@each_continuous
@pytest.mark.parametrize("k", ORDERS)
def test_moments_are_the_integrals_of_the_density(pair, k):
    # SciPy's quantiles know the law apart from us; E|X - a|^k is the integral over them.
    one, frozen = pair
    for about, found in ((0.0, one.raw_moment(k)), (one.mean, one.central_moment(k))):
        assert found == pytest.approx(by_quantiles(frozen, k, about), rel=2e-3)


def by_quantiles(frozen, k, about):
    """The k-th absolute moment by the midpoint rule over the logit of the level; inf if it grows.

    A power tail of index a gives terms like exp((k/a - 1) y): they must have died out by the end.
    """
    ends = np.linspace(-250.0, 250.0, 50_001)
    y = (ends[1:] + ends[:-1]) / 2
    lower, upper = stats.logistic.cdf(-np.abs(y)), stats.logistic.pdf(y) * np.diff(ends)
    values = np.where(y < 0, frozen.ppf(lower), frozen.isf(lower))
    terms = np.abs(values - about) ** k * upper
    return math.inf if max(terms[0], terms[-1]) > 1e-3 * terms.max() else float(terms.sum())


@each_continuous
def test_closed_forms_and_integrals_meet_at_the_second_moment(pair):
    one, _ = pair
    for moment in (one.raw_moment, one.central_moment):
        for k in (2 - 1e-9, 2 + 1e-9):
            assert moment(k) == pytest.approx(moment(2), rel=1e-6)


def test_moments_of_a_pareto_law_by_hand():
    start = Pareto(4.5, 2.0)
    for k in (0.5, 1.0, 3.0, 4.0):
        assert start.raw_moment(k) == pytest.approx(4.5 * 2**k / (4.5 - k), rel=1e-9)
    assert lomax(4.5, 2.0).raw_moment(3) == pytest.approx(8 * 6 / (3.5 * 2.5 * 1.5), rel=1e-9)


def test_moments_of_a_student_law_by_hand():
    central = StudentT(6.0, loc=3.0, scale=2.0)
    fourth = 3 * 6**2 / (4 * 2)
    assert central.central_moment(4) == pytest.approx(2**4 * fourth, rel=1e-12)
    spread = 4 * 6 / 4
    assert central.raw_moment(4) == pytest.approx(81 + 6 * 9 * spread + 16 * fourth, rel=1e-9)
    assert StudentT(3.0).raw_moment(1) == pytest.approx(2 * math.sqrt(3) / math.pi, rel=1e-12)


def test_moments_of_a_log_normal_law_by_hand():
    one = LogNormal(0.5, 0.4)
    m = [math.exp(k * 0.5 + (k * 0.4) ** 2 / 2) for k in range(5)]
    assert [one.raw_moment(k) for k in (1, 3, 4)] == pytest.approx([m[1], m[3], m[4]], rel=1e-12)
    fourth = m[4] - 4 * m[3] * m[1] + 6 * m[2] * m[1] ** 2 - 3 * m[1] ** 4
    assert one.central_moment(4) == pytest.approx(fourth, rel=1e-9)


def test_moments_of_a_normal_law_by_hand():
    one = Gaussian(3.0, 2.0)
    assert one.central_moment(4) == pytest.approx(3 * 16, rel=1e-12)
    assert one.central_moment(1) == pytest.approx(2 * math.sqrt(2 / math.pi), rel=1e-12)
    assert one.raw_moment(4) == pytest.approx(81 + 6 * 9 * 4 + 3 * 16, rel=1e-9)
    assert Gaussian(1e8, 1.0).raw_moment(3) == pytest.approx(1e24, rel=1e-9)


def test_moments_of_finite_laws_by_hand():
    assert Bernoulli(0.25).central_moment(3) == pytest.approx(0.75**3 * 0.25 + 0.25**3 * 0.75)
    assert Bernoulli(0.25).raw_moment(7) == 0.25
    three = Discrete((-2.0, 0.0, 4.0), (0.5, 0.25, 0.25))
    assert (three.mean, three.raw_moment(3), three.central_moment(1)) == (0.0, 20.0, 2.0)


@pytest.mark.parametrize(
    ("one", "index"),
    [
        (Pareto(2.5, shift=-2.0), 2.5),
        (lomax(1.3), 1.3),
        (StudentT(2.5, loc=4.0), 2.5),
        (StudentT(1.7), 1.7),
        (Scipy("pareto", (2.5,)), 2.5),
        (Scipy("t", (3.0,), loc=1.0), 3.0),
        (Scipy("burr12", (2.0, 1.5)), 3.0),
        (Scipy("zipf", (3.5,)), 2.5),
    ],
    ids=str,
)
def test_moments_exist_below_the_index_of_the_tail_and_not_above(one, index):
    for moment in (one.raw_moment, one.central_moment):
        assert math.isfinite(moment(index - 0.3))
        assert moment(index + 0.05) == moment(2 * index) == math.inf


@pytest.mark.parametrize(
    "one",
    [
        Pareto(9.0, 1e150),
        StudentT(9.0, 0.0, 1e150),
        LogNormal(0.0, 30.0),
        Gaussian(1.0, 1e200),
        Discrete((1e200, -1e200), (0.5, 0.5)),
        Resampled((1e200, -1e200)),
        Scipy("norm", scale=1e200),
        Scipy("norm", loc=1e200),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_moment_too_large_for_a_float_is_infinite(one):
    assert one.raw_moment(3) == math.inf
    assert 0 < one.raw_moment(0.5) < 1e150


# --- Laws of SciPy ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "ours"),
    [
        (Scipy("pareto", (2.5,), loc=1.0, scale=3.0), Pareto(2.5, 3.0, 1.0)),
        (Scipy("lomax", (3.0,), scale=2.0), lomax(3.0, 2.0)),
        (Scipy("t", (2.5,), loc=-4.0), StudentT(2.5, -4.0)),
        (Scipy("lognorm", (0.8,), scale=math.e), LogNormal(1.0, 0.8)),
        (Scipy("norm", loc=2.0, scale=0.5), Gaussian(2.0, 0.5)),
        (Scipy("bernoulli", (0.3,)), Bernoulli(0.3)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_law_of_scipy_has_the_moments_of_the_same_law_of_ours(named, ours):
    assert named.mean == pytest.approx(ours.mean, rel=1e-12)
    for k in (0.5, 1.2, 2, 2.3):
        assert named.raw_moment(k) == pytest.approx(ours.raw_moment(k), rel=1e-6)
        assert named.central_moment(k) == pytest.approx(ours.central_moment(k), rel=1e-6)


@pytest.mark.parametrize(
    ("named", "raw_third"),
    [
        (Scipy("gamma", (3.0,), scale=2.0), 8 * 3 * 4 * 5),
        (Scipy("expon"), 6),
        (Scipy("beta", (2.0, 3.0)), 2 * 3 * 4 / (5 * 6 * 7)),
        (Scipy("uniform", loc=1.0, scale=2.0), (3**4 - 1) / 8),
        (Scipy("poisson", (4.0,)), 4 + 3 * 16 + 64),
        (Scipy("geom", (0.25,)), (6 - 6 * 0.25 + 0.25**2) / 0.25**3),
        (Scipy("binom", (3.0, 0.5)), (3 + 3 * 8 + 27) / 8),
        (Scipy("arcsine"), 5 / 16),
        (Scipy("arcsine", loc=1.0), 1 + 3 / 2 + 9 / 8 + 5 / 16),
        (Scipy("gamma", (0.1,), loc=1.0), 1 + 3 * 0.1 + 3 * 0.11 + 0.231),
        (Scipy("beta", (0.5, 0.3)), 0.5 * 1.5 * 2.5 / (0.8 * 1.8 * 2.8)),
        (Scipy("betaprime", (5.0, 6.0)), 5 * 6 * 7 / (5 * 4 * 3)),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_third_moments_of_laws_of_scipy_by_hand(named, raw_third):
    assert named.raw_moment(3) == pytest.approx(raw_third, rel=1e-8)


@pytest.mark.parametrize(
    ("frozen", "expected"),
    [
        (stats.gamma(3.0, scale=2.0), Scipy("gamma", (3.0,), scale=2.0)),
        (stats.gamma(a=3.0, loc=1.0), Scipy("gamma", (3.0,), loc=1.0)),
        (stats.beta(2.0, 5.0, 1.0, 4.0), Scipy("beta", (2.0, 5.0), 1.0, 4.0)),
        (stats.norm(5, 2), Scipy("norm", loc=5.0, scale=2.0)),
        (stats.poisson(4.0, loc=-1), Scipy("poisson", (4.0,), loc=-1.0)),
    ],
)
def test_a_frozen_law_becomes_a_value(frozen, expected):
    assert scipy_law(frozen) == expected
    assert expected.mean == pytest.approx(frozen.mean())


def test_what_is_no_law_of_scipy_is_refused():
    assert refused("frozen", scipy_law, 3.0)
    assert refused("frozen", scipy_law, stats.gamma)
    assert refused("name", Scipy, "nonsense")
    assert refused("name", Scipy, "kstest")
    assert refused("name", Scipy, None)
    assert refused("args", Scipy, "gamma", saying="must be the 1 shape parameters (a)")
    assert refused("args", Scipy, "norm", (1.0,))
    assert refused("args", Scipy, "gamma", (-1.0,), saying="must be in the domain of gamma")
    assert refused("args", Scipy, "gamma", (math.nan,))
    assert refused("scale", Scipy, "gamma", (1.0,), scale=0.0)
    assert refused("scale", Scipy, "poisson", (1.0,), scale=2.0)
    assert refused("mean", Scipy, "cauchy")
    assert refused("mean", Scipy, "t", (1.0,))
    assert refused("mean", Scipy, "pareto", (0.9,))
    assert refused("mean", Scipy, "zipf", (1.9,))


# --- What every law keeps -----------------------------------------------------------------------


@each_law
def test_every_law_keeps_the_protocol_and_goes_to_json_and_back(one):
    assert isinstance(one, Law)
    for copy in (loads(dumps(one)), pickle.loads(pickle.dumps(one))):
        assert copy == one
        assert hash(copy) == hash(one)
        assert dumps(copy) == dumps(one)
        drawn, again = (each.sample(5, rng=generator(3)).tolist() for each in (one, copy))
        assert drawn == again


@each_law
def test_a_sample_is_an_array_of_its_own(one):
    rng = generator(1)
    first = one.sample(100, rng=rng)
    kept = first.copy()
    second = one.sample(100, rng=rng)
    assert first.dtype == np.float64
    assert first.shape == second.shape == (100,)
    second[:] = 0.0
    assert first.tolist() == kept.tolist()
    assert one.sample(0, rng=rng).shape == (0,)


@each_law
@pytest.mark.parametrize("k", [0, -1.0, math.nan, math.inf, "2"])
def test_moments_have_a_positive_order(one, k):
    assert refused("k", one.raw_moment, k)
    assert refused("k", one.central_moment, k)


@pytest.mark.parametrize("one", [pair[0] for pair in FINITE.values()], ids=FINITE)
def test_finite_laws_know_their_atoms(one):
    assert isinstance(one, FiniteLaw)
    values, probabilities = one.atoms()
    assert probabilities.sum() == pytest.approx(1)
    found, counts = one.counts(1000, rng=generator(1))
    assert found.tolist() == values.tolist()
    assert counts.sum() == 1000


def test_a_constant_is_a_law_and_atoms_of_no_mass_never_come():
    assert Discrete((3.0,), (1.0,)).sample(4, rng=generator(1)).tolist() == [3.0] * 4
    rare = Discrete((1.0, 2.0, 3.0), (0.0, 1.0, 0.0))
    assert set(rare.sample(1000, rng=generator(1)).tolist()) == {2.0}
    assert set(Bernoulli(1.0).sample(10, rng=generator(1)).tolist()) == {1.0}
    assert set(Bernoulli(0.0).sample(10, rng=generator(1)).tolist()) == {0.0}


def test_probabilities_that_sum_to_one_but_for_rounding_are_scaled():
    third = Discrete((0.0, 1.0, 2.0), (0.3333333333, 0.3333333333, 0.3333333334))
    assert math.fsum(third.atoms()[1]) == pytest.approx(1, abs=1e-15)


# --- Bad parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "build", "given"),
    [
        ("shape", Pareto, (1.0,)),
        ("shape", Pareto, (math.nan,)),
        ("scale", Pareto, (2.5, 0.0)),
        ("shift", Pareto, (2.5, 1.0, math.inf)),
        ("mean", Pareto, (1.5, 1e308, 1e308)),
        ("scale", lomax, (2.5, -1.0)),
        ("df", StudentT, (1.0,)),
        ("df", StudentT, (math.inf,)),
        ("scale", StudentT, (2.5, 0.0, 0.0)),
        ("loc", StudentT, (2.5, math.nan)),
        ("sigma", LogNormal, (0.0, 0.0)),
        ("mu", LogNormal, (701.0, 1.0)),
        ("mu", LogNormal, (math.nan, 1.0)),
        ("sd", Gaussian, (0.0, 0.0)),
        ("mean", Gaussian, (math.inf, 1.0)),
        ("p", Bernoulli, (1.1,)),
        ("p", Bernoulli, (-0.1,)),
        ("p", Bernoulli, (math.nan,)),
        ("values", Discrete, ((), ())),
        ("values", Discrete, ((1.0, 1.0), (0.5, 0.5))),
        ("values", Discrete, ((0.0, -0.0), (0.5, 0.5))),
        ("values", Discrete, ((math.nan,), (1.0,))),
        ("probabilities", Discrete, ((1.0, 2.0), (1.0,))),
        ("probabilities", Discrete, ((1.0, 2.0), (0.5, 0.4))),
        ("probabilities", Discrete, ((1.0, 2.0), (1.5, -0.5))),
    ],
)
def test_what_is_no_law_is_refused(parameter, build, given):
    assert refused(parameter, build, *given)


def test_a_law_that_is_read_back_is_checked_again():
    with pytest.raises(InvalidState, match=r"shape = 0\.5"):
        loads('{"kind": "Pareto", "shape": 0.5, "scale": 1.0, "shift": 0.0}')


def test_laws_have_names():
    assert law("pareto", shape=2.5, scale=1.5, shift=97.5) == Pareto(2.5, 1.5, 97.5)
    assert law("resampled", rewards=[1, 1, 2, 1]) == Discrete((1.0, 2.0), (0.75, 0.25))
    assert {type(one).__name__ for one in LAWS.values()} >= {
        getattr(factory, "__name__", "") for name, factory in FAMILIES.items() if name[0] in "psgbd"
    }
    assert refused("law", law, "uniform", saying="must be one of pareto")
    assert refused("width", law, "gaussian", mean=0.0, sd=1.0, width=3)
    with pytest.raises(InvalidParameter, match="sd = None: must be given"):
        environments.law("gaussian", mean=0.0)
