"""An opt-in thread that ticks, for those who have no cron."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from stoic.errors import StoreUnavailable
from stoic.live.sessions import Experiment

__all__ = ["Ticker"]


class Ticker:
    """Ticks an experiment in a thread of its own, as often as the experiment wants, until closed.

    A database that is out of reach is tried again at the next tick; the last such error is
    ``trouble``. Any other error ends the thread and is raised when the ticker is closed.

    >>> import tempfile, stoic
    >>> folder = tempfile.TemporaryDirectory()
    >>> db = stoic.live.open(f"sqlite:///{folder.name}/shop.db")
    >>> exp = db.create(
    ...     "news", policy="uniform", arms=["A", "B"], horizon=100, reward_deadline="1d", tick="1h"
    ... )
    >>> with Ticker(exp):
    ...     arm = exp.ask("user-1").arm
    >>> db.close(); folder.cleanup()
    """

    def __init__(self, experiment: Experiment) -> None:
        self.trouble: StoreUnavailable | None = None
        self._experiment = experiment
        self._over = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="stoic ticker", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let a tick that is under way finish, then stop."""
        self._over.set()
        self._thread.join()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _run(self) -> None:
        pause = self._experiment.settings.tick / 1000
        while not self._over.wait(pause):
            try:
                self._experiment.tick()
                self.trouble = None
            except StoreUnavailable as error:
                self.trouble = error
            except BaseException as error:
                self._failure = error
                return
