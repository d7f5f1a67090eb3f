"""Opening and closing epochs. A release is an event: drawn, stored and charged in one transaction.

Everything here happens in the caller's transaction, whose first act is to lock the experiment, so
it happens once. If the process dies before the commit, nothing happened, and nobody saw the noise
that was drawn. After the commit the release is in the database; it is read, never drawn again, and
a second one of the same rewards would break the key of its table.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row

from stoic.core import Plan, PrivacyBudget, dumps, loads
from stoic.errors import PrivacyViolation
from stoic.live import queries, store, vault
from stoic.live.enabled import without
from stoic.live.releasing import Step, release
from stoic.live.settings import Settings
from stoic.live.slots import Dealer
from stoic.policies import Answers, Policy
from stoic.privacy.ledger import Ledger
from stoic.privacy.noise import Noise

__all__ = ["Course", "Epoch", "next_plan", "read_epoch"]


@dataclass(frozen=True, slots=True)
class Epoch:
    """What does not change while an epoch is open."""

    number: int
    dealer: Dealer
    state: Any

    @property
    def asks(self) -> bool:
        """Whether any reward is asked for."""
        return bool(self.dealer.plan.queries)


def next_plan(policy: Policy, state: Any) -> Plan:
    """The next plan, with the system's entropy as its public randomness. Asked for once."""
    seed = np.random.SeedSequence(secrets.randbits(128))
    return policy.ask(state, rng=np.random.Generator(np.random.SFC64(seed)))


@dataclass(frozen=True, slots=True)
class Course:
    """How one experiment goes from epoch to epoch."""

    identity: int
    policy: Policy
    settings: Settings

    def open(self, connection: Connection, number: int, state: Any, *, at: int) -> None:
        """Ask for the next plan, and keep it before any of it is dealt."""
        plan = next_plan(self.policy, state)
        store.open_epoch(
            connection, self.identity, number, plan, key=secrets.token_bytes(32), at=at
        )
        if plan.queries:
            vault.make_room(connection, self.identity, number)
        status = "running" if plan.size else "finished"
        store.set_experiment(
            connection, self.identity, epoch=number, state=dumps(state), status=status
        )
        self.note(connection, "opened", at=at, epoch=number, plan=dumps(plan))

    def close(self, connection: Connection, *, at: int, noise: Noise, step: Step) -> bool:
        """Close the open epoch if it is over at that tick, and open the next. Whether it did."""
        row = store.lock_experiment(connection, self.identity)
        if row.status != "running":
            return False
        disabled = frozenset(json.loads(row.disabled))
        found = queries.epoch_row(connection, self.identity, row.epoch, locked=True)
        epoch = read_epoch(found, row.state)
        dealer = epoch.dealer
        _, _, issued = dealer.take(found.issued, 0, disabled)
        if issued < dealer.size:
            if not self.settings.is_overdue(found, at=at):
                return False
            if not issued:
                store.extend_epoch(connection, self.identity, epoch.number, at=at)
                return False
        elif not self.settings.is_full(found, asks=epoch.asks, at=at):
            return False
        step("claimed")
        answers = release(
            connection,
            self.identity,
            epoch.number,
            dealer,
            issued,
            self.settings,
            noise=noise,
            step=step,
        )
        self._charge(connection, epoch.number, answers, at)
        state = self.policy.tell(epoch.state, dealer.dealt(issued), answers)
        step("learned")
        radius = getattr(state, "radius", None)
        fresh = bool(answers) and radius != getattr(epoch.state, "radius", None)
        self.note(
            connection, "closed", at=at, epoch=epoch.number, issued=issued, private=noise.private
        )
        store.close_epoch(
            connection,
            self.identity,
            epoch.number,
            at=at,
            issued=issued,
            radius=radius if fresh else None,
        )
        vault.remove_rewards(connection, self.identity, epoch.number)
        step("deleted")
        after = without(self.policy, state, disabled)
        self.open(connection, epoch.number + 1, after, at=at)
        return True

    def note(self, connection: Connection, kind: str, *, at: int, **body: Any) -> None:
        """Write down a public event."""
        store.add_event(connection, self.identity, at=at, kind=kind, body=json.dumps(body))

    def _charge(self, connection: Connection, number: int, answers: Answers, at: int) -> None:
        if not answers:
            return
        if self.policy.epsilon is None:
            raise PrivacyViolation(f"{self.policy.name} states no epsilon, yet asks for rewards")
        ledger = Ledger(PrivacyBudget(self.policy.epsilon))
        for arm, releases in answers.items():
            for fold, one in enumerate(releases):
                ledger.charge(number, arm, fold, one)
        vault.add_releases(connection, self.identity, number, answers, at=at)


def read_epoch(found: Row[Any], state: str) -> Epoch:
    """An epoch as the database keeps it."""
    dealer = Dealer(queries.plan_of(found), bytes(found.order_key))
    return Epoch(found.epoch, dealer, loads(state))
