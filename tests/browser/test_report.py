"""The report's page in a browser without a network: drawn, whole, and silent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.browser import Page, opened
from stoic.experiments import parse, run
from stoic.experiments.report import page as render

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STUDY = """
title = "Three <policies> & two panels"
seed = 3
replications = 8
horizon = 4_000
checkpoints = 40
profile = "unit"
moments = {kind = "central", k = 2, bound = 5, mean_range = [0, 100]}

[[policies]]
name = "prae-c"
epsilon = 1.0

[[policies]]
name = "dprse"
epsilon = 1.0

[[policies]]
name = "ucb1"
label = "LONG"

[[panels]]
label = "Pareto"
instance = {name = "paper", family = "pareto", alpha = 0.05}

[[panels]]
label = "Student"
instance = {name = "paper", family = "student-t", alpha = 0.05}
"""
LONG = "ucb1, which has a label too long for the width of any telephone"
COLOURS = {"prae-c †": "#0072B2", "dprse †": "#009E73"}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("study")
    outcome = run(parse(STUDY.replace("LONG", LONG), "study.toml"), directory)
    path = directory / "report.html"
    path.write_text(render(outcome), encoding="utf-8")
    return path


@pytest.fixture
def page(report: Path, tmp_path: Path) -> Iterator[Page]:
    with opened(report, tmp_path / "profile") as page:
        page.wait_for("document.documentElement.dataset.drawn")
        yield page


def drawn(page: Page) -> list[int]:
    """How many lines, areas and marks every chart has."""
    found: list[int] = page.evaluate(
        "[...document.querySelectorAll('.chart')].map((one) =>"
        " one.querySelectorAll('svg .mark-line path[d], svg .mark-area path[d],"
        " svg .mark-symbol path[d], svg .mark-rule line').length)"
    )
    return found


def coloured(page: Page, colour: str) -> int:
    """How many shapes have a colour, in all charts."""
    return int(
        page.evaluate(
            f'document.querySelectorAll(\'.chart svg [stroke="{colour}" i],'
            f' .chart svg [fill="{colour}" i]\').length'
        )
    )


def first_chart(page: Page) -> str:
    """Its picture; the names of clips are new each time."""
    drawn = page.evaluate("document.querySelector('#regret-0 svg.marks').outerHTML")
    return re.sub(r"clip\d+", "clip", drawn)


def test_every_chart_is_drawn_and_nothing_is_asked_for(page: Page) -> None:
    page.settle()
    assert page.faults == []
    assert len(drawn(page)) == 2 * 4
    assert min(drawn(page)) >= 3
    assert page.evaluate("document.querySelector('h1').textContent") == (
        "Three <policies> & two panels"
    )
    assert all(coloured(page, colour) > 0 for colour in COLOURS.values())


def test_every_control_redraws(page: Page) -> None:
    def after(click: str) -> str:
        """The first chart after a click."""
        page.evaluate(f"document.querySelector({json.dumps(click)}).click()")
        page.wait_for("document.documentElement.dataset.drawn")
        return first_chart(page)

    linear = first_chart(page)
    light = after("[value=log]")
    assert light != linear
    dark = after("#theme")
    assert dark != light
    assert after("#theme") == light
    assert after("[value=linear]") == linear
    for policy, colour in COLOURS.items():
        assert coloured(page, colour) > 0
        after(f'[value="{policy}"]')
        assert coloured(page, colour) == 0
    after("[value^=ucb1]")  # now there is none left
    assert coloured(page, "#D55E00") == 0
    page.settle()
    assert page.faults == []


def test_the_pointer_brings_up_policy_and_numbers(page: Page) -> None:
    for chart in ("regret-0", "arms-1"):
        page.point_at(f"#{chart} svg.marks", across=0.6)
        page.wait_for("document.querySelector('#vg-tooltip-element.visible') !== null")
        told = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('#vg-tooltip-element tr')]"
            ".map((row) => [...row.cells].map((cell) => cell.textContent.trim())))"
        )
        assert told["Policy"] in (*COLOURS, LONG)
        assert int(told["Round"].replace(",", "")) in range(0, 4001, 100)
        page.point_at("h1")
        page.wait_for("document.querySelector('#vg-tooltip-element.visible') === null")
    assert page.faults == []


def test_it_fits_a_phone(report: Path, tmp_path: Path) -> None:
    with opened(report, tmp_path / "profile", width=360, height=740) as page:
        page.wait_for("document.documentElement.dataset.drawn")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        widths = page.evaluate(
            "[...document.querySelectorAll('.chart svg.marks')].map((one) =>"
            " one.getBoundingClientRect().right)"
        )
        assert len(widths) == 8
        assert max(widths) <= 360


def test_a_page_whose_charts_fail_is_found(report: Path, tmp_path: Path) -> None:
    text = report.read_text(encoding="utf-8")
    planted = tmp_path / "planted.html"
    planted.write_text(text.replace("window.vegaEmbed", "window.nothing"), encoding="utf-8")
    with opened(planted, tmp_path / "profile") as page:
        page.wait_for_fault()
        assert any("vegaEmbed" in fault for fault in page.faults)
        assert not page.evaluate("document.documentElement.dataset.drawn")
        assert sum(drawn(page)) == 0
