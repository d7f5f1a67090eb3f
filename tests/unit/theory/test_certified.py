"""Certified radii: the inequalities that they rest on, their limits, and their monotony."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoic.errors import InvalidParameter
from stoic.theory import certified
from stoic.theory.certified import Setting

SETTING = Setting(k=2, alpha=0.05, epsilon=0.5)
settings = st.builds(
    Setting,
    k=st.floats(1.1, 5),
    alpha=st.sampled_from([0.0, 0.01, 0.1, 0.3]),
    epsilon=st.floats(0.05, 20),
)
failures = st.floats(1e-9, 0.4)
knowns = st.floats(0.1, 30)


# --- The inequalities ---------------------------------------------------------------------------


@given(
    rate=st.floats(1e-4, 3),
    below=st.floats(0.01, 50),
    wider=st.floats(0, 50),
    k=st.floats(1.05, 6),
)
def test_a_polynomial_lies_above_the_exponential(rate, below, wider, k):
    """(C2) and (C3): ``exp(rate clip(z)) <= 1 + rate z + square z^2 + tail |z|^k``, point by point.

    ``excess`` is the sum of the two coefficients; the test rebuilds which of them it used.
    """
    above = below + wider
    found = float(certified.excess(rate, below, above, k))
    z = np.concatenate([-np.geomspace(1e-3, 1e5, 4000), [0], np.geomspace(1e-3, 1e5, 4000)])
    value = np.exp(rate * np.clip(z, -below, above))
    square = (math.expm1(rate * above) - rate * above) / above**2
    if k <= 2:
        candidates = [found * np.abs(z) ** k]
    else:
        candidates = [found * z**2, square * z**2 + (found - square) * np.abs(z) ** k]
    assert any((value <= (1 + rate * z + curve) * (1 + 1e-6) + 1e-9).all() for curve in candidates)


@pytest.mark.parametrize("k", [1.5, 2.0])
def test_no_smaller_coefficient_would_do(k):
    """(C2) is attained: at the upper end, or where the line touches the lower tail."""
    z = np.concatenate([-np.geomspace(0.1, 1e3, 200_000), np.geomspace(0.1, 1e3, 200_000)])
    for rate, below, above in ((0.1, 2.0, 2.0), (0.5, 3.0, 9.0), (0.05, 1.0, 30.0)):
        least = (np.exp(rate * np.clip(z, -below, above)) - 1 - rate * z) / np.abs(z) ** k
        assert certified.excess(rate, below, above, k) == pytest.approx(least.max(), rel=1e-3)


@given(st.floats(0.01, 1), st.floats(-30, 30))
def test_half_an_exponential_bounds_laplace_tails(scale, at):
    """(N1): ``P(L >= y) <= exp(-y/b)/2`` for every y, negative ones too."""
    y = at * scale
    tail = math.exp(-y / scale) / 2 if y > 0 else 1 - math.exp(y / scale) / 2
    assert tail <= math.exp(-y / scale) / 2 * (1 + 1e-12)


def test_the_bound_of_a_mean_is_what_its_formula_says():
    """By hand, for one mean, about a centre that may be off by 2."""
    rate, half_width, n, failure = 0.05, 5.0, 400, 1e-4
    planned = certified.Means(n, half_width, 2 * half_width * rate)
    reach, margin = half_width + 2.0, half_width - 2.0
    tail = rate**2 / (4 * (1 - math.exp(-rate * margin)))
    variance = (math.exp(rate * reach) - 1 - rate * reach) / reach**2
    inliers = 0.95 * (1 + max(tail, variance))
    drift = math.log(inliers + 0.05 * math.exp(rate * reach)) / rate
    radius = certified.mean_radius(n, known=2.0, setting=SETTING, failure=failure, planned=planned)
    assert radius == pytest.approx(drift + math.log(1 / (2 * failure)) / (n * rate), rel=1e-6)


def test_the_bound_of_windows_is_what_its_formula_says():
    """Solving (W3) for the failure of what was found gives the failure that was asked for."""
    failure, radius, known = 1e-6, 8.0, 40.0
    found = certified.windows(radius, known=known, setting=SETTING, failure=failure)
    rate = found.epsilon / 2
    inner = found.half_width - found.step / 2
    assert radius == pytest.approx(
        inner * math.sqrt(1 + math.exp(rate)) + found.half_width, rel=1e-9
    )
    inlier = math.exp(-rate) + (1 - math.exp(-rate)) / inner**2
    centres = -known + found.step * (np.arange(found.count) + 0.5)
    bad = np.count_nonzero(centres > -known + radius)
    hit = min(bad, math.floor(2 * found.half_width / found.step) + 1)
    crowd, others = (0.95 * inlier + 0.05 * math.exp(x) for x in (rate, 0.0))

    def fails(n):
        return (hit * crowd**n + (bad - hit) * others**n) / 2

    assert fails(found.n) <= failure < fails(found.n - 2)


# --- Limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "alpha"),
    [*itertools.product((1.5, 2.0, 4.0), (0.01, 0.1, 0.3)), (1.5, 0.45), (2.0, 0.45), (4.0, 0.4)],
)
def test_the_floor_reproduces_itself(k, alpha):
    """(F1): from the floor no step leads below it, and from above one leads nearly to it."""
    setting = Setting(k, alpha, 1.0)
    floor = certified.floor(setting)
    best = certified.mean_radius(10**12, known=floor, setting=setting, failure=0.01)
    assert best == pytest.approx(floor, rel=5e-3)
    assert certified.means(0.99 * floor, known=floor, setting=setting, failure=0.01) is None
    nearer = 1 + 0.1 * 2 * alpha  # of 10 % above the floor, a share 2 alpha remains
    assert certified.means(
        (nearer + 0.01) * floor, known=1.1 * floor, setting=setting, failure=0.01
    )


@pytest.mark.parametrize(("k", "alpha"), [(1.5, 0.49), (2.0, 0.47), (2.0, 0.49), (4.0, 0.45)])
def test_near_the_breakdown_point_windows_make_the_floor(k, alpha):
    """(F2): they come near it, never below, where means about a centre stay above."""
    setting = Setting(k, alpha, 1.0)
    floor = certified.floor(setting)
    best = certified.mean_radius(10**12, known=floor, setting=setting, failure=0.01)
    assert best > floor
    assert certified.windows(floor, known=5 * floor, setting=setting, failure=0.01) is None
    assert certified.windows(1.1 * floor, known=5 * floor, setting=setting, failure=0.01)


@pytest.mark.parametrize(
    ("k", "alpha"), list(itertools.product((1.5, 2.0, 4.0), (0.01, 0.1, 0.3, 0.45)))
)
def test_the_floor_under_a_raw_moment_is_the_limit_of_its_radii(k, alpha):
    """And (F3) is at most 3 % above it."""
    setting = Setting(k, alpha, 1.0)
    floor = certified.floor(setting, raw=True)
    best = certified.mean_radius(10**12, known=None, setting=setting, failure=0.01)
    assert floor <= best <= 1.005 * floor
    margin = np.geomspace(0.01, 100, 100_000)
    lost = (k - 1) ** (k - 1) / k**k / margin ** (k - 1)
    limit = np.min((1 - alpha) * lost + alpha * (margin + 1))
    assert floor <= limit * (1 + 1e-6)
    assert limit <= 1.03 * floor


@pytest.mark.parametrize(("k", "alpha"), [(2.0, 0.45), (2.0, 0.49), (4.0, 0.47)])
def test_a_large_budget_finds_what_a_small_one_finds_near_the_breakdown_point(k, alpha):
    radius = 1.3 * certified.floor(Setting(k, alpha, 1.0))
    found = [
        certified.windows(radius, known=4 * radius, setting=Setting(k, alpha, e), failure=0.01)
        for e in (0.5, 1.0, 10.0)
    ]
    assert found[0].n >= found[1].n >= found[2].n


def test_without_outliers_there_is_no_floor():
    setting = Setting(2, 0.0, 1.0)
    assert certified.floor(setting) == certified.floor(setting, raw=True) == 0
    assert certified.means(1e-3, known=1.0, setting=setting, failure=0.01).n > 10**6


@pytest.mark.parametrize("alpha", [0.2, 0.3, 0.45, 0.49])
def test_windows_work_beyond_the_papers_breakdown_point(alpha):
    assert certified.windows(200.0, known=1000.0, setting=Setting(2, alpha, 1.0), failure=0.01)


@pytest.mark.parametrize(
    ("field", "wrong"), [("alpha", 0.5), ("alpha", -0.1), ("k", 1.0), ("epsilon", 0.0)]
)
def test_settings_that_cannot_be_are_refused(field, wrong):
    with pytest.raises(InvalidParameter):
        dataclasses.replace(SETTING, **{field: wrong})


def test_the_shares_sum_to_delta():
    assert sum(certified.share(0.1, epoch) for epoch in range(1, 200_000)) == pytest.approx(
        0.1, rel=1e-5
    )


@pytest.mark.parametrize("epsilon", [1.5e-6, 1e-5, 1.0])
def test_a_step_spends_no_less_than_a_release_may(epsilon):
    setting = Setting(2, 0.0, epsilon)
    for radius, known in ((1e-3, 0.1), (1.0, 3.0), (100.0, 1e3)):
        for found in (
            certified.windows(radius, known=known, setting=setting, failure=1e-6),
            certified.means(radius, known=known, setting=setting, failure=1e-6),
        ):
            assert found is None or 1e-6 <= found.epsilon <= epsilon


def test_no_step_spends_more_than_the_budget():
    for epsilon in (1e-3, 0.1, 1.0, 50.0):
        setting = Setting(2, 0.05, epsilon)
        assert certified.windows(10.0, known=50.0, setting=setting, failure=1e-6).epsilon <= epsilon
        assert certified.means(1.0, known=3.0, setting=setting, failure=1e-6).epsilon <= epsilon


# --- Monotony -----------------------------------------------------------------------------------


def size(radius, known, setting, failure):
    """The smaller step, infinite where there is none."""
    steps = (
        certified.windows(radius, known=known, setting=setting, failure=failure),
        certified.means(radius, known=known, setting=setting, failure=failure),
    )
    return min((step.n for step in steps if step is not None), default=math.inf)


@given(settings, knowns, failures)
def test_radii_fall_with_n(setting, known, failure):
    n = np.unique(np.geomspace(1, 1e9, 60).astype(int))
    for centre in (known, None):
        radii = certified.mean_radius(n, known=centre, setting=setting, failure=failure)
        assert (np.diff(radii[np.isfinite(radii)]) <= 0).all()


@given(settings, knowns, failures, st.floats(1.01, 3))
def test_it_takes_more_rewards_to_be_surer_nearer_or_against_more(setting, known, failure, factor):
    radius = known / 2
    n = size(radius, known, setting, failure)
    assert size(radius, known, setting, failure / factor) >= n
    assert size(radius / factor, known, setting, failure) >= n
    assert size(radius, known * factor, setting, failure) >= 0.97 * n - 1
    more = dataclasses.replace(setting, alpha=min(0.49, setting.alpha * factor + 0.01))
    assert size(radius, known, more, failure) >= n
    frugal = dataclasses.replace(setting, epsilon=setting.epsilon / factor)
    assert size(radius, known, frugal, failure) >= 0.97 * n - 1
