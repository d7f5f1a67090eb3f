"""Rates and bounds of regret: by hand, by brute force, and against each other."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stoic
from helpers.policies import generator
from stoic.core import CentralMoment, RawMoment
from stoic.errors import InvalidParameter
from stoic.policies import Elimination
from stoic.theory import (
    Accuracy,
    earliest_removal,
    explicit_pull_bound,
    first_judged,
    lower_bound,
    proof,
    pull_bound,
    regret_bound,
    upper_bound,
)

RAW = RawMoment(2, 1.0)


# --- Rates --------------------------------------------------------------------------------------


def test_the_three_terms_of_the_lower_bound_by_hand():
    setting = {"arms": 4, "horizon": 250_000, "epsilon": 0.5}
    terms = lower_bound(moments=RAW, contamination=0.04, **setting)
    assert terms == {
        "sampling": pytest.approx(1000),  # sqrt(4 * 250000)
        "privacy": pytest.approx(math.sqrt(8) * 500),  # (4 / 0.5)^(1/2) * 250000^(1/2)
        "contamination": pytest.approx(50_000),  # 250000 * 0.04^(1/2)
    }
    terms = lower_bound(moments=RawMoment(3, 8.0), contamination=0.001, **setting)
    assert terms == {
        "sampling": pytest.approx(2000),
        "privacy": pytest.approx(2 * 8 ** (2 / 3) * 250_000 ** (1 / 3)),
        "contamination": pytest.approx(2 * 250_000 * 0.01),
    }
    assert lower_bound(moments=RAW, **setting)["contamination"] == 0


def test_the_lower_bound_is_the_same_for_central_moments():
    setting = {"arms": 4, "horizon": 250_000, "epsilon": 0.5, "contamination": 0.01}
    central = CentralMoment(3, 8.0, (0, 100))
    assert lower_bound(moments=central, **setting) == lower_bound(
        moments=RawMoment(3, 8.0), **setting
    )


def test_where_privacy_forbids_learning_the_lower_bound_is_the_horizon():
    terms = lower_bound(arms=50, horizon=1000, epsilon=0.01, moments=RawMoment(2, 9.0))
    assert terms["privacy"] == pytest.approx(3 * 1000)  # printed: 3 * sqrt(5000 * 1000)
    edge = lower_bound(arms=50, horizon=1000, epsilon=0.05, moments=RAW)
    assert edge["privacy"] == pytest.approx(1000)


@pytest.mark.parametrize("k", [1.5, 2.0, 3.0])
def test_the_terms_grow_as_the_theorem_says(k):
    def terms(arms=4, horizon=10**6, epsilon=0.5, alpha=0.01):
        moments = RawMoment(k, 1.0)
        return list(
            lower_bound(
                arms=arms, horizon=horizon, epsilon=epsilon, moments=moments, contamination=alpha
            ).values()
        )

    def orders(**change):
        return [math.log(b / a, 16) for a, b in zip(terms(), terms(**change), strict=True)]

    assert orders(horizon=16 * 10**6) == pytest.approx([1 / 2, 1 / k, 1])
    assert orders(arms=64) == pytest.approx([1 / 2, 1 - 1 / k, 0])
    assert orders(epsilon=0.5 / 16) == pytest.approx([0, 1 - 1 / k, 0])
    assert orders(alpha=0.16) == pytest.approx([0, 0, 1 - 1 / k])


def test_the_upper_bound_of_prae_r_by_hand():
    horizon = 250_000
    log = math.log(horizon)
    terms = upper_bound(
        arms=4, horizon=horizon, epsilon=0.5, moments=RawMoment(2, 9.0), contamination=0.04
    )
    assert terms == {
        "sampling": pytest.approx(3 * 1000 * math.sqrt(log)),
        "privacy": pytest.approx(3 * math.sqrt(8 * log) * 500),
        "contamination": pytest.approx(3 * 50_000),
        "threshold": pytest.approx(3 * 4 * log / 0.04),
    }
    assert upper_bound(arms=4, horizon=horizon, epsilon=0.5, moments=RAW)["threshold"] == 0


def test_the_upper_bound_of_prae_c_by_hand():
    moments = CentralMoment(2, 9.0, (0, 120))  # s = 3, D = 20
    setting = {"arms": 4, "horizon": 250_000, "epsilon": 0.5, "moments": moments}
    gamma = 4 * 20 * math.log(20 * 250_000) / 0.5
    assert upper_bound(**setting)["threshold"] == pytest.approx(3 * gamma)
    log, iota = math.log(250_000), 0.96 / 0.209
    gamma_hat = gamma + 20 * 4 * log / 0.04**2 + iota * 20 * 4 * log / 0.5
    found = upper_bound(contamination=0.04, **setting)
    assert found["threshold"] == pytest.approx(3 * gamma_hat)
    assert found["contamination"] == pytest.approx(3 * 250_000 * 0.2)


@given(
    arms=st.integers(2, 100),
    times=st.floats(2, 1e6),
    epsilon=st.floats(1e-3, 1),
    alpha=st.one_of(st.just(0.0), st.floats(1e-100, 0.13)),
    k=st.floats(1.1, 6),
)
def test_upper_bounds_are_above_the_lower_bound_term_by_term(arms, times, epsilon, alpha, k):
    setting = {"arms": arms, "horizon": int(10 * arms * times), "epsilon": epsilon}
    for moments in (RawMoment(k, 2.0), CentralMoment(k, 2.0, (-1e4, 1e4))):
        low = lower_bound(moments=moments, contamination=alpha, **setting)
        high = upper_bound(moments=moments, contamination=alpha, **setting)
        assert all(low[name] <= high[name] * (1 + 1e-12) for name in low)


@pytest.mark.parametrize(
    ("moments", "alpha", "epsilon"),
    [
        (RAW, 0.6, 1.0),
        (CentralMoment(2, 1, (0, 99)), 0.2, 1.0),
        (CentralMoment(2, 1, (0, 99)), 0, 2),
    ],
)
def test_rates_that_no_theorem_gives_are_refused(moments, alpha, epsilon):
    with pytest.raises(InvalidParameter):
        upper_bound(arms=2, horizon=100, epsilon=epsilon, moments=moments, contamination=alpha)


# --- When arms can be judged --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("prae-r", {}),
        ("prae-r", {"contamination": 0.05}),
        ("prae-c", {}),
        ("prae-c", {"contamination": 0.05}),
        ("prae-r", {"contamination": 0.05, "profile": "unit"}),
        ("prae-c", {"contamination": 0.05, "profile": "unit"}),
    ],
)
def test_the_first_judged_batch_is_the_policys_own(name, setting):
    arms, horizon = 5, 10**11
    moments = CentralMoment(2, 5.0, (0, 100))
    policy = stoic.policies.create(
        name, arms=arms, horizon=horizon, moments=moments, epsilon=0.5, **setting
    )
    state, spent = policy.init(), 0
    while True:
        plan = policy.ask(state, rng=generator(1))
        if len(plan.arms) > 1:
            break
        spent += plan.size
        state = policy.tell(state, plan, {})
    run = {"arms": arms, "horizon": horizon}
    assert first_judged(policy.estimator, **run) == state.batch
    assert earliest_removal(policy.estimator, **run) == spent + plan.size
    known = moments.as_raw() if name == "prae-r" else moments
    mean = Accuracy(known, 0.5, setting.get("contamination", 0.0), setting.get("profile", "proof"))
    assert first_judged(mean, **run) == state.batch


def test_with_the_papers_constants_nobody_leaves_in_the_papers_experiment():
    mean = Accuracy(CentralMoment(2, 5.0, (0, 100)), epsilon=0.5, contamination=0.05)
    assert mean.threshold(mean.share(1e-5, active=5, batch=27)) > 1e8
    assert earliest_removal(mean, arms=5, horizon=100_000) > 10**9


# --- Pulls --------------------------------------------------------------------------------------


def brute_pulls(mean, gap, arms, horizon, delta):
    """Batch by batch, with as many arms in play as makes it worst."""
    pulled = 0
    for tau in itertools.count(1):
        if pulled >= horizon:
            return horizon
        pulled += 2**tau
        n = mean.sample_size(2**tau)
        shares = [delta / (2 * active * tau**2) for active in range(2, arms + 1)]
        if n < mean.threshold(min(shares)):
            continue
        if all(4 * float(mean.radius(n, share)) < gap for share in shares):
            return min(pulled, horizon)
    return None


@pytest.mark.parametrize("alpha", [0.0, 0.001])
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("arms", [2, 6])
def test_the_pull_bound_is_what_counting_batch_by_batch_gives(alpha, epsilon, arms):
    horizon, delta = 10**7, 0.01
    for moments in (RAW, CentralMoment(2, 1.0, (-20, 20))):
        mean = Accuracy(moments, epsilon, alpha)
        found = []
        for gap in (0.01, 0.1, 0.5, 1.0, 2.0):
            bound = pull_bound(mean, gap, arms=arms, horizon=horizon, delta=delta)
            assert bound == brute_pulls(mean, gap, arms, horizon, delta)
            found.append(bound)
        assert found == sorted(found, reverse=True)
    assert len(set(found)) > 1 or alpha


def test_a_gap_that_the_bias_hides_costs_the_whole_horizon():
    mean = Accuracy(RAW, 1.0, 0.01)
    assert pull_bound(mean, 4 * mean.floor, arms=2, horizon=10**12) == 10**12
    assert pull_bound(mean, 4.1 * mean.floor, arms=2, horizon=10**12) < 10**12


def test_without_a_guarantee_there_is_no_bound():
    mean = Accuracy(RAW, 1.0, profile="unit")
    for bound in (
        lambda: pull_bound(mean, 0.5, arms=2, horizon=1000),
        lambda: regret_bound(mean, [0, 1], horizon=1000),
    ):
        with pytest.raises(InvalidParameter, match="must have a guarantee"):
            bound()


def test_the_explicit_bound_by_hand():
    horizon, delta = 2**20, 0.01
    setting = {"arms": 5, "horizon": horizon, "delta": delta}
    log = math.log(32 * 5 * 400 / delta)
    found = explicit_pull_bound(
        2.0, epsilon=0.5, moments=RawMoment(2, 4.0), contamination=1e-5, **setting
    )  # gap 1 in natural units
    assert found == pytest.approx(4 * max(512 * log, 8 * log * 1024, log / 1e-5))
    found = explicit_pull_bound(1.0, epsilon=0.5, moments=RAW, contamination=2e-4, **setting)
    assert found == pytest.approx(4 * 8 * log * 1024)
    found = explicit_pull_bound(
        0.5, epsilon=1.5, moments=RawMoment(4, 1.0), contamination=1e-6, **setting
    )
    assert found == pytest.approx(4 * log * 1e6)
    log = math.log(8 * 5 * 400 / delta)
    found = explicit_pull_bound(1.0, epsilon=1.0, moments=RawMoment(5, 1.0), **setting)
    assert found == pytest.approx(4 * max(128 * log, 4 * log * 16**1.25))


@pytest.mark.parametrize("k", [2.0, 3.0])
def test_the_explicit_bound_ends_where_the_bias_may_hide_the_gap(k):
    setting = {"arms": 2, "horizon": 10**9, "epsilon": 1.0, "moments": RawMoment(k, 1.0)}
    alpha = 1e-5
    edge = 16 * (8 * alpha) ** (1 - 1 / k)
    assert explicit_pull_bound(edge * 0.999, contamination=alpha, **setting) == math.inf
    assert explicit_pull_bound(edge * 1.001, contamination=alpha, **setting) < math.inf


@given(
    gap=st.floats(0.01, 2),
    arms=st.integers(2, 20),
    epsilon=st.floats(0.01, 1.5),
    alpha=st.one_of(st.just(0.0), st.floats(1e-9, 1e-3)),
    k=st.floats(2, 5),
    delta=st.floats(1e-9, 0.5),
)
def test_the_explicit_bound_covers_the_sharp_one(gap, arms, epsilon, alpha, k, delta):
    moments, run = RawMoment(k, 1.0), {"arms": arms, "horizon": 2**40, "delta": delta}
    explicit = explicit_pull_bound(
        gap, epsilon=epsilon, moments=moments, contamination=alpha, **run
    )
    sharp = pull_bound(Accuracy(moments, epsilon, alpha), gap, **run)
    assert sharp <= explicit


@pytest.mark.parametrize(
    ("change", "parameter"),
    [
        ({"epsilon": 1.6}, "epsilon"),
        ({"moments": RawMoment(1.9, 1.0)}, "k"),
        ({"contamination": 0.6}, "contamination"),
        ({"gap": 0.0}, "gap"),
        ({"arms": 1}, "arms"),
        ({"horizon": 1}, "horizon"),
        ({"delta": 0.0}, "delta"),
    ],
    ids=str,
)
def test_the_explicit_bound_refuses_what_it_does_not_cover(change, parameter):
    setting = {"gap": 0.5, "arms": 2, "horizon": 100, "epsilon": 1.0, "moments": RAW, **change}
    with pytest.raises(InvalidParameter) as refused:
        explicit_pull_bound(setting.pop("gap"), **setting)
    assert refused.value.parameter == parameter


# --- Regret for given gaps ----------------------------------------------------------------------


def worst_regret(gaps, most, horizon):
    """Brute force over whole numbers of rounds."""
    ranges = [range(min(count, horizon) + 1) for count in most]
    return max(
        sum(gap * n for gap, n in zip(gaps, pulls, strict=True))
        for pulls in itertools.product(*ranges)
        if sum(pulls) <= horizon
    )


class Exact:
    """A mean estimator that resolves any gap in batch 2: for sums small enough to enumerate."""

    guaranteed = True

    def sample_size(self, batch):
        return batch

    def share(self, delta, active, batch):
        return proof.share(delta, active, batch)

    def threshold(self, failure):
        return 1.0

    def radius(self, n, failure):
        return 0.2 if n < 4 else 0.01


@pytest.mark.parametrize("gaps", [(0.0, 1.0, 0.5), (0.3, 0.0, 0.02), (0.0, 0.01, 0.9)])
@pytest.mark.parametrize("horizon", [5, 9, 16])
def test_the_regret_bound_is_the_worst_way_to_spend_the_rounds(gaps, horizon):
    bound = regret_bound(Exact(), gaps, horizon=horizon, delta=0.1)
    assert bound.on_good_event == pytest.approx(worst_regret(gaps, bound.pulls, horizon))
    assert bound.pulls[gaps.index(0.0)] == horizon
    failing = 0.1 * sum(3 * 1 / (2 * 3 * tau**2) for tau in range(1, 100_000))
    most = horizon * max(gaps)
    assert bound.expected == pytest.approx(bound.on_good_event + failing * most, rel=1e-5)


def test_a_gap_of_exactly_four_radii_is_not_resolved():
    run = {"arms": 2, "horizon": 100, "delta": 0.1}
    assert pull_bound(Exact(), 4 * 0.2, **run) == 6
    assert pull_bound(Exact(), 4 * 0.2 + 1e-9, **run) == 2


def test_the_worst_number_of_arms_in_play_counts():
    class Odd(Exact):
        """Worse with more certainty to spare."""

        def radius(self, n, failure):
            return (1 if failure >= 0.1 / 4 else 0.5) / n

    assert pull_bound(Odd(), 0.3, arms=2, horizon=1000, delta=0.1) == 14
    for arms, failure in ((2, 0.1 / 4), (5, 0.1 / 10)):
        assert Odd().share(0.1, arms, 1) == failure
        batches = pull_bound(Odd(), 1.9, arms=arms, horizon=1000, delta=0.1)
        assert batches == 6  # 4 / 2 is too much if two arms are left


def test_a_gap_that_is_never_resolved_may_cost_every_round():
    mean = Accuracy(RAW, 1.0, 0.01)
    bound = regret_bound(mean, [0.0, 0.1], horizon=10**6)
    assert (bound.pulls, bound.on_good_event) == ((10**6, 10**6), pytest.approx(10**5))


@pytest.mark.parametrize("gaps", [[0.1, 0.2], [0.0], [0.0, -1.0], [0.0, math.nan]])
def test_gaps_belong_to_a_best_arm_and_at_least_one_other(gaps):
    with pytest.raises(InvalidParameter):
        regret_bound(Accuracy(RAW, 1.0), gaps, horizon=1000)


def test_a_policys_own_estimator_may_be_asked():
    policy = Elimination.raw(3, 10**6, RAW, epsilon=1.0)
    mine = pull_bound(policy.estimator, 0.5, arms=3, horizon=10**6)
    assert mine == pull_bound(Accuracy(RAW, 1.0), 0.5, arms=3, horizon=10**6)
