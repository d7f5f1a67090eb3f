"""A forecast as one HTML file: no script, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from stoic import charts
from stoic.planning.forecast import Forecast
from stoic.planning.what_if import Grid, costs, what_if
from stoic.planning.words import blame, facts, setting, verdict

__all__ = ["render_page"]

_STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 52rem; color: #1b1f24;
  font: 16px/1.55 system-ui, "Segoe UI", Helvetica, Arial, "Liberation Sans", sans-serif; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; }
.lead { font-size: 1.15rem; }
.notice { border-left: 4px solid #c98a00; background: #fff4d6; padding: .6rem 1rem; }
.soft { color: #4a525e; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; border-bottom: 1px solid #d5d9df; text-align: right; }
th:first-child, td:first-child { text-align: left; }
td.own { font-weight: 700; background: #eef4fb; }
svg { max-width: 100%; height: auto; }
"""


def render_page(forecast: Forecast, notes: Sequence[str] = ()) -> str:
    """The page as text; ``notes`` are said before all else."""
    grid = what_if(forecast)
    what = "before anything can be decided"
    if forecast.gap is not None:
        what = f"to find a gap of {forecast.gap:g}"
    lines = [escape(line) for line in verdict(forecast).splitlines()]
    kind = "lead" if forecast.feasible else "notice"
    rows = "\n".join(
        f"<tr><td>{escape(label)}</td><td>{escape(number)}</td></tr>"
        for label, number in facts(forecast)
    )
    said = "\n".join(f'<p class="notice">{escape(note)}</p>' for note in notes)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Plan of an experiment</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Plan of an experiment</h1>
<p class="soft">{escape(setting(forecast))}</p>
{said}
<p class="{kind}">{"<br>".join(lines)}</p>
<h2>Numbers</h2>
<table>{rows}</table>
<p>{escape(blame(costs(forecast)))}</p>
<h2>What if</h2>
<p>Users of each arm {escape(what)}, by privacy budget and share of outliers. A dash: it cannot be
done.</p>
{_chart(grid, forecast)}
<div class="wide">{_table(grid, forecast)}</div>
</body>
</html>
"""


def _chart(grid: Grid, forecast: Forecast) -> str:
    own = forecast.policy.estimator.contamination.alpha
    rows = [
        {"share": f"{alpha:.3g}", "epsilon": epsilon, "users": users}
        for epsilon, row in zip(grid.epsilons, grid.users, strict=True)
        for alpha, users in zip(grid.alphas, row, strict=True)
        if users is not None
    ]
    if not rows:
        return ""
    shown = {row["share"] for row in rows}
    shares = [share for alpha in grid.alphas if (share := f"{alpha:.3g}") in shown]
    return charts.render(charts.users_needed(rows, shares, own=f"{own:.3g}"), "svg").decode()


def _table(grid: Grid, forecast: Forecast) -> str:
    estimator = forecast.policy.estimator
    head = "".join(f"<th>{alpha:.3g}</th>" for alpha in grid.alphas)
    lines = [f"<tr><th>ε</th>{head}</tr>"]
    for epsilon, row in zip(grid.epsilons, grid.users, strict=True):
        cells = []
        for alpha, users in zip(grid.alphas, row, strict=True):
            own = (epsilon, alpha) == (estimator.epsilon, estimator.contamination.alpha)
            mark = ' class="own"' if own else ""
            cells.append(f"<td{mark}>{'–' if users is None else f'{users:,}'}</td>")  # noqa: RUF001
        lines.append(f"<tr><th>{epsilon:g}</th>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"
