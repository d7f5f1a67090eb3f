"""Rewards until they are released, and releases for ever. Within the caller's transaction.

The rewards of an epoch are in a table of their own (:func:`stoic.live.schema.rewards`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, exc, insert, text
from sqlalchemy.schema import CreateTable, DropTable

from stoic.core import Release
from stoic.errors import PrivacyViolation
from stoic.live.schema import releases, rewards
from stoic.live.store import run

__all__ = ["add_releases", "keep_rewards", "kept_rewards", "make_room", "remove_rewards"]

_CHUNK = 32_768  # rewards read at a time


def make_room(connection: Connection, identity: int, number: int) -> None:
    """A table for the rewards of an epoch."""
    table = rewards(identity, number)
    connection.execute(CreateTable(table))
    if connection.dialect.name == "postgresql":  # whose statistics would hold rewards, too
        connection.execute(text(f"ALTER TABLE {table.name} ALTER kept SET STATISTICS 0"))


def remove_rewards(connection: Connection, identity: int, number: int) -> None:
    """Remove the rewards of an epoch, if it has any, with every page that they were on."""
    connection.execute(DropTable(rewards(identity, number), if_exists=True))


def keep_rewards(
    connection: Connection, identity: int, number: int, slots: Sequence[int], kept: Sequence[int]
) -> None:
    """Keep the rewards of slots that have none yet."""
    name = rewards(identity, number).name
    statement = f"INSERT INTO {name} VALUES (?, ?) ON CONFLICT DO NOTHING"
    rows = list(zip(slots, kept, strict=True))
    run(connection, statement, rows)


def kept_rewards(
    connection: Connection, identity: int, number: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The kept rewards of an epoch in the order of their slots, some thousand at a time."""
    name = rewards(identity, number).name
    cursor = connection.connection.cursor()  # SQLAlchemy's own would log the rows it reads
    last = -1
    while True:
        cursor.execute(
            f"SELECT slot, kept FROM {name} WHERE slot > {last} ORDER BY slot LIMIT {_CHUNK}"
        )
        rows = np.array(cursor.fetchall(), dtype=np.int64).reshape(-1, 2)
        if not rows.size:
            cursor.close()
            return
        yield rows[:, 0], rows[:, 1]
        last = int(rows[-1, 0])


def add_releases(
    connection: Connection,
    identity: int,
    number: int,
    answers: Mapping[int, tuple[Release, ...]],
    *,
    at: int,
) -> None:
    """Store and charge releases: one row each. The key of the table forbids a second one."""
    rows = [
        {
            "experiment": identity,
            "epoch": number,
            "arm": arm,
            "fold": fold,
            "mechanism": release.mechanism,
            "value": release.value,
            "n": release.n,
            "epsilon": release.epsilon,
            "at": at,
        }
        for arm, found in answers.items()
        for fold, release in enumerate(found)
    ]
    try:
        connection.execute(insert(releases), rows)
    except exc.IntegrityError:
        rule = "these rewards were already spent"
        raise PrivacyViolation(f"epoch {number}: {rule}") from None
