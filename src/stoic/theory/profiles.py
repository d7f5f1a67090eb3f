"""Profiles: data-independent maps from public numbers to cuts, radii and thresholds.

========= =================================================================== ==========
profile   what it is                                                          guaranteed
========= =================================================================== ==========
``proof`` the paper's appendix, made exact (:mod:`stoic.theory.proof`)        yes
``unit``  every constant set to 1 (:mod:`stoic.theory.unit`)                  no
========= =================================================================== ==========
"""

from __future__ import annotations

from typing import Protocol

from numpy.typing import ArrayLike

from stoic.core import Floats
from stoic.theory import proof, unit

__all__ = ["PROFILES", "Profile"]


class Profile(Protocol):
    """What every profile module provides. All quantities in natural units."""

    guaranteed: bool
    raw_breakdown: float
    central_breakdown: float

    def share(self, delta: float, active: int, batch: int) -> float:
        """Failure probability of one of ``active`` estimates in batch number ``batch``."""
        ...

    def check_raw(self, *, epsilon: float, alpha: float) -> None:
        """Raise InvalidParameter where the raw formulas do not hold."""
        ...

    def raw_cut(
        self, n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float
    ) -> Floats:
        """Truncation level M of PRM-R."""
        ...

    def raw_radius(
        self, n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float
    ) -> Floats:
        """Confidence radius beta of PRM-R."""
        ...

    def raw_threshold(self, *, epsilon: float, alpha: float, failure: float) -> float:
        """Least n for which the radius holds."""
        ...

    def check_central(self, *, epsilon: float, alpha: float, k: float, half_range: float) -> None:
        """Raise InvalidParameter where the central formulas do not hold."""
        ...

    def central_bin_width(self, *, alpha: float, k: float) -> float:
        """Bin width r of PRM-C's histogram."""
        ...

    def central_cut(
        self, n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float
    ) -> Floats:
        """Truncation level M of PRM-C about its centre J."""
        ...

    def central_radius(
        self, n: ArrayLike, *, epsilon: float, alpha: float, k: float, failure: float
    ) -> Floats:
        """Confidence radius beta of PRM-C."""
        ...

    def central_threshold(
        self, *, epsilon: float, alpha: float, k: float, half_range: float, failure: float
    ) -> float:
        """Least n (rewards in each fold) for which the radius holds."""
        ...


PROFILES: dict[str, Profile] = {"proof": proof, "unit": unit}
