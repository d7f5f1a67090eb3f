"""PRM-R and PRM-C on small inputs, by hand: what is cut, where bins lie, which fold does what."""

import math

import numpy as np
import pytest

from helpers.refusals import refused
from helpers.spy import Spy
from stoic.core import CentralMoment, RawMoment, dumps, loads
from stoic.errors import InvalidParameter, InvalidReward
from stoic.estimators import ESTIMATORS, PRMC, PRMR, Estimate, create, estimate
from stoic.privacy.queries import GRID, Histogram, RecentredMean, TruncatedMean
from stoic.theory import proof, unit

RAW = RawMoment(2, 4)
CENTRAL = CentralMoment(2, 4, (0, 100))
# Failure probabilities at which L is an integer.
TENTH = math.exp(-10)


def found(estimator, rewards, *, failure=TENTH, noise=None):
    """The estimate without any noise."""
    return estimate(estimator, rewards, failure=failure, noise=noise or Spy())


# --- PRM-R --------------------------------------------------------------------------------------


def test_prm_r_counts_what_is_beyond_its_cut_as_zero():
    # M = min((8 * 5 / 10)^(1/2), 0.16^(-1/2)) = min(2, 2.5) units of 2, so 4.
    estimator = PRMR.build(RAW, epsilon=5.0, contamination=0.16, profile="unit")
    rewards = np.array([1.0, -2.0, 4.0, -4.0, 4.1, 3.0, -1e9, 2.0])
    query = estimator.query(8, TENTH)
    assert (query.centre, query.half_width) == (0.0, pytest.approx(4.0))
    assert found(estimator, rewards).value == pytest.approx((1 - 2 + 4 - 4 + 3 + 2) / 8, abs=1e-8)


def test_contamination_caps_the_cut_of_prm_r():
    estimator = PRMR.build(RAW, epsilon=5.0, contamination=0.16, profile="unit")
    assert estimator.query(10**6, TENTH).half_width == pytest.approx(2.5 * 2)


def test_prm_r_takes_what_is_not_finite_as_zero_and_divides_by_all():
    estimator = PRMR.build(RAW, epsilon=1e4, profile="unit")
    rewards = np.array([1.0, np.nan, 2.0, np.inf, -np.inf, 3.0])
    assert found(estimator, rewards).value == pytest.approx(1.0, abs=1e-6)


def test_prm_r_by_the_proof_profile():
    # l = log(4 / (4 e^-10)) = 10 and M = (n eps / 40)^(1/2) = 3 units of 2.
    estimator = PRMR.build(RAW, epsilon=0.5)
    assert estimator.query(720, 4 * TENTH).half_width == pytest.approx(6.0)
    beta = math.sqrt(20 / 720) + 4 * 3 * 10 / (3 * 720) + 1 / 3
    beta += 2 * 3 * math.log(2 / (4 * TENTH)) / (720 * 0.5)
    assert estimator.radius(720, 4 * TENTH) == pytest.approx(2 * beta + 6 / GRID / 2)


def test_prm_r_takes_a_central_bound_for_the_raw_one_that_it_implies():
    estimator = PRMR.build(CENTRAL, epsilon=1.0)
    assert estimator == PRMR.build(RawMoment(2, 10_004), epsilon=1.0)


def test_prm_r_asks_for_noise_of_its_epsilon():
    spy = Spy()
    found(PRMR.build(RAW, epsilon=0.5), np.ones(9), noise=spy)
    ((_, sensitivity, _, epsilon),) = spy.calls
    assert (sensitivity, epsilon) == (2 * GRID, 0.5)


# --- PRM-C: bins --------------------------------------------------------------------------------


def test_the_bins_of_prm_c_cover_the_closed_range_of_means():
    for estimator in (
        PRMC.build(CENTRAL, epsilon=1.0),
        PRMC.build(CENTRAL, epsilon=1.0, profile="unit"),
        PRMC.build(CENTRAL, epsilon=0.5, contamination=0.1, profile="unit"),
    ):
        bins = estimator.query(100, 0.1).locate
        assert bins.lo == 0.0
        assert bins.bins == math.floor(100 / bins.width) + 1
        assert bins.lo + (bins.bins - 1) * bins.width <= 100 < bins.lo + bins.bins * bins.width


def test_the_bin_widths_are_the_stated_ones():
    assert PRMC.build(CENTRAL, 1.0).query(9, 0.1).locate.width == pytest.approx(2 * math.sqrt(10))
    iota = 0.9 / 0.149
    for profile in ("proof", "unit"):
        estimator = PRMC.build(CENTRAL, 1.0, contamination=0.1, profile=profile)
        assert estimator.query(9, 0.1).locate.width == pytest.approx(2 * math.sqrt(iota))


