"""The tables of a report, as HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

from stoic.experiments.outcome import Outcome
from stoic.experiments.report.bounds import theory
from stoic.experiments.report.rows import CONFIDENCE, Panel, Row
from stoic.experiments.report.scaling import Growth

__all__ = ["bounds", "means", "pairs", "provenance", "settings", "slopes"]

Column = tuple[str, str, Callable[[Row], str]]  # heading, class of the cells, their text

_NONE = "\N{EN DASH}"
_LEVEL = f"{CONFIDENCE * 100:g} %"


def means(panels: Sequence[Panel]) -> str:
    """Final regret of every policy, and what became of the arms."""
    return _table(
        [
            ("Policy", "", lambda row: row["policy"]),
            ("Mean regret", "number", lambda row: _number(row["mean"])),
            ("± standard error", "error", lambda row: _error(row["error"])),
            ("5 % quantile", "number", lambda row: _number(row["low"])),
            ("Median", "number", lambda row: _number(row["median"])),
            ("95 % quantile", "number", lambda row: _number(row["high"])),
            ("Best arm kept", "number", lambda row: f"{row['best_kept']} of {row['replications']}"),
            ("Arms left", "number", lambda row: f"{row['arms']:.3g}"),
        ],
        [(panel.label, panel.means()) for panel in panels],
    )


def pairs(panels: Sequence[Panel]) -> str:
    """Paired differences in final regret."""
    return _table(
        [
            ("Pair", "", lambda row: row["pair"]),
            ("Difference", "number", lambda row: _number(row["difference"])),
            ("± standard error", "error", lambda row: _error(row["error"])),
            (f"{_LEVEL} interval", "number", _interval),
            ("Variance reduction", "number", lambda row: _times(row["reduction"])),
        ],
        [(panel.label, panel.pairs()) for panel in panels],
    )


def bounds(panels: Sequence[Panel]) -> str:
    """What the theory says of every policy that it covers."""
    return _table(
        [
            ("Policy", "", lambda row: row["policy"]),
            ("Lower: sampling", "number", lambda row: _number(row["sampling"])),
            ("Lower: privacy", "number", lambda row: _number(row["privacy"])),
            ("Lower: outliers", "number", lambda row: _number(row["contamination"])),
            ("Upper, all terms", "number", lambda row: _number(row["upper"])),
            ("No arm leaves before", "number", lambda row: _number(row["earliest"])),
            ("Proved on these gaps", "number", lambda row: _number(row["proved"])),
            ("Measured", "number", lambda row: _number(row["mean"])),
        ],
        [(panel.label, theory(panel)) for panel in panels],
    )


def slopes(growths: Sequence[Growth]) -> str:
    """The exponents that were measured, beside those of the lower bound."""
    return _table(
        [
            ("Policy", "", lambda row: row["policy"]),
            ("Slope", "number", lambda row: f"{row['slope']:.3f}"),
            ("± standard error", "error", lambda row: f"± {row['error']:.3f}"),
            ("Slope of the lower bound", "number", lambda row: _number(row["bound"])),
        ],
        [(f"{one.label}: {one.quantity}", one.slopes) for one in growths],
    )


def settings(outcome: Outcome) -> str:
    """What all cells share as a list, and what differs as a table."""
    flat = [dict(_flat(cell.settings)) for cell in outcome.cells]
    names = list(dict.fromkeys(name for one in flat for name in one))
    shared = [name for name in names if len({one.get(name) for one in flat}) == 1]
    varied = [name for name in names if name not in shared]
    columns: list[Column] = [("Policy", "", lambda row: row["policy"])]
    columns += [(name, "", partial(_setting, name)) for name in varied]
    panels: dict[str, list[Row]] = {}
    for cell, one in zip(outcome.cells, flat, strict=True):
        panels.setdefault(cell.panel, []).append({**one, "policy": cell.policy})
    common = _list([(name, flat[0][name]) for name in shared])
    return common + _table(columns, list(panels.items()))


def provenance(outcome: Outcome) -> str:
    """Where the numbers come from: the study, the seed, the versions and the time."""
    study, made = outcome.study, outcome.provenance
    return _list(
        [
            ("Study", study.name),
            ("Fingerprint", f"sha256 {made['digest']}"),
            ("Seed", str(made["seed"])),
            ("Replications", f"{study.replications:,}"),
            *((name, made[name]) for name in ("stoic", "numpy", "scipy", "python")),
            ("Started", _time(made["started"])),
            ("Finished", _time(made["finished"])),
            ("Work", f"{made['seconds']:,.1f} s, summed over the processes"),
        ]
    )


def _table(columns: Sequence[Column], panels: Iterable[tuple[str, Sequence[Row]]]) -> str:
    """Rows in groups; each group begins with the name of its panel."""
    heads = "".join(_cell("th", title, kind, scope="col") for title, kind, _ in columns)
    parts = [f'<div class="table"><table><thead><tr>{heads}</tr></thead>']
    for label, rows in panels:
        title = _cell("th", label, "panel", scope="rowgroup", colspan=str(len(columns)))
        parts.append(f"<tbody><tr>{title}</tr>")
        for row in rows:
            (_, kind, first), *others = columns
            cells = _cell("th", first(row), kind, scope="row")
            cells += "".join(_cell("td", text(row), kind) for _, kind, text in others)
            parts.append(f"<tr>{cells}</tr>")
        if not rows:
            parts.append(f'<tr><td colspan="{len(columns)}">Nothing yet.</td></tr>')
        parts.append("</tbody>")
    return "\n".join([*parts, "</table></div>"])


def _cell(tag: str, text: str, kind: str, **attributes: str) -> str:
    given = {**({"class": kind} if kind else {}), **attributes}
    inside = "".join(f' {name}="{escape(value)}"' for name, value in given.items())
    return f"<{tag}{inside}>{escape(text)}</{tag}>"


def _list(entries: Sequence[tuple[str, str]]) -> str:
    items = "\n".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in entries)
    return f"<dl>{items}</dl>"


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Nested tables as dotted names, as they stand in a study."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", f"{value:,}" if _large(value) else str(value)


def _setting(name: str, row: Row) -> str:
    """Empty where a policy does not take it."""
    return str(row.get(name, ""))


def _large(value: object) -> bool:
    return isinstance(value, int) and abs(value) >= 10_000


def _interval(row: Row) -> str:
    if row["low"] is None:
        return _NONE
    return f"{_number(row['low'])} to {_number(row['high'])}"


def _error(error: float) -> str:
    if math.isnan(error):
        return ""
    return f"± {error:,.0f}" if error >= 1000 else f"± {error:.3g}"


def _times(ratio: float) -> str:
    """Infinite if the difference never varies, undefined if nothing does."""
    if math.isnan(ratio):
        return _NONE
    return "∞" if math.isinf(ratio) else f"{ratio:,.3g} \N{MULTIPLICATION SIGN}"


def _number(number: float | None) -> str:
    if number is None:
        return _NONE
    text = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _time(moment: str) -> str:
    return moment.replace("T", " ").replace("+00:00", " UTC")
