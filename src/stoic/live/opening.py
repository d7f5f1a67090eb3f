"""Opening a database: the one place that chooses noise for real people."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from stoic import policies
from stoic.core import dumps
from stoic.errors import InvalidParameter
from stoic.live import queries, store
from stoic.live.clock import Clock, Duration, milliseconds
from stoic.live.closing import Course
from stoic.live.database import Storage
from stoic.live.migrations import migrate
from stoic.live.sessions import Experiment, Place
from stoic.live.settings import Settings
from stoic.live.tickets import Sealer
from stoic.privacy.noise import Noise

__all__ = ["Database", "open"]


def open(url: str, *, key: bytes | None = None, clock: Clock = time.time) -> Database:
    """The experiments of a database, which is made or brought up to date if need be.

    ``url`` is ``sqlite:///FILE`` or ``postgresql://...``. ``key`` (32 secret bytes or more) signs
    tickets and hides units; without one the database makes a key and keeps it. Noise comes from
    OpenDP and the system's entropy; nothing here takes a seed.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> db = open(f"sqlite:///{folder.name}/shop.db")
    >>> db.list()
    []
    >>> db.close(); folder.cleanup()
    """
    from stoic.privacy.secure import SecureNoise

    return Database(Storage(url), noise=SecureNoise(), key=key, clock=clock)


def _nothing(step: str) -> None:
    """Where a test would stop."""


class Database:
    """An opened database: create experiments, get them, list them. See :func:`open`."""

    def __init__(
        self,
        storage: Storage,
        *,
        noise: Noise,
        key: bytes | None = None,
        clock: Clock = time.time,
        step: Callable[[str], None] = _nothing,
    ) -> None:
        self._storage = storage
        with storage.writing() as connection:
            migrate(connection)
            sealer = _sealer(connection, key)
        self._place = Place(storage, sealer, noise, clock, step)
        storage.scrub()

    def create(
        self,
        name: str,
        *,
        policy: str,
        arms: Sequence[str],
        reward_deadline: Duration,
        tick: Duration = "1h",
        epoch_deadline: Duration | None = None,
        reward_default: float | None = None,
        **options: Any,
    ) -> Experiment:
        """A new experiment. ``options`` are those of :func:`stoic.policies.create`.

        ``reward_deadline`` is how long a batch waits for rewards after its last slot was given out,
        ``epoch_deadline`` how long it may take in all, ``tick`` how often it is looked at. A reward
        that never comes counts as ``reward_default``, or as nothing at all if that is not given;
        the certified intervals count such rewards as contamination.
        """
        if not isinstance(name, str) or not name.strip():
            raise InvalidParameter("name", name, "must be a text that is not empty")
        labels = _arms(arms)
        settings = Settings.build(
            reward_deadline=reward_deadline,
            tick=tick,
            epoch_deadline=epoch_deadline,
            reward_default=reward_default,
        )
        made = policies.create(policy, arms=len(labels), **options)
        if made.privacy != "central":
            rule = "is not private: a live experiment takes policies with privacy 'central' only"
            raise InvalidParameter("policy", policy, rule)
        return self.add(name, made, labels, settings)

    def add(
        self, name: str, policy: policies.Policy, arms: Sequence[str], settings: Settings
    ) -> Experiment:
        """A new experiment of a policy that is there already. :meth:`create` is for people."""
        identity = secrets.randbits(62)
        now = milliseconds(self._place.clock)
        with self._storage.writing() as connection:
            store.add_experiment(
                connection,
                id=identity,
                name=name,
                arms=json.dumps(list(arms)),
                settings=json.dumps(settings.as_dict()),
                policy=dumps(policy),
                state=dumps(policy.init()),
                status="running",
                disabled="[]",
                epoch=1,
                created_at=now,
            )
            Course(identity, policy, settings).open(connection, 1, policy.init(), at=now)
        return self.get(name)

    def get(self, name: str) -> Experiment:
        """The experiment of that name, or :class:`~stoic.errors.UnknownExperiment`."""
        return Experiment(self._place, queries.find(self._storage, name))

    def list(self) -> list[str]:
        """The names of all experiments, oldest first."""
        return queries.names(self._storage)

    def close(self) -> None:
        """Close the connections. What was acknowledged is safe without it, too."""
        self._storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _arms(arms: Sequence[str]) -> list[str]:
    labels = [] if isinstance(arms, str) else list(arms)
    named = all(isinstance(label, str) and label for label in labels)
    if not named or not 2 <= len(set(labels)) == len(labels) <= 65_535:
        raise InvalidParameter("arms", arms, "must be two or more different names")
    return labels


def _sealer(connection: Any, key: bytes | None) -> Sealer:
    """From the key that was given, if it is the one of this database; or from the database's."""
    kept = store.secret(connection, "check" if key else "key", None)
    if key is None:
        if kept is None and store.secret(connection, "check", None) is not None:
            raise InvalidParameter("key", None, "must be given: this database does not keep it")
        made = store.secret(connection, "key", kept or secrets.token_bytes(32))
        return Sealer(bytes(made or b""))
    sealer = Sealer(key)
    if kept is None and store.secret(connection, "key", None) is not None:
        raise InvalidParameter("key", "...", "must not be given: this database keeps its own")
    if bytes(store.secret(connection, "check", kept or sealer.check) or b"") != sealer.check:
        raise InvalidParameter("key", "...", "is not the one that this database was made with")
    return sealer
