"""Whole runs against the bounds for given gaps: on the good event no arm is pulled more often.

The bounds are theorems given that every estimate is within its radius of the clean mean, which is
checked run by run; so no run that keeps to the good event may ever exceed one, and there is no
false alarm. How often the good event fails is judged at 1e-9. At the end the worst regret is fitted
against the horizon: its order is that of the theorems.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import stoic
from helpers.extreme import Observed
from helpers.play import Trace, play
from helpers.shares import too_often
from stoic.environments.finite import Discrete
from stoic.estimators import Estimator
from stoic.policies import Policy, create
from stoic.theory import explicit_pull_bound, pull_bound, regret_bound

pytestmark = pytest.mark.statistical

RUNS = 40
DELTA = 0.1
ALARM = 1e-9


@dataclass(frozen=True)
class Case:
    """A policy, and arms that the adversary makes look alike."""

    name: str
    moments: Any
    epsilon: float
    alpha: float
    means: tuple[float, ...]
    horizon: int = 2**34

    def policy(self) -> Policy:
        return create(
            self.name,
            arms=len(self.means),
            horizon=self.horizon,
            moments=self.moments,
            epsilon=self.epsilon,
            contamination=self.alpha,
            delta=DELTA,
        )

    def arms(self) -> list[Observed]:
        """Moments as large as assumed; outliers against the best arm, and for the others."""
        best, far = max(self.means), 2 * self.moments.scale
        return [
            Observed(self._spread(mean), self.alpha, far if mean < best else -far)
            for mean in self.means
        ]

    def _spread(self, mean: float) -> Discrete:
        """``mean - by`` or ``mean + by``, as far apart as the moment allows."""
        about = mean if self.name == "prae-c" else 0.0
        k, bound = self.moments.k, self.moments.bound

        def excess(by: float) -> float:
            return (abs(mean - by - about) ** k + abs(mean + by - about) ** k) / 2 - bound

        by = optimize.brentq(excess, 0, 2 * self.moments.scale) * (1 - 1e-9)
        return Discrete((mean - by, mean + by), (0.5, 0.5))

    @property
    def gaps(self) -> list[float]:
        return [max(self.means) - mean for mean in self.means]


@dataclass(frozen=True)
class Slow:
    """The planted wrong estimator: arms are judged by eight times the radius."""

    inner: Estimator

    def radius(self, n: int, failure: float) -> float:
        return 8 * self.inner.radius(n, failure)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


RAW = stoic.RawMoment(2, 1.0)
CASES = {
    "raw": Case("prae-r", RAW, 1.0, 0.0, (0.5, 0.3, -0.4)),
    "raw, private": Case("prae-r", RAW, 0.05, 0.0, (0.5, 0.0)),
    "raw, outliers": Case("prae-r", RAW, 1.0, 1e-5, (0.4, 0.2, 0.0, -0.6)),
    "raw, third moment": Case("prae-r", stoic.RawMoment(3, 1.0), 0.5, 0.0, (0.4, 0.1)),
    "central": Case("prae-c", stoic.CentralMoment(2, 1.0, (-20, 20)), 1.0, 0.0, (0.5, 0.3, -9.0)),
    "central, outliers": Case(
        "prae-c", stoic.CentralMoment(2, 1.0, (-20, 20)), 1.0, 1e-3, (3.0, 0.0), 2**36
    ),
}
EXPLICIT = [name for name, case in CASES.items() if case.name == "prae-r"]


def runs_of(policy: Policy, arms: list[Observed]) -> list[Trace]:
    traces = []
    for seed in np.random.SeedSequence(3).spawn(RUNS):
        rng, secret = (np.random.Generator(np.random.SFC64(part)) for part in seed.spawn(2))
        traces.append(play(policy, arms, rng=rng, noise=stoic.SimulatedNoise(secret)))
    return traces


def good(case: Case, trace: Trace) -> bool:
    """Whether every estimate that arms were judged by was within its radius."""
    estimator = case.policy().estimator
    active = len(case.means)
    for batch, (answers, state) in enumerate(zip(trace.answers, trace.states, strict=True), 1):
        if state.radius is not None and answers:
            n = estimator.sample_size(2**batch)
            radius = estimator.radius(n, estimator.share(DELTA, active, batch))
            for arm, releases in answers.items():
                if abs(releases[-1].value - case.means[arm]) > radius:
                    return False
        active = len(state.active)
    return True


def bounds(case: Case) -> list[int]:
    run = {"arms": len(case.means), "horizon": case.horizon, "delta": DELTA}
    gaps = case.gaps
    return [
        pull_bound(case.policy().estimator, gap, **run) if gap else case.horizon for gap in gaps
    ]


def explicit_bounds(case: Case) -> list[float]:
    run = {"arms": len(case.means), "horizon": case.horizon, "delta": DELTA}
    setting = {"epsilon": case.epsilon, "moments": case.moments, "contamination": case.alpha}
    return [
        explicit_pull_bound(gap, **run, **setting) if gap else case.horizon for gap in case.gaps
    ]


def exceeded(traces: list[Trace], most: list[float], factor: float = 1.0) -> int:
    """In how many runs some arm but the best was pulled more often than that."""
    return sum(
        any(
            pulls > factor * bound
            for pulls, bound, gap in zip(trace.totals, most, trace.gaps, strict=True)
            if gap > 0
        )
        for trace in traces
    )


def traces_of(case: Case) -> list[Trace]:
    """Runs that kept to the good event: most of them, or it would mean nothing."""
    traces = runs_of(case.policy(), case.arms())
    kept = [trace for trace in traces if good(case, trace)]
    assert not too_often(RUNS - len(kept), RUNS, math.pi**2 / 12 * DELTA, alarm=ALARM)
    return kept


@pytest.mark.parametrize("name", CASES)
def test_on_the_good_event_no_arm_is_pulled_more_often_than_bounded(name: str) -> None:
    case = CASES[name]
    traces = traces_of(case)
    assert exceeded(traces, bounds(case)) == 0
    assert all(trace.surviving == (0,) for trace in traces)
    # The planted wrong bound. The true ones are 2 to 8 times what was seen.
    assert exceeded(traces, bounds(case), factor=1 / 16) == len(traces)


@pytest.mark.parametrize("name", EXPLICIT)
def test_the_explicit_bound_holds_too(name: str) -> None:
    case = CASES[name]
    traces = traces_of(case)
    assert exceeded(traces, explicit_bounds(case)) == 0
    assert exceeded(traces, explicit_bounds(case), factor=1 / 100) == len(traces)


@pytest.mark.parametrize("name", CASES)
def test_the_regret_is_within_its_bound(name: str) -> None:
    case = CASES[name]
    traces = traces_of(case)
    most = regret_bound(
        case.policy().estimator, case.gaps, horizon=case.horizon, delta=DELTA
    ).on_good_event
    assert max(trace.regret for trace in traces) <= most
    assert min(trace.regret for trace in traces) > most / 16


@pytest.mark.parametrize("name", CASES)
def test_a_policy_that_keeps_arms_for_too_long_is_caught(name: str) -> None:
    case = CASES[name]
    policy = case.policy()
    slow = dataclasses.replace(policy, estimator=Slow(policy.estimator))
    assert exceeded(runs_of(slow, case.arms()), bounds(case)) == RUNS


def test_an_unlucky_run_is_told_from_a_good_one() -> None:
    case = CASES["raw"]
    (trace,) = runs_of(case.policy(), case.arms())[:1]
    wrong = dataclasses.replace(case, means=(0.5, 0.45, -0.4))  # not the means it was played on
    assert good(case, trace)
    assert not good(wrong, trace)


# --- Rates --------------------------------------------------------------------------------------


def worst_regret(name: str, k: float, epsilon: float, alpha: float, horizon: int) -> float:
    """Regret on two constant arms, whose gap is the worst of many for this horizon."""
    setting: dict[str, Any] = {"arms": 2, "horizon": horizon}
    if name != "uniform":
        setting |= {"moments": stoic.RawMoment(k, 1.0), "epsilon": epsilon}
    if name == "prae-r":
        setting["contamination"] = alpha
    policy, found = create(name, **setting), []
    for place in range(30):
        gap = 2.0 ** (-place / 2)
        arms = [Discrete((mean,), (1.0,)) for mean in (0.5, 0.5 - gap)]
        play_rng, secret = (np.random.Generator(np.random.SFC64([part, place])) for part in (0, 1))
        noise = stoic.SimulatedNoise(secret)
        found.append(play(policy, arms, rng=play_rng, noise=noise).regret)
    return max(found)


def order_in_horizon(*setting: Any) -> float:
    """The exponent of T in the worst regret, from T = 2^28 to 2^40."""
    powers = np.arange(28, 41, 4)
    regrets = [worst_regret(*setting, horizon=2 ** int(power)) for power in powers]
    return float(np.polyfit(powers, np.log2(regrets), 1)[0])


@pytest.mark.parametrize(
    ("name", "k", "epsilon", "alpha", "order"),
    [
        ("prae-r", 2.0, 1.0, 0.0, 1 / 2),
        ("prae-r", 4.0, 1.0, 0.0, 1 / 2),
        ("prae-r", 1.5, 0.01, 0.0, 2 / 3),  # T^(1/k): privacy
        ("prae-r", 2.0, 1.0, 1e-3, 1.0),  # what outliers hide stays hidden
        ("dprse", 2.0, 1.0, 0.0, 1 / 2),
        ("dprse", 1.5, 1.0, 0.0, 2 / 3),
        ("uniform", 2.0, 1.0, 0.0, 1.0),  # whoever learns nothing
    ],
)
def test_worst_regret_grows_with_the_horizon_as_the_theorem_says(
    name: str, k: float, epsilon: float, alpha: float, order: float
) -> None:
    # A logarithm of T adds 0.02 or so, and batches of 2^tau make steps of their own.
    assert order_in_horizon(name, k, epsilon, alpha) == pytest.approx(order, abs=0.07)