def test_a_width_that_divides_the_range_leaves_a_bin_for_its_upper_end():
    width = PRMC.build(CENTRAL, 1.0).query(9, 0.1).locate.width
    whole = PRMC.build(CentralMoment(2, 4, (0, 4 * width)), 1.0).query(9, 0.1).locate
    assert (whole.bins, whole.lo + 4 * whole.width) == (5, 4 * width)


# --- PRM-C: folds -------------------------------------------------------------------------------


class Simple(PRMC):
    """Ten bins of width 2 on [0, 19], and a cut of 3 about the centre."""

    __slots__ = ()

    def query(self, n, failure):
        return RecentredMean(Histogram(0.0, 2.0, 10, self.epsilon), half_width=3.0)


SIMPLE = Simple.build(CentralMoment(2, 1, (0, 19)), epsilon=1.0, profile="unit")


def interleaved(even, odd):
    rewards = np.empty(len(even) + len(odd))
    rewards[::2], rewards[1::2] = even, odd
    return rewards


def test_even_positions_locate_and_odd_positions_are_averaged():
    rewards = interleaved(even=[4.5, 5.9, 11.0], odd=[4.0, 7.0, 8.0])
    # J = 4; deviations 0, 3 and 4, of which the last is beyond 3 and counts as 0.
    assert found(SIMPLE, rewards).value == pytest.approx(4 + (0 + 3 + 0) / 3, abs=1e-6)


def test_what_the_even_positions_hold_is_not_averaged():
    odd = [4.0, 5.0, 6.0]
    one = found(SIMPLE, interleaved([5.0, 5.0, 5.0], odd)).value
    other = found(SIMPLE, interleaved([4.0, 4.5, 19.0], odd)).value
    assert one == other == pytest.approx(5.0, abs=1e-6)


def test_an_odd_number_of_rewards_leaves_one_more_to_locate():
    rewards = interleaved(even=[5.0, 11.0, 11.5], odd=[10.0, 11.0])
    assert found(SIMPLE, rewards).value == pytest.approx(10.5, abs=1e-6)
    assert found(SIMPLE, rewards).n == 2


def test_values_outside_the_range_are_located_in_the_edge_bins():
    far = [-1e300, -5.0, -np.inf]
    assert found(SIMPLE, interleaved([*far, 9.0, 9.0], [1.0] * 5)).value == pytest.approx(1.0)
    above = [1e300, 25.0, np.inf]
    # The last bin is [18, 20); 25 is beyond the cut about 18, and 17 is not.
    odd = [17.0, 25.0, 18.0, 19.0, 18.0]
    located = found(SIMPLE, interleaved([*above, 9.0, 9.0], odd)).value
    assert located == pytest.approx(18 + (-1 + 0 + 0 + 1 + 0) / 5, abs=1e-6)


def test_nan_is_in_no_bin_and_counts_as_the_centre():
    nan = np.nan
    rewards = interleaved(even=[nan, nan, nan, 6.0], odd=[nan, 7.0, 8.0, np.inf])
    assert found(SIMPLE, rewards).value == pytest.approx(6 + (0 + 1 + 2 + 0) / 4, abs=1e-6)


def test_where_nothing_is_counted_the_first_bin_is_the_centre():
    rewards = interleaved(even=[np.nan] * 3, odd=[1.0, 2.0, 3.0])
    assert found(SIMPLE, rewards).value == pytest.approx(2.0, abs=1e-6)


def test_each_fold_is_released_once_at_the_whole_epsilon():
    spy = Spy()
    found(SIMPLE, np.full(6, 5.0), noise=spy)
    (counts, of_counts, _, first), (_, of_sum, _, second) = spy.calls
    assert counts.tolist() == [0, 0, 3, 0, 0, 0, 0, 0, 0, 0]
    assert (of_counts, of_sum, first, second) == (2, 2 * GRID, 1.0, 1.0)


def test_the_query_of_prm_c_is_built_of_the_profile():
    estimator = PRMC.build(CENTRAL, epsilon=0.5, contamination=0.04, profile="unit")
    query = estimator.query(80, TENTH)
    # M = min((80 * 0.5 / 10)^(1/2), 0.04^(-1/2)) = min(2, 5) units of 2.
    assert query.half_width == pytest.approx(4.0)
    assert estimator.query(10**6, TENTH).half_width == pytest.approx(10.0)
    assert isinstance(query.mechanism(0, ()), Histogram)


# --- n, radius and threshold --------------------------------------------------------------------

