"""The Noise protocol: everything that releases a number takes one as ``noise=``.

Built by the caller and passed along: :class:`stoic.SimulatedNoise` for simulations,
:class:`stoic.SecureNoise` for real people. Integers in, integers out: floating-point noise leaks
the true value through its low bits.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Noise"]


class Noise(Protocol):
    """The only source of privacy noise."""

    @property
    def private(self) -> bool:
        """Whether this noise protects anybody: only :class:`stoic.SecureNoise` does."""
        ...

    def laplace(self, exact: int, *, sensitivity: int, epsilon: float) -> int:
        """``exact`` plus discrete Laplace noise of scale ``sensitivity / epsilon``."""
        ...

    def laplace_vector(
        self, exact: NDArray[np.int64], *, sensitivity: int, epsilon: float
    ) -> NDArray[np.int64]:
        """The same for every entry; ``sensitivity`` is that of the whole vector in the L1 norm."""
        ...

    def noisy_max(self, scores: NDArray[np.int64], *, sensitivity: int, epsilon: float) -> int:
        """Index of the largest score plus exponential noise, scale ``2 sensitivity / epsilon``."""
        ...
