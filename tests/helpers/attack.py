"""What the attacks on privacy share: how sure an alarm must be, and noise with a planted bug."""

from __future__ import annotations

__all__ = ["SURE", "Weakened"]

SURE = 1 - 1e-9
"""Confidence of an audit of honest code: it raises a false alarm once in 1e9 runs at most."""


class Weakened:
    """Noise of a fraction of the scale that was asked for: a sensitivity that is too small."""

    private = False

    def __init__(self, noise, factor=0.5):
        self._noise = noise
        self._factor = factor

    def laplace(self, exact, *, sensitivity, epsilon):
        return self._noise.laplace(exact, sensitivity=self._factor * sensitivity, epsilon=epsilon)

    def laplace_vector(self, exact, *, sensitivity, epsilon):
        weak = self._factor * sensitivity
        return self._noise.laplace_vector(exact, sensitivity=weak, epsilon=epsilon)

    def noisy_max(self, scores, *, sensitivity, epsilon):
        weak = self._factor * sensitivity
        return self._noise.noisy_max(scores, sensitivity=weak, epsilon=epsilon)