ALL = {
    "prm-r": (PRMR.build(RAW, 1.0, 0.05), proof.raw_radius, proof.raw_cut),
    "prm-r-unit": (PRMR.build(RAW, 1.0, 0.05, "unit"), unit.raw_radius, unit.raw_cut),
    "prm-c": (PRMC.build(CENTRAL, 1.0, 0.05), proof.central_radius, proof.central_cut),
    "prm-c-unit": (PRMC.build(CENTRAL, 1.0, 0.05, "unit"), unit.central_radius, unit.central_cut),
}


@pytest.mark.parametrize("name", ALL)
def test_radius_and_cut_are_the_profiles_in_the_units_of_the_rewards(name):
    estimator, radius, cut = ALL[name]
    setting = {"epsilon": 1.0, "alpha": 0.05, "k": 2.0, "failure": 0.01}
    half_width = 2 * float(cut(5000, **setting))
    expected = 2 * float(radius(5000, **setting)) + half_width / GRID / 2
    assert estimator.radius(5000, 0.01) == pytest.approx(expected, rel=1e-12)
    assert estimator.query(5000, 0.01).half_width == pytest.approx(half_width, rel=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_the_n_of_prm_c_is_half_a_batch(name):
    estimator, *_ = ALL[name]
    halves = name.startswith("prm-c")
    assert [estimator.sample_size(batch) for batch in (1, 8, 9)] == (
        [0, 4, 4] if halves else [1, 8, 9]
    )
    rewards = np.ones(10)
    assert found(estimator, rewards).n == (5 if halves else 10)
    assert found(estimator, rewards).radius == estimator.radius(5 if halves else 10, TENTH)


def test_one_reward_is_too_few_for_prm_c():
    with pytest.raises(InvalidParameter, match="number of rewards = 1") as caught:
        found(ALL["prm-c"][0], [7919.25])
    assert "7919" not in str(caught.value)
    assert refused("number of rewards", found, ALL["prm-r"][0], [])


def test_a_guarantee_begins_at_the_threshold_and_belongs_to_a_profile():
    estimator, *_ = ALL["prm-r"]
    least = estimator.threshold(TENTH)
    assert least == math.ceil(math.log(16 / TENTH) / 0.05)
    assert [found(estimator, np.ones(int(least) + more)).guaranteed for more in (-1, 0)] == [
        False,
        True,
    ]
    assert not found(ALL["prm-r-unit"][0], np.ones(10**4)).guaranteed
    assert PRMR.build(RAW, 1.0).threshold(0.1) == 1.0


def test_the_guarantee_of_prm_c_counts_one_fold():
    estimator = PRMC.build(CENTRAL, epsilon=0.5)
    least = int(estimator.threshold(0.1))
    assert least == math.ceil(200 * math.log(16 * 25 / 0.1) / 0.5)
    for n, enough in ((least - 1, False), (least, True)):
        assert found(estimator, np.full(2 * n, 50.0), failure=0.1).guaranteed is enough
        assert found(estimator, [([50.0], [n])] * 2, failure=0.1).guaranteed is enough


def test_the_shares_of_delta_are_the_profiles():
    assert ALL["prm-r"][0].share(0.1, 5, 3) == pytest.approx(0.1 / (2 * 5 * 9))
    assert ALL["prm-c-unit"][0].share(0.1, 5, 3) == 0.1


# --- Values and counts --------------------------------------------------------------------------


def test_values_with_counts_are_the_same_as_an_array():
    values, counts = np.array([1.0, np.nan, -2.0, 1e9]), np.array([3, 1, 2, 0])
    estimator, *_ = ALL["prm-r"]
    assert found(estimator, (values, counts)) == found(estimator, np.repeat(values, counts))
    assert found(estimator, (list(values), list(counts))).n == 6


def test_prm_c_takes_values_with_counts_for_each_fold():
    even, odd = ([5.0, 11.0], [2, 1]), ([4.0, 6.0], [1, 2])
    rewards = interleaved([5.0, 5.0, 11.0], [4.0, 6.0, 6.0])
    assert found(SIMPLE, (even, odd)) == found(SIMPLE, [even, odd]) == found(SIMPLE, rewards)
    assert refused("sums of counts", found, SIMPLE, even, saying="must be (2, 1)")
    assert refused("sums of counts", found, SIMPLE, (odd, ([4.0], [4])))


@pytest.mark.parametrize(
    ("rewards", "error"),
    [
        ([[7919.25, 1.0], [1.0, 2.0]], InvalidParameter),
        (7919.25, InvalidParameter),
        (["7919.25", "1"], InvalidReward),
        ([7919.25, None], InvalidReward),
        ([[7919.25], [1.0, 2.0]], InvalidReward),
        (([7919.25], [0.5]), InvalidParameter),
        (([7919.25], [-1]), InvalidParameter),
        (([7919.25, 1.0], [1]), InvalidParameter),
    ],
)
@pytest.mark.parametrize("name", ALL)
def test_what_is_no_row_of_rewards_is_refused_without_showing_it(name, rewards, error):
    with pytest.raises(error) as caught:
        found(ALL[name][0], rewards)
    assert "7919" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_estimate_has_an_interval():
    assert Estimate(3.0, 0.5, 10, guaranteed=False).interval == (2.5, 3.5)


# --- Bad settings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameter", "name", "options"),
    [
        ("contamination", "prm-c", {"moments": CENTRAL, "contamination": 0.3}),
        ("contamination", "prm-c", {"moments": CENTRAL, "contamination": 0.133}),
        ("contamination", "prm-c", {"moments": CENTRAL, "contamination": 0.25, "profile": "unit"}),
        ("contamination", "prm-r", {"moments": RAW, "contamination": 0.51}),
        ("contamination", "prm-r", {"moments": RAW, "contamination": 0.249, "profile": "unit"}),
        ("contamination", "prm-r", {"moments": RAW, "contamination": math.nan}),
        ("contamination", "prm-r", {"moments": RAW, "contamination": -0.1}),
        ("epsilon", "prm-r", {"moments": RAW, "epsilon": 0.0}),
        ("epsilon", "prm-r", {"moments": RAW, "epsilon": -1.0}),
        ("epsilon", "prm-c", {"moments": CENTRAL, "epsilon": 1.01}),
        ("epsilon", "prm-c", {"moments": CENTRAL, "epsilon": math.nan, "profile": "unit"}),
        ("mean_range", "prm-c", {"moments": CentralMoment(2, 1e-9, (0, 1e9)), "profile": "unit"}),
        ("moments", "prm-c", {"moments": RAW}),
        ("moments", "prm-r", {"moments": 5.0}),
        ("profile", "prm-r", {"moments": RAW, "profile": "best"}),
        ("profile", "prm-c", {"moments": CENTRAL, "profile": None}),
        ("moments", "prm-c", {}),
        ("blocks", "prm-r", {"moments": RAW, "blocks": 3}),
    ],
)
def test_wrong_settings_are_refused(parameter, name, options):
    assert refused(parameter, create, name, **{"epsilon": 1.0, **options})


