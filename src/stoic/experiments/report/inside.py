"""What a page carries inside: its charts, and the rows that they draw.

All of it is one compressed text, because charts are alike and rows are many.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import altair as alt

from stoic import charts
from stoic.experiments.report.rows import Row

__all__ = ["Drawn", "Inside"]

Drawn = Mapping[str, alt.LayerChart]
"""A chart for each scale of its axes."""

_DIGITS = 7  # of a number in a chart


@dataclass(frozen=True, slots=True)
class Inside:
    """The charts of the page, and the tables that they read."""

    charts: dict[str, dict[str, Any]] = field(default_factory=dict)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)

    def figure(self, name: str, title: str, drawn: Drawn) -> str:
        """A place on the page for a chart, which is kept; nothing to draw is said in words."""
        head = f"<figure><h3>{escape(title)}</h3>"
        if not drawn:
            return f"{head}<p>Nothing to draw yet.</p></figure>"
        self.charts[name] = {scale: self._keep(chart) for scale, chart in drawn.items()}
        return f'{head}<div class="chart" id="{name}"></div></figure>'

    def _keep(self, chart: alt.LayerChart) -> dict[str, Any]:
        """The chart without its rows, which are kept by name: equal ones once."""
        with alt.data_transformers.enable(consolidate_datasets=True):
            spec = chart.to_dict()
        rows = spec.pop("datasets")
        self.tables.update({name: _packed(table) for name, table in rows.items()})
        del spec["config"], spec["$schema"]
        return {**spec, "tables": list(rows)}

    def text(self) -> str:
        """All of it, compressed and in letters."""
        themes = {"light": charts.theme(), "dark": charts.theme(dark=True)}
        whole = {"themes": themes, "charts": self.charts, "tables": self.tables}
        plain = json.dumps(whole, separators=(",", ":"), allow_nan=False).encode()
        return base64.b64encode(gzip.compress(plain, mtime=0)).decode()


def _packed(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as columns: numbers as they are, of texts the different ones and which."""
    columns: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        if any(isinstance(value, str) for value in values):
            levels = list(dict.fromkeys(values))
            columns[name] = {"levels": levels, "values": [levels.index(one) for one in values]}
        else:
            columns[name] = {"values": [_short(value) for value in values]}
    return {"rows": len(rows), "columns": columns}


def _short(value: float | None) -> float | None:
    if isinstance(value, int):
        return value  # a round that a chart looks for
    if value is None or not math.isfinite(value):
        return None
    short = float(f"{value:.{_DIGITS}g}")
    return int(short) if short.is_integer() else short
