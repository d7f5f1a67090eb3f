"""How far a run has come: a live bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from types import TracebackType

from stoic.errors import MissingExtra
from stoic.experiments import Standing

try:
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text
except ImportError:
    raise MissingExtra("rich", extra="lab") from None

__all__ = ["Progress"]

_PATIENCE = 60.0  # seconds without a line
_STEPS = 10  # lines of a run that is quicker than that


class Progress:
    """Shows on stderr what a run tells it. To be entered before the first call.

    >>> with Progress("A study") as progress:
    ...     progress(Standing(done=30, total=60, regret={"ucb1": 12.5}, damaged=0))
    >>> progress.kept
    '30 of 60 replications'
    """

    def __init__(self, title: str) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(console=self._console) if self._console.is_terminal else None
        self._title = title
        self._first: Standing | None = None
        self._last: Standing | None = None
        self._began = self._spoke = time.monotonic()

    def __enter__(self) -> Progress:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live:
            self._live.stop()

    def __call__(self, standing: Standing) -> None:
        """Take in where the run stands, and show it if it is time."""
        if self._first is None:
            self._first = standing
            self._say(self._title)
            if standing.damaged:
                self._say(f"damaged files, made again: {standing.damaged}")
            if standing.done:
                self._say(f"going on from {_count(standing)}")
        if self._live:
            shown = Table.grid()  # a bar alone does not end its line
            shown.add_row(ProgressBar(total=standing.total, completed=standing.done, width=60))
            shown.add_row(Text(f"{self._pace(standing)}\n{leaderboard(standing)}".rstrip()))
            self._live.update(shown, refresh=standing.done == standing.total)
        elif self._is_time(standing):
            self._spoke = time.monotonic()
            self._say(f"{self._pace(standing)}   {leaderboard(standing)}".rstrip())
        self._last = standing

    @property
    def kept(self) -> str:
        """What is safe on the disk, in words; empty as long as nothing is."""
        return _count(self._last) if self._last and self._last.done else ""

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)

    def _is_time(self, standing: Standing) -> bool:
        last = self._last or standing
        further = _STEPS * standing.done // standing.total > _STEPS * last.done // standing.total
        return further or time.monotonic() - self._spoke > _PATIENCE

    def _pace(self, standing: Standing) -> str:
        first = self._first or standing
        seconds, done = time.monotonic() - self._began, standing.done - first.done
        if not done:
            return _count(standing)
        rate = done / max(seconds, 1e-9)
        left = (standing.total - standing.done) / rate
        return f"{_count(standing)}, {rate:.3g}/s, {_clock(left)} left"


def leaderboard(standing: Standing) -> str:
    """The policies, least regret first.

    >>> leaderboard(Standing(1, 2, {"a": 2e5, "b": 1234.0}, 0))
    'mean regret: b 1.23e+03, a 2e+05'
    """
    ranked = sorted(standing.regret.items(), key=lambda item: item[1])
    board = ", ".join(f"{policy} {regret:.3g}" for policy, regret in ranked)
    return f"mean regret: {board}" if board else ""


def _count(standing: Standing) -> str:
    return f"{standing.done} of {standing.total} replications"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
