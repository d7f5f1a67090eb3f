"""What is written of experiments, epochs and slots. Every function works within its caller's
transaction; this module and :mod:`stoic.live.vault` are the only ones that write.

Locks, in this order: the experiment's row (closing an epoch, disabling, stopping), then the epoch's
(dealing slots; a told reward shares it). SQLite has one writer at a time anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, exc, func, insert, select, update

from stoic.core import Plan, dumps
from stoic.errors import InvalidParameter
from stoic.live.schema import (
    assignments,
    epochs,
    events,
    experiments,
    secrets,
)

__all__ = [
    "add_event",
    "add_experiment",
    "assign",
    "close_epoch",
    "driver_sql",
    "extend_epoch",
    "known_units",
    "lock_epoch",
    "lock_experiment",
    "mark_scrubbed",
    "open_epoch",
    "secret",
    "set_experiment",
    "share_epoch",
    "take_slots",
]

_MOST_KEYS = 500  # in one IN (...): far below every database's limit

# Building a statement takes longer than running it, so each is built once.
_LOCKED = select(experiments).where(experiments.c.id == bindparam("id")).with_for_update()
_EPOCH = (
    select(
        experiments.c.status,
        experiments.c.epoch,
        experiments.c.disabled,
        epochs.c.issued,
        epochs.c.opened_at,
        epochs.c.closed_at,
    )
    .join_from(
        experiments,
        epochs,
        (epochs.c.experiment == experiments.c.id) & (epochs.c.epoch == experiments.c.epoch),
    )
    .where(experiments.c.id == bindparam("id"))
    .with_for_update(of=epochs, key_share=True)
)
_ONE_EPOCH = select(epochs.c.issued, epochs.c.closed_at).where(
    epochs.c.experiment == bindparam("id"), epochs.c.epoch == bindparam("number")
)
_SHARED = _ONE_EPOCH.with_for_update(read=True, key_share=True)
_KNOWN = select(
    assignments.c.unit, assignments.c.epoch, assignments.c.slot, assignments.c.arm
).where(
    assignments.c.experiment == bindparam("id"),
    assignments.c.unit.in_(bindparam("units", expanding=True)),
)
_TAKE = (
    update(epochs)
    .where(epochs.c.experiment == bindparam("id"), epochs.c.epoch == bindparam("number"))
    .values(issued=bindparam("new_issued"), issued_at=bindparam("now"))
)
_ASSIGN = "INSERT INTO stoic_assignments VALUES (?, ?, ?, ?, ?, ?, ?)"


def driver_sql(connection: Connection, statement: str) -> str:
    """A statement with many rows, in the words of the driver: building it row by row takes longer
    than running it.
    """
    return statement if connection.dialect.name == "sqlite" else statement.replace("?", "%s")


# --- Experiments --------------------------------------------------------------------------------


def secret(connection: Connection, name: str, value: bytes | None) -> bytes | None:
    """The secret of that name; ``value`` becomes it if there is none."""
    query = select(secrets.c.value).where(secrets.c.name == name)
    found = connection.execute(query).scalar()
    if found is None and value is not None:
        connection.execute(insert(secrets).values(name=name, value=value))
        return value
    return found


def add_experiment(connection: Connection, **row: Any) -> None:
    """A new experiment; two of one name are refused."""
    try:
        connection.execute(insert(experiments).values(**row))
    except exc.IntegrityError:
        raise InvalidParameter("name", row["name"], "is taken by another experiment") from None


def lock_experiment(connection: Connection, identity: int) -> Any:
    """The experiment, which nobody else changes before this transaction is over."""
    return connection.execute(_LOCKED, {"id": identity}).one()


def set_experiment(connection: Connection, identity: int, **changes: Any) -> None:
    """Change some of an experiment's columns."""
    connection.execute(update(experiments).where(experiments.c.id == identity).values(**changes))


def add_event(connection: Connection, identity: int, *, at: int, kind: str, body: str) -> None:
    """Write down a public event. The experiment's row is locked, or new."""
    last = select(func.max(events.c.number)).where(events.c.experiment == identity)
    number = (connection.execute(last).scalar() or 0) + 1
    row = {"experiment": identity, "number": number, "at": at, "kind": kind, "body": body}
    connection.execute(insert(events).values(**row))


# --- Epochs and slots ---------------------------------------------------------------------------


def open_epoch(
    connection: Connection, identity: int, number: int, plan: Plan, *, key: bytes, at: int
) -> None:
    """A new epoch."""
    connection.execute(
        insert(epochs).values(
            experiment=identity,
            epoch=number,
            plan=dumps(plan),
            order_key=key,
            opened_at=at,
            issued=0,
            scrubbed=0,
        )
    )


def lock_epoch(connection: Connection, identity: int) -> Any:
    """The epoch that is open, for whoever deals its slots: one at a time."""
    while True:
        row = connection.execute(_EPOCH, {"id": identity}).one()
        if row.closed_at is None or row.status != "running":
            return row  # otherwise it was closed while this transaction waited for it


def share_epoch(connection: Connection, identity: int, number: int) -> Any:
    """An epoch, which nobody closes before this transaction is over."""
    return connection.execute(_SHARED, {"id": identity, "number": number}).one()


def known_units(
    connection: Connection, identity: int, units: Sequence[bytes]
) -> dict[bytes, tuple[int, int, int]]:
    """The (epoch, slot, arm) of those units that have one."""
    found = {}
    for at in range(0, len(units), _MOST_KEYS):
        part = {"id": identity, "units": units[at : at + _MOST_KEYS]}
        for unit, epoch, slot, arm in connection.execute(_KNOWN, part):
            found[bytes(unit)] = (epoch, slot, arm)
    return found


def take_slots(connection: Connection, identity: int, number: int, issued: int, now: int) -> None:
    """The first ``issued`` slots of the epoch are taken."""
    given = {"id": identity, "number": number, "new_issued": issued, "now": now}
    connection.execute(_TAKE, given)


def assign(
    connection: Connection,
    identity: int,
    found: Mapping[bytes, tuple[int, int, int]],
    *,
    among: int,
    at: int,
) -> None:
    """Write down which unit has which (epoch, slot, arm)."""
    rows = [
        (identity, unit, epoch, slot, arm, among, at) for unit, (epoch, slot, arm) in found.items()
    ]
    if rows:
        connection.exec_driver_sql(driver_sql(connection, _ASSIGN), rows)


def extend_epoch(connection: Connection, identity: int, number: int, *, at: int) -> None:
    """Nobody came before the epoch's deadline: it counts from now."""
    connection.execute(
        update(epochs)
        .where(epochs.c.experiment == identity, epochs.c.epoch == number)
        .values(opened_at=at)
    )


def close_epoch(
    connection: Connection, identity: int, number: int, *, at: int, **changes: Any
) -> None:
    """Close an epoch, for good."""
    connection.execute(
        update(epochs)
        .where(epochs.c.experiment == identity, epochs.c.epoch == number)
        .values(closed_at=at, **changes)
    )


def mark_scrubbed(connection: Connection, identity: int) -> None:
    """No copy of the rewards of closed epochs is left in the log."""
    connection.execute(
        update(epochs)
        .where(
            epochs.c.experiment == identity,
            epochs.c.closed_at.is_not(None),
            epochs.c.scrubbed == 0,
        )
        .values(scrubbed=1)
    )
