"""The privacy statement of an experiment: what is promised to whom, and what it has cost.

In plain words, for a data-protection file, and as JSON.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from stoic.live import queries
from stoic.live.database import Storage
from stoic.live.settings import Settings
from stoic.live.summary import certified, when
from stoic.policies import Policy

__all__ = ["ChargedRelease", "Statement", "state_privacy"]


@dataclass(frozen=True, slots=True)
class ChargedRelease:
    """One number that was released, and what it cost each reward in it.

    >>> ChargedRelease(1, "A", "clipped-mean", 3.5, 64, 1.0, "2030-01-01").epsilon
    1.0
    """

    epoch: int
    arm: str
    mechanism: str
    value: float
    n: int
    epsilon: float
    at: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What is promised, to whom, and what it has cost so far. ``str`` of it is the text."""

    experiment: str
    policy: str
    epsilon: float | None
    spent: float
    real_noise: bool
    contamination: float | None
    certified: bool
    reward_default: float | None
    releases: tuple[ChargedRelease, ...]

    def cost(self, experiments: int) -> float:
        """The epsilon of a person who is in so many experiments of this one's epsilon."""
        return experiments * (self.epsilon or 0.0)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "text": str(self)}

    def __str__(self) -> str:
        return "\n\n".join(
            part
            for part in (
                f"PRIVACY OF THE EXPERIMENT {self.experiment!r}",
                self._promise(),
                _LIMITS,
                self._noise(),
                self._several(),
                self._missing(),
                _KEPT,
                self._ledger(),
            )
            if part
        )

    def _promise(self) -> str:
        if self.epsilon is None:
            return (
                f"What is promised. The policy ({self.policy}) never looks at a reward: rewards "
                "are not stored, and nothing that is shown depends on them."
            )
        odds = math.exp(self.epsilon)
        return (
            "What is promised, and to whom. Every unit that takes part is promised that its reward "
            "stays its own secret. Whoever sees all that the experiment shows (every arm that "
            "anybody was given, every released number, every page and log) can be made more or "
            "less sure of anything about one reward by a factor of at most "
            f"exp({self.epsilon:g}) = {odds:.3g}, whatever else they know. In the language of the "
            f"literature: pure {self.epsilon:g}-differential privacy under a change of one reward. "
            f"The policy is {self.policy}. Each reward is in one release only, so the cost of the "
            f"whole experiment is the largest share below, not their sum: {self.spent:g} so far."
        )

    def _noise(self) -> str:
        if self.epsilon is None:
            return ""
        if self.real_noise:
            return (
                "Noise. All of it was drawn by OpenDP's exact integer samplers from the entropy of "
                "the operating system; no seed exists with which it could be drawn again."
            )
        return (
            "NOISE: NOT PRIVATE. At least one release was drawn with noise that protects nobody. "
            "This database is for tests; the promise above does not hold for it."
        )

    def _several(self) -> str:
        if self.epsilon is None:
            return ""
        return (
            "People who are in several experiments. Costs add up: a person in m experiments of "
            f"this epsilon is promised m x {self.epsilon:g} only "
            f"({self.cost(2):g} for two, {self.cost(5):g} for five). Keep m small, or share one "
            "epsilon among the experiments."
        )

    def _missing(self) -> str:
        if self.epsilon is None:
            return ""
        counted = (
            "as nothing (the middle of the range that a release can see)"
            if self.reward_default is None
            else f"as the declared default, {self.reward_default:g}"
        )
        share = 0.0 if self.contamination is None else self.contamination
        kind = "certified" if self.certified else "not certified (a profile without a guarantee)"
        return (
            f"Missing rewards. A reward that never comes counts {counted}; that it is missing is "
            "protected like its value. For accuracy it is contamination: the intervals of the "
            f"summary are {kind}, and hold if garbage and missing rewards together are at most a "
            f"share of {share:g} of all, and go missing independently of what they would have been."
        )

    def _ledger(self) -> str:
        if not self.releases:
            return "Releases. None so far."
        lines = [
            f"  {one.at}  epoch {one.epoch}, arm {one.arm}: {one.mechanism} of {one.n:,} slots, "
            f"share {one.epsilon:g}"
            for one in self.releases
        ]
        return "\n".join([f"Releases: {len(lines)}, each of other people's rewards.", *lines])


_LIMITS = (
    "What is not promised. That a unit took part, when, and which arm it got is not hidden by the "
    "noise; units are stored as keyed hashes only. Until its batch is released a reward is in the "
    "database, bounded and rounded: whoever can read the database then can read it."
)

_KEPT = (
    "What is kept. Rewards are deleted in the transaction that releases their batch. What stays "
    "is: which slot and arm each (hashed) unit got and when, the releases below, counters, and "
    "public events. Copies of a database that were made while a batch was open hold its rewards."
)


def state_privacy(storage: Storage, identity: int) -> Statement:
    """The statement of an experiment, from one look at the database."""
    with storage.reading() as connection:
        row = queries.experiment(connection, identity)
        rows = queries.release_rows(connection, identity)
        events = queries.happened(connection, identity)
    policy: Policy = queries.policy_of(row)
    labels = json.loads(row.arms)
    releases = tuple(
        ChargedRelease(
            one.epoch,
            labels[one.arm],
            one.mechanism,
            one.value,
            one.n,
            one.epsilon,
            when(one.at),
        )
        for one in rows
    )
    contamination = getattr(getattr(policy, "estimator", None), "contamination", None)
    return Statement(
        experiment=row.name,
        policy=policy.name,
        epsilon=policy.epsilon,
        spent=max((one.epsilon for one in releases), default=0.0),
        real_noise=all(body["private"] for _, kind, body in events if kind == "closed"),
        contamination=getattr(contamination, "alpha", None),
        certified=certified(policy),
        reward_default=Settings(**json.loads(row.settings)).reward_default,
        releases=releases,
    )
