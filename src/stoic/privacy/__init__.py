"""The only code that draws noise or opens raw rewards.

:mod:`~stoic.privacy.queries` bounds what one reward can change, :class:`stoic.SecureNoise` (or, for
simulations, :class:`stoic.SimulatedNoise`) hides that change in noise,
:mod:`~stoic.privacy.ledger` lets every reward be spent once, and :mod:`~stoic.privacy.audit` looks
for lies. The argument is in ``docs/theory/privacy.md``.
"""

from __future__ import annotations

from stoic.privacy.ledger import Charge, Ledger
from stoic.privacy.noise import Noise
from stoic.privacy.queries import (
    ClippedMean,
    Histogram,
    RecentredMean,
    TruncatedMean,
    Unprotected,
    WindowCounts,
    answer,
)

__all__ = [
    "Charge",
    "ClippedMean",
    "Histogram",
    "Ledger",
    "Noise",
    "RecentredMean",
    "TruncatedMean",
    "Unprotected",
    "WindowCounts",
    "answer",
]
