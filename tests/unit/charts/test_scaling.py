"""Regret against a quantity: drawn where it is, under the words that are said of it."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from stoic import charts

LOOK = charts.styles(["prae-s", "ucb1"])
HEIGHT = 200


def points(*, spread: float = 0.1) -> list[dict[str, Any]]:
    return [
        {
            "policy": policy,
            "at": at,
            "mean": level * at,
            "low": level * at * (1 - spread),
            "high": level * at * (1 + spread),
        }
        for policy, level in (("prae-s", 2.0), ("ucb1", 30.0))
        for at in (0.1, 1.0, 10.0)
    ]


def svg(chart: Any) -> str:
    return charts.render(chart, "svg").decode()


def heights(drawn: str, colour: str) -> list[float]:
    marks = re.findall(rf'transform="translate\(([^)]*)\)"[^>]*fill="{colour}"', drawn)
    return [float(place.split(",")[1]) for place in marks]


def test_points_lie_on_a_logarithmic_scale() -> None:
    drawn = svg(charts.scaling(points(), LOOK, quantity="Arms", height=HEIGHT))
    low, high = 0.2 / 1.25, 330 * 1.25
    for policy, level in (("prae-s", 2.0), ("ucb1", 30.0)):
        wanted = [
            HEIGHT * math.log(high / (level * at)) / math.log(high / low) for at in (0.1, 1.0, 10.0)
        ]
        assert heights(drawn, LOOK[policy].colour) == pytest.approx(wanted, abs=0.01)
    assert "Arms" in drawn
    assert "Final regret" in drawn


def test_what_is_said_stands_above_all_points() -> None:
    remarks = [{"text": f"remark {number}"} for number in range(3)]
    bound = [{"reference": "bound", "at": at, "value": 700 * at} for at in (0.1, 10.0)]
    chart = charts.scaling(
        points(), LOOK, quantity="Arms", remarks=remarks, references=bound, height=HEIGHT
    )
    drawn = svg(chart)
    assert all(remark["text"] in drawn for remark in remarks)
    assert min(heights(drawn, LOOK["ucb1"].colour)) > 45  # three lines of 15 pixels
    (top,) = {
        layer["encoding"]["y"]["scale"]["domain"][1]
        for layer in chart.to_dict()["layer"]
        if "scale" in layer["encoding"]["y"]
    }
    low, high = 0.2 / 1.25, 7_000 * 1.25
    assert math.log(top / high) / math.log(top / low) == pytest.approx(45 / HEIGHT)


def test_there_is_never_more_said_than_drawn() -> None:
    remarks = [{"text": f"remark {number}"} for number in range(50)]
    drawn = svg(charts.scaling(points(), LOOK, quantity="Arms", remarks=remarks, height=150))
    assert "remark 4" in drawn
    assert "remark 5" not in drawn
    assert max(heights(drawn, LOOK["prae-s"].colour)) < 150


def test_one_replication_has_no_interval_and_zero_has_a_place() -> None:
    rows = [
        {"policy": "ucb1", "at": at, "mean": at - 1, "low": None, "high": None}
        for at in (1.0, 10.0)
    ]
    drawn = svg(charts.scaling(rows, LOOK, quantity="Arms"))
    assert "NaN" not in drawn
    assert len(heights(drawn, LOOK["ucb1"].colour)) == 2


def test_fits_and_lines_to_compare_with_are_drawn_in_their_own_way() -> None:
    fits = [{"policy": "ucb1", "at": at, "value": 30 * at} for at in (0.1, 10.0)]
    bound = [{"reference": "bound", "at": at, "value": at} for at in (0.1, 10.0)]
    plain = svg(charts.scaling(points(), LOOK, quantity="Arms"))
    drawn = svg(
        charts.scaling(
            points(), LOOK, quantity="Arms", fits=fits, references=bound, lines={"bound": (9, 9)}
        )
    )
    assert 'stroke-dasharray="9,9"' in drawn
    assert 'stroke-dasharray="9,9"' not in plain
    assert drawn.count(f'stroke="{LOOK["ucb1"].colour}"') == 1 + plain.count(
        f'stroke="{LOOK["ucb1"].colour}"'
    )
