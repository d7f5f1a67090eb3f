"""Where experiments live: SQLite or PostgreSQL, set up so that what was acknowledged stays.

SQLite: write-ahead log, ``synchronous = FULL`` (a commit survives a power cut), ``secure_delete``
(what is deleted is overwritten), one writer at a time that others wait for. PostgreSQL: as it is,
but for ``synchronous_commit``, which is never off.
No message of an error and no log of SQLAlchemy's shows the parameters of a statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stoic.errors import InvalidParameter, MissingExtra, StoreUnavailable

try:
    from sqlalchemy import Connection, Engine, create_engine, event, exc, make_url
except ImportError:
    raise MissingExtra("sqlalchemy", extra="live") from None

__all__ = ["Storage"]

_PATIENCE = 20.0  # seconds that one writer waits for another
_FULL = ("disk is full", "no space left", "disk full", "could not extend", "disk i/o error")
_BUSY = ("locked", "busy", "timeout", "deadlock")


class Storage:
    """One database, opened: transactions that write, and transactions that only read.

    >>> Storage("mysql://shop")
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidParameter: url = 'mysql://shop': must be sqlite:///FILE or postgresql://...
    """

    def __init__(self, url: str, *, patience: float = _PATIENCE) -> None:
        rule = "must be sqlite:///FILE or postgresql://..."
        try:
            parsed = make_url(url)
        except exc.ArgumentError:
            raise InvalidParameter("url", url, rule) from None
        backend = parsed.get_backend_name()
        options: dict[str, Any] = {"hide_parameters": True, "pool_timeout": patience}
        if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
            options |= {"connect_args": {"timeout": patience}, "max_overflow": 32}
        elif backend == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
            options |= {"pool_pre_ping": True, "max_overflow": 32}
        else:
            shown = parsed.render_as_string(hide_password=True)
            raise InvalidParameter("url", shown, rule)
        try:
            self._engine = create_engine(parsed, **options)
        except ImportError:
            raise MissingExtra("psycopg", extra="postgres") from None
        self._driver: Any = self._engine.dialect.dbapi
        self.sqlite = backend == "sqlite"
        if self.sqlite:
            _set_up_sqlite(self._engine)
        else:
            _set_up_postgresql(self._engine)
        self._reader = self._engine.execution_options(stoic_reads=True)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: all of it is there when the block ends, or nothing."""
        with self._translated(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that reads; to be left within a second, or a log cannot be emptied."""
        with self._translated(), self._reader.begin() as connection:
            yield connection

    def scrub(self) -> bool:
        """Empty SQLite's write-ahead log, copies of deleted rows included. Whether it is done."""
        if not self.sqlite:
            return True
        with self._translated():
            raw = self._engine.raw_connection()
            try:
                busy, *_ = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                raw.close()
        return not busy

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """The database's own errors as one of ours, without a word of what was to be stored."""
        try:
            yield
        except (exc.DBAPIError, exc.TimeoutError, self._driver.Error) as error:
            original = getattr(error, "orig", None) or error
            said = str(original).lower()
            if any(word in said for word in _FULL):
                reason = "has no room left on its disk"
            elif any(word in said for word in _BUSY):
                reason = "is busy with other writers"
            else:
                reason = f"is out of reach or damaged ({type(original).__name__})"
            raise StoreUnavailable(
                f"the database {reason}; nothing was changed, try again"
            ) from None


def _set_up_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _connect(connection: Any, record: object) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself
        for setting in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "secure_delete = ON",
            "temp_store = MEMORY",
        ):
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        reads = connection.get_execution_options().get("stoic_reads")
        # Past SQLAlchemy's own execution, which takes longer than SQLite's.
        connection.connection.cursor().execute("BEGIN" if reads else "BEGIN IMMEDIATE")


def _set_up_postgresql(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def _connect(connection: Any, record: object) -> None:
        # A commit must survive a crash of the server, whatever the server's default is.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') = 'off'"
        )
        connection.commit()
