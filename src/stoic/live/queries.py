"""Reading only, and only what is public: releases, counters, assignments and events.

Nothing here can reach a reward. Long lists are read page by page, each in a transaction of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select

from stoic.core import Plan, Release, loads
from stoic.errors import UnknownExperiment
from stoic.live.database import Storage
from stoic.live.schema import assignments, epochs, events, experiments, releases
from stoic.policies import Answers, Policy

__all__ = [
    "answers_of",
    "assignment_pages",
    "closed_epochs",
    "epoch_row",
    "experiment",
    "find",
    "happened",
    "names",
    "plan_of",
    "policy_of",
    "release_rows",
    "unscrubbed",
]

_PAGE = 10_000
_EXPERIMENT = select(experiments).where(experiments.c.id == bindparam("id"))


def names(storage: Storage) -> list[str]:
    """The names of all experiments, oldest first."""
    with storage.reading() as connection:
        query = select(experiments.c.name).order_by(experiments.c.created_at, experiments.c.name)
        return list(connection.execute(query).scalars())


def find(storage: Storage, name: str) -> Row[Any]:
    """The experiment of that name, or :class:`~stoic.errors.UnknownExperiment`."""
    with storage.reading() as connection:
        row = connection.execute(select(experiments).where(experiments.c.name == name)).first()
    if row is None:
        known = ", ".join(names(storage)) or "none yet"
        raise UnknownExperiment(f"experiment = {name!r}: not in this database, which has {known}")
    return row


def experiment(connection: Connection, identity: int) -> Row[Any]:
    """The experiment as it stands."""
    return connection.execute(_EXPERIMENT, {"id": identity}).one()


def policy_of(row: Row[Any]) -> Policy:
    """The policy of an experiment."""
    policy: Policy = loads(row.policy)
    return policy


def epoch_row(
    connection: Connection, identity: int, number: int, *, locked: bool = False
) -> Row[Any]:
    """One epoch: its plan, its key, how far it was dealt. Locked, nobody else may use it."""
    query = select(epochs).where(epochs.c.experiment == identity, epochs.c.epoch == number)
    return connection.execute(query.with_for_update() if locked else query).one()


def closed_epochs(connection: Connection, identity: int) -> list[Row[Any]]:
    """Every epoch that is over, in order."""
    query = (
        select(epochs)
        .where(epochs.c.experiment == identity, epochs.c.closed_at.is_not(None))
        .order_by(epochs.c.epoch)
    )
    return list(connection.execute(query))


def release_rows(connection: Connection, identity: int) -> list[Row[Any]]:
    """All releases of an experiment, in order."""
    query = (
        select(releases)
        .where(releases.c.experiment == identity)
        .order_by(releases.c.epoch, releases.c.arm, releases.c.fold)
    )
    return list(connection.execute(query))


def answers_of(connection: Connection, identity: int) -> dict[int, Answers]:
    """All releases of an experiment, epoch by epoch, as the policy was told them."""
    found: dict[int, dict[int, tuple[Release, ...]]] = {}
    for row in release_rows(connection, identity):
        release = Release(row.mechanism, row.value, row.n, row.epsilon)
        arms = found.setdefault(row.epoch, {})
        arms[row.arm] = (*arms.get(row.arm, ()), release)
    return dict(found)


def happened(connection: Connection, identity: int) -> list[tuple[int, str, dict[str, Any]]]:
    """The public events: when, what, and its particulars."""
    query = (
        select(events.c.at, events.c.kind, events.c.body)
        .where(events.c.experiment == identity)
        .order_by(events.c.number)
    )
    return [(at, kind, json.loads(body)) for at, kind, body in connection.execute(query)]


def assignment_pages(storage: Storage, identity: int) -> Iterator[list[Any]]:
    """Who got which arm when, in the order of the slots. Units stay out of it."""
    columns = assignments.c.epoch, assignments.c.slot, assignments.c.arm, assignments.c.among
    epoch, slot = 0, -1
    while True:
        query = (
            select(*columns, assignments.c.at)
            .where(
                assignments.c.experiment == identity,
                (assignments.c.epoch > epoch)
                | ((assignments.c.epoch == epoch) & (assignments.c.slot > slot)),
            )
            .order_by(assignments.c.epoch, assignments.c.slot)
            .limit(_PAGE)
        )
        with storage.reading() as connection:
            page = list(connection.execute(query))
        if not page:
            return
        yield page
        epoch, slot = page[-1].epoch, page[-1].slot


def plan_of(row: Row[Any]) -> Plan:
    """An epoch's plan."""
    plan: Plan = loads(row.plan)
    return plan


def unscrubbed(connection: Connection, identity: int) -> bool:
    """Whether the log may still hold copies of rewards of a closed epoch."""
    query = (
        select(epochs.c.epoch)
        .where(
            epochs.c.experiment == identity,
            epochs.c.closed_at.is_not(None),
            epochs.c.scrubbed == 0,
        )
        .limit(1)
    )
    return connection.execute(query).first() is not None
