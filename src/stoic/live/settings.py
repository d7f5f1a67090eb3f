"""What an experiment was told about time and missing rewards, and when an epoch is over.

An epoch is over when all its slots are issued and the last one's reward deadline has passed; or
when its own deadline has passed with fewer slots issued (none are dealt in the last reward
deadline before it, so nobody's reward is cut off). Both are judged at fixed ticks, by what is
public only. Never "as soon as the rewards are in": that would show whether they came.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from stoic.core import real
from stoic.errors import InvalidParameter
from stoic.live.clock import Duration, duration

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Times in milliseconds; what a missing reward counts as, if anything."""

    reward_deadline: int
    tick: int
    epoch_deadline: int | None
    reward_default: float | None

    @classmethod
    def build(
        cls,
        *,
        reward_deadline: Duration,
        tick: Duration,
        epoch_deadline: Duration | None,
        reward_default: float | None,
    ) -> Self:
        """From what a person writes.

        >>> Settings.build(
        ...     reward_deadline="7d", tick="1h", epoch_deadline=None, reward_default=0
        ... ).tick
        3600000
        """
        wait = duration("reward_deadline", reward_deadline)
        limit = None if epoch_deadline is None else duration("epoch_deadline", epoch_deadline)
        if limit is not None and limit <= wait:
            rule = "must be longer than reward_deadline, or no slot is ever dealt"
            raise InvalidParameter("epoch_deadline", epoch_deadline, rule)
        default = None if reward_default is None else real("reward_default", reward_default)
        return cls(wait, duration("tick", tick), limit, default)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def tick_before(self, created_at: int, now: int) -> int:
        """The last of the fixed ticks that is not after now.

        >>> Settings(1000, 10, None, None).tick_before(100, 137)
        130
        """
        return created_at + (now - created_at) // self.tick * self.tick

    def deals(self, opened_at: int, now: int) -> bool:
        """Whether slots are still dealt: a reward told in time must be in time for the epoch."""
        if self.epoch_deadline is None:
            return True
        return now < opened_at + self.epoch_deadline - self.reward_deadline

    def is_full(self, epoch: Any, *, asks: bool, at: int) -> bool:
        """Whether an epoch whose slots are all issued is over. It has the database's columns."""
        if epoch.issued_at is None:  # every slot belonged to a disabled arm
            return bool(epoch.opened_at <= at)
        return bool(epoch.issued_at + (self.reward_deadline if asks else 0) <= at)

    def is_overdue(self, epoch: Any, *, at: int) -> bool:
        """Whether the epoch's own deadline has passed."""
        limit = self.epoch_deadline
        return limit is not None and bool(epoch.opened_at + limit <= at)
