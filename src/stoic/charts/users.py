"""How many users an experiment needs, by epsilon and share of outliers."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from stoic.charts.axes import Rows, inline, value_axis, value_scale
from stoic.charts.look import styles

__all__ = ["users_needed"]


def users_needed(
    rows: Rows, shares: Sequence[str], *, own: str, width: int = 460, height: int = 280
) -> alt.LayerChart:
    """Users per arm against epsilon, a line for each share, from ``share, epsilon, users``.

    ``own`` is the share that was planned with: its line is drawn strongest.
    """
    look = styles(shares)
    x = alt.X(
        "epsilon:Q",
        title="Privacy budget ε",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=sorted({row["epsilon"] for row in rows}), format="~g", grid=False),
    )
    y = alt.Y(
        "users:Q",
        title="Users of each arm",
        scale=value_scale("log", [row["users"] for row in rows]),
        axis=value_axis("log"),
    )
    colours = alt.Scale(domain=list(look), range=[style.colour for style in look.values()])
    dashes = alt.Scale(domain=list(look), range=[style.dash for style in look.values()])
    legend = alt.Legend(title="Share of outliers", orient="right", symbolStrokeWidth=2)
    base = alt.Chart(inline(rows)).encode(
        x, y, alt.Color("share:N", scale=colours, legend=legend, sort=list(look))
    )
    line = base.mark_line(strokeWidth=1.75).encode(
        alt.StrokeDash("share:N", scale=dashes, legend=legend, sort=list(look)),
        strokeWidth=alt.condition(alt.datum.share == own, alt.value(3.0), alt.value(1.5)),
    )
    dots = base.mark_point(filled=True, size=40, opacity=1)
    return alt.LayerChart(layer=[line, dots], width=width, height=height)
