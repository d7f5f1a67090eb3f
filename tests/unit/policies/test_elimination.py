"""The meta-algorithm by hand: phases, removals, shares of delta, first phases, exits."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stoic
from helpers.goodness import fits
from helpers.play import play
from helpers.policies import generator
from helpers.spy import Spy
from stoic.core import Plan, Release
from stoic.errors import InvalidParameter
from stoic.estimators import PRMC, PRMR
from stoic.policies import Elimination
from stoic.policies.elimination import EliminationState
from stoic.policies.policy import stretched
from stoic.privacy.queries import Histogram, RecentredMean, TruncatedMean

FIRST_PHASES = ("batch", "round", "greedy", "explore")
ONE = math.exp(-1)  # a delta whose log(1/delta) is 1
ALARM = 1e-9


def raw(arms: int = 3, horizon: int = 10_000, **options: Any) -> Elimination:
    """Unit constants, L = 1: ``beta = 2 / sqrt(n)`` from the first batch on."""
    given = {"epsilon": 1.0, "profile": "unit", "delta": ONE, **options}
    return Elimination.raw(arms, horizon, stoic.RawMoment(2, 1.0), **given)


def robust(arms: int = 3, horizon: int = 10_000, **options: Any) -> Elimination:
    """The same with outliers: threshold 10, so that batches of 2, 4 and 8 come first."""
    return raw(arms, horizon, contamination=0.1, **options)


def releases(plan: Plan, **values: float) -> dict[int, tuple[Release, ...]]:
    """Scripted releases: ``releases(plan, a0=1.5)`` is what arm 0's batch gave; 0 elsewhere."""
    pulls = dict(zip(plan.arms, plan.pulls, strict=True))
    return {
        arm: (Release("scripted", values.get(f"a{arm}", 0.0), n=pulls[arm], epsilon=1.0),)
        for arm in plan.arms
    }


def step(
    policy: Elimination, state: EliminationState, seed: int = 1, **values: float
) -> EliminationState:
    """The state after the next phase, in which every arm that is asked about gives its value."""
    plan = policy.ask(state, rng=generator(seed))
    return policy.tell(state, plan, releases(plan, **values) if plan.queries else {})


def at(policy: Elimination, batch: int, **changes: Any) -> EliminationState:
    return dataclasses.replace(policy.init(), batch=batch, spent=2**batch - 2, **changes)


@dataclass
class Scripted:
    """An estimator that obeys the script and remembers every failure probability it was given."""

    beta: float = 1.0
    needed: float = 1.0
    width: float = 1e9
    failures: list[tuple[int, float]] = field(default_factory=list)

    name = "scripted"
    privacy = "central"
    epsilon = 1.0
    guaranteed = False

    def sample_size(self, batch: int) -> int:
        return batch

    def query(self, n: int, failure: float) -> TruncatedMean:
        self.failures.append((n, failure))
        return TruncatedMean(0.0, self.width, 1.0)

    def radius(self, n: int, failure: float) -> float:
        self.failures.append((n, failure))
        return self.beta

    def threshold(self, failure: float) -> float:
        return self.needed

    def share(self, delta: float, active: int, batch: int) -> float:
        return stoic.theory.PROFILES["proof"].share(delta, active, batch)


def scripted(
    arms: int = 3, horizon: int = 10_000, delta: float = 0.1, first_phase: str = "batch", **of: Any
) -> Elimination:
    return Elimination(arms, horizon, "max", Scripted(**of), delta, first_phase)


@dataclass
class Changing:
    """An arm that pays another amount in every batch, and remembers them."""

    mean: float
    step: float
    batches: list[float] = field(default_factory=list)

    def sample(self, n: int, *, rng: np.random.Generator) -> np.ndarray:
        self.batches.append(self.mean + self.step * len(self.batches))
        return np.full(n, self.batches[-1])


# --- Phases -------------------------------------------------------------------------------------


def test_every_active_arm_gets_two_to_the_tau_in_batch_tau() -> None:
    policy = raw()
    state, spent = policy.init(), 0
    for tau in range(1, 9):
        plan = policy.ask(state, rng=generator(tau))
        assert sorted(plan.arms) == [0, 1, 2]
        assert plan.pulls == (2**tau,) * 3
        assert len(set(plan.queries)) == 1
        state = policy.tell(state, plan, releases(plan))
        spent += 3 * 2**tau
        assert (state.batch, state.spent, state.active) == (tau + 1, spent, (0, 1, 2))


