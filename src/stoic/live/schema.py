"""The tables as SQLAlchemy knows them. They are made by :mod:`stoic.live.migrations`."""

from __future__ import annotations

from functools import cache

from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    column,
    table,
)
from sqlalchemy.types import Double

__all__ = ["assignments", "epochs", "events", "experiments", "releases", "rewards", "secrets"]

secrets = table("stoic_secrets", column("name", Text), column("value", LargeBinary))

experiments = table(
    "stoic_experiments",
    column("id", BigInteger),
    *(column(name, Text) for name in ("name", "arms", "settings", "policy", "state", "status")),
    column("disabled", Text),
    column("epoch", BigInteger),
    column("created_at", BigInteger),
)

epochs = table(
    "stoic_epochs",
    column("experiment", BigInteger),
    column("epoch", BigInteger),
    column("plan", Text),
    column("order_key", LargeBinary),
    *(column(name, BigInteger) for name in ("opened_at", "issued", "issued_at", "closed_at")),
    column("radius", Double),
    column("scrubbed", BigInteger),
)

assignments = table(
    "stoic_assignments",
    column("experiment", BigInteger),
    column("unit", LargeBinary),
    *(column(name, BigInteger) for name in ("epoch", "slot", "arm", "among", "at")),
)

releases = table(
    "stoic_releases",
    *(column(name, BigInteger) for name in ("experiment", "epoch", "arm", "fold")),
    column("mechanism", Text),
    column("value", Double),
    column("n", BigInteger),
    column("epsilon", Double),
    column("at", BigInteger),
)

events = table(
    "stoic_events",
    *(column(name, BigInteger) for name in ("experiment", "number", "at")),
    column("kind", Text),
    column("body", Text),
)


_Slot = BigInteger().with_variant(Integer, "sqlite")  # there an alias of the row's own number


@cache
def rewards(experiment: int, epoch: int) -> Table:
    """The table of an epoch's rewards, while the epoch is open.

    A table of its own, because dropping it overwrites (SQLite) or removes (PostgreSQL) every page
    that a reward was ever on, where deleting rows would leave copies in the gaps between others.

    >>> rewards(255, 3).name
    'stoic_rewards_ff_3'
    """
    return Table(
        f"stoic_rewards_{experiment:x}_{epoch}",
        MetaData(),
        Column("slot", _Slot, primary_key=True, autoincrement=False),
        Column("kept", BigInteger, nullable=False),
    )
