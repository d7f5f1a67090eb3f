"""The points at which a panel is played: those of the grid, and of a sweep of its own.

The panels of a sweep differ in one quantity, against which the report draws their regret.

>>> from stoic.experiments import parse
>>> study = parse('''
... seed = 1
... replications = 10
... moments = {kind = "raw", k = 2, bound = 1}
...
... [[policies]]
... name = "prae-s"
...
... [[panels]]
... label = "more and more rounds"
... instance = {name = "hard", arms = 5}
... epsilon = 1.0
... sweep = {horizon = [1_000, 10_000, 100_000]}
... ''', "study.toml")
>>> study.sweeps[0].key, study.sweeps[0].values
('horizon', (1000, 10000, 100000))
>>> study.sweeps[0].panels[2]
'more and more rounds, horizon = 100000'
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stoic.experiments.build import OPTIONS, Given, Options
from stoic.experiments.document import Table

__all__ = ["Point", "Sweep", "joined", "points", "quantity"]

_LEAST = 3  # points, for a slope and how far off it may be
_NUMBERS = "numbers from 1e-100 to 1e100"  # whose logarithms and inverses are numbers too


@dataclass(frozen=True, slots=True)
class Sweep:
    """A quantity (an option by its name) and its values, and the label of each value's panel."""

    label: str
    key: str
    values: tuple[float, ...]
    panels: tuple[str, ...]


@dataclass(frozen=True)
class Point:
    """What is said of the run, what of the instance, and both in words."""

    options: Options
    instance: Options
    label: str

    def at(self, step: Point, panel: Table) -> Point:
        """A point of the grid at a step of the panel's sweep, which is of another quantity."""
        for given, known in ((step.options, self.options), (step.instance, self.instance)):
            for key, one in given.items():
                if key in known:
                    raise panel.document.error(one.path, "the grid varies it")
        return Point(
            {**self.options, **step.options},
            {**self.instance, **step.instance},
            joined(self.label, step.label),
        )


def points(table: Table) -> Iterator[Point]:
    """All combinations of the values in a table of lists; the last key varies fastest.

    Of an empty table one point, which says nothing.
    """
    table.allow((*OPTIONS, "instance"))
    axes = [[(one, key, given) for given in _values(one, key)] for one, key in _keys(table)]
    for chosen in itertools.product(*axes):
        words = [f"{key} = {_shown(given)}" for _, key, given in chosen]
        yield Point(
            options={key: given for one, key, given in chosen if one is table},
            instance={key: given for one, key, given in chosen if one is not table},
            label=", ".join(words),
        )


def quantity(panel: Table) -> tuple[str, tuple[float, ...]] | None:
    """What the sweep of a panel varies, and its values; None if there is no sweep."""
    if "sweep" not in panel.items:
        return None
    named = _keys(panel.table("sweep"))
    if len(named) != 1:
        raise panel.wrong("sweep", "must be a table of one key: what varies")
    table, key = named[0]
    values = table.items[key]
    if not isinstance(values, list) or len(values) < _LEAST or not all(map(_drawable, values)):
        raise table.wrong(key, f"must be a list of at least {_LEAST} {_NUMBERS}")
    for index, (one, later) in enumerate(itertools.pairwise(values), start=1):
        if later <= one:
            raise table.wrong(f"{key}[{index}]", f"must be above the one before, {one:g}")
    return key, tuple(values)


def joined(*labels: str) -> str:
    """Labels in one, without empty ones."""
    return ", ".join(filter(None, labels))


def _keys(table: Table) -> list[tuple[Table, str]]:
    """Its keys, those of the instance last, each with the table that it stands in."""
    inner = table.table("instance")
    own = [(table, key) for key in table.items if key != "instance"]
    return [*own, *((inner, key) for key in inner.items)]


def _values(table: Table, key: str) -> list[Given]:
    values = table.items[key]
    if not isinstance(values, list) or not values:
        raise table.wrong(key, "must be a list of at least one value")
    return [Given(value, f"{table.where(key)}[{index}]") for index, value in enumerate(values)]


def _shown(given: Given) -> str:
    if isinstance(given.value, (dict, list)):
        return given.path.rpartition("[")[2].rstrip("]")  # its number in the list
    return f"{given.value:g}" if isinstance(given.value, float) else str(given.value)


def _drawable(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and 1e-100 <= value <= 1e100
