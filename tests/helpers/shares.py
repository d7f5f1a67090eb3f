"""Whether something that may happen with a stated probability happened too often."""

from __future__ import annotations

from scipy import stats

__all__ = ["too_often"]


def too_often(times: int, runs: int, probability: float, *, alarm: float) -> bool:
    """Wrongly True with probability ``alarm`` at most (exact binomial tail)."""
    return bool(stats.binom.sf(times - 1, runs, probability) <= alarm)
