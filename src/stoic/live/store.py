"""What is written of experiments, epochs and slots. Every function works within its caller's
transaction; this module and :mod:`stoic.live.vault` are the only ones that write.

Locks, in this order: the experiment's row (closing an epoch, disabling, stopping), then the epoch's
(dealing slots; a told reward shares it). SQLite has one writer at a time anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, exc, func, insert, select, update

from stoic.core import Plan, dumps
from stoic.errors import InvalidParameter
from stoic.live.schema import (
    epochs,
    events,
    experiments,
    secrets,
)

__all__ = [
    "OpenEpoch",
    "add_event",
    "add_experiment",
    "assign",
    "close_epoch",
    "extend_epoch",
    "known_units",
    "lock_epoch",
    "lock_experiment",
    "mark_scrubbed",
    "open_epoch",
    "run",
    "secret",
    "set_experiment",
    "share_epoch",
    "take_slots",
]

_MOST_KEYS = 500  # in one IN (...): far below every database's limit

# Building a statement takes longer than running it, so each is built once.
_LOCKED = select(experiments).where(experiments.c.id == bindparam("id")).with_for_update()

# What every ask and tell does is written in SQL: in SQLAlchemy's words it would take longer than
# everything else together.
_EPOCH = """
SELECT x.status, x.epoch, x.disabled, e.issued, e.opened_at, e.closed_at
FROM stoic_experiments x JOIN stoic_epochs e ON e.experiment = x.id AND e.epoch = x.epoch
WHERE x.id = ?"""
_SHARED = "SELECT issued, closed_at FROM stoic_epochs WHERE experiment = ? AND epoch = ?"
_KNOWN = "SELECT unit, epoch, slot, arm FROM stoic_assignments WHERE experiment = ? AND unit IN "
_TAKE = "UPDATE stoic_epochs SET issued = ?, issued_at = ? WHERE experiment = ? AND epoch = ?"
_ASSIGN = "INSERT INTO stoic_assignments VALUES (?, ?, ?, ?, ?, ?, ?)"


class OpenEpoch(NamedTuple):
    """The open epoch, as far as dealing its slots needs it.

    >>> OpenEpoch("running", 1, "[]", 0, 1000, None).issued
    0
    """

    status: str
    epoch: int
    disabled: str
    issued: int
    opened_at: int
    closed_at: int | None


def run(connection: Connection, statement: str, values: Any, *, lock: str = "") -> Any:
    """Run a statement of ours, with one row of values or a list of them; a cursor on its result.

    ``lock`` is what PostgreSQL is to add; SQLite's writers have the whole database anyway.
    """
    if connection.dialect.name != "sqlite":
        statement = f"{statement} {lock}".replace("?", "%s")
    cursor = connection.connection.cursor()
    if isinstance(values, list):
        cursor.executemany(statement, values)
    else:
        cursor.execute(statement, values)
    return cursor


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


def lock_epoch(connection: Connection, identity: int) -> OpenEpoch:
    """The epoch that is open, for whoever deals its slots: one at a time."""
    while True:
        found = run(connection, _EPOCH, (identity,), lock="FOR NO KEY UPDATE OF e").fetchone()
        epoch = OpenEpoch._make(found)
        if epoch.closed_at is None or epoch.status != "running":
            return epoch  # otherwise it was closed while this transaction waited for it


def share_epoch(connection: Connection, identity: int, number: int) -> tuple[int, int | None]:
    """How far an epoch was dealt and when it was closed; nobody closes it meanwhile."""
    cursor = run(connection, _SHARED, (identity, number), lock="FOR KEY SHARE")
    issued, closed_at = cursor.fetchone()
    return issued, closed_at


def known_units(
    connection: Connection, identity: int, units: Sequence[bytes]
) -> dict[bytes, tuple[int, int, int]]:
    """The (epoch, slot, arm) of those units that have one."""
    found = {}
    for at in range(0, len(units), _MOST_KEYS):
        part = units[at : at + _MOST_KEYS]
        statement = f"{_KNOWN}({', '.join('?' * len(part))})"
        for unit, epoch, slot, arm in run(connection, statement, (identity, *part)):
            found[bytes(unit)] = (epoch, slot, arm)
    return found


def take_slots(connection: Connection, identity: int, number: int, issued: int, now: int) -> None:
    """The first ``issued`` slots of the epoch are taken."""
    run(connection, _TAKE, (issued, now, identity, number))


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
        run(connection, _ASSIGN, rows)


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