def test_the_order_of_the_arms_is_drawn_anew_for_every_batch() -> None:
    policy = raw()
    orders = np.zeros(6)
    places = {(0, 1, 2): 0, (0, 2, 1): 1, (1, 0, 2): 2, (1, 2, 0): 3, (2, 0, 1): 4, (2, 1, 0): 5}
    rng = generator(1)
    for _ in range(3000):
        orders[places[policy.ask(policy.init(), rng=rng).arms]] += 1
    assert fits(orders, np.full(6, 1 / 6), alarm=ALARM)
    assert not fits(np.array([1000, 0, 0, 1000, 1000, 0]), np.full(6, 1 / 6), alarm=ALARM)


def test_raw_batches_ask_for_the_truncated_mean_at_their_own_cut() -> None:
    policy = raw()
    for tau in (1, 2, 6):
        plan = policy.ask(at(policy, tau), rng=generator(1))
        query = plan.queries[0]
        assert isinstance(query, TruncatedMean)
        assert query.half_width == pytest.approx(math.sqrt(2**tau))  # (n eps / L)^(1/2), L = 1
        assert (query.centre, query.epsilon) == (0.0, 1.0)


def test_central_batches_spend_half_on_locating() -> None:
    moments = stoic.CentralMoment(2, 4.0, (0, 40))
    policy = Elimination.central(3, 10_000, moments, epsilon=0.5, profile="unit", delta=ONE)
    # n = B / 2 must reach iota L / eps = 2 / 0.249 = 8.03; log(D / delta) / eps = 6.6 is less.
    assert policy.threshold(policy.init()) == 9
    for tau, asks in ((4, False), (5, True)):
        plan = policy.ask(at(policy, tau), rng=generator(1))
        assert bool(plan.queries) == asks
    query = plan.queries[0]
    assert plan.pulls == (32, 32, 32)
    assert isinstance(query, RecentredMean)
    assert query.half_width == pytest.approx(2 * math.sqrt(16 * 0.5))  # s (n eps / L)^(1/2)
    width = 2 / math.sqrt(0.249)  # s iota^(1/2)
    assert query.locate.width == pytest.approx(width)
    assert query.locate == Histogram(0.0, query.locate.width, math.floor(40 / width) + 1, 0.5)


def test_central_arms_are_judged_by_the_second_fold_and_the_smaller_n() -> None:
    moments = stoic.CentralMoment(2, 4.0, (0, 40))
    policy = Elimination.central(2, 10_000, moments, epsilon=0.5, profile="unit", delta=ONE)
    state = at(policy, 5)
    plan = policy.ask(state, rng=generator(1))
    n = 16
    beta = 2 * (math.sqrt(1 / n) + math.sqrt(1 / (n * 0.5)))

    def told(behind: float) -> EliminationState:
        located = Release("histogram", 30.0, n=n, epsilon=0.5)
        means = {0: 30.0, 1: 30.0 - behind}
        return policy.tell(
            state,
            plan,
            {a: (located, Release("mean", mean, n=n, epsilon=0.5)) for a, mean in means.items()},
        )

    assert told(2 * beta * (1 - 1e-6)).active == (0, 1)
    assert told(2 * beta * (1 + 1e-6)).active == (0,)
    assert told(1.0).estimates == (30.0, 29.0)


# --- Removals -----------------------------------------------------------------------------------


def test_arms_more_than_two_radii_behind_leave() -> None:
    policy = raw(arms=4)
    after = step(policy, at(policy, 4), a0=0.2, a1=-0.8, a2=-0.85, a3=-0.75)  # beta = 2 / sqrt(16)
    assert after.radius == pytest.approx(0.5)
    assert after.active == (0, 1, 3)  # 2 beta = 1
    assert after.estimates == (0.2, -0.8, -0.85, -0.75)
    assert policy.recommend(after) == 0


def test_the_width_is_two_radii_and_belongs_to_the_arm_that_stays() -> None:
    policy = scripted(beta=0.5)
    state = policy.init()
    assert step(policy, state, a0=1.0, a1=0.0, a2=-1e-12).active == (0, 1)
    assert step(policy, state, a0=0.0, a1=1.0, a2=-7.0).active == (0, 1)
    assert step(policy, state, a0=3.0, a1=-9.0, a2=1.9).active == (0,)


