"""What the live path takes, against bare sqlite3 that writes the same rows.

One at a time, an ask and a tell are two commits that must survive a power cut; they are compared
with two commits of bare sqlite3, one of the same assignment and counter, one of the same reward. In
blocks of 1,000 they are compared with bare sqlite3 that computes as many hashes (one of the unit,
two to seal its ticket, two to open it) and writes the same rows, two commits for each block. The
aim for both: at most 1.5. With Optuna installed, its ask and tell of one trial on SQLite are shown
beside them.

``--memory`` plays many pairs in blocks instead, and shows how much memory the process holds.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import importlib.util
import itertools
import resource
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import stoic
from measure import interleaved, table

KEY = bytes(32)
BLOCK = 1_000
TABLES = """
CREATE TABLE epochs (id INTEGER PRIMARY KEY, issued INTEGER, issued_at INTEGER);
CREATE TABLE assignments (
    experiment INTEGER, unit BLOB, epoch INTEGER, slot INTEGER, arm INTEGER, among INTEGER,
    at INTEGER, PRIMARY KEY (experiment, unit), UNIQUE (experiment, epoch, slot)
) WITHOUT ROWID;
CREATE TABLE rewards (slot INTEGER PRIMARY KEY, kept INTEGER);
INSERT INTO epochs VALUES (1, 0, 0);
"""


def experiment(folder: str, name: str) -> Any:
    """One whose first epoch never ends, so that every reward is kept."""
    db = stoic.live.open(f"sqlite:///{folder}/{name}.db")
    made = db.create(
        "shop",
        policy="dprse",
        arms=["A", "B", "C"],
        horizon=10**9,
        epsilon=1e-3,
        moments=stoic.RawMoment(2, 1),
        reward_deadline="7d",
    )
    made.ask("somebody")
    if not (made._epoch.asks and made._epoch.dealer.size > 10**8):
        raise SystemExit("the first epoch should ask for every reward, and never end")
    return made


class Bare:
    """The same rows and hashes, with nothing around them."""

    def __init__(self, folder: str, name: str) -> None:
        self.connection = sqlite3.connect(f"{folder}/{name}.db", isolation_level=None)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
            self.connection.execute(f"PRAGMA {setting}")
        self.connection.executescript(TABLES)
        self.issued = 0

    def pairs(self, users: list[str]) -> None:
        rows = [
            (7, _hash(user)[:16], 1, slot, slot % 3, 3, 10**12)
            for slot, user in enumerate(users, self.issued)
        ]
        for row in rows:
            for use in range(4):  # two to seal a ticket, two to open it
                _hash(f"{use}{row[3]}")
        self.issued += len(users)
        with self._transaction() as execute:
            execute("UPDATE epochs SET issued = ?, issued_at = ?", (self.issued, 10**12))
            self.connection.executemany("INSERT INTO assignments VALUES (?,?,?,?,?,?,?)", rows)
        with self._transaction():
            kept = [(row[3], 2**29) for row in rows]
            self.connection.executemany("INSERT INTO rewards VALUES (?,?)", kept)

    def _transaction(self) -> Any:
        return _Transaction(self.connection)


class _Transaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> Callable[..., Any]:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection.execute

    def __exit__(self, *error: object) -> None:
        self._connection.execute("COMMIT")


def _hash(text: str) -> bytes:
    return hmac.digest(KEY, text.encode(), hashlib.sha256)


def users(counter: Iterator[int], n: int) -> list[str]:
    return [f"user-{next(counter)}" for _ in range(n)]


def speed(folder: str, single: int, blocks: int, repeats: int) -> None:
    counter = itertools.count()
    rewards = np.full(BLOCK, 0.5)
    live, bare = experiment(folder, "live"), Bare(folder, "bare")

    def one_by_one() -> None:
        for user in users(counter, single):
            live.tell(live.ask(user), 0.5)

    def two_commits() -> None:
        for user in users(counter, single):
            bare.pairs([user])

    def in_blocks() -> None:
        for _ in range(blocks):
            live.tell_many(live.ask_many(users(counter, BLOCK)), rewards)

    def bare_blocks() -> None:
        for _ in range(blocks):
            bare.pairs(users(counter, BLOCK))

    runs = {
        "live": one_by_one,
        "bare": two_commits,
        "live blocks": in_blocks,
        "bare blocks": bare_blocks,
    }
    if importlib.util.find_spec("optuna"):
        runs["optuna"] = _optuna(folder, single)
    took = interleaved(runs, repeats)
    pairs = {name: single for name in runs} | dict.fromkeys(
        ("live blocks", "bare blocks"), blocks * BLOCK
    )

    def row(title: str, name: str, against: str | None) -> tuple[object, ...]:
        per_pair = 1e6 * took[name].min() / pairs[name]
        if against is None:
            return title, float(per_pair), f"{1e6 / per_pair:,.0f}", "", "", ""
        ratio = took[name].min() / took[against].min()
        middle = np.median(took[name] / took[against])
        return (
            title,
            float(per_pair),
            f"{1e6 / per_pair:,.0f}",
            f"{ratio:.2f}",
            f"{middle:.2f}",
            1.5,
        )

    rows = [
        row("two bare commits", "bare", None),
        row("ask and tell, one at a time", "live", "bare"),
        row(f"bare, in blocks of {BLOCK:,}", "bare blocks", None),
        row(f"in blocks of {BLOCK:,}", "live blocks", "bare blocks"),
    ]
    if "optuna" in runs:
        rows.append(row("Optuna, one at a time", "optuna", None))
    table(["", "us a pair", "pairs/s", "ratio", "median", "aim"], rows)


def _optuna(folder: str, n: int) -> Callable[[], None]:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(storage=f"sqlite:///{folder}/optuna.db")

    def play() -> None:
        for _ in range(n):
            trial = study.ask()
            trial.suggest_categorical("arm", ["A", "B", "C"])
            study.tell(trial, 0.5)

    return play


def memory(folder: str, pairs: int) -> None:
    live, counter = experiment(folder, "memory"), itertools.count()
    rewards = np.full(BLOCK, 0.5)
    shown = []
    for part in range(10):
        for _ in range(pairs // 10 // BLOCK):
            live.tell_many(live.ask_many(users(counter, BLOCK)), rewards)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 2**20
        shown.append((f"{(part + 1) * pairs // 10:,} pairs", float(most), float(size)))
    table(["", "memory MB", "files MB"], shown)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--single", type=int, default=100, help="pairs one at a time")
    parser.add_argument("--blocks", type=int, default=20, help="blocks of a thousand")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--folder", help="where the databases are; a temporary one unless given")
    parser.add_argument("--memory", type=int, metavar="PAIRS", help="such as 5000000")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        if asked.memory:
            memory(folder, asked.memory)
        else:
            speed(folder, asked.single, asked.blocks, asked.repeats)


if __name__ == "__main__":
    main()
