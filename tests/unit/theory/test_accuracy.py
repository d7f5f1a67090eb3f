"""How close a private mean comes: in the rewards' own units, against the formulas by themselves."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stoic.core import CentralMoment, RawMoment
from stoic.errors import InvalidParameter
from stoic.estimators import PRMC, PRMR
from stoic.privacy.queries import GRID
from stoic.theory import Accuracy, breakdown, proof, sample_complexity, unit

RAW, CENTRAL = RawMoment(2, 25.0), CentralMoment(2, 25.0, (100, 1100))  # s = 5, D = 100
E4 = math.exp(-4)


# --- Radius -------------------------------------------------------------------------------------


def test_the_raw_radius_in_natural_units_times_the_scale():
    mean = Accuracy(RAW, epsilon=1.0)
    failure = 4 * math.exp(-2)  # log(4 / failure) = 2, so that M = 10
    parts = [0.0707106781, 0.0333333333, 0.0326713205, 0.1]
    assert float(mean.radius(800, failure)) == pytest.approx(5 * sum(parts), rel=1e-9)


def test_the_unit_radius_in_natural_units_times_the_scale():
    for moments in (RAW, CENTRAL):
        mean = Accuracy(moments, epsilon=0.25, contamination=0.04, profile="unit")
        assert float(mean.radius(400, E4)) == pytest.approx(5 * (0.1 + 0.2 + 0.2))


def test_the_central_radius_in_natural_units_times_the_scale():
    mean = Accuracy(CENTRAL, epsilon=1.0)
    failure, n = 16 * math.exp(-4), 1e4 * (4 - math.log(16))
    parts = [0.0255299485, 0.1765556773, 0.005, 0.0808908997, 0.1703556541]
    assert float(mean.radius(n, failure)) == pytest.approx(5 * sum(parts), rel=1e-7)


@pytest.mark.parametrize("profile", ["proof", "unit"])
@pytest.mark.parametrize("alpha", [0.0, 0.02])
def test_estimators_say_the_same_up_to_half_a_grid_step(profile, alpha):
    for moments, build in ((RAW, PRMR.build), (CENTRAL, PRMC.build)):
        mean = Accuracy(moments, epsilon=0.5, contamination=alpha, profile=profile)
        estimator = build(moments, 0.5, alpha, profile)
        assert estimator.threshold(0.01) == mean.threshold(0.01)
        assert estimator.guaranteed == mean.guaranteed == (profile == "proof")
        assert estimator.sample_size(4096) == mean.sample_size(4096)
        assert estimator.share(0.1, 3, 7) == mean.share(0.1, 3, 7)
        n = 10_000
        query = estimator.query(n, 0.01)
        step = query.half_width / GRID
        assert estimator.radius(n, 0.01) == pytest.approx(
            float(mean.radius(n, 0.01)) + step / 2, rel=1e-14
        )


def test_half_of_a_batch_locates_where_the_mean_may_be_anywhere():
    assert Accuracy(RAW, epsilon=1.0).sample_size(1024) == 1024
    assert Accuracy(CENTRAL, epsilon=1.0).sample_size(1024) == 512
    assert Accuracy(CENTRAL, epsilon=1.0).sample_size(7) == 3


# --- Thresholds, breakdown points, floors -------------------------------------------------------


def test_thresholds_by_hand():
    log = math.log(1600)
    assert Accuracy(RAW, 1.0).threshold(0.01) == 1
    assert Accuracy(RAW, 1.0, 0.02).threshold(0.01) == math.ceil(log / 0.02) == 369
    assert Accuracy(RAW, 1.0, 0.02, "unit").threshold(0.01) == math.ceil(math.log(100) / 0.02)
    assert Accuracy(CENTRAL, 0.5).threshold(0.01) == 400 * math.log(160_000) // 1 + 1
    located = math.ceil(2 * math.log(100 / 0.01))
    assert Accuracy(CENTRAL, 0.5, 0.0, "unit").threshold(0.01) == max(
        located, math.ceil(math.log(100) / 0.249 * 2)
    )


def test_the_scale_of_the_rewards_does_not_move_a_threshold():
    wide = CentralMoment(2, 25e6, (100_000, 1_100_000))
    for alpha in (0.0, 0.02):
        for profile in ("proof", "unit"):
            one, other = (Accuracy(m, 0.5, alpha, profile) for m in (CENTRAL, wide))
            assert one.threshold(0.01) == pytest.approx(other.threshold(0.01), abs=1)


@pytest.mark.parametrize(
    ("moments", "profile", "point", "itself"),
    [
        (RAW, "proof", 0.5, True),
        (RAW, "unit", 0.249, False),
        (CENTRAL, "proof", 0.133, False),
        (CENTRAL, "unit", 0.249, False),
    ],
)
def test_every_setting_ends_at_its_breakdown_point(moments, profile, point, itself):
    mean = Accuracy(moments, 1.0, point - 1e-6, profile)
    assert mean.breakdown == breakdown(mean.estimator, profile) == point
    assert mean.threshold(0.01) < math.inf
    past = np.nextafter(point, 1) if itself else point
    with pytest.raises(InvalidParameter, match="contamination"):
        Accuracy(moments, 1.0, past, profile)


@pytest.mark.parametrize("profile", ["proof", "unit"])
@pytest.mark.parametrize("moments", [RawMoment(1.001, 1.0), CentralMoment(1.001, 1.0, (-1e9, 1e9))])
def test_the_smallest_share_still_has_finite_numbers(moments, profile):
    mean = Accuracy(moments, 1e-6, 1e-100, profile)
    threshold = mean.threshold(1e-300)
    assert 1e100 < threshold < 1e210
    assert 0 < mean.radius(threshold, 1e-300) < math.inf


def test_the_floor_is_the_bias_that_outliers_can_cause():
    alpha, k = 0.02, 3.0
    raw, central = RawMoment(k, 8.0), CentralMoment(k, 8.0, (0, 100))  # s = 2
    assert Accuracy(raw, 1.0, alpha).floor == pytest.approx(2 * 2 * (8 * alpha) ** (2 / 3))
    assert Accuracy(raw, 1.0, alpha, "unit").floor == pytest.approx(2 * alpha ** (2 / 3))
    cut, width = 4 * alpha ** (-1 / 3), (0.98 / 0.229) ** (1 / 3)
    bias = 2 * alpha * (cut + 2 * width) + (2 / cut) ** 2 + 2 * width * (alpha + (2 / cut) ** 3)
    assert Accuracy(central, 1.0, alpha).floor == pytest.approx(2 * bias)
    assert Accuracy(raw, 1.0).floor == Accuracy(central, 1.0).floor == 0


def test_the_largest_gap_is_that_of_two_means_at_opposite_ends():
    assert Accuracy(RAW, 1.0).largest_gap == 10  # |mean| <= u^(1/k)
    assert Accuracy(CENTRAL, 1.0).largest_gap == 1000


# --- How many rewards ---------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["proof", "unit"])
@pytest.mark.parametrize("alpha", [0.0, 0.001])
@pytest.mark.parametrize("moments", [RAW, CENTRAL, RawMoment(1.5, 1.0)], ids=str)
def test_the_rewards_needed_are_the_fewest(moments, alpha, profile):
    mean = Accuracy(moments, 0.5, alpha, profile)
    for error in (mean.floor + 2.0, mean.floor + 0.3):
        n = mean.rewards_needed(error, failure=0.01)
        assert n >= mean.threshold(0.01)
        assert mean.radius(n, 0.01) <= error
        assert n == mean.threshold(0.01) or mean.radius(n - 1, 0.01) > error


def test_a_large_error_still_needs_the_threshold():
    mean = Accuracy(CENTRAL, 0.5)
    assert mean.rewards_needed(1e6, failure=0.01) == mean.threshold(0.01)


@given(
    error=st.floats(0.05, 10),
    factor=st.floats(1.01, 10),
    epsilon=st.floats(0.01, 1),
    failure=st.floats(1e-9, 0.1),
)
def test_more_is_needed_for_less_error_less_budget_and_more_certainty(
    error, factor, epsilon, failure
):
    mean = Accuracy(RAW, epsilon)
    n = mean.rewards_needed(error, failure)
    assert n >= mean.rewards_needed(error * factor, failure)
    assert n >= mean.rewards_needed(error, failure * factor)
    assert n <= Accuracy(RAW, epsilon / factor).rewards_needed(error, failure)


@pytest.mark.parametrize("error", [0.0, -1.0, math.nan, "1"])
def test_an_error_is_a_positive_number(error):
    with pytest.raises(InvalidParameter, match="error = "):
        Accuracy(RAW, 1.0).rewards_needed(error, failure=0.01)


def test_no_number_of_rewards_goes_below_the_floor():
    mean = Accuracy(RAW, 1.0, 0.02)
    with pytest.raises(InvalidParameter, match="error = "):
        mean.rewards_needed(mean.floor, failure=0.01)
    with pytest.raises(InvalidParameter, match="needs more than 9007199254740992 rewards"):
        mean.rewards_needed(mean.floor * (1 + 1e-12), failure=0.01)
    with pytest.raises(InvalidParameter, match="needs more than"):
        Accuracy(RAW, 1.0).rewards_needed(1e-9, failure=0.01)


# --- The paper's rate ---------------------------------------------------------------------------


def test_the_sample_complexity_by_hand():
    terms = sample_complexity(0.5, moments=RAW, epsilon=0.25, failure=E4)  # eta = 0.1
    assert terms == {"sampling": pytest.approx(400), "privacy": pytest.approx(1600)}
    terms = sample_complexity(0.5, moments=RawMoment(1.5, 1.0), epsilon=0.25, failure=E4)
    assert terms == {"sampling": pytest.approx(16), "privacy": pytest.approx(128)}
    terms = sample_complexity(0.5, moments=CENTRAL, epsilon=0.25, failure=E4)
    assert terms["locating"] == pytest.approx((math.log(100) + 4) / 0.25)
    near = CentralMoment(2, 25.0, (0, 1e-3))
    assert sample_complexity(0.5, moments=near, epsilon=0.25, failure=0.9)["locating"] == 0


@pytest.mark.parametrize(("k", "epsilon"), [(1.5, 0.1), (2.0, 0.1), (4.0, 1e-5), (10.0, 1.0)])
def test_the_rewards_needed_grow_as_the_sample_complexity(k, epsilon):
    """Theorem 2 as a test: a hundredth of the error, and the larger of the two terms grows."""
    moments, errors = RawMoment(k, 1.0), (1e-2, 1e-4)
    mean = Accuracy(moments, epsilon)
    needed = [mean.rewards_needed(error, failure=0.01) for error in errors]
    setting = {"moments": moments, "epsilon": epsilon, "failure": 0.01}
    rates = [max(sample_complexity(error, **setting).values()) for error in errors]
    order = math.log(needed[1] / needed[0], 100)
    assert order == pytest.approx(math.log(rates[1] / rates[0], 100), abs=0.05)
    assert order == pytest.approx(k / (k - 1) if epsilon < 1 else 2, abs=0.05)


# --- The printed closed form --------------------------------------------------------------------


def test_at_budget_ten_the_printed_radius_is_five_thirds_too_small():
    """``k = 2``, no outliers: each side in units of sqrt(L/n), many rewards."""
    failure, n = 1e-9, 10**6
    log = math.log(4 / failure)
    cut = math.sqrt(n * 10 / (4 * log))
    exact = math.sqrt(2 * log / n) + 4 * cut * log / (3 * n) + 1 / cut
    exact += 2 * cut * math.log(2 / failure) / (n * 10)
    printed = math.sqrt(2 * log / n) + 2 * math.sqrt(4 * log / (n * 10))
    assert exact / printed == pytest.approx(1.665, abs=1e-3)
    setting = {"epsilon": 10.0, "alpha": 0.0, "k": 2, "failure": failure}
    assert float(proof.raw_radius(n, **setting)) == pytest.approx(exact)
    assert float(proof.raw_radius_closed_form(n, **setting)) == pytest.approx(printed)


# --- Settings -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "parameter"),
    [
        ({"moments": 3}, "moments"),
        ({"epsilon": 0}, "epsilon"),
        ({"contamination": 1.0}, "contamination"),
        ({"contamination": 0.51}, "contamination"),
        ({"contamination": 1e-300}, "contamination"),
        ({"contamination": 1e-300, "profile": "unit"}, "contamination"),
        ({"contamination": 1e-300, "moments": CENTRAL}, "contamination"),
        ({"profile": "best"}, "profile"),
        ({"moments": CENTRAL, "epsilon": 1.1}, "epsilon"),
        ({"moments": CentralMoment(2, 1.0, (0, 1))}, "half of mean_range"),
    ],
    ids=str,
)
def test_settings_without_a_theorem_are_refused(setting, parameter):
    with pytest.raises(InvalidParameter, match=parameter):
        Accuracy(**{"moments": RAW, "epsilon": 1.0, **setting})


def test_unknown_names_are_refused():
    with pytest.raises(InvalidParameter, match="estimator = 'prm-x'"):
        breakdown("prm-x")
    with pytest.raises(InvalidParameter, match="profile = 'x'"):
        breakdown("prm-r", "x")


def test_profiles_agree_on_what_they_are():
    assert breakdown("prm-c") == proof.central_breakdown
    assert breakdown("prm-r", "unit") == unit.raw_breakdown