def test_the_proof_profile_judges_by_the_sum_of_its_terms() -> None:
    policy = raw(arms=2, horizon=10**9, profile="proof", delta=0.1, epsilon=0.5)
    tau = 12
    n, share = 2**tau, 0.1 / (2 * 2 * tau**2)
    log = math.log(4 / share)
    cut = math.sqrt(n * 0.5 / (4 * log))
    beta = math.sqrt(2 * log / n) + 4 * cut * log / (3 * n)
    beta += 2 * cut * math.log(2 / share) / (n * 0.5) + 1 / cut
    state = at(policy, tau)
    assert step(policy, state, a0=2 * beta * (1 - 1e-6)).active == (0, 1)
    assert step(policy, state, a0=2 * beta * (1 + 1e-6)).active == (0,)


def test_removed_arms_keep_their_last_estimate_and_are_never_asked_again() -> None:
    policy = scripted()
    state = step(policy, policy.init(), a0=5.0, a1=4.5, a2=0.0)
    assert state.active == (0, 1)
    plan = policy.ask(state, rng=generator(1))
    assert sorted(plan.arms) == [0, 1]
    state = policy.tell(state, plan, releases(plan, a0=1.0, a1=0.5))
    assert state.estimates == (1.0, 0.5, 0.0)


def test_costs_are_judged_from_the_other_end() -> None:
    values = {"a0": 0.3, "a1": -4.0, "a2": 2.5, "a3": -1.9}
    mirrored = {arm: -value for arm, value in values.items()}
    most, least = (raw(arms=4, goal=goal) for goal in ("max", "min"))
    for tau in range(1, 9):
        kept, saved = step(most, at(most, tau), **values), step(least, at(least, tau), **mirrored)
        assert saved.active == kept.active
        assert saved.estimates == tuple(-found for found in kept.estimates if found is not None)
        assert least.recommend(saved) == most.recommend(kept) == 2


class Mirrored(Spy):
    """Noise from a script, or the same with its sign turned."""

    def __init__(self, sign: int) -> None:
        super().__init__()
        self._sign = sign
        self._rng = generator(7)

    def laplace(self, exact: int, *, sensitivity: int, epsilon: float) -> int:
        scale = sensitivity / epsilon
        return exact + self._sign * round(float(self._rng.laplace(0, scale)))


@pytest.mark.parametrize("first_phase", FIRST_PHASES)
def test_a_whole_run_on_costs_mirrors_the_run_on_rewards(first_phase: str) -> None:
    traces = []
    for goal, sign in (("max", 1), ("min", -1)):
        policy = raw(goal=goal, first_phase=first_phase, contamination=0.02)
        arms = [Changing(sign * mean, 0.0) for mean in (0.9, 0.0, -0.9)]
        traces.append(play(policy, arms, rng=generator(3), noise=Mirrored(sign)))
    rewards, costs = traces
    assert rewards.plans == costs.plans
    assert rewards.surviving == costs.surviving == (0,)
    assert rewards.regrets.tolist() == costs.regrets.tolist()
    for one, other in zip(rewards.states, costs.states, strict=True):
        turned = tuple(None if found is None else -found for found in one.estimates)
        assert other == dataclasses.replace(one, estimates=turned)


# --- Forgetting ---------------------------------------------------------------------------------


def test_an_estimate_is_of_its_own_batch_only() -> None:
    policy = scripted(horizon=3 * 510)
    arms = [Changing(0.5, 0.01), Changing(-0.3, -0.02), Changing(0.1, 0.005)]
    trace = play(policy, arms, rng=generator(1), noise=Spy())
    assert len(trace.states) == 8
    for batch, state in enumerate(trace.states):
        now = [arm.batches[batch] for arm in arms]
        assert state.estimates == pytest.approx(now, abs=2.0)  # the grid of a width of 1e9
        told = [trace.answers[batch][arm][0].value for arm in range(3)]
        assert list(state.estimates) == told


def test_a_state_does_not_remember_earlier_estimates() -> None:
    policy = scripted(beta=10.0)
    one = step(policy, step(policy, policy.init(), a0=9.0, a1=-9.0), a0=1.0)
    other = step(policy, step(policy, policy.init(), a0=-9.0, a1=9.0), a0=1.0)
    assert one == other


def test_rewards_of_an_unfinished_batch_are_never_used() -> None:
    policy = scripted(horizon=3 * (2 + 4 + 8) + 47)  # batch 4 would need 48
    state = policy.init()
    for _ in range(3):
        state = step(policy, state, a0=1.0)
    plan = policy.ask(state, rng=generator(1))
    assert (plan.size, plan.queries) == (47, ())
    assert sorted(plan.pulls) == [15, 16, 16]
    after = policy.tell(state, plan, {})
    assert (after.estimates, after.active, after.radius) == (
        state.estimates,
        state.active,
        state.radius,
    )
    assert policy.ask(after, rng=generator(1)) == Plan((), ())
    whole = dataclasses.replace(policy, horizon=policy.horizon + 1)
    assert whole.ask(state, rng=generator(1)).queries


