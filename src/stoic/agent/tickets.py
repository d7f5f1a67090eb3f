"""Tickets: which arm a user gets, and which slot of the plan the user's reward belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["BEYOND", "Ticket", "Tickets"]

BEYOND = -1  # the slot of a ticket that is not part of the plan


class Ticket(NamedTuple):
    """An arm for one user, and the slot that the user's reward belongs to. Four integers.

    They may be stored and sent as they are; ``Ticket(*numbers)`` makes them a ticket again.

    >>> Ticket(arm=2, phase=1, slot=7, dealing=123)
    Ticket(arm=2, phase=1, slot=7, dealing=123)
    """

    arm: int
    phase: int
    slot: int
    dealing: int


@dataclass(frozen=True, eq=False, slots=True)
class Tickets:
    """A block of tickets as arrays. Iterates over single tickets; a slice or mask gives a block.

    >>> block = Tickets(np.array([0, 1]), np.array([1, 1]), np.array([0, 1]), dealing=123)
    >>> len(block), block[1:].arms, next(iter(block))
    (2, array([1]), Ticket(arm=0, phase=1, slot=0, dealing=123))
    """

    arms: NDArray[np.int64]
    phases: NDArray[np.int64]
    slots: NDArray[np.int64]
    dealing: int

    def __len__(self) -> int:
        return self.arms.size

    def __iter__(self) -> Iterator[Ticket]:
        columns = self.arms.tolist(), self.phases.tolist(), self.slots.tolist()
        return (Ticket(*row, self.dealing) for row in zip(*columns, strict=True))

    def __getitem__(self, index: slice | NDArray[Any]) -> Tickets:
        return Tickets(self.arms[index], self.phases[index], self.slots[index], self.dealing)
