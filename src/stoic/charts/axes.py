"""Scales, axes and encodings that several charts share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt

from stoic.charts.look import Style

__all__ = [
    "Rows",
    "Scale",
    "colour",
    "dash",
    "inline",
    "rounds",
    "shape",
    "tip",
    "value_axis",
    "value_scale",
]

Rows = Sequence[Mapping[str, Any]]
Scale = Literal["linear", "log"]

# 1500000 is 1.5M. Vega says G where people say billion.
_SHORT = "replace(format(datum.value, abs(datum.value) < 1000 ? '~g' : '~s'), 'G', 'B')"

# On a logarithmic axis 1, 2 and 5 times the powers of ten have a label and a line.
_ROUND = (
    "indexof([1, 2, 5], round(datum.value / pow(10, floor(log(datum.value) / LN10 + 1e-9)))) >= 0"
)


def inline(rows: Rows) -> alt.InlineData:
    """Rows as the data of a chart."""
    # A list would be copied row by row whenever a chart is put into another one.
    return alt.InlineData(values=tuple(dict(row) for row in rows))


def colour(look: Mapping[str, Style]) -> alt.Color:
    """The colour of each policy."""
    return alt.Color("policy:N", scale=_of(look, "colour"), legend=None)


def dash(look: Mapping[str, Style]) -> alt.StrokeDash:
    """The dash of each policy."""
    return alt.StrokeDash("policy:N", scale=_of(look, "dash"), legend=None)


def shape(look: Mapping[str, Style]) -> alt.Shape:
    """The shape of each policy."""
    return alt.Shape("policy:N", scale=_of(look, "shape"), legend=None)


def _of(look: Mapping[str, Style], part: str) -> alt.Scale:
    return alt.Scale(domain=list(look), range=[getattr(style, part) for style in look.values()])


def rounds(rows: Rows, scale: Scale) -> alt.X:
    """The axis of time."""
    every = [row["round"] for row in rows]
    domain = [min(every) if scale == "log" else 0, max(every)]
    over = alt.Scale(type=scale, domain=domain, nice=False)
    axis = alt.Axis(**_labels(scale), tickCount=5, grid=False)
    return alt.X("round:Q", title="Round", scale=over, axis=axis)


def value_scale(scale: Scale, values: Sequence[float]) -> alt.Scale:
    """The scale of regrets, from zero or logarithmic, with room for all ``values``.

    It ends at a value rather than a tick, so that no label stands out above the chart.
    """
    if scale == "linear":
        return alt.Scale(domain=[0, 1.04 * max([0.0, *values]) or 1.0], nice=False)
    positive = [value for value in values if value > 0] or [1.0]
    domain = [min(positive) / 1.25, max(positive) * 1.25]
    # A regret of zero has no place here: it is drawn at the edge.
    return alt.Scale(type="log", domain=domain, clamp=True, nice=False)


def value_axis(scale: Scale, *, across: bool = False) -> alt.Axis:
    """The axis of regrets; upright ones are equally wide, so that panels line up."""
    grid: dict[str, Any] = {}
    if scale == "log":
        grid = {"gridOpacity": {"condition": {"test": _ROUND, "value": 1}, "value": 0}}
    extent = alt.Undefined if across else 36
    return alt.Axis(**_labels(scale), **grid, tickCount=5, minExtent=extent)


def _labels(scale: Scale) -> dict[str, Any]:
    if scale == "linear":
        return {"labelExpr": _SHORT, "labelFlush": False, "labelSeparation": 5}
    label = f"{_ROUND} ? {_SHORT} : ''"
    return {"labelExpr": label, "labelFlush": False, "labelOverlap": "greedy", "labelSeparation": 6}


def tip(key: str) -> alt.Tooltip:
    """A line of the box that the pointer brings up."""
    title = key.capitalize()
    if key in ("policy", "pair"):
        # Of the point nearest to the pointer, Vega-Lite finds numbers but not texts. So this poses
        # as a number, with a format that leaves texts as they are.
        return alt.Tooltip(f"{key}:Q", title=title, formatType="trim")
    return alt.Tooltip(f"{key}:Q", title=title, format="," if key == "round" else ",.6~r")
