"""Profile ``proof``: its formulas by hand, its limits, and in what it is monotone."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stoic.errors import InvalidParameter
from stoic.theory import proof
from stoic.theory.common import iota

RAW_4 = 4 * math.exp(-2)  # log(4 / failure) = 2
ALL_16 = 16 * math.exp(-4)  # log(16 / failure) = 4

sizes = st.floats(1, 1e9)
budgets = st.floats(1e-3, 10)
outliers = st.one_of(st.just(0.0), st.floats(1e-6, 0.5))
few_outliers = st.floats(1e-4, 0.13)
failures = st.floats(1e-12, 0.9)
orders = st.floats(2, 10)
heavy_orders = st.floats(1.05, 10)
factors = st.floats(1.001, 100)


def raw(n, *, epsilon=1.0, alpha=0.0, k=2.0, failure=0.01):
    return float(proof.raw_radius(n, epsilon=epsilon, alpha=alpha, k=k, failure=failure))


def central(n, *, epsilon=1.0, alpha=0.0, k=2.0, failure=0.01):
    return float(proof.central_radius(n, epsilon=epsilon, alpha=alpha, k=k, failure=failure))


def central_cut(n, *, epsilon=1.0, alpha=0.0, k=2.0, failure=0.01):
    return float(proof.central_cut(n, epsilon=epsilon, alpha=alpha, k=k, failure=failure))


def noise_share(alpha, failure):
    """``rho``: what the noise adds to ``M^(1-k)``, before the cap."""
    return math.log(2 / failure) / (2 * math.log((16 if alpha else 4) / failure))


# --- By hand ------------------------------------------------------------------------------------


def test_the_raw_radius_without_outliers_by_hand():
    cut = proof.raw_cut(800, epsilon=1.0, alpha=0.0, k=2, failure=RAW_4)
    assert cut == pytest.approx(10)
    parts = [0.0707106781, 0.0333333333, 0.0326713205, 0.1]
    assert raw(800, failure=RAW_4) == pytest.approx(sum(parts), rel=1e-9)


def test_the_raw_radius_with_outliers_by_hand():
    cut = proof.raw_cut(1600, epsilon=1.0, alpha=0.02, k=2, failure=ALL_16)
    assert cut == pytest.approx(2.5)
    parts = [0.0707106781, 0.0083333333, 0.0060017452, 0.4, 0.4]
    assert raw(1600, alpha=0.02, failure=ALL_16) == pytest.approx(sum(parts), rel=1e-8)


def test_below_order_two_the_variance_grows_with_the_cut():
    # M = 100^(1/1.5) = 21.544, v = M^0.5 = 4.6416
    parts = [math.sqrt(4 * 4.6415888336 / 800), 0.0718144897, 0.0703882257, 0.2154434690]
    assert raw(800, k=1.5, failure=RAW_4) == pytest.approx(sum(parts), rel=1e-8)


def test_the_central_radius_without_outliers_by_hand():
    n = 1e4 * (4 - math.log(16))  # M = 4 * 100
    assert central_cut(n, failure=ALL_16) == pytest.approx(400)
    parts = [0.0255299485, 0.1765556773, 0.005, 0.0808908997, 0.1703556541]
    assert central(n, failure=ALL_16) == pytest.approx(sum(parts), rel=1e-7)


def test_the_central_radius_with_outliers_by_hand():
    # alpha = 0.04, k = 2: M = 20, r^2 = 0.96 / 0.209, M + 2r = 24.28640; n = 4e4, L = 4.
    share = 0.04 + 0.0027712813 + 0.0000666667
    parts = [2 * share * 24.2863971, 0.0141421356, 0.0032381863, 0.1]
    parts += [4.2863971 * (0.04 + 0.01 + 0.0070710678), 40 * 2.6137056389 / 4e4]
    found = central(40_000, alpha=0.04, failure=ALL_16)
    assert found == pytest.approx(sum(parts), rel=1e-7)


def test_the_shares_of_all_batches_and_arms_stay_below_delta():
    spent = sum(arms * proof.share(0.1, arms, batch) for batch in range(1, 10_000) for arms in [7])
    assert 0.082 < spent < 0.083


# --- Thresholds ---------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-4, 0.03, 0.05, 0.5])
def test_the_raw_threshold_is_the_smallest_n(alpha):
    found = proof.raw_threshold(epsilon=1.0, alpha=alpha, failure=0.01)
    log = math.log(1600)
    assert found * alpha >= log > (found - 1) * alpha


def test_without_outliers_every_n_is_large_enough_for_the_raw_radius():
    assert proof.raw_threshold(epsilon=1e-6, alpha=0.0, failure=1e-12) == 1


def located(n, *, epsilon, alpha, k, half_range, failure):
    """``6 C1 + 4 C2 < 1``, as the paper writes it."""
    log = math.log(16 * half_range / failure)
    width = proof.central_bin_width(alpha=alpha, k=k)
    c1 = max(math.sqrt(2 * log / n), 4 * log / (n * epsilon))
    c2 = alpha + (1 - alpha) / width**k
    return 6 * c1 + 4 * c2 < 1


@pytest.mark.parametrize("epsilon", [1.0, 1e-5])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.13])
def test_the_central_threshold_is_the_smallest_n_that_locates(epsilon, alpha):
    setting = {"epsilon": epsilon, "alpha": alpha, "k": 2, "half_range": 22.0, "failure": 1e-6}
    found = proof.central_threshold(**setting)
    assert found > 1e7  # since 4 C2 = 0.996
    assert located(found, **setting)
    assert not located(found - 1, **setting)


def test_for_few_outliers_the_central_threshold_is_that_of_counting_them():
    found = proof.central_threshold(epsilon=1.0, alpha=1e-4, k=2, half_range=22.0, failure=1e-6)
    log = math.log(16e6)
    assert found * 1e-8 >= log > (found - 1) * 1e-8


def test_the_central_threshold_without_outliers_is_the_papers():
    setting = {"epsilon": 0.5, "alpha": 0.0, "k": 2, "half_range": 22.0, "failure": 1e-6}
    found = proof.central_threshold(**setting)
    assert found - 1 <= 400 * math.log(352e6) < found
    assert located(found, **setting)


@given(alpha=few_outliers, k=heavy_orders, failure=failures, half_range=st.floats(10, 1e6))
def test_past_the_threshold_the_cut_is_at_least_four_bins(alpha, k, failure, half_range):
    for share in (0.0, alpha):
        setting = {"epsilon": 1.0, "alpha": share, "k": k, "failure": failure}
        n = proof.central_threshold(half_range=half_range, **setting)
        width = proof.central_bin_width(alpha=share, k=k)
        assert proof.central_cut(n, **setting) >= 4 * width * (1 - 1e-12)


def test_the_breakdown_point_is_where_the_cut_gets_too_small():
    assert 1 / proof.central_breakdown > iota(proof.central_breakdown)
    assert iota(0.1335) > 1 / 0.1335


@pytest.mark.parametrize("alpha", [0.133, 0.2, 0.9])
def test_beyond_the_breakdown_point_central_estimates_are_refused(alpha):
    with pytest.raises(InvalidParameter, match=r"contamination = .*must be < 0.133"):
        proof.check_central(epsilon=1.0, alpha=alpha, k=2, half_range=100.0)


def test_central_estimates_need_a_small_budget_and_a_wide_range():
    proof.check_central(epsilon=1.0, alpha=0.0, k=2, half_range=6.33)
    with pytest.raises(InvalidParameter, match="epsilon"):
        proof.check_central(epsilon=1.01, alpha=0.0, k=2, half_range=6.33)
    with pytest.raises(InvalidParameter, match="mean_range"):
        proof.check_central(epsilon=1.0, alpha=0.0, k=2, half_range=6.32)


# --- Limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1.5, 2.0, 3.0])
def test_for_many_rewards_only_the_bias_is_left(k):
    alpha = 0.01
    assert raw(1e200, alpha=alpha, k=k) == pytest.approx(2 * 0.08 ** (1 - 1 / k))
    cut, width = 4 * alpha ** (-1 / k), iota(alpha) ** (1 / k)
    floor = 2 * alpha * (cut + 2 * width) + (2 / cut) ** (k - 1)
    floor += 2 * width * (alpha + (2 / cut) ** k)
    assert central(1e200, alpha=alpha, k=k) == pytest.approx(floor)
    assert raw(1e200, k=k) < 1e-60
    assert central(1e200, k=k) < 1e-60


def test_outliers_that_vanish_still_cost_a_larger_logarithm():
    failure = 0.01
    log, cut = math.log(16 / failure), math.sqrt(1000 / (4 * math.log(16 / failure)))
    left = math.sqrt(2 * log / 1000) + 4 * cut * log / 3000
    left += 2 * cut * math.log(2 / failure) / 1000 + 1 / cut
    assert raw(1000, alpha=1e-12) == pytest.approx(left, rel=1e-6)
    assert raw(1000, alpha=1e-12) > raw(1000)


def test_without_privacy_the_noise_vanishes_if_outliers_cap_the_cut():
    log, cut = math.log(1600), 0.4**-0.5
    left = math.sqrt(2 * log / 1000) + 4 * cut * log / 3000 + 1 / cut + 0.4 * cut
    assert raw(1000, epsilon=1e12, alpha=0.05) == pytest.approx(left)


def test_without_outliers_a_large_budget_makes_the_raw_radius_worse():
    # Nothing else bounds the cut: M grows with epsilon, and with it Bernstein's last term.
    assert raw(1000, epsilon=1e6) > 10 * raw(1000, epsilon=3.0)


# --- Against the printed closed form ------------------------------------------------------------


@given(n=sizes, epsilon=st.floats(1e-3, 1.5), alpha=outliers, k=orders, failure=failures)
def test_the_closed_form_covers_the_sum_up_to_a_budget_of_three_halves(
    n, epsilon, alpha, k, failure
):
    setting = {"epsilon": epsilon, "alpha": alpha, "k": k, "failure": failure}
    assert proof.raw_radius_closed_form(n, **setting) >= raw(n, **setting) * (1 - 1e-12)


@given(n=st.floats(1, 1e9), failure=failures)
def test_at_budget_ten_the_closed_form_is_too_small_by_two_thirds(n, failure):
    printed = proof.raw_radius_closed_form(n, epsilon=10.0, alpha=0.0, k=2, failure=failure)
    assert 1.61 < raw(n, epsilon=10.0, failure=failure) / printed < 1.67


# --- Monotone: where the derivation in docs/theory/proof-profile.md says so ----------------------


def falls(before, after):
    assert after <= before * (1 + 1e-9)


@given(n=sizes, factor=factors, epsilon=budgets, alpha=outliers, k=orders, failure=failures)
def test_radii_fall_with_n(n, factor, epsilon, alpha, k, failure):
    setting = {"epsilon": epsilon, "k": k, "failure": failure}
    falls(raw(n, alpha=alpha, **setting), raw(n * factor, alpha=alpha, **setting))
    share = min(alpha, 0.13)
    falls(central(n, alpha=share, **setting), central(n * factor, alpha=share, **setting))


@given(n=sizes, factor=factors, epsilon=budgets, k=st.floats(1.05, 2), failure=failures)
def test_without_outliers_radii_fall_with_n_for_every_order(n, factor, epsilon, k, failure):
    setting = {"epsilon": epsilon, "k": k, "failure": failure}
    falls(raw(n, **setting), raw(n * factor, **setting))
    falls(central(n, **setting), central(n * factor, **setting))


def test_below_order_two_with_outliers_the_raw_radius_may_rise_with_n():
    setting = {"epsilon": 0.01, "alpha": 0.01, "k": 1.1, "failure": 0.01}
    assert raw(20_000, **setting) > 1.1 * raw(5_000, **setting)


@given(n=sizes, factor=factors, epsilon=budgets, alpha=outliers, k=orders, failure=failures)
def test_the_raw_radius_falls_with_the_budget(n, factor, epsilon, alpha, k, failure):
    limit = 3 * ((k - 1) * (1 + noise_share(alpha, failure)) - (alpha > 0))
    assume(epsilon * factor <= limit)
    setting = {"alpha": alpha, "k": k, "failure": failure}
    falls(raw(n, epsilon=epsilon, **setting), raw(n, epsilon=epsilon * factor, **setting))


@given(
    n=sizes, factor=factors, epsilon=st.floats(1e-3, 1), k=orders, failure=st.floats(1e-12, 0.25)
)
def test_the_central_radius_falls_with_the_budget(n, factor, epsilon, k, failure):
    more = min(1.0, epsilon * factor)
    setting = {"k": k, "failure": failure}
    falls(central(n, epsilon=epsilon, **setting), central(n, epsilon=more, **setting))


@given(n=sizes, epsilon=budgets, alphas=st.tuples(outliers, outliers), k=orders, failure=failures)
def test_the_raw_radius_rises_with_contamination(n, epsilon, alphas, k, failure):
    assume(epsilon <= 6 * k - 7.5)
    less, more = sorted(alphas)
    setting = {"epsilon": epsilon, "k": k, "failure": failure}
    falls(raw(n, alpha=more, **setting), raw(n, alpha=less, **setting))


@given(
    factor=factors,
    epsilon=st.floats(1e-3, 1),
    alphas=st.tuples(few_outliers, few_outliers),
    k=orders,
    failure=failures,
)
def test_the_central_radius_rises_with_contamination_for_large_n(
    factor, epsilon, alphas, k, failure
):
    less, more = sorted(alphas)
    n = factor * 100 * (math.log(16 / failure) + math.log(4 / failure) / epsilon) / less
    setting = {"epsilon": epsilon, "k": k, "failure": failure}
    falls(central(n, alpha=more, **setting), central(n, alpha=less, **setting))


def test_fewer_outliers_need_more_rewards():
    # Not an error: whoever says a larger alpha is still covered.
    few, many = (
        proof.raw_threshold(epsilon=1.0, alpha=alpha, failure=0.01) for alpha in (0.001, 0.1)
    )
    assert few > 99 * many


@given(n=sizes, epsilon=budgets, alpha=outliers, k=orders, failure=failures, factor=factors)
def test_the_raw_radius_falls_with_the_failure_probability(n, epsilon, alpha, k, failure, factor):
    setting = {"epsilon": epsilon, "alpha": alpha, "k": k}
    more = min(0.95, failure * factor)
    falls(raw(n, failure=failure, **setting), raw(n, failure=more, **setting))


@given(n=sizes, epsilon=budgets, k=orders, failure=failures, factor=factors)
def test_the_central_radius_falls_with_the_failure_probability(n, epsilon, k, failure, factor):
    more = min(16 ** (-1 / (k - 1)), failure * factor)
    assume(failure < more)
    setting = {"epsilon": epsilon, "k": k}
    falls(central(n, failure=failure, **setting), central(n, failure=more, **setting))
    alpha = math.log(1 / failure) / (n * epsilon)
    if alpha < 0.13:  # then the cut is capped for both
        setting["alpha"] = alpha
        falls(central(n, failure=failure, **setting), central(n, failure=more, **setting))


@given(
    n=sizes,
    epsilon=budgets,
    alpha=st.floats(0, 0.125),
    failure=failures,
    ks=st.tuples(heavy_orders, heavy_orders),
)
def test_where_the_cut_is_at_least_one_a_higher_moment_helps(n, epsilon, alpha, failure, ks):
    setting = {"epsilon": epsilon, "alpha": alpha, "failure": failure}
    assume(proof.raw_cut(n, k=2, **setting) >= 1)
    low, high = sorted(ks)
    falls(raw(n, k=low, **setting), raw(n, k=high, **setting))


def test_where_the_cut_is_below_one_a_higher_moment_hurts():
    assert raw(5, k=8.0) > raw(5, k=2.0)
    assert raw(1e9, k=8.0, alpha=0.4) > raw(1e9, k=2.0, alpha=0.4)


@given(n=st.floats(1e4, 1e9), alpha=few_outliers, failure=failures, ks=st.tuples(orders, orders))
def test_a_higher_moment_helps_the_central_radius(n, alpha, failure, ks):
    low, high = sorted(ks)
    for share in (0.0, alpha):
        setting = {"alpha": share, "failure": failure}
        falls(central(n, k=low, **setting), central(n, k=high, **setting))


def test_radii_take_arrays():
    sizes = np.array([10, 100, 1000])
    for radius, one in ((proof.raw_radius, raw), (proof.central_radius, central)):
        found = radius(sizes, epsilon=1.0, alpha=0.01, k=2, failure=0.01)
        assert found.tolist() == [one(n, alpha=0.01) for n in sizes]
