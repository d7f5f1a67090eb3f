"""How an experiment stands, for the people who run it. From releases and counters only."""

from __future__ import annotations

import datetime
import json
from dataclasses import asdict, dataclass
from typing import Any

from stoic.core import loads
from stoic.live import queries
from stoic.live.closing import read_epoch
from stoic.live.database import Storage
from stoic.live.enabled import recommended
from stoic.policies import Policy

__all__ = ["ArmSummary", "Effect", "Summary", "summarise"]


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One arm: ``in play``, ``left`` or ``disabled``; its slots, latest release and interval.

    >>> ArmSummary("B", "in play", 64, 3.0, (2.5, 3.5)).interval
    (2.5, 3.5)
    """

    name: str
    status: str
    slots: int
    estimate: float | None
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Effect:
    """By how much the leading arm is better than the next one, and an interval for it.

    >>> Effect("B", "A", 1.5, (0.5, 2.5)).better
    'B'
    """

    better: str
    than: str
    size: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Summary:
    """How an experiment stands. ``winner`` is None while the question is open.

    ``certified`` says whether the intervals are a theorem: all of them hold together with
    probability ``1 - interval_delta``, if garbage and missing rewards are no more than the
    contamination that was declared.
    """

    name: str
    status: str
    policy: str
    goal: str
    winner: str | None
    leader: str
    effect: Effect | None
    arms: tuple[ArmSummary, ...]
    certified: bool
    interval_delta: float | None
    epoch: int
    issued: int
    size: int
    spent: int
    horizon: int

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def __str__(self) -> str:
        verdict = f"winner {self.winner}" if self.winner else f"open, {self.leader} leads"
        lines = [f"{self.name} ({self.policy}, {self.status}): {verdict}"]
        if self.effect:
            effect = f"{self.effect.better} is better than {self.effect.than} by "
            lines.append(effect + _with_interval(self.effect.size, self.effect.interval))
        width = max(len(arm.name) for arm in self.arms)
        for arm in self.arms:
            told = "nothing released yet"
            if arm.estimate is not None:
                told = _with_interval(arm.estimate, arm.interval)
            lines.append(f"  {arm.name:<{width}}  {arm.status:<8}  {arm.slots:>9,} slots  {told}")
        if any(arm.interval for arm in self.arms):
            kind = "certified" if self.certified else "without guarantee"
            sure = 1 - (self.interval_delta or 0)
            lines.append(f"Intervals {kind}, together with probability {sure:g}.")
        lines.append(
            f"Epoch {self.epoch}: {self.issued:,} of {self.size:,} slots given out; "
            f"{self.spent:,} of {self.horizon:,} in earlier ones."
        )
        return "\n".join(lines)


def _with_interval(number: float, interval: tuple[float, float] | None) -> str:
    return f"{number:.4g}" + (f" in [{interval[0]:.4g}, {interval[1]:.4g}]" if interval else "")


def summarise(storage: Storage, identity: int) -> Summary:
    """The summary of an experiment, from one look at the database."""
    with storage.reading() as connection:
        row = queries.experiment(connection, identity)
        current = queries.epoch_row(connection, identity, row.epoch)
        closed = queries.closed_epochs(connection, identity)
        answers = queries.answers_of(connection, identity)
        events = queries.happened(connection, identity)
    policy, state = queries.policy_of(row), loads(row.state)
    labels, disabled = json.loads(row.arms), frozenset(json.loads(row.disabled))
    active = set(getattr(state, "active", range(policy.arms))) - disabled
    since = {body["arm"]: at for at, kind, body in events if kind == "disabled"}
    slots = dict.fromkeys(range(policy.arms), 0)
    found: dict[int, tuple[float, float | None]] = {}
    for epoch in (*closed, *([current] if current.closed_at is None else [])):
        dealer = read_epoch(epoch, row.state).dealer
        for arm, n in zip(dealer.plan.arms, dealer.counts(epoch.issued), strict=True):
            slots[arm] += n
        for arm, releases in answers.get(epoch.epoch, {}).items():
            trusted = arm not in since or since[arm] > (epoch.issued_at or 0)
            if trusted and (epoch.radius is not None or found.get(arm, (0, None))[1] is None):
                found[arm] = releases[-1].value, epoch.radius
    arms = tuple(
        ArmSummary(
            labels[arm],
            "disabled" if arm in disabled else "in play" if arm in active else "left",
            slots[arm],
            *_estimate(found.get(arm)),
        )
        for arm in range(policy.arms)
    )
    leader = recommended(policy, state, disabled)
    settled = len(active) == 1 or getattr(state, "committed", False)
    compared = leader in found and policy.arms - len(disabled) > 1
    return Summary(
        name=row.name,
        status=row.status,
        policy=policy.name,
        goal=policy.goal,
        winner=labels[leader] if settled and compared else None,
        leader=labels[leader],
        effect=_effect(arms, leader, 1 if policy.goal == "max" else -1),
        arms=arms,
        certified=certified(policy),
        interval_delta=getattr(policy, "interval_delta", getattr(policy, "delta", None)),
        epoch=current.epoch,
        issued=current.issued,
        size=queries.plan_of(current).size,
        spent=getattr(state, "spent", 0),
        horizon=policy.horizon,
    )


def certified(policy: Policy) -> bool:
    """Whether the radii of a policy are a theorem."""
    estimator = getattr(policy, "estimator", None)
    return estimator is not None and bool(getattr(estimator, "guaranteed", True))


def when(at: int) -> str:
    """A time of the database, for people.

    >>> when(0)
    '1970-01-01 00:00:00 UTC'
    """
    moment = datetime.datetime.fromtimestamp(at / 1000, datetime.UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _estimate(
    found: tuple[float, float | None] | None,
) -> tuple[float | None, tuple[float, float] | None]:
    if found is None:
        return None, None
    number, radius = found
    return number, None if radius is None else (number - radius, number + radius)


def _effect(arms: tuple[ArmSummary, ...], leader: int, sign: int) -> Effect | None:
    """How far the leader is from the best of the others."""
    best = arms[leader]
    others = [
        arm
        for place, arm in enumerate(arms)
        if place != leader and arm.estimate is not None and arm.status != "disabled"
    ]
    if best.estimate is None or not others:
        return None
    second = max(others, key=lambda arm: sign * (arm.estimate or 0.0))
    size = sign * (best.estimate - (second.estimate or 0.0))
    if best.interval is None or second.interval is None:
        return Effect(best.name, second.name, size, None)
    reach = (best.interval[1] - best.interval[0] + second.interval[1] - second.interval[0]) / 2
    return Effect(best.name, second.name, size, (size - reach, size + reach))
