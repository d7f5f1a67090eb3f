"""Numbered steps from one form of the database to the next, applied in order when it is opened.

A step that was ever released is never changed: a new one follows it.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import Connection, inspect, text

from stoic.errors import InvalidState
from stoic.live.migrations import m0001_start

__all__ = ["STEPS", "migrate", "version"]

STEPS: tuple[Callable[[Connection], None], ...] = (m0001_start.apply,)

_LOCK = 7_811_094  # of PostgreSQL, so that two processes do not migrate at once


def version(connection: Connection) -> int:
    """The number of the last step that was applied; 0 for an empty database."""
    if not inspect(connection).has_table("stoic_version"):
        return 0
    return int(connection.execute(text("SELECT number FROM stoic_version")).scalar_one())


def migrate(connection: Connection) -> None:
    """Apply the steps that are missing, all or none. Within a transaction that writes."""
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
    found = version(connection)
    if found > len(STEPS):
        rule = f"is of form {found}, and this version of Stoic knows {len(STEPS)}: use a newer one"
        raise InvalidState(f"the database {rule}")
    if found == len(STEPS):
        return
    for step in STEPS[found:]:
        step(connection)
    if not found:
        connection.execute(text("CREATE TABLE stoic_version (number BIGINT NOT NULL)"))
        connection.execute(text("INSERT INTO stoic_version VALUES (0)"))
    connection.execute(text("UPDATE stoic_version SET number = :new"), {"new": len(STEPS)})