def test_the_proof_of_prm_c_needs_a_range_of_four_bins():
    least = 4 * 2 * math.sqrt(10)
    assert PRMC.build(CentralMoment(2, 4, (0, 1.001 * least)), 1.0).query(9, 0.1).locate.bins == 5
    for narrow in (0.999 * least, 1e-9):
        with pytest.raises(InvalidParameter, match=r"mean_range.*>= "):
            PRMC.build(CentralMoment(2, 4, (0, narrow)), 1.0)
    assert PRMC.build(CentralMoment(2, 4, (0, 1)), 1.0, profile="unit").query(9, 0.1).locate.bins


def test_unit_constants_reach_further_than_the_proof():
    options = {"moments": CENTRAL, "epsilon": 20.0, "contamination": 0.2}
    assert create("prm-c", profile="unit", **options).guaranteed is False


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("failure", [0, 1e-301, 1, -0.1, math.nan, "0.1", None])
def test_failure_is_a_probability(name, failure):
    estimator, *_ = ALL[name]
    assert refused("failure", estimator.query, 10, failure)
    assert refused("failure", estimator.radius, 10, failure)
    assert refused("failure", estimator.threshold, failure)
    assert refused("failure", found, estimator, np.ones(10), failure=failure)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("failure", [1e-300, 0.9999999999999999])
def test_failure_may_be_next_to_nothing_and_next_to_certain(name, failure):
    estimator, *_ = ALL[name]
    assert estimator.query(10, failure).folds in (1, 2)
    assert 0 < estimator.radius(10, failure) < math.inf
    assert 1 <= estimator.threshold(failure) < math.inf


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", [0, -1, 1.5, math.nan, None, True])
def test_n_is_a_number_of_rewards(name, n):
    estimator, *_ = ALL[name]
    assert refused("n", estimator.query, n, 0.1)
    assert refused("n", estimator.radius, n, 0.1)


@pytest.mark.parametrize("name", ALL)
def test_estimators_are_values_that_go_to_json_and_back(name):
    estimator, *_ = ALL[name]
    assert loads(dumps(estimator)) == estimator
    assert (
        create(
            estimator.name,
            moments=estimator.moments,
            epsilon=1.0,
            contamination=0.05,
            profile=estimator.profile,
        )
        == estimator
    )
    assert (estimator.privacy, estimator.epsilon) == ("central", 1.0)
    assert refused("estimator", create, "mean", saying=", ".join(ESTIMATORS))


def test_the_query_of_prm_r_is_a_truncated_mean():
    assert isinstance(ALL["prm-r"][0].query(10, 0.1), TruncatedMean)
