"""Charts from plain rows: every row is drawn, within its axes, and nothing is fetched."""

from __future__ import annotations

import re
import struct
from typing import Any
from xml.etree import ElementTree

import altair as alt
import pytest

from stoic import charts

LOOK = charts.styles(["prae-c", "dprse"])


def curves(*, high: float = 1.1, first: float = 100.0) -> list[dict[str, Any]]:
    return [
        {"policy": policy, "round": at, "mean": slope * at, "low": slope * at * 0.9, "high": reach}
        for policy, slope in (("prae-c", 1.0), ("dprse", 3.0))
        for at in (first, 1000.0, 10_000.0)
        for reach in [slope * at * high]
    ]


def svg(chart: Any) -> str:
    return charts.render(chart, "svg").decode()


def words(drawn: str) -> list[str]:
    """All text of a picture."""
    return [text for one in ElementTree.fromstring(drawn).iter() if (text := one.text)]


def heights(drawn: str, colour: str) -> list[float]:
    """Where the marks of a colour are, from the top of the picture."""
    marks = re.findall(rf'transform="translate\(([^)]*)\)"[^>]*fill="{colour}"', drawn)
    return [float(place.split(",")[1]) for place in marks]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_regret_draws_every_policy_in_its_colour(scale: Any) -> None:
    drawn = svg(charts.regret(curves(), LOOK, scale=scale))
    for style in LOOK.values():
        assert f'stroke="{style.colour}"' in drawn
        assert len(heights(drawn, style.colour)) >= 2
    assert {"Round", "Cumulative regret"} <= set(words(drawn))


def test_regret_is_drawn_where_it_is() -> None:
    drawn = svg(charts.regret(curves(), LOOK, height=150))
    top = 1.04 * 33_000  # of the axis: the upper end of the highest band
    for style, mean in zip(LOOK.values(), (10_000, 30_000), strict=True):
        assert min(heights(drawn, style.colour)) == pytest.approx(150 * (1 - mean / top))


def test_regret_has_room_for_bands_and_lines_to_compare_with() -> None:
    rows = curves(high=1.5)
    lines = [{"reference": "linear", "round": 10_000, "value": 70_000.0}]
    for references, top in (((), 45_000), (lines, 70_000)):
        chart = charts.regret(rows, LOOK, references=references).to_dict()
        (scale,) = {
            str(layer["encoding"]["y"]["scale"])
            for layer in chart["layer"]
            if "scale" in layer["encoding"].get("y", {})
        }
        assert str(1.04 * top) in scale


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_regret_of_nothing_and_of_one_replication_is_drawn(scale: Any) -> None:
    rows = [
        {"policy": "prae-c", "round": at, "mean": 0.0, "low": None, "high": None}
        for at in (1, 2, 3)
    ]
    drawn = svg(charts.regret(rows, LOOK, scale=scale))
    assert "NaN" not in drawn
    assert heights(drawn, LOOK["prae-c"].colour)


def test_a_line_to_compare_with_keeps_its_dash_in_every_panel() -> None:
    lines = charts.dashes(["linear", "lower"])
    references = [{"reference": "lower", "round": at, "value": at} for at in (100, 10_000)]
    drawn = svg(charts.regret(curves(), LOOK, references=references, lines=lines))
    assert f'stroke-dasharray="{",".join(map(str, lines["lower"]))}"' in drawn


def test_every_replication_has_a_mark_and_every_policy_a_lane() -> None:
    rows = [
        {"policy": policy, "regret": shift + number}
        for policy, shift in (("prae-c", 10.0), ("dprse", 50.0))
        for number in range(7)
    ]
    drawn = svg(charts.final_regret(rows, LOOK))
    blue, green = (heights(drawn, style.colour) for style in LOOK.values())
    assert len(blue) == len(green) == 7
    assert max(blue) < min(green)
    assert set(LOOK) <= set(words(drawn))


def test_of_many_policies_every_one_is_named() -> None:
    many = charts.styles([f"policy {number}" for number in range(12)])
    rows = [{"policy": policy, "regret": at} for policy in many for at in (1.0, 2.0)]
    pairs = [{"pair": policy, "difference": 1.0, "low": 0.0, "high": 2.0} for policy in many]
    for chart in (charts.final_regret(rows, many), charts.differences(pairs)):
        assert set(many) <= set(words(svg(chart)))


def test_arms_left_reach_from_none_to_all() -> None:
    played = {0: 5.0, 9: 2.5, 20: 1.0}
    rows = [{"policy": "prae-c", "round": at, "arms": arms} for at, arms in played.items()]
    drawn = words(svg(charts.arms_left(rows, LOOK)))
    assert {"0", "5", "Arms in play"} <= set(drawn)
    assert "6" not in drawn


def test_differences_show_zero_even_when_all_are_far_from_it() -> None:
    rows = [{"pair": "a minus b", "difference": 900.0, "low": 890.0, "high": 910.0}]
    drawn = words(svg(charts.differences(rows)))
    assert {"0", "a minus b", "Difference in final regret"} <= set(drawn)


def test_large_numbers_are_short_and_in_plain_english() -> None:
    rows = [
        {"policy": "prae-c", "round": at, "mean": 2.0 * at, "low": None, "high": None}
        for at in (10**9, 2 * 10**9)
    ]
    drawn = words(svg(charts.regret(rows, LOOK)))
    assert {"1B", "2B"} <= set(drawn)
    assert not [text for text in drawn if re.fullmatch(r"\d+G", text)]


def test_a_figure_names_policies_lines_panels_and_notes() -> None:
    panels = [(f"Panel {number}", charts.regret(curves(), LOOK)) for number in range(4)]
    whole = charts.figure(panels, LOOK, references=["linear"], notes=["A note."], columns=2)
    assert {*LOOK, "linear", "A note.", *(title for title, _ in panels)} <= set(words(svg(whole)))


def test_long_titles_do_not_push_panels_apart() -> None:
    def width(title: str) -> float:
        panels = [(title, charts.regret(curves(), LOOK)) for _ in range(3)]
        drawn = ElementTree.fromstring(svg(charts.figure(panels, LOOK)))
        return float(drawn.attrib["width"])

    assert width("many words " * 12) == pytest.approx(width("-"), abs=20)


def test_files_are_what_they_say() -> None:
    chart = charts.figure([("Panel", charts.regret(curves(), LOOK))], LOOK)
    png = charts.render(chart, "png")
    width, _ = struct.unpack(">II", png[16:24])
    assert png.startswith(b"\x89PNG")
    assert width > 500  # 200 dots an inch
    assert charts.render(chart, "pdf").startswith(b"%PDF-")
    assert ElementTree.fromstring(charts.render(chart, "svg").decode()).tag.endswith("svg")


def test_a_chart_that_would_fetch_something_is_refused() -> None:
    remote = alt.Chart(alt.UrlData("https://example.org/rows.json")).mark_point().encode(x="a:Q")
    with pytest.raises(ValueError, match="example"):
        charts.render(alt.layer(remote), "svg")