def test_a_first_phase_that_the_horizon_cuts_asks_nothing() -> None:
    for first_phase in FIRST_PHASES:
        policy = robust(arms=2, horizon=2 + 4 + 7, first_phase=first_phase)
        state = at(policy, 3, estimates=(0.0, 1.0))
        plan = policy.ask(state, rng=generator(1))
        assert (plan.size, plan.queries) == (7, ())
        assert policy.tell(state, plan, {}).spent == 13


def test_a_greedy_batch_that_just_fits_is_asked() -> None:
    policy = robust(arms=2, horizon=2 + 4 + 8, first_phase="greedy")
    state = at(policy, 3, estimates=(0.0, 1.0))
    plan = policy.ask(state, rng=generator(1))
    assert (plan.pulls, len(plan.queries)) == ((8,), 1)


@pytest.mark.parametrize("horizon", [3, 5, 14, 15, 100, 1023])
@pytest.mark.parametrize("first_phase", FIRST_PHASES)
def test_a_run_ends_at_the_horizon(first_phase: str, horizon: int) -> None:
    policy = robust(horizon=horizon, first_phase=first_phase)
    trace = play(policy, [Changing(m, 0.0) for m in (0.5, 0, -0.5)], rng=generator(1), noise=Spy())
    assert trace.totals.sum() == trace.states[-1].spent == horizon
    assert policy.ask(trace.states[-1], rng=generator(1)).size == 0


def test_one_arm_left_is_played_for_ever() -> None:
    policy = scripted(horizon=10**6)
    state = step(policy, policy.init(), a1=3.0)
    assert state.active == (1,)
    plan = policy.ask(state, rng=generator(1))
    assert plan == Plan((1,), (10**6 - 6,))
    after = policy.tell(state, plan, {})
    assert (after.active, policy.recommend(after)) == ((1,), 1)
    assert policy.ask(after, rng=generator(1)) == Plan((), ())


# --- Batches closed before all of them was dealt ------------------------------------------------


def closed_early(
    policy: Elimination, state: EliminationState, issued: int, **values: float
) -> EliminationState:
    plan = policy.ask(state, rng=generator(1))
    found = {
        arm: tuple(dataclasses.replace(one, n=issued) for one in releases_of)
        for arm, releases_of in releases(plan, **values).items()
    }
    found[plan.arms[0]] = releases(plan, **values)[plan.arms[0]]  # one arm had all of its rewards
    return policy.tell(state, plan, found)


def test_fewer_rewards_than_planned_widen_the_radius() -> None:
    policy = raw()
    state = at(policy, 4)  # 16 of each, 2 beta = 1
    assert closed_early(policy, state, 16, a0=1.5).active == (0,)
    after = closed_early(policy, state, 8, a0=1.99)
    assert (after.active, after.radius) == ((0, 1, 2), pytest.approx(1.0))
    assert closed_early(policy, state, 8, a0=2.01).active == (0,)


def test_nobody_leaves_if_too_few_were_dealt_for_the_threshold() -> None:
    policy = robust()  # 10
    state = at(policy, 4)
    after = closed_early(policy, state, 9, a0=1e6)
    assert (after.active, after.radius, after.batch) == ((0, 1, 2), None, 5)
    assert after.estimates == (1e6, 0.0, 0.0)
    assert closed_early(policy, state, 10, a0=1e6).active == (0,)


@given(
    n=st.integers(2, 10**9),
    part=st.floats(0, 1),
    epsilon=st.floats(1e-3, 10),
    alpha=st.one_of(st.just(0.0), st.floats(1e-6, 0.5)),
    k=st.floats(1.05, 8),
    failure=st.floats(1e-12, 0.5),
)
def test_the_wider_radius_covers_what_the_planned_cut_does_to_fewer(
    n: int, part: float, epsilon: float, alpha: float, k: float, failure: float
) -> None:
    issued = max(1, int(part * n))
    estimator = PRMR.build(stoic.RawMoment(k, 1.0), epsilon, alpha)
    cut, log = estimator.query(n, failure).half_width, math.log((16 if alpha else 4) / failure)
    exact = math.sqrt(2 * cut ** max(0.0, 2 - k) * log / issued) + 4 * cut * log / (3 * issued)
    exact += 2 * cut * math.log(2 / failure) / (issued * epsilon) + cut ** (1 - k) + 8 * alpha * cut
    assert exact <= stretched(estimator.radius(n, failure), n, issued) * (1 + 1e-9)


