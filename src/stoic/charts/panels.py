"""The charts of one panel of a study."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Literal

import altair as alt

from stoic.charts.axes import (
    Rows,
    Scale,
    colour,
    dash,
    inline,
    rounds,
    shape,
    tip,
    value_axis,
    value_scale,
)
from stoic.charts.look import Style, dashes

__all__ = ["Width", "arms_left", "differences", "final_regret", "layered", "regret"]

Width = int | Literal["container"]

_GOLDEN = 0.618034  # its multiples spread points evenly, without order or chance


def regret(
    rows: Rows,
    look: Mapping[str, Style],
    *,
    references: Rows = (),
    lines: Mapping[str, Sequence[int]] | None = None,
    scale: Scale = "linear",
    width: Width = 200,
    height: int = 150,
    interactive: bool = False,
) -> alt.LayerChart:
    """Mean regret over time with its interval, from ``policy, round, mean, low, high``.

    ``references`` are lines to compare with, from ``reference, round, value``; ``lines`` says how
    each is dashed (see :func:`stoic.charts.dashes`), so that it is the same in every panel.
    """
    last = {row["reference"]: row["value"] for row in references}
    reach = [row["mean"] if row["high"] is None else row["high"] for row in rows]
    y = value_scale(scale, [*(row["mean"] for row in rows), *reach, *last.values()])
    mean = alt.Y("mean:Q", title="Cumulative regret", scale=y, axis=value_axis(scale))
    base = alt.Chart(inline(rows)).encode(rounds(rows, scale), colour(look))
    band = base.mark_area(opacity=0.25, clip=True).encode(alt.Y("low:Q", scale=y), alt.Y2("high:Q"))
    line = base.mark_line(strokeWidth=1.75, clip=True).encode(mean, dash(look))
    layers = [band, line, _markers(base, rows, look, scale).encode(mean)]
    if references:
        known = dashes([*last]) if lines is None else lines
        layers.insert(0, _references(references, known, y, scale))
    if interactive:
        layers.append(_hover(base, ["mean", "low", "high"]).encode(mean))
    return layered(layers, width, height)


def arms_left(
    rows: Rows,
    look: Mapping[str, Style],
    *,
    width: Width = 200,
    height: int = 110,
    interactive: bool = False,
) -> alt.LayerChart:
    """The mean number of arms in play over time, from ``policy, round, arms``."""
    arms = alt.Y(
        "arms:Q",
        title="Arms in play",
        scale=alt.Scale(domain=[0, max(row["arms"] for row in rows)]),
        axis=alt.Axis(tickMinStep=1, tickCount=5, minExtent=36),
    )
    base = alt.Chart(inline(rows)).encode(rounds(rows, "linear"), arms, colour(look))
    line = base.mark_line(interpolate="step-after", strokeWidth=1.75).encode(dash(look))
    layers = [line, _markers(base, rows, look, "linear")]
    if interactive:
        layers.append(_hover(base, ["arms"]))
    return layered(layers, width, height)


def final_regret(
    rows: Rows,
    look: Mapping[str, Style],
    *,
    scale: Scale = "linear",
    width: Width = 200,
    interactive: bool = False,
) -> alt.LayerChart:
    """Every replication's final regret, with median and quartiles, from ``policy, regret``."""
    shown = [policy for policy in look if any(row["policy"] == policy for row in rows)]
    placed = []
    for index, row in enumerate(rows):
        lane = shown.index(row["policy"])
        placed.append({**row, "lane": lane, "y": lane + 0.6 * (index * _GOLDEN % 1 - 0.5)})
    x = value_scale(scale, [row["regret"] for row in rows])
    y = alt.Scale(domain=[len(shown) - 0.5, -0.5], nice=False, zero=False)
    names = alt.Axis(
        values=list(range(len(shown))),
        labelExpr=f"{json.dumps(shown)}[datum.value]",
        labelLimit=160,
        labelOverlap=False,
        grid=False,
        ticks=False,
        domain=False,
    )
    base = alt.Chart(inline(placed))
    points = base.mark_point(filled=True, size=22, opacity=0.6).encode(
        alt.X("regret:Q", title="Final regret", scale=x, axis=value_axis(scale, across=True)),
        alt.Y("y:Q", title=None, scale=y, axis=names),
        colour(look),
        shape(look),
    )
    if interactive:
        points = points.encode(tooltip=[tip("policy"), tip("regret")])
    summary = base.transform_aggregate(
        q1="q1(regret)", median="median(regret)", q3="q3(regret)", groupby=["policy", "lane"]
    ).transform_calculate(top="datum.lane - 0.36", bottom="datum.lane + 0.36")
    summary = summary.encode(alt.Y("top:Q", scale=y, axis=names), alt.Y2("bottom:Q"))
    box = summary.mark_rect(opacity=0.22).encode(
        alt.X("q1:Q", scale=x), alt.X2("q3:Q"), colour(look)
    )
    median = summary.mark_rule(style="strong", strokeWidth=2).encode(alt.X("median:Q", scale=x))
    return layered([box, points, median], width, 32 * len(shown))


