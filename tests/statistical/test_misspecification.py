"""What becomes of PRAE-S when an assumption is wrong; docs/how-to/assumptions.md says what breaks.

An adversary that adapts to the past is covered as long as it keeps to its share in every epoch. One
that spends the outliers of the whole horizon on the first epochs is not, and is shown to do harm.
"""

from __future__ import annotations

import numpy as np
import pytest

import stoic
from helpers.extreme import fair
from helpers.survival import best_survives
from stoic.policies import create

pytestmark = pytest.mark.statistical

GAP = 0.05
ALPHA = 0.1


class Adaptive:
    """Outliers whose place follows from the past: nearer in the first epoch, farther in the next.

    Every batch has its share of them, as it would in Huber's model.
    """

    def __init__(self, mean, side, share):
        self.mean = mean
        self.clean, self.side, self.share = fair(mean), side, share
        self.asked, self.run = 0, None

    def counts(self, n, *, rng):
        if self.run is not rng:  # a run has one stream
            self.asked, self.run = 0, rng
        self.asked += 1
        values, chances = self.clean.atoms()
        shares = np.append((1 - self.share) * np.asarray(chances), self.share)
        return np.append(values, self.side * 3.0 * self.asked), rng.multinomial(n, shares)


def run(share=ALPHA, told=ALPHA):
    """The policy is told of a share; the best arm is sunk and the other one lifted."""
    policy = create(
        "prae-s",
        arms=2,
        horizon=10**6,
        moments=stoic.CentralMoment(2, 1.0, (-2.0, 2.0)),
        epsilon=1.0,
        contamination=told,
        delta=0.05,
    )
    return policy, [Adaptive(GAP, -1, share), Adaptive(0.0, 1, share)]


def test_outliers_that_adapt_to_the_past_are_covered():
    assert best_survives(*run())


def test_outliers_of_the_whole_horizon_in_the_first_epochs_are_not():
    """One in twenty of all users, half of those who are asked."""
    assert not best_survives(*run(share=0.45))


def test_a_share_far_too_small_is_not():
    assert not best_survives(*run(told=0.01))