# --- Failure probabilities ----------------------------------------------------------------------


def test_every_estimate_gets_its_share_of_delta() -> None:
    policy = scripted(arms=4, horizon=4 * 2**10, delta=0.2)
    state, active, tau = policy.init(), 4, 0
    while policy.horizon - state.spent >= active * 2**state.batch and len(state.active) > 1:
        tau, active = state.batch, len(state.active)
        policy.estimator.failures.clear()
        worst = {f"a{state.active[-1]}": -3.0} if tau in (3, 6) else {}
        state = step(policy, state, **worst)
        expected = 0.2 / (2 * active * tau**2)
        assert policy.estimator.failures == [(2**tau, pytest.approx(expected))] * 2
    assert (tau, active) == (9, 2)


@pytest.mark.parametrize("arms", [2, 7])
@pytest.mark.parametrize("kind", [PRMR, PRMC])
def test_shares_sum_to_less_than_delta(kind: Any, arms: int) -> None:
    moments = stoic.CentralMoment(2, 1.0, (-20, 20))
    estimator = kind.build(moments, epsilon=1.0)
    spent = sum(arms * estimator.share(0.3, arms, tau) for tau in range(1, 20_000))
    assert 0.82 * 0.3 < spent < 0.83 * 0.3
    # The paper's log(16 |S| tau^2 / delta), read as log(16 / share), would spend twice as much.
    assert 16 / estimator.share(0.3, arms, 5) == pytest.approx(2 * 16 * arms * 25 / 0.3)


def test_an_arm_that_leaves_gives_its_share_to_the_others() -> None:
    estimator = PRMR.build(stoic.RawMoment(2, 1.0), epsilon=1.0)
    assert estimator.share(0.1, 2, 3) == pytest.approx(2 * estimator.share(0.1, 4, 3))


# --- Threshold ----------------------------------------------------------------------------------


def test_no_arm_leaves_below_the_threshold_however_bad_it_looks() -> None:
    for first_phase in ("greedy", "explore"):
        policy = robust(first_phase=first_phase)
        state = policy.init()
        for _ in range(3):
            state = step(policy, state, a0=-1e6, a1=1e6)
        assert (state.active, state.radius, state.batch) == ((0, 1, 2), None, 4)
        assert step(policy, state, a0=-1e6).active == (1, 2)


def test_a_batch_that_just_reaches_the_threshold_counts() -> None:
    policy = scripted(needed=8.0)
    for tau, arms in ((2, 1), (3, 3)):
        assert len(policy.ask(at(policy, tau), rng=generator(1)).arms) == arms
    assert step(policy, at(policy, 3), a0=9.0).active == (0,)


profiles = st.sampled_from([("proof", 0.132), ("unit", 0.24)])


@given(
    profile=profiles,
    share=st.floats(1e-6, 1),
    epsilon=st.floats(1e-3, 1),
    k=st.floats(1.1, 6),
    delta=st.floats(1e-12, 0.9),
    arms=st.integers(2, 100),
    outliers=st.booleans(),
    half_range=st.floats(50, 1e6),
)
def test_once_past_the_threshold_there_is_no_falling_back(
    profile: tuple[str, float],
    share: float,
    epsilon: float,
    k: float,
    delta: float,
    arms: int,
    outliers: bool,
    half_range: float,
) -> None:
    name, most = profile
    setting = {
        "moments": stoic.CentralMoment(k, 1.0, (-half_range, half_range)),
        "epsilon": epsilon,
        "contamination": share * most if outliers else 0.0,
        "profile": name,
        "delta": delta,
    }
    for build in (Elimination.raw, Elimination.central):
        policy = build(arms, 10**9, **setting)
        past = []
        for tau in range(1, 80):
            n = policy.estimator.sample_size(2**tau)
            past.append(n >= policy.threshold(at(policy, tau)))
        assert past == sorted(past)
        assert past[-1]


def test_fewer_arms_need_no_more() -> None:
    for policy in (robust(arms=5, profile="proof"), robust(arms=5)):
        state = at(policy, 3)
        fewer = dataclasses.replace(state, active=(0, 4))
        assert policy.threshold(fewer) <= policy.threshold(state)


# --- First phase --------------------------------------------------------------------------------


