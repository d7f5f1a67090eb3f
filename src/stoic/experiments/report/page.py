"""The page of a report: everything inside one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from string import Template
from typing import Any

import vl_convert

from stoic import charts
from stoic.experiments.outcome import Outcome
from stoic.experiments.report import tables
from stoic.experiments.report.inside import Drawn, Inside
from stoic.experiments.report.rows import Panel, Row
from stoic.experiments.report.scaling import Growth
from stoic.experiments.report.words import Words

__all__ = ["render_page"]

Lines = Mapping[str, Sequence[int]]


def render_page(
    outcome: Outcome,
    panels: Sequence[Panel],
    shown: Sequence[Panel],
    references: Sequence[Sequence[Row]],
    growths: Sequence[Growth],
    look: Mapping[str, charts.Style],
    words: Words,
) -> str:
    """The page as text.

    The panels that are ``shown`` have charts of their own, and ``references`` are the lines to
    compare with in each; ``growths`` are what the others add up to.
    """
    data = Inside()
    sections = [
        *_growth(growths, look, data),
        *_sections(outcome, panels, shown, references, look, data),
    ]
    return Template(_file("page.html")).substitute(
        title=escape(outcome.study.title),
        style=_file("page.css"),
        summary=escape(words.summary),
        unfinished=_unfinished(words),
        links=" ".join(f'<a href="#{one.name}">{one.title}</a>' for one in sections),
        notes="\n".join(f"<li>{escape(note)}</li>" for note in words.notes),
        key=_key(look),
        sections="\n".join(one.html() for one in sections),
        footer=escape(words.footer),
        data=data.text(),
        library=vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"),
        script=_file("page.js"),
    )


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    title: str
    shows: str
    content: str

    def html(self) -> str:
        head = f'<section id="{self.name}">\n<h2>{self.title}</h2>\n<p>{self.shows}</p>'
        return f"{head}\n{self.content}\n</section>"


def _sections(
    outcome: Outcome,
    panels: Sequence[Panel],
    shown: Sequence[Panel],
    references: Sequence[Sequence[Row]],
    look: Mapping[str, charts.Style],
    data: Inside,
) -> list[_Section]:
    lines = charts.dashes([row["reference"] for rows in references for row in rows])
    regret, final, arms, pairs = [], [], [], []
    for number, (panel, compared) in enumerate(zip(shown, references, strict=True)):
        regret.append(
            data.figure(f"regret-{number}", panel.label, _regret(panel, compared, look, lines))
        )
        final.append(data.figure(f"final-{number}", panel.label, _final(panel, look)))
        arms.append(data.figure(f"arms-{number}", panel.label, _arms(panel, look)))
        pairs.append(data.figure(f"pairs-{number}", panel.label, _pairs(panel)))
    study = f'<pre tabindex="0">{escape(outcome.study.text)}</pre>'
    sections = [
        _Section(
            "regret",
            "Regret over time",
            "Mean cumulative regret, with its interval. Grey lines are for comparison.",
            _lines_key(lines) + _grid(regret),
        ),
        _Section("means", "Regret at the horizon", "Lower is better.", tables.means(panels)),
        _Section(
            "distributions",
            "Distribution of the final regret",
            "A mark for each replication; the box reaches from quartile to quartile, the line is "
            "the median.",
            _grid(final),
        ),
        _Section(
            "arms",
            "Arms left over time",
            "How many arms are still in play, on average over the replications.",
            _grid(arms),
        ),
        _Section(
            "pairs",
            "Pairwise differences",
            "Differences in final regret, paired by replication, with their intervals: where one "
            "does not cover zero, the policies differ. Variance reduction: how many times more "
            "replications it would take with independent rewards for the same precision. Below 1, "
            "shared rewards did not help.",
            _grid(pairs) + tables.pairs(shown),
        ),
        _Section(
            "bounds",
            "What the theory says",
            "Lower and upper: terms of the minimax bounds at the horizon, every constant set to 1. "
            "They say how regret grows, not how large it is. Proved: holds with all constants, "
            "with probability 1 - 0.83 δ, for a profile with a guarantee. A dash: there is no such "
            "bound here.",
            tables.bounds(panels),
        ),
        _Section(
            "settings",
            "Settings",
            "What was run, exactly. The command that ran it makes the same numbers again.",
            tables.provenance(outcome)
            + f"<h3>Options</h3>{tables.settings(outcome)}<h3>The study</h3>{study}",
        ),
    ]
    return [one for one in sections if shown or one.name not in _PANEL_BY_PANEL]


def _growth(
    growths: Sequence[Growth], look: Mapping[str, charts.Style], data: Inside
) -> list[_Section]:
    lines = charts.dashes([row["reference"] for one in growths for row in one.references])
    drawn = []
    for number, one in enumerate(growths):
        known: dict[str, Any] = {"height": 240, **one.drawing, **_WIDE}
        chart = {"linear": charts.scaling(one.points, look, **known)} if one.points else {}
        drawn.append(data.figure(f"growth-{number}", one.label, chart))  # has one scale only
    section = _Section(
        "growth",
        "How regret grows",
        "Mean final regret against what varies, on logarithmic axes, with its interval and the "
        "least-squares line. The grey line is the lower bound, every constant set to 1.",
        _lines_key(lines) + _grid(drawn) + tables.slopes(growths),
    )
    return [section] if growths else []


def _regret(
    panel: Panel, references: Sequence[Row], look: Mapping[str, charts.Style], lines: Lines
) -> Drawn:
    rows = panel.curves()
    if not rows:
        return {}
    known: dict[str, Any] = {"references": references, "lines": lines, "height": 240, **_WIDE}
    return {
        "linear": charts.regret(rows, look, scale="linear", **known),
        "log": charts.regret(rows, look, scale="log", **known),
    }


def _final(panel: Panel, look: Mapping[str, charts.Style]) -> Drawn:
    rows = panel.final_regrets()
    if not rows:
        return {}
    return {
        "linear": charts.final_regret(rows, look, scale="linear", **_WIDE),
        "log": charts.final_regret(rows, look, scale="log", **_WIDE),
    }


def _arms(panel: Panel, look: Mapping[str, charts.Style]) -> Drawn:
    rows = panel.arms_left()
    return {"linear": charts.arms_left(rows, look, height=160, **_WIDE)} if rows else {}


def _pairs(panel: Panel) -> Drawn:
    rows = panel.pairs()
    return {"linear": charts.differences(rows, **_WIDE)} if rows else {}


_PANEL_BY_PANEL = ("regret", "distributions", "arms", "pairs")
_WIDE: dict[str, Any] = {"width": "container", "interactive": True}


def _key(look: Mapping[str, charts.Style]) -> str:
    """The policies, each with its line and its mark, to choose from."""
    return "\n".join(
        f'<label><input type="checkbox" name="policy" value="{escape(name)}" checked>'
        f"{_sample(style)}{escape(name)}</label>"
        for name, style in look.items()
    )


def _sample(style: charts.Style) -> str:
    dash = " ".join(map(str, style.dash))
    return (
        '<svg class="sample" viewBox="0 0 40 14" aria-hidden="true">'
        f'<path d="M0 7H40" stroke="{style.colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
        f'<path d="{_MARKS[style.shape]}" fill="{style.colour}"/></svg>'
    )


_MARKS = {
    "circle": "M16 7a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "square": "M16.5 3.5h7v7h-7z",
    "triangle-up": "M20 2.5l4.6 8h-9.2z",
    "triangle-down": "M20 11.5l4.6 -8h-9.2z",
    "diamond": "M20 1.5l4.5 5.5l-4.5 5.5l-4.5 -5.5z",
    "cross": "M18.5 2.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
}


def _lines_key(lines: Lines) -> str:
    samples = "\n".join(
        '<span><svg class="sample" viewBox="0 0 40 14" aria-hidden="true"><path d="M0 7H40" '
        f'stroke="currentColor" stroke-width="1.5" stroke-dasharray="{" ".join(map(str, dash))}"/>'
        f"</svg>{escape(name)}</span>"
        for name, dash in lines.items()
    )
    return f'<div class="lines">{samples}</div>' if lines else ""


def _grid(figures: Sequence[str]) -> str:
    return '<div class="panels">\n' + "\n".join(figures) + "\n</div>"


def _unfinished(words: Words) -> str:
    if not words.missing:
        return ""
    first, *others = (escape(line) for line in words.missing)
    items = "".join(f"<li>{line}</li>" for line in others)
    return f'<div class="notice" id="unfinished"><p>Unfinished. {first}</p><ul>{items}</ul></div>'


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
