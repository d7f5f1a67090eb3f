"""The look of every chart: functions from plain rows to Altair charts.

Rows are lists of dictionaries; each function says which keys it reads. A policy has one colour, one
dash and one shape, whatever the chart: see :func:`styles`.

>>> look = styles(["prae-c", "dprse"])
>>> rows = [
...     {"policy": "prae-c", "round": t, "mean": 3.0 * t, "low": 2.5 * t, "high": 3.5 * t}
...     for t in (100, 200)
... ]
>>> render(regret(rows, look), "svg")[:4]
b'<svg'
"""

from __future__ import annotations

from stoic.errors import MissingExtra

try:
    from stoic.charts.figure import figure, render
    from stoic.charts.look import Style, dashes, styles, theme
    from stoic.charts.panels import arms_left, differences, final_regret, regret
    from stoic.charts.scaling import scaling
    from stoic.charts.users import users_needed
except ModuleNotFoundError as missing:
    raise MissingExtra(str(missing.name), extra="lab") from None

__all__ = [
    "Style",
    "arms_left",
    "dashes",
    "differences",
    "figure",
    "final_regret",
    "regret",
    "render",
    "scaling",
    "styles",
    "theme",
    "users_needed",
]
