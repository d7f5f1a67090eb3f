"""How regret grows with another quantity than time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from stoic.charts.axes import Rows, colour, dash, inline, shape, tip, value_axis, value_scale
from stoic.charts.look import Style, dashes
from stoic.charts.panels import Width, layered

__all__ = ["scaling"]

_ROOM = 1.15  # beside the first point and the last one
_LINE = 15  # pixels between two lines of words


def scaling(
    rows: Rows,
    look: Mapping[str, Style],
    *,
    quantity: str,
    fits: Rows = (),
    references: Rows = (),
    lines: Mapping[str, Sequence[int]] | None = None,
    remarks: Rows = (),
    width: Width = 200,
    height: int = 150,
    interactive: bool = False,
) -> alt.LayerChart:
    """Final regret against a quantity on logarithmic axes, from ``policy, at, mean, low, high``.

    ``fits`` are lines through the points, from ``policy, at, value``; ``references`` lines to
    compare with, from ``reference, at, value``, dashed as ``lines`` say; ``remarks`` are words
    above all that, from ``text`` and, where they are about one, ``policy``: as many as half of the
    height has room for.
    """
    known = dashes([row["reference"] for row in references]) if lines is None else lines
    every = [row["at"] for row in rows]
    across = alt.Scale(
        type="log", domain=[min(every) / _ROOM, max(every) * _ROOM], nice=False, padding=0
    )
    reach = [row["high"] for row in rows if row["high"] is not None]
    values = [*(row["mean"] for row in rows), *reach, *(row["value"] for row in references)]
    said = remarks[: height // (2 * _LINE)]
    y = _with_room(value_scale("log", values), _LINE * len(said) / height)
    x = alt.X("at:Q", title=quantity, scale=across, axis=value_axis("log", across=True))
    mean = alt.Y("mean:Q", title="Final regret", scale=y, axis=value_axis("log"))
    base = alt.Chart(inline(rows)).encode(x, colour(look))
    point = base.mark_point(filled=True, size=34, opacity=1).encode(mean, shape(look))
    if interactive:
        here = alt.Tooltip("at:Q", title=quantity, format=",.6~r")
        point = point.encode(tooltip=[tip("policy"), here, *map(tip, ("mean", "low", "high"))])
    interval = base.mark_rule(strokeWidth=1.25, clip=True).encode(
        alt.Y("low:Q", scale=y), alt.Y2("high:Q")
    )
    layers = [interval, point]
    if fits:
        fitted = alt.Chart(inline(fits)).mark_line(strokeWidth=1.5, clip=True)
        layers.insert(0, fitted.encode(x, alt.Y("value:Q", scale=y), colour(look), dash(look)))
    if references:
        styled = alt.Scale(domain=list(known), range=[list(one) for one in known.values()])
        drawn = alt.Chart(inline(references)).mark_line(style="soft", strokeWidth=1.25, clip=True)
        pattern = alt.StrokeDash("reference:N", scale=styled, legend=None)
        layers.insert(0, drawn.encode(x, alt.Y("value:Q", scale=y), pattern))
    for line, remark in enumerate(said):
        words = alt.Chart(inline([remark])).mark_text(style="note", align="left", baseline="top")
        layers.append(words.encode(x=alt.value(4), y=alt.value(2 + _LINE * line), text="text:N"))
    return layered(layers, width, height)


def _with_room(scale: alt.Scale, part: float) -> alt.Scale:
    """The logarithmic scale with so large a part of it left free at the top."""
    low, high = scale["domain"]
    return alt.Scale(**{**scale.to_dict(), "domain": [low, low * (high / low) ** (1 / (1 - part))]})
