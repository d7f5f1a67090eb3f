"""Several panels on one sheet, and charts as files."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair as alt
import vl_convert

from stoic.charts.axes import colour, dash, inline, shape
from stoic.charts.look import Style, dashes, theme

__all__ = ["figure", "render"]

_LINE = 20  # pixels between two lines of the key
_NARROW = 450  # pixels: no key and no note is narrower


def figure(
    panels: Sequence[tuple[str, alt.LayerChart]],
    look: Mapping[str, Style],
    *,
    references: Sequence[str] = (),
    notes: Sequence[str] = (),
    columns: int = 3,
) -> alt.VConcatChart:
    """Titled panels in rows, under one key of the policies and references, above the notes."""
    columns = min(columns, len(panels))
    width = max(_NARROW, columns * (int(panels[0][1].width) + 50))
    per_line = int(panels[0][1].width) // 7
    titled = [chart.properties(title=textwrap.wrap(title, per_line)) for title, chart in panels]
    grid = alt.concat(*titled, columns=columns, spacing={"row": 18, "column": 22})
    said = [line for note in notes for line in textwrap.wrap(note, width // 6)]
    parts: list[Any] = [_key(look, references, width=width), grid]
    return alt.vconcat(*parts, *([_notes(said, width)] if said else []), spacing=18)


def render(chart: alt.LayerChart | alt.VConcatChart, form: Literal["png", "svg", "pdf"]) -> bytes:
    """The chart as a file: PNG at 200 dots an inch, SVG, or PDF. Nothing is fetched."""
    spec = {**chart.to_dict(), "config": {**theme(), "padding": 12}}
    options: dict[str, Any] = {"vl_spec": spec, "allowed_base_urls": []}
    if form == "png":
        return bytes(vl_convert.vegalite_to_png(**options, scale=1.0, ppi=200))
    if form == "pdf":
        return bytes(vl_convert.vegalite_to_pdf(**options))
    return str(vl_convert.vegalite_to_svg(**options)).encode()


def _key(look: Mapping[str, Style], references: Sequence[str], *, width: float) -> alt.LayerChart:
    """Samples of every line with their names, as many in a line as there is room for."""
    entries: list[dict[str, Any]] = []
    x, y = 0.0, 8
    for name in (*look, *references):
        wide = 56 + sum(8.2 if letter.isupper() else 6 for letter in name)
        if x and x + wide > width:
            x, y = 0.0, y + _LINE
        entries.append(
            {"policy": name, "x": x, "middle": x + 16, "end": x + 32, "name": x + 40, "y": y}
        )
        x += wide
    bare: dict[str, Any] = {"scale": alt.Scale(domain=[0, width]), "axis": None}
    down = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[y + 8, 0]))
    line = {"x": alt.X("x:Q", **bare), "x2": alt.X2("end:Q"), "y": down}
    policies, others = entries[: len(look)], entries[len(look) :]
    drawn = alt.Chart(inline(policies)).encode(down, colour(look))
    layers = [
        drawn.mark_rule(strokeWidth=1.75).encode(**line, strokeDash=dash(look)),
        drawn.mark_point(filled=True, size=44, opacity=1).encode(
            alt.X("middle:Q", **bare), shape(look)
        ),
        alt.Chart(inline(entries))
        .mark_text(style="key", align="left", baseline="middle")
        .encode(alt.X("name:Q", **bare), down, text="policy:N"),
    ]
    for entry, pattern in zip(others, dashes(references).values(), strict=True):
        thin = alt.Chart(inline([entry])).mark_rule(
            style="soft", strokeWidth=1.25, strokeDash=list(pattern)
        )
        layers.append(thin.encode(**line))
    return alt.LayerChart(layer=layers, width=width, height=y + 8)


def _notes(lines: Sequence[str], width: int) -> alt.Chart:
    text: alt.Chart = (
        alt.Chart(inline([{"note": list(lines)}]), width=width, height=15 * len(lines))
        .mark_text(style="note", align="left", baseline="top", lineHeight=15)
        .encode(x=alt.value(0), y=alt.value(0), text="note:N")
    )
    return text
