"""Studies: a grid of instances, policies and parameters in one TOML file, run and read back.

>>> import tempfile
>>> study = parse('''
... seed = 1
... replications = 10
... horizon = 10_000
... moments = {kind = "central", k = 2, bound = 5, mean_range = [0, 100]}
...
... [[panels]]
... instance = {name = "paper", family = "pareto", alpha = 0.05}
...
... [[policies]]
... name = "prae-c"
... epsilon = 1.0
... profile = "unit"
...
... [[policies]]
... name = "ucb1"
... ''', "study.toml")
>>> with tempfile.TemporaryDirectory() as directory:
...     outcome = run(study, directory)
...     same = load(directory)
>>> [cell.policy for cell in outcome.cells if cell.result.mean > 10_000]
['prae-c', 'ucb1']
>>> same.provenance == outcome.provenance
True
"""

from __future__ import annotations

from stoic.experiments.grid import Setting
from stoic.experiments.outcome import Cell, Outcome, load
from stoic.experiments.points import Sweep
from stoic.experiments.runner import Standing, run
from stoic.experiments.study import Study, parse, read

__all__ = [
    "Cell",
    "Outcome",
    "Setting",
    "Standing",
    "Study",
    "Sweep",
    "load",
    "parse",
    "read",
    "run",
]
