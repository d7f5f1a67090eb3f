"""DPRSE: the private baseline without robustness (Tao, Wu, Zhao, Wang 2022, arXiv 2106.02575).

Setting: ``E|X|^(1+v) <= u``, ``v = min(k-1, 1)``, no outliers. Epoch ``tau``, in natural units:
``D = 2^-tau``, ``l = log(4 |S| tau^2 / delta)``; every active arm gets ``R`` fresh rewards, which
are truncated at ``B`` and averaged with noise ``Lap(2B / (R eps))``; arms with
``max - estimate > 12 err`` leave.

Guarantee (profile ``proof``, ``eps <= 1``, no outliers): epsilon-DP, and the best arm stays with
probability ``1 - delta``. Profile ``unit`` sets the constants to 1 and has none.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from stoic.core import (
    CentralMoment,
    Goal,
    Moment,
    Plan,
    Privacy,
    PrivacyBudget,
    RawMoment,
    choice,
    real,
    settle,
    value,
)
from stoic.errors import InvalidParameter
from stoic.options import as_budget
from stoic.policies.policy import (
    Answers,
    Run,
    checked_delta,
    leader,
    round_robin,
    stretched,
    survivors,
)
from stoic.privacy.queries import TruncatedMean

__all__ = ["DPRSE", "DPRSEState"]


@dataclass(frozen=True, slots=True)
class _Constants:
    pulls: float  # 24 in R
    width: float  # an arm leaves when it is so many err behind


_PROFILES = {"proof": _Constants(24, 12), "unit": _Constants(1, 2)}


@value
class DPRSEState:
    """Releases and counters: the epoch that comes next, the arms in play, rounds spent, each arm's
    latest estimate.
    """

    epoch: int
    active: tuple[int, ...]
    spent: int
    estimates: tuple[float | None, ...]


@value
class DPRSE(Run):
    """DPRSE as a value; built by :meth:`build`."""

    arms: int
    horizon: int
    goal: Goal
    moments: RawMoment
    budget: PrivacyBudget
    delta: float
    profile: str

    name: ClassVar[str] = "dprse"
    privacy: ClassVar[Privacy] = "central"

    def __post_init__(self) -> None:
        Run.__post_init__(self)
        settle(self, delta=real("delta", self.delta, above=0, below=1))
        choice("profile", self.profile, _PROFILES)
        if not isinstance(self.moments, RawMoment):
            raise InvalidParameter("moments", self.moments, "must be a RawMoment for DPRSE")
        if self.profile == "proof" and self.epsilon > 1:
            rule = "must be <= 1 for DPRSE, profile 'proof'"
            raise InvalidParameter("epsilon", self.epsilon, rule)

    @property
    def epsilon(self) -> float:
        """Each reward is in one release of this epsilon."""
        return self.budget.epsilon

    @classmethod
    def build(
        cls,
        arms: int,
        horizon: int,
        moments: Moment,
        epsilon: PrivacyBudget | float,
        profile: str = "proof",
        delta: float | None = None,
        goal: Goal = "max",
    ) -> DPRSE:
        """DPRSE. It knows nothing of outliers, so it takes no ``contamination``.

        >>> policy = DPRSE.build(5, 100_000, RawMoment(2, 10_005), epsilon=0.5, profile="unit")
        >>> policy.pulls(policy.init())
        118
        """
        raw = moments.as_raw() if isinstance(moments, CentralMoment) else moments
        delta = checked_delta(delta, horizon)
        return cls(arms, horizon, goal, raw, as_budget(epsilon), delta, profile)

    def init(self) -> DPRSEState:
        """All arms active, nothing estimated."""
        return DPRSEState(1, tuple(range(self.arms)), 0, (None,) * self.arms)

    def ask(self, state: DPRSEState, *, rng: np.random.Generator) -> Plan:
        """``R`` rewards of every active arm, or what is left."""
        left = self.horizon - state.spent
        if left == 0:
            return Plan((), ())
        pulls = self.pulls(state)
        if len(state.active) == 1 or pulls * len(state.active) > left:
            return round_robin(state.active, left, rng=rng)
        half_width = self.truncation(state, pulls) * self.moments.scale
        query = TruncatedMean(0.0, half_width, self.epsilon)
        return round_robin(state.active, pulls * len(state.active), rng=rng, query=query)

    def tell(self, state: DPRSEState, plan: Plan, answers: Answers) -> DPRSEState:
        """Drop every arm ``12 err`` behind the best (``2 err`` with profile ``unit``)."""
        found = {arm: release.value for arm, (release,) in answers.items()}
        after = dataclasses.replace(
            state,
            epoch=state.epoch + 1,
            spent=state.spent + plan.size,
            estimates=tuple(found.get(arm, old) for arm, old in enumerate(state.estimates)),
        )
        if not answers:
            return after
        planned = self.pulls(state)
        issued = min(release.n for (release,) in answers.values())
        error = stretched(self.error(state, planned), planned, issued) * self.moments.scale
        width = _PROFILES[self.profile].width * error
        active = survivors(state.active, found, sign=self.sign, width=width)
        return dataclasses.replace(after, active=active)

    def recommend(self, state: DPRSEState) -> int:
        """The active arm with the best latest estimate."""
        return leader(state.active, state.estimates, self.sign)

    # Formulas, in natural units (u = 1).

    @property
    def v(self) -> float:
        """``min(k - 1, 1)``: the moment used is of order ``1 + v``."""
        return min(self.moments.k - 1, 1.0)

    def log_term(self, state: DPRSEState) -> float:
        """``l = log(4 |S| tau^2 / delta)``."""
        return math.log(4 * len(state.active) * state.epoch**2 / self.delta)

    def pulls(self, state: DPRSEState) -> int:
        """``R = ceil(24^((1+v)/v) l / (eps D^((1+v)/v)) + 1)``, ``D = 2^-tau``."""
        power = (1 + self.v) / self.v
        growth = power * (math.log(_PROFILES[self.profile].pulls) + state.epoch * math.log(2))
        growth += math.log(self.log_term(state) / self.epsilon)
        # More than the horizon is as good as infinity; late epochs would overflow.
        most = math.log(self.horizon)
        return math.ceil(math.exp(min(growth, most)) + 1)

    def truncation(self, state: DPRSEState, pulls: int) -> float:
        """``B = (R eps / l)^(1/(1+v))``."""
        return math.pow(pulls * self.epsilon / self.log_term(state), 1 / (1 + self.v))

    def error(self, state: DPRSEState, pulls: int) -> float:
        """``err = (l / (R eps))^(v/(1+v))``: at most ``D / 24``."""
        return math.pow(self.log_term(state) / (pulls * self.epsilon), self.v / (1 + self.v))
