"""The report of a study: its figure, and one page that needs nothing else.

The page (``report.html``) opens without a network and without a server; charts, data and scripts
are inside. The figure comes as PNG, SVG and PDF, and once more on logarithmic axes. What a study
sweeps has a figure of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import altair as alt

from stoic import charts
from stoic.errors import UnusableResults
from stoic.experiments.outcome import Outcome, load
from stoic.experiments.report.bounds import LOWER, references
from stoic.experiments.report.page import render_page
from stoic.experiments.report.rows import Panel, Row, labels_of, panels_of
from stoic.experiments.report.scaling import Growth, growths
from stoic.experiments.report.words import Words, words_for

__all__ = ["figures", "page", "write_report"]

_FORMS: tuple[Literal["png", "svg", "pdf"], ...] = ("png", "svg", "pdf")
_SIZES = {1: (440, 280), 2: (300, 200)}  # of a panel, if they are so few
_SCALES: dict[str, Literal["linear", "log"]] = {"figure": "linear", "figure-log": "log"}


def write_report(directory: str | Path) -> list[Path]:
    """Write the report of a study into its directory; returns the files.

    An unfinished study is reported as far as it goes, and the report says so.

    >>> write_report("nowhere")
    Traceback (most recent call last):
        ...
    stoic.errors.UnusableResults: nowhere: no results here
    """
    outcome = load(directory)
    written = []
    for name, content in {**figures(outcome), "report.html": page(outcome).encode()}.items():
        path = Path(directory) / name
        try:
            path.write_bytes(content)
        except OSError as error:
            raise UnusableResults(f"cannot write {path}: {error.strerror or error}") from error
        written.append(path)
    return written


def figures(outcome: Outcome) -> dict[str, bytes]:
    """The figures by name; none if there is no curve to draw."""
    known = _prepare(outcome)
    width, height = _SIZES.get(len(known.shown), (200, 150))
    made = _scaling(known)
    for name, scale in _SCALES.items():
        drawn = []
        for panel, compared in zip(known.shown, known.references, strict=True):
            if rows := panel.curves():
                chart = charts.regret(
                    rows,
                    known.look,
                    references=compared,
                    lines=known.lines,
                    scale=scale,
                    width=width,
                    height=height,
                )
                drawn.append((panel.label, chart))
        if drawn:
            made |= _files(name, drawn, known, list(known.lines), known.words.figure)
    return made


def page(outcome: Outcome) -> str:
    """The page, as HTML."""
    known = _prepare(outcome)
    return render_page(
        outcome,
        known.panels,
        known.shown,
        known.references,
        known.growths,
        known.look,
        known.words,
    )


def _scaling(known: _Common) -> dict[str, bytes]:
    width, height = _SIZES.get(len(known.growths), (200, 150))
    drawn = []
    for growth in known.growths:
        if growth.points:
            chart = charts.scaling(
                growth.points, known.look, width=width, height=height, **growth.drawing
            )
            drawn.append((growth.label, chart))
    return _files("scaling", drawn, known, [LOWER], known.words.scaling) if drawn else {}


def _files(
    name: str,
    drawn: Sequence[tuple[str, alt.LayerChart]],
    known: _Common,
    lines: Sequence[str],
    notes: Sequence[str],
) -> dict[str, bytes]:
    """One sheet in all forms."""
    whole = charts.figure(drawn, known.look, references=lines, notes=notes)
    return {f"{name}.{form}": charts.render(whole, form) for form in _FORMS}


@dataclass(frozen=True, eq=False, slots=True)
class _Common:
    """What the figures and the page have in common. ``shown`` are the panels with charts of their
    own: those of a sweep are points in one.
    """

    panels: list[Panel]
    shown: list[Panel]
    growths: list[Growth]
    references: list[list[Row]]
    lines: dict[str, tuple[int, ...]]
    look: dict[str, charts.Style]
    words: Words


def _prepare(outcome: Outcome) -> _Common:
    panels = panels_of(outcome)
    swept = {label for one in outcome.study.sweeps for label in one.panels}
    shown = [panel for panel in panels if panel.label not in swept]
    compared = [references(panel) for panel in shown]
    lines = charts.dashes([row["reference"] for rows in compared for row in rows])
    look = charts.styles(list(labels_of(outcome).values()))
    words = words_for(outcome, panels, list(lines))
    return _Common(panels, shown, growths(outcome, panels), compared, lines, look, words)
