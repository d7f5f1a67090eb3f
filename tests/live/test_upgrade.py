"""Databases of every earlier form are opened, brought up to date, and go on where they were.

The files in ``assets`` were written by the versions that introduced their form, by :func:`written`
below; each holds an epoch that was released and one in the middle. They are never written again.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, text

import stoic
from helpers.live import Clock, database
from stoic.errors import InvalidState, StoreUnavailable
from stoic.live import migrations, queries
from stoic.live.migrations import STEPS, version
from stoic.live.replay import replay

pytestmark = pytest.mark.live

ASSETS = Path(__file__).parent / "assets"
FORMS = sorted(ASSETS.glob("form-*.db"))
KEY = bytes(range(32))
DAY = 86_400.0


def written(path: Path) -> None:
    """How the files in ``assets`` were made."""
    clock = Clock()
    with database(f"sqlite:///{path}", clock=clock, key=KEY) as db:
        exp = db.create(
            "checkout",
            policy="prae-r",
            arms=["A", "B"],
            horizon=1000,
            epsilon=1.0,
            moments=stoic.RawMoment(2, 2),
            profile="unit",
            reward_deadline="7d",
            reward_default=0.5,
        )
        tickets = exp.ask_many(["u0", "u1", "u2", "u3"])
        exp.tell_many(tickets, [1.0] * 4)
        clock.now += 8 * DAY
        exp.tick()
        exp.tell(exp.ask("u4"), 1.0)
        exp.ask("u5")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_database_of_an_earlier_form_goes_on_where_it_was(path: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(path, tmp_path / "live.db"))
    clock = Clock(Clock().now + 9 * DAY)
    with database(f"sqlite:///{copy}", clock=clock, key=KEY) as db:
        with db._storage.reading() as connection:
            assert version(connection) == len(STEPS)
        exp = db.get("checkout")
        old = exp.ask_many(["u0", "u4", "u5"])
        exp.tell_many(old, np.ones(3))
        assert exp.summary().issued == 2
        exp.ask_many(f"new-{number}" for number in range(6))
        clock.now += 8 * DAY
        assert exp.tick()
        with exp._storage.reading() as connection:
            answers = queries.answers_of(connection, exp._id)
        assert sum(one.value * one.n for (one,) in answers[2].values()) == pytest.approx(
            2 + 6 * 0.5
        )
        replayed, stored = replay(exp._storage, exp._id)
        assert replayed == stored


def test_every_form_has_its_file() -> None:
    assert [path.name for path in FORMS] == [f"form-{n + 1}.db" for n in range(len(STEPS))]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_file_holds_the_form_that_it_is_named_after(path: Path, tmp_path: Path) -> None:
    copy = shutil.copy(path, tmp_path / "live.db")
    with sqlite3.connect(copy) as connection:
        found = connection.execute("SELECT number FROM stoic_version").fetchone()
    connection.close()
    assert path.stem == f"form-{found[0]}"


def test_a_step_is_applied_once_and_entirely(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def add_a_table(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE stoic_more (number BIGINT)"))

    def fail(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE stoic_never (number BIGINT)"))
        connection.execute(text("SELECT * FROM stoic_nonsense"))

    opened(url)
    monkeypatch.setattr(migrations, "STEPS", (*STEPS, add_a_table, fail))
    with pytest.raises(StoreUnavailable):
        opened(url)
    monkeypatch.setattr(migrations, "STEPS", (*STEPS, add_a_table))
    assert opened(url) == len(STEPS) + 1
    assert opened(url) == len(STEPS) + 1
    monkeypatch.setattr(migrations, "STEPS", STEPS)
    with pytest.raises(InvalidState, match="use a newer one"):
        opened(url)


def opened(url: str) -> Any:
    from stoic.live import Database
    from stoic.live.database import Storage

    storage = Storage(url)
    try:
        Database(storage, noise=stoic.SecureNoise())
        with storage.reading() as connection:
            return version(connection)
    finally:
        storage.close()
