"""A study: a grid of instances, policies and parameters, read from one TOML file.

>>> study = parse('''
... seed = 1
... replications = 30
... horizon = 10_000
...
... [[panels]]
... instance = {name = "paper", family = "pareto"}
...
... [[policies]]
... name = "ucb1"
... moments = {kind = "central", k = 2, bound = 5, mean_range = [0, 100]}
...
... [[policies]]
... name = "uniform"
...
... [grid]
... instance.alpha = [0.0, 0.1]
... ''', "study.toml")
>>> study.panels, study.policies
(('paper-pareto-0, alpha = 0', 'paper-pareto-0.1, alpha = 0.1'), ('ucb1', 'uniform'))
>>> study.cells[3].settings["instance"]
{'name': 'paper', 'family': 'pareto', 'alpha': 0.1}
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stoic.errors import InvalidStudy
from stoic.experiments.build import OPTIONS
from stoic.experiments.document import Document, Table
from stoic.experiments.grid import Setting, lay_out
from stoic.experiments.points import Sweep

__all__ = ["Study", "parse", "read"]

_KEYS = ("title", "seed", "replications", "checkpoints", "panels", "policies", "grid")
_QUICK = 3


@dataclass(frozen=True, eq=False, slots=True)
class Study:
    """What was read. ``panels`` and ``policies`` are labels, in the order of the file; ``cells``
    go panel by panel; ``sweeps`` say which panels differ in one quantity; ``text`` and ``name`` are
    those of the file.
    """

    title: str
    seed: int
    replications: int
    panels: tuple[str, ...]
    policies: tuple[str, ...]
    cells: tuple[Setting, ...]
    sweeps: tuple[Sweep, ...]
    text: str
    name: str

    def repeated(self, replications: int) -> Study:
        """The same study with another number of replications."""
        return dataclasses.replace(self, replications=replications)

    def quick(self) -> Study:
        """The same study with very few replications, for a first look."""
        return self.repeated(min(self.replications, _QUICK))

    @property
    def digest(self) -> str:
        """A fingerprint of all that the study says; comments and layout do not count."""
        said: dict[str, Any] = {
            "title": self.title,
            "seed": self.seed,
            "replications": self.replications,
            "cells": [
                [one.panel, one.policy, one.settings, one.checkpoints.tolist()]
                for one in self.cells
            ],
        }
        if self.sweeps:
            said["sweeps"] = [dataclasses.astuple(one) for one in self.sweeps]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def read(path: str | Path) -> Study:
    """The study in a TOML file.

    >>> read("nowhere.toml")
    Traceback (most recent call last):
        ...
    stoic.errors.InvalidStudy: nowhere.toml: No such file or directory
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidStudy(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InvalidStudy(f"{path}: not UTF-8, at byte {error.start}") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> Study:
    """The study in a TOML text; ``name`` is what errors call its file."""
    document = Document(text, name)
    top = Table(document, "", document.data)
    top.allow((*_KEYS, *OPTIONS))
    seed = top.integer("seed", at_least=0)
    replications = top.integer("replications", at_least=1)
    found = lay_out(top)
    return Study(
        title=top.text("title", Path(name).stem),
        seed=seed,
        replications=replications,
        panels=found.panels,
        policies=found.policies,
        cells=found.cells,
        sweeps=found.sweeps,
        text=text,
        name=name,
    )