def differences(rows: Rows, *, width: Width = 200, interactive: bool = False) -> alt.LayerChart:
    """Paired differences with their intervals, from ``pair, difference, low, high``."""
    names = alt.Axis(labelLimit=190, ticks=False)
    base = alt.Chart(inline(rows)).encode(alt.Y("pair:N", sort=None, title=None, axis=names))
    x = alt.X(
        "difference:Q", title="Difference in final regret", axis=value_axis("linear", across=True)
    )
    zero = (
        alt.Chart(inline([{"zero": 0}]))
        .mark_rule(style="soft", strokeDash=[4, 3])
        .encode(alt.X("zero:Q"))
    )
    interval = base.mark_rule(style="strong", strokeWidth=2).encode(
        alt.X("low:Q"), alt.X2("high:Q")
    )
    point = base.mark_point(style="strong", filled=True, size=50, opacity=1).encode(x)
    if interactive:
        point = point.encode(tooltip=[tip(key) for key in ("pair", "difference", "low", "high")])
    return layered([zero, interval, point], width, 24 * len(rows))


def layered(layers: list[alt.Chart], width: Width, height: int) -> alt.LayerChart:
    """Layers as one chart, as wide as its page where it says so."""
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    return alt.LayerChart(
        layer=layers,
        width=width,
        height=height,
        autosize=fit if width == "container" else alt.Undefined,
        # The dashes of references are their own.
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(strokeDash="independent")),
    )


def _markers(base: alt.Chart, rows: Rows, look: Mapping[str, Style], scale: Scale) -> alt.Chart:
    """Shapes at a few rounds, so that lines can be told apart without colour."""
    every = sorted({row["round"] for row in rows})
    parts = (0.01, 0.04, 0.2, 1.0) if scale == "log" else (0.1, 0.4, 0.7, 1.0)
    few = {min(every, key=lambda at: abs(at - part * every[-1])) for part in parts}
    here = alt.FieldOneOfPredicate(field="round", oneOf=sorted(few))
    points: alt.Chart = (
        base.mark_point(filled=True, size=34, opacity=1).transform_filter(here).encode(shape(look))
    )
    return points


def _references(
    references: Rows, known: Mapping[str, Sequence[int]], y: alt.Scale, scale: Scale
) -> alt.Chart:
    if scale == "log":  # else it would run along the lower edge
        references = [row for row in references if row["value"] >= y["domain"][0]]
    styled = alt.Scale(domain=list(known), range=[list(dash) for dash in known.values()])
    drawn: alt.Chart = (
        alt.Chart(inline(references))
        .mark_line(style="soft", strokeWidth=1.25, clip=True)
        .encode(
            alt.X("round:Q"),
            alt.Y("value:Q", scale=y),
            alt.StrokeDash("reference:N", scale=styled, legend=None),
        )
    )
    return drawn


def _hover(base: alt.Chart, keys: Sequence[str]) -> alt.Chart:
    """The point nearest to the pointer is drawn, and says what it stands for."""
    nearest = alt.selection_point(
        name="nearest", nearest=True, on="pointerover", fields=["policy", "round"], empty=False
    )
    point: alt.Chart = (
        base.mark_point(filled=True, size=90, aria=False)
        .encode(
            opacity=alt.condition(nearest, alt.value(1), alt.value(0)),
            tooltip=[tip("policy"), tip("round"), *map(tip, keys)],
        )
        .add_params(nearest)
    )
    return point
