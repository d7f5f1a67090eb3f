"""Profile ``unit``: its formulas by hand, its limits, and in what it is monotone."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoic.errors import InvalidParameter
from stoic.theory import PROFILES, proof, unit
from stoic.theory.common import bin_mass, iota, variance

E4 = math.exp(-4)  # log(1 / delta) = 4

sizes = st.floats(1, 1e9)
budgets = st.floats(1e-3, 10)
outliers = st.one_of(st.just(0.0), st.floats(1e-6, 0.248))
failures = st.floats(1e-12, 0.9)
orders = st.floats(1.05, 10)
factors = st.floats(1.001, 100)


def radius(n, *, epsilon=1.0, alpha=0.0, k=2.0, failure=E4):
    return float(unit.raw_radius(n, epsilon=epsilon, alpha=alpha, k=k, failure=failure))


def cut(n, *, epsilon=1.0, alpha=0.0, k=2.0, failure=E4):
    return float(unit.raw_cut(n, epsilon=epsilon, alpha=alpha, k=k, failure=failure))


# --- Shared pieces by hand ----------------------------------------------------------------------


def test_iota_by_hand():
    assert iota(0.0) == pytest.approx(4.016064257)
    assert iota(0.124) == pytest.approx(7.008)
    assert iota(0.149) == pytest.approx(8.51)


def test_the_bin_mass_by_hand():
    assert bin_mass(3.0, alpha=0.1, k=2) == pytest.approx(0.2)
    for alpha in (0.0, 0.05, 0.13):  # the choice of r leaves 4 C2 = 0.996
        assert 4 * bin_mass(iota(alpha) ** (1 / 3), alpha, k=3) == pytest.approx(0.996)


def test_the_variance_by_hand():
    assert float(variance(16.0, 1.75)) == 2.0
    assert variance(np.array([1.0, 9.0]), 1.5).tolist() == [1.0, 3.0]
    assert float(variance(1e9, 2)) == float(variance(1e9, 7)) == 1.0


# --- By hand ------------------------------------------------------------------------------------


def test_the_cut_by_hand():
    assert cut(400) == pytest.approx(10)  # (400 / 4)^(1/2)
    assert cut(400, epsilon=0.25) == pytest.approx(5)
    assert cut(400, k=4.0) == pytest.approx(math.sqrt(10))
    assert cut(400, alpha=0.04) == pytest.approx(5)  # 0.04^(-1/2)
    assert cut(36, alpha=0.04) == pytest.approx(3)


def test_the_radius_by_hand():
    assert radius(400) == pytest.approx(0.1 + 0.1)
    assert radius(400, epsilon=0.25) == pytest.approx(0.1 + 0.2)
    assert radius(400, alpha=0.04) == pytest.approx(0.1 + 0.1 + 0.2)
    assert radius(400, k=4 / 3, epsilon=0.0625) == pytest.approx(0.1 + 0.16**0.25)
    assert radius(400, k=4.0, alpha=0.0016) == pytest.approx(0.1 + 0.01**0.75 + 0.008)


def test_central_estimates_have_the_same_cut_and_radius_about_their_centre():
    setting = {"epsilon": 0.3, "alpha": 0.1, "k": 3.0, "failure": 0.01}
    assert unit.central_cut(1000, **setting) == unit.raw_cut(1000, **setting)
    assert unit.central_radius(1000, **setting) == unit.raw_radius(1000, **setting)


def test_the_bin_width_is_iota_with_and_without_outliers():
    for alpha in (0.0, 0.05, 0.2):
        expected = ((1 - alpha) / (0.249 - alpha)) ** (1 / 3)
        assert unit.central_bin_width(alpha=alpha, k=3) == pytest.approx(expected)


def test_all_estimates_share_the_runs_delta():
    assert {unit.share(0.1, active, batch) for active in (1, 5) for batch in (1, 9)} == {0.1}


# --- Thresholds ---------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [1e-5, 0.03, 0.2])
def test_the_raw_threshold_is_the_smallest_n(alpha):
    found = unit.raw_threshold(epsilon=1.0, alpha=alpha, failure=1e-5)
    log = math.log(1e5)
    assert found >= log / alpha > found - 1


def test_without_outliers_there_is_no_raw_threshold():
    assert unit.raw_threshold(epsilon=1e-6, alpha=0.0, failure=1e-12) == 1


@pytest.mark.parametrize(
    ("alpha", "epsilon", "half_range", "needed"),
    [
        (0.0, 0.5, 1e3, 2 * 16.064257),  # iota L / eps
        (0.0, 0.5, 1e9, 2 * (4 + 20.723266)),  # log(D / delta) / eps
        (0.124, 0.5, 1e3, 2 * 4 * 7.008),  # iota L / eps
        (0.01, 0.5, 1e3, 400),  # L / alpha
    ],
)
def test_the_central_threshold_is_the_largest_of_three(alpha, epsilon, half_range, needed):
    found = unit.central_threshold(
        epsilon=epsilon, alpha=alpha, k=2, half_range=half_range, failure=E4
    )
    assert found == math.ceil(needed)


def test_beyond_its_breakdown_point_it_is_refused():
    assert unit.raw_breakdown == unit.central_breakdown == 0.249
    for alpha in (0.249, 0.5):
        with pytest.raises(InvalidParameter, match=r"contamination = .*must be < 0\.249"):
            unit.check_raw(epsilon=1.0, alpha=alpha)
        with pytest.raises(InvalidParameter, match=r"contamination = .*must be < 0\.249"):
            unit.check_central(epsilon=1.0, alpha=alpha, k=2, half_range=1e3)
    unit.check_central(epsilon=1e6, alpha=0.2489, k=1.1, half_range=1e-3)


# --- Against the proof --------------------------------------------------------------------------


def test_only_the_proof_is_a_guarantee():
    assert {name: profile.guaranteed for name, profile in PROFILES.items()}["unit"] is False
    assert PROFILES["proof"].guaranteed is True


@given(n=sizes, epsilon=budgets, alpha=outliers, k=st.floats(2, 10), failure=failures)
def test_what_is_proved_is_larger(n, epsilon, alpha, k, failure):
    setting = {"epsilon": epsilon, "alpha": alpha, "k": k, "failure": failure}
    assert proof.raw_radius(n, **setting) > 0.9 * radius(n, **setting)
    assert proof.raw_threshold(epsilon=epsilon, alpha=alpha, failure=failure) >= (
        unit.raw_threshold(epsilon=epsilon, alpha=alpha, failure=failure)
    )


# --- Monotone -----------------------------------------------------------------------------------


def falls(before, after):
    assert after <= before * (1 + 1e-9)


@given(n=sizes, factor=factors, epsilon=budgets, alpha=outliers, k=orders, failure=failures)
def test_the_radius_falls_with_n_and_with_the_budget(n, factor, epsilon, alpha, k, failure):
    setting = {"alpha": alpha, "k": k, "failure": failure}
    falls(radius(n, epsilon=epsilon, **setting), radius(n * factor, epsilon=epsilon, **setting))
    falls(radius(n, epsilon=epsilon, **setting), radius(n, epsilon=epsilon * factor, **setting))


@given(n=sizes, epsilon=budgets, alphas=st.tuples(outliers, outliers), k=orders, failure=failures)
def test_the_radius_rises_with_contamination(n, epsilon, alphas, k, failure):
    less, more = sorted(alphas)
    setting = {"epsilon": epsilon, "k": k, "failure": failure}
    falls(radius(n, alpha=more, **setting), radius(n, alpha=less, **setting))


@given(n=sizes, factor=factors, epsilon=budgets, alpha=outliers, k=orders, failure=failures)
def test_the_radius_falls_with_the_failure_probability(n, factor, epsilon, alpha, k, failure):
    setting = {"epsilon": epsilon, "alpha": alpha, "k": k}
    more = min(0.95, failure * factor)
    falls(radius(n, failure=failure, **setting), radius(n, failure=more, **setting))


def test_radii_take_arrays():
    sizes = np.array([10, 100, 1000])
    found = unit.raw_radius(sizes, epsilon=1.0, alpha=0.01, k=2, failure=E4)
    assert found.tolist() == [radius(n, alpha=0.01) for n in sizes]
