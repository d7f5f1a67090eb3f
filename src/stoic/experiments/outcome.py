"""What a study found, read back from its directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stoic.errors import UnusableResults
from stoic.experiments.grid import Setting
from stoic.experiments.storage import Notes, Rows, files, read
from stoic.experiments.study import Study, parse
from stoic.simulation import Result

__all__ = ["Cell", "Outcome", "load"]


@dataclass(frozen=True, eq=False, slots=True)
class Cell:
    """A policy in a panel: their labels, the settings of the study, and the result.

    ``result`` has the replications that are there; None as long as there are none.
    """

    panel: str
    policy: str
    settings: dict[str, Any]
    result: Result | None


@dataclass(frozen=True, eq=False, slots=True)
class Outcome:
    """A study, its cells in the order of the study, and where the numbers come from.

    ``provenance`` has the versions (``stoic``, ``numpy``, ``scipy``, ``python``; several, if it
    went on with others), the ``seed``, the
    ``digest`` of the study, when the run ``started`` and ``finished`` (UTC), and the ``seconds`` of
    work, summed over the workers.
    """

    study: Study
    cells: tuple[Cell, ...]
    provenance: dict[str, Any]

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return all(self.done(cell) == self.study.replications for cell in self.cells)

    def done(self, cell: Cell) -> int:
        """How many replications of a cell are there."""
        return 0 if cell.result is None else len(cell.result.replications)


def load(directory: str | Path) -> Outcome:
    """The results in the directory of a study, as far as they go.

    >>> load("nowhere")
    Traceback (most recent call last):
        ...
    stoic.errors.UnusableResults: nowhere: no results here
    """
    found = [kept for path in files(directory) if (kept := read(path)) is not None]
    if not found:
        raise UnusableResults(f"{directory}: no results here")
    notes = [one for one, _ in found]
    if len({one.digest for one in notes}) > 1:
        raise UnusableResults(f"{directory}: results of several studies")
    study = parse(notes[0].text, notes[0].name).repeated(notes[0].total)
    if study.digest != notes[0].digest:
        made_by = notes[0].versions["stoic"]
        raise UnusableResults(f"{directory}: stoic {made_by} read this study in another way")
    parts: list[list[Rows]] = [[] for _ in study.cells]
    for note, rows in found:
        parts[note.cell].append(rows)
    cells = tuple(
        Cell(cell.panel, cell.policy, cell.settings, _result(cell, study, rows))
        for cell, rows in zip(study.cells, parts, strict=True)
    )
    return Outcome(study, cells, _provenance(notes))


def _result(cell: Setting, study: Study, parts: list[Rows]) -> Result | None:
    """One result of all parts, if there is any."""
    if not parts:
        return None
    whole = {name: np.concatenate([rows[name] for rows in parts]) for name in parts[0]}
    _, order = np.unique(whole["replications"], return_index=True)
    whole = {name: rows[order] for name, rows in whole.items()}
    return Result(cell.player, cell.instance, study.seed, checkpoints=cell.checkpoints, **whole)


def _provenance(notes: Sequence[Notes]) -> dict[str, Any]:
    made_by = {
        name: ", ".join(dict.fromkeys(one.versions[name] for one in notes))
        for name in notes[0].versions
    }
    return {
        **made_by,
        "seed": notes[0].seed,
        "digest": notes[0].digest,
        "started": min(one.started for one in notes),
        "finished": max(one.finished for one in notes),
        "seconds": sum(one.seconds for one in notes),
    }
