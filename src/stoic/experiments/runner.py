"""Run a study chunk by chunk; what is done stays done.

A chunk is some replications of one cell. Each is written as soon as it is finished, so a run that
is stopped in any way loses no more than the chunks it was working on, and the same call goes on
from there. The numbers do not depend on how often that happens, nor on the workers.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from stoic.core import Floats
from stoic.errors import UnusableResults
from stoic.experiments.grid import Setting
from stoic.experiments.outcome import Outcome, load
from stoic.experiments.storage import (
    EDITION,
    Notes,
    Rows,
    alone,
    clear,
    file_name,
    files,
    read,
    versions,
    write,
)
from stoic.experiments.study import Study
from stoic.simulation import Result, Workers, as_completed, simulate

__all__ = ["Standing", "run"]

_ROUNDS = 1_000_000  # of a chunk, roughly: a fraction of a second of work
_CHUNKS = 50  # of a cell, at most: each costs some milliseconds of disk


@dataclass(frozen=True)
class Standing:
    """How far a run has come: replications done and in all, and the mean regret of each policy.

    Regret is averaged over the panels in which every policy has played, so that they can be
    compared. ``damaged`` files were found at the start; what they held is played again.
    """

    done: int
    total: int
    regret: dict[str, float]
    damaged: int


def run(
    study: Study,
    directory: str | Path,
    *,
    workers: Workers = 1,
    fresh: bool = False,
    watch: Callable[[Standing], object] | None = None,
) -> Outcome:
    """Run what is missing of a study, and return all of it.

    ``workers`` is the number of processes, or the address of a Dask scheduler. Results of another
    study or of other versions are refused; ``fresh`` removes them first. ``watch`` is told how far
    the run has come, at the start and after every chunk.
    """
    directory = Path(directory)
    with alone(directory):
        if fresh:
            clear(directory, files(directory))
        books = _Books(study, directory)
        missing = books.missing()
        work = [(study.cells[one.cell], study.seed, one.replications) for one in missing]
        tell = watch or (lambda standing: None)
        tell(books.standing())
        with contextlib.closing(as_completed(_play, work, workers)) as played:
            for index, (seconds, result) in played:
                books.keep(missing[index], seconds, result)
                tell(books.standing())
    return load(directory)


@dataclass(frozen=True)
class _Chunk:
    cell: int
    replications: range

    @property
    def file(self) -> str:
        return file_name(self.cell, self.replications.start)


def _chunks(study: Study) -> list[_Chunk]:
    """All of a study, the first replications of every cell first, so that cells stay comparable."""
    chunks = [
        _Chunk(index, range(start, min(start + size, study.replications)))
        for index, cell in enumerate(study.cells)
        for size in [_size(cell.player.horizon, study.replications)]
        for start in range(0, study.replications, size)
    ]
    return sorted(chunks, key=lambda chunk: chunk.replications.start)


def _size(horizon: int, replications: int) -> int:
    return max(1, _ROUNDS // horizon, math.ceil(replications / _CHUNKS))


def _play(work: tuple[Setting, int, range]) -> tuple[float, Result]:
    cell, seed, replications = work
    start = time.perf_counter()
    result = simulate(
        cell.player,
        cell.instance,
        replications=replications,
        seed=seed,
        checkpoints=cell.checkpoints,
    )
    return time.perf_counter() - start, result


class _Books:
    """What a directory holds of a study, and what is added."""

    def __init__(self, study: Study, directory: Path) -> None:
        self._study = study
        self._directory = directory
        self._started = _now()
        self._versions = versions()
        self._regret: list[list[float]] = [[] for _ in study.cells]
        self._missing = {chunk.file: chunk for chunk in _chunks(study)}
        kept = {path: read(path) for path in files(directory)}
        for found in kept.values():
            if found is not None:
                self._check(found[0], directory)
        useless = [path for path, found in kept.items() if not self._take(path.name, found)]
        clear(directory, useless)
        self._damaged = sum(kept[path] is None for path in useless)

    def _take(self, file: str, found: tuple[Notes, Rows] | None) -> bool:
        """Count what a file holds, unless the study is divided in another way by now."""
        chunk = self._missing.get(file)
        if found is None or chunk is None:
            return False
        rows = found[1]
        if rows["replications"].tolist() != list(chunk.replications):
            return False
        self._count(chunk, rows["final_regret"])
        return True

    def _check(self, notes: Notes, directory: Path) -> None:
        """Refuse to mix."""
        if notes.digest != self._study.digest:
            what = f"of another study, {notes.name} as it was at {notes.started}"
        elif notes.edition != EDITION:
            what = f"of stoic {notes.versions['stoic']}, which gave other numbers"
        else:
            changed = [
                f"{name} {notes.versions[name]} (now {self._versions[name]})"
                for name in ("numpy", "scipy")
                if notes.versions[name] != self._versions[name]
            ]
            if not changed:
                return
            what = f"made with {', '.join(changed)}"
        advice = "choose another directory, or start afresh (--fresh)"
        raise UnusableResults(f"{directory}: holds results {what}; {advice}")

    def missing(self) -> list[_Chunk]:
        """What is still to be played."""
        return list(self._missing.values())

    def keep(self, chunk: _Chunk, seconds: float, result: Result) -> None:
        """Write a chunk down."""
        study, cell = self._study, self._study.cells[chunk.cell]
        notes = Notes(
            name=study.name,
            text=study.text,
            digest=study.digest,
            seed=study.seed,
            total=study.replications,
            cell=chunk.cell,
            panel=cell.panel,
            policy=cell.policy,
            edition=EDITION,
            versions=self._versions,
            started=self._started,
            finished=_now(),
            seconds=seconds,
        )
        write(self._directory, notes, result)
        self._count(chunk, result.final_regret)

    def _count(self, chunk: _Chunk, final_regret: Floats) -> None:
        del self._missing[chunk.file]
        self._regret[chunk.cell] += final_regret.tolist()

    def standing(self) -> Standing:
        """Where the run stands."""
        panels: dict[str, list[tuple[str, list[float]]]] = {}
        for cell, regret in zip(self._study.cells, self._regret, strict=True):
            panels.setdefault(cell.panel, []).append((cell.policy, regret))
        means: dict[str, list[float]] = {}
        for panel in panels.values():
            if all(regret for _, regret in panel):
                for policy, regret in panel:
                    means.setdefault(policy, []).append(fmean(regret))
        return Standing(
            done=sum(map(len, self._regret)),
            total=len(self._study.cells) * self._study.replications,
            regret={policy: fmean(found) for policy, found in means.items()},
            damaged=self._damaged,
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
