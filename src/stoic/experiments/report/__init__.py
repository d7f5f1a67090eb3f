"""The report of a study: its figure, and one page that needs nothing else.

The page (``report.html``) opens without a network and without a server; charts, data and scripts
are inside. The figure comes as PNG, SVG and PDF, and once more on logarithmic axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from stoic import charts
from stoic.errors import UnusableResults
from stoic.experiments.outcome import Outcome, load
from stoic.experiments.report.bounds import references
from stoic.experiments.report.page import render_page
from stoic.experiments.report.rows import Panel, Row, labels_of, panels_of
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
    width, height = _SIZES.get(len(known.panels), (200, 150))
    made: dict[str, bytes] = {}
    for name, scale in _SCALES.items():
        drawn = []
        for panel, compared in zip(known.panels, known.references, strict=True):
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
            whole = charts.figure(
                drawn, known.look, references=list(known.lines), notes=known.words.figure
            )
            made |= {f"{name}.{form}": charts.render(whole, form) for form in _FORMS}
    return made


def page(outcome: Outcome) -> str:
    """The page, as HTML."""
    known = _prepare(outcome)
    return render_page(outcome, known.panels, known.references, known.look, known.words)


@dataclass(frozen=True, eq=False, slots=True)
class _Common:
    """What the figures and the page have in common."""

    panels: list[Panel]
    references: list[list[Row]]
    lines: dict[str, tuple[int, ...]]
    look: dict[str, charts.Style]
    words: Words


def _prepare(outcome: Outcome) -> _Common:
    panels = panels_of(outcome)
    compared = [references(panel) for panel in panels]
    lines = charts.dashes([row["reference"] for rows in compared for row in rows])
    look = charts.styles(list(labels_of(outcome).values()))
    return _Common(panels, compared, lines, look, words_for(outcome, panels, list(lines)))