def test_batches_below_the_threshold_belong_to_the_first_phase() -> None:
    for first_phase in FIRST_PHASES:
        policy = robust(first_phase=first_phase)
        state, plans = policy.init(), []
        for _ in range(4):
            plan = policy.ask(state, rng=generator(1))
            plans.append(plan)
            state = policy.tell(state, plan, releases(plan) if plan.queries else {})
        assert [plan.size for plan in plans] == [2, 4, 8, 3 * 16]
        assert state.batch == 5


def drawn(policy: Elimination, state: EliminationState, times: int) -> np.ndarray:
    """How often each arm gets the next batch."""
    counts = np.zeros(policy.arms)
    rng = generator(5)
    for _ in range(times):
        (arm,) = policy.ask(state, rng=rng).arms
        counts[arm] += 1
    return counts


def test_batch_gives_the_whole_batch_to_one_random_arm_of_all() -> None:
    policy = robust(arms=4)
    state = at(policy, 3, estimates=(0.0, 9.0, None, 1.0))
    counts = drawn(policy, state, 4000)
    assert fits(counts, np.full(4, 1 / 4), alarm=ALARM)
    assert not fits(np.array([0, 4000, 0, 0]), np.full(4, 1 / 4), alarm=ALARM)
    plan = policy.ask(state, rng=generator(1))
    assert (plan.pulls, plan.queries, plan.shuffle) == ((8,), (), None)


def test_round_draws_an_arm_of_all_for_every_round() -> None:
    policy = robust(arms=3, first_phase="round")
    rng, pairs = generator(5), np.zeros((3, 3))
    for _ in range(1500):
        plan = policy.ask(at(policy, 3), rng=rng)
        assert (plan.size, plan.queries) == (8, ())
        dealt = np.asarray(plan.arms)[plan.deal(0, 8)]
        pairs[dealt[3], dealt[4]] += 1
    assert fits(pairs.ravel(), np.full(9, 1 / 9), alarm=ALARM)
    in_turn = np.array([[0, 500, 0], [0, 0, 500], [500, 0, 0]])
    assert not fits(in_turn.ravel(), np.full(9, 1 / 9), alarm=ALARM)


def test_greedy_asks_everybody_once_and_then_the_best_so_far() -> None:
    policy = robust(first_phase="greedy")
    known = at(policy, 3, estimates=(1.0, 3.0, 2.0))
    assert drawn(policy, known, 100).tolist() == [0, 100, 0]
    costs = robust(first_phase="greedy", goal="min")
    assert drawn(costs, known, 100).tolist() == [100, 0, 0]
    unknown = at(policy, 3, estimates=(None, 3.0, None))
    assert fits(drawn(policy, unknown, 1000)[[0, 2]], [0.5, 0.5], alarm=ALARM)
    plan = policy.ask(known, rng=generator(1))
    assert plan.pulls == (8,)
    assert plan.queries == (policy.estimator.query(8, ONE),)
    assert policy.tell(known, plan, releases(plan, a1=-4.0)).estimates == (1.0, -4.0, 2.0)


def test_explore_is_greedy_but_for_a_tenth_of_the_batches() -> None:
    policy = robust(arms=4, first_phase="explore")
    known = at(policy, 3, estimates=(1.0, 3.0, 2.0, 0.0))
    counts = drawn(policy, known, 20_000)
    law = np.array([0.025, 0.925, 0.025, 0.025])
    assert fits(counts, law, alarm=ALARM)
    for wrong in (np.array([0.0125, 0.9625, 0.0125, 0.0125]), np.array([0.1, 0.9, 0.0, 0.0])):
        assert not fits(np.round(20_000 * wrong), law, alarm=ALARM)
    unknown = at(policy, 3, estimates=(1.0, 3.0, None, 0.0))
    assert drawn(policy, unknown, 100).tolist() == [0, 0, 100, 0]


def test_the_first_phase_may_use_a_central_estimate_of_two_rewards() -> None:
    moments = stoic.CentralMoment(2, 1.0, (-3, 3))
    policy = Elimination.central(
        2, 1000, moments, 1.0, profile="unit", delta=0.1, first_phase="greedy"
    )
    plan = policy.ask(policy.init(), rng=generator(1))
    assert (plan.pulls, plan.queries[0].folds) == ((2,), 2)


def test_an_unknown_first_phase_is_refused() -> None:
    with pytest.raises(InvalidParameter, match=r"first_phase = 'random': must be one of batch, ro"):
        raw(first_phase="random")
