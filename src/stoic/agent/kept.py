"""What is kept of an agent as JSON: the public part, and the checkpoint with its open rewards."""

from __future__ import annotations

import base64
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stoic.core import Plan, integer, loads, settle, value
from stoic.errors import InvalidState
from stoic.privacy.ledger import Charge

__all__ = ["AgentCheckpoint", "AgentState", "pack", "read", "unpack"]


@value
class AgentState:
    """What an agent may show: the policy, its state, the open plan, and what was charged.

    ``protected`` says whether it holds nothing but releases of a private policy, all drawn with
    real noise. Of a policy that is not private it is false, and the state holds rewards.

    >>> AgentState.__slots__
    ('protected', 'policy', 'state', 'plan', 'phase', 'charges')
    """

    protected: bool
    policy: Any
    state: Any
    plan: Plan
    phase: int
    charges: tuple[Charge, ...]

    def __post_init__(self) -> None:
        settle(self, phase=integer("phase", self.phase, at_least=1))
        if not (
            isinstance(self.protected, bool)
            and isinstance(self.plan, Plan)
            and max(self.plan.arms, default=0) < self.policy.arms
            and type(self.state) is type(self.policy.init())
            and all(isinstance(charge, Charge) for charge in self.charges)
        ):
            raise InvalidState("its parts do not belong together")


@value
class AgentCheckpoint:
    """Everything, open rewards included: as private as the rewards.

    >>> AgentCheckpoint.__slots__
    ('notice', 'public', 'dealing', 'issued', 'told', 'rewards')
    """

    notice: str
    public: AgentState
    dealing: int
    issued: int
    told: str = field(repr=False)
    rewards: str = field(repr=False)

    def __post_init__(self) -> None:
        settle(
            self,
            dealing=integer("dealing", self.dealing, at_least=0),
            issued=integer("issued", self.issued, at_least=0),
        )
        plan = self.public.plan
        rewards = self.issued if plan.queries else 0
        told = unpack(self.told, np.bool_).size, unpack(self.rewards, np.float64).size
        if self.issued > plan.size or told != (rewards, rewards):
            raise InvalidState("its parts do not belong together")


def read(text: str, kind: type) -> Any:
    """The value of that kind that a JSON text holds.

    >>> read('{"kind": "PrivacyBudget", "epsilon": 0.5}', AgentState)
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidState: holds a PrivacyBudget, not an AgentState
    """
    kept = loads(text)
    if not isinstance(kept, kind):
        raise InvalidState(f"holds a {type(kept).__name__}, not an {kind.__name__}")
    return kept


def pack(column: NDArray[Any]) -> str:
    """An array as text, every bit of it: rewards may be NaN, for which JSON has no word.

    >>> unpack(pack(np.array([0.1, np.nan])), np.float64)
    array([0.1, nan])
    """
    return base64.b64encode(column.astype(column.dtype.newbyteorder("<")).tobytes()).decode()


def unpack(text: str, dtype: type) -> NDArray[Any]:
    """The array that :func:`pack` wrote."""
    little = np.dtype(dtype).newbyteorder("<")
    return np.frombuffer(base64.b64decode(text, validate=True), dtype=little).astype(dtype)
