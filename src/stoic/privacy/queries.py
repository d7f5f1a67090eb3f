"""What a plan asks of rewards: mergeable accumulators that bound sensitivity and add noise.

A **mechanism** reads one fold of one arm's rewards. It starts from ``empty()``, takes blocks with
``add``, joins partial totals with ``merge`` and ends in ``release``. Totals are integers, so any
split and any order of the same rewards gives the same total, bit for bit: the simulator's blocks,
an agent's single rewards and a database's rows (:func:`keep`, :func:`add_kept`) all feed the same
object.

A **query** is a chain of mechanisms over disjoint folds: position ``i`` of the batch belongs to
fold ``i % folds``, and the mechanism of a later fold may depend on the releases of the earlier
ones. :func:`answer` runs the chain.

Non-finite rewards are values that an adversary may send. A mean that zeroes takes them as 0; a
clip takes infinities as the ends and NaN as the centre; a histogram puts infinities in its edge
bins and NaN in none; no window counts any of them. Nothing is dropped: ``n`` is the public number
of slots. Whatever the rewards are, nothing raises and every release is finite: centres, widths and
epsilon are bounded when a mechanism is built. Sensitivity arguments: beside each mechanism,
collected in ``docs/theory/privacy.md``.
"""

from __future__ import annotations

from stoic.privacy.chains import RecentredMean, answer, fold_sizes
from stoic.privacy.kept import add_kept, keep
from stoic.privacy.locating import Histogram, WindowCounts
from stoic.privacy.means import GRID, ClippedMean, TruncatedMean
from stoic.privacy.mechanism import Block, Mechanism
from stoic.privacy.unprotected import Statistic, Unprotected, tame

__all__ = [
    "GRID",
    "Block",
    "ClippedMean",
    "Histogram",
    "Mechanism",
    "RecentredMean",
    "Statistic",
    "TruncatedMean",
    "Unprotected",
    "WindowCounts",
    "add_kept",
    "answer",
    "fold_sizes",
    "keep",
    "tame",
]
