"""Form 1: experiments, their epochs, assignments, releases and public events.

Rewards are in none of these tables. Each epoch that asks for rewards has a table of its own
(:mod:`stoic.live.store`), which is dropped in the transaction that releases them.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

__all__ = ["apply"]

_TABLES = (
    """
    CREATE TABLE stoic_secrets (
        name TEXT NOT NULL PRIMARY KEY,
        value {bytes} NOT NULL
    )""",
    """
    CREATE TABLE stoic_experiments (
        id BIGINT NOT NULL PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        arms TEXT NOT NULL,
        settings TEXT NOT NULL,
        policy TEXT NOT NULL,
        state TEXT NOT NULL,
        status TEXT NOT NULL,
        disabled TEXT NOT NULL,
        epoch BIGINT NOT NULL,
        created_at BIGINT NOT NULL
    )""",
    """
    CREATE TABLE stoic_epochs (
        experiment BIGINT NOT NULL,
        epoch BIGINT NOT NULL,
        plan TEXT NOT NULL,
        order_key {bytes} NOT NULL,
        opened_at BIGINT NOT NULL,
        issued BIGINT NOT NULL,
        issued_at BIGINT,
        closed_at BIGINT,
        radius DOUBLE PRECISION,
        scrubbed BIGINT NOT NULL,
        PRIMARY KEY (experiment, epoch)
    )""",
    """
    CREATE TABLE stoic_assignments (
        experiment BIGINT NOT NULL,
        unit {bytes} NOT NULL,
        epoch BIGINT NOT NULL,
        slot BIGINT NOT NULL,
        arm BIGINT NOT NULL,
        among BIGINT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (experiment, unit),
        UNIQUE (experiment, epoch, slot)
    ){bare}""",
    """
    CREATE TABLE stoic_releases (
        experiment BIGINT NOT NULL,
        epoch BIGINT NOT NULL,
        arm BIGINT NOT NULL,
        fold BIGINT NOT NULL,
        mechanism TEXT NOT NULL,
        value DOUBLE PRECISION NOT NULL,
        n BIGINT NOT NULL,
        epsilon DOUBLE PRECISION NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (experiment, epoch, arm, fold)
    )""",
    """
    CREATE TABLE stoic_events (
        experiment BIGINT NOT NULL,
        number BIGINT NOT NULL,
        at BIGINT NOT NULL,
        kind TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (experiment, number)
    )""",
)


def apply(connection: Connection) -> None:
    """Create the tables.

    >>> from sqlalchemy import create_engine, inspect
    >>> with create_engine("sqlite://").begin() as connection:
    ...     apply(connection)
    ...     len(inspect(connection).get_table_names())
    6
    """
    sqlite = connection.dialect.name == "sqlite"
    words = {"bytes": "BLOB" if sqlite else "BYTEA", "bare": " WITHOUT ROWID" if sqlite else ""}
    for table in _TABLES:
        connection.execute(text(table.format(**words)))
