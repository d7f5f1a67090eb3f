"""What the private estimators share: a budget, a contamination and a profile of constants."""

from __future__ import annotations

from typing import ClassVar

from stoic.core import Contamination, Moment, Privacy, PrivacyBudget
from stoic.estimators.estimator import checked
from stoic.privacy.queries import GRID
from stoic.theory.profiles import PROFILES, Profile

__all__ = ["Profiled"]


class Profiled:
    """Base of a truncated mean tuned by a profile; subclasses say which formulas apply."""

    __slots__ = ()
    privacy: ClassVar[Privacy] = "central"

    moments: Moment
    budget: PrivacyBudget
    contamination: Contamination
    profile: str

    @property
    def epsilon(self) -> float:
        """What one estimate costs each of its rewards."""
        return self.budget.epsilon

    @property
    def guaranteed(self) -> bool:
        """Whether the radius is a theorem."""
        return self._constants.guaranteed

    def radius(self, n: int, failure: float) -> float:
        """``beta`` of the profile, plus half a grid step for the fixed-point sum."""
        grid = self._half_width(n, failure) / GRID
        return self._beta(n, failure) * self.moments.scale + grid / 2

    def share(self, delta: float, active: int, batch: int) -> float:
        """The profile's division of ``delta``."""
        return self._constants.share(delta, active, batch)

    @property
    def _constants(self) -> Profile:
        return PROFILES[self.profile]

    @property
    def _setting(self) -> dict[str, float]:
        return {"epsilon": self.epsilon, "alpha": self.contamination.alpha, "k": self.moments.k}

    def _half_width(self, n: int, failure: float) -> float:
        n, failure = checked(n, failure)
        return self._cut(n, failure) * self.moments.scale

    def _cut(self, n: int, failure: float) -> float:
        """``M`` in natural units."""
        raise TypeError("a profiled estimator must say where it truncates")

    def _beta(self, n: int, failure: float) -> float:
        """The radius in natural units."""
        raise TypeError("a profiled estimator must say how far it may err")
