"""The ledger: no reward is charged twice, and none more than the budget."""

from __future__ import annotations

from stoic.core import PrivacyBudget, Release, integer, settle, value
from stoic.errors import PrivacyViolation

__all__ = ["Charge", "Ledger"]


@value
class Charge:
    """One release and the disjoint group of rewards that it used: (batch, arm, fold).

    >>> Charge(1, 0, 0, "truncated-mean", n=64, epsilon=0.5).epsilon
    0.5
    """

    batch: int
    arm: int
    fold: int
    mechanism: str
    n: int
    epsilon: float

    def __post_init__(self) -> None:
        settle(
            self,
            batch=integer("batch", self.batch, at_least=0),
            arm=integer("arm", self.arm, at_least=0),
            fold=integer("fold", self.fold, at_least=0),
            n=integer("n", self.n, at_least=1),
            epsilon=PrivacyBudget(self.epsilon).epsilon,
        )


class Ledger:
    """Parallel composition, enforced: every group of rewards is spent once, within the budget.

    A slot belongs to exactly one (batch, arm, fold), and a user has one slot. So the whole
    experiment costs each user the largest single charge, not the sum of all.

    >>> ledger = Ledger(PrivacyBudget(0.5))
    >>> ledger.charge(1, 0, 0, Release("truncated-mean", 3.0, n=64, epsilon=0.5))
    >>> ledger.spent
    0.5
    >>> ledger.charge(1, 0, 0, Release("truncated-mean", 3.1, n=64, epsilon=0.5))
    Traceback (most recent call last):
        ...
    stoic.errors.PrivacyViolation: batch 1, arm 0, fold 0: these rewards were already spent
    """

    def __init__(self, budget: PrivacyBudget, charges: tuple[Charge, ...] = ()) -> None:
        self.budget = budget
        self._charges: dict[tuple[int, int, int], Charge] = {}
        for charge in charges:
            self._enter(charge)

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every charge so far, in the order in which they were made."""
        return tuple(self._charges.values())

    @property
    def spent(self) -> float:
        """What the whole experiment has cost the reward that it cost most."""
        return max((charge.epsilon for charge in self._charges.values()), default=0.0)

    def charge(self, batch: int, arm: int, fold: int, release: Release) -> None:
        """Enter a release, or refuse it with :class:`~stoic.errors.PrivacyViolation`.

        To be called before the release is shown to anybody.
        """
        if release.epsilon is None:
            raise PrivacyViolation(f"{release.mechanism} is not private and cannot be charged")
        self._enter(Charge(batch, arm, fold, release.mechanism, release.n, release.epsilon))

    def _enter(self, charge: Charge) -> None:
        group = charge.batch, charge.arm, charge.fold
        where = f"batch {charge.batch}, arm {charge.arm}, fold {charge.fold}"
        if group in self._charges:
            raise PrivacyViolation(f"{where}: these rewards were already spent")
        if charge.epsilon > self.budget.epsilon:
            raise PrivacyViolation(
                f"{where}: epsilon {charge.epsilon} exceeds the budget {self.budget.epsilon}"
            )
        self._charges[group] = charge
