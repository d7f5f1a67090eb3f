"""A noise that adds none and remembers what it was asked to protect."""

from __future__ import annotations

import numpy as np

__all__ = ["Spy", "exact"]


class Spy:
    """Keeps (exact value, sensitivity, norm, epsilon) of every call.

    The norm is the one in which the mechanism promises its sensitivity.
    """

    private = False

    def __init__(self):
        self.calls = []

    def laplace(self, exact, *, sensitivity, epsilon):
        self.calls.append((np.array([exact], dtype=object), sensitivity, 1, epsilon))
        return exact

    def laplace_vector(self, exact, *, sensitivity, epsilon):
        self.calls.append((exact.astype(object), sensitivity, 1, epsilon))
        return exact

    def noisy_max(self, scores, *, sensitivity, epsilon):
        self.calls.append((scores.astype(object), sensitivity, np.inf, epsilon))
        return int(np.argmax(scores))

    def distance(self, other):
        """How far the protected values are apart, in units of their sensitivity."""
        (mine, sensitivity, norm, _), (theirs, *_) = self.calls[-1], other.calls[-1]
        gaps = np.abs(mine - theirs)
        return (gaps.sum() if norm == 1 else gaps.max()) / sensitivity


def exact(mechanism, rewards, n=None):
    """The release of a block without any noise."""
    total = mechanism.add(mechanism.empty(), np.asarray(rewards))
    return mechanism.release(total, n or len(rewards), noise=Spy()).value
