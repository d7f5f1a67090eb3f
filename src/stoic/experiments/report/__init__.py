"""The report of a study: its figure, and one page that needs nothing else.

The page (``report.html``) opens without a network and without a server; charts, data and scripts
are inside. The figure comes as PNG, SVG and PDF, and once more on logarithmic axes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from stoic import charts
from stoic.errors import UnusableResults
from stoic.experiments.outcome import Outcome, load
from stoic.experiments.report.bounds import references
from stoic.experiments.report.page import render_page
from stoic.experiments.report.rows import labels_of, panels_of
from stoic.experiments.report.words import words_for

__all__ = ["contents", "write_report"]

_FORMS: tuple[Literal["png", "svg", "pdf"], ...] = ("png", "svg", "pdf")


def write_report(directory: str | Path) -> list[Path]:
    """Write the report of a study into its directory; returns the files.

    An unfinished study is reported as far as it goes, and the report says so.

    >>> write_report("nowhere")
    Traceback (most recent call last):
        ...
    stoic.errors.UnusableResults: nowhere: no results here
    """
    written = []
    for name, content in contents(load(directory)).items():
        path = Path(directory) / name
        try:
            path.write_bytes(content)
        except OSError as error:
            raise UnusableResults(f"cannot write {path}: {error.strerror or error}") from error
        written.append(path)
    return written


def contents(outcome: Outcome) -> dict[str, bytes]:
    """The files of a report by name."""
    panels = panels_of(outcome)
    compared = [references(panel) for panel in panels]
    lines = charts.dashes([row["reference"] for rows in compared for row in rows])
    look = charts.styles(list(labels_of(outcome).values()))
    words = words_for(outcome, panels, list(lines))
    made: dict[str, bytes] = {}
    scales: dict[str, Literal["linear", "log"]] = {"figure": "linear", "figure-log": "log"}
    for name, scale in scales.items():
        drawn = [
            (panel.label, charts.regret(rows, look, references=known, lines=lines, scale=scale))
            for panel, known in zip(panels, compared, strict=True)
            if (rows := panel.curves())
        ]
        if drawn:
            whole = charts.figure(drawn, look, references=list(lines), notes=words.figure)
            made |= {f"{name}.{form}": charts.render(whole, form) for form in _FORMS}
    made["report.html"] = render_page(outcome, panels, compared, look, words).encode()
    return made
