"""What a report shows of sweeps: the right points, lines and slopes, and nothing twice."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from stoic import RawMoment, theory
from stoic.experiments import Outcome, load, parse, run
from stoic.experiments.report import figures, page
from stoic.experiments.report.bounds import LOWER
from stoic.experiments.report.rows import panels_of
from stoic.experiments.report.scaling import Growth, growths, slope

STUDY = """
title = "Sweeps"
seed = 5
replications = 12
checkpoints = 5
moments = {kind = "raw", k = 2, bound = 1}

[[policies]]
name = "prae-r"
profile = "unit"

[[policies]]
name = "uniform"

[[panels]]
label = "budgets"
instance = {name = "hard", arms = 3}
horizon = 2_000
sweep = {epsilon = [0.5, 1.0, 4.0]}

[[panels]]
label = "rounds"
instance = {name = "hard-sampling", arms = 3}
epsilon = 1.0
sweep = {horizon = [500, 2_000, 8_000, 32_000]}
"""
PLAIN = """
[[panels]]
label = "as ever"
instance = {name = "hard-sampling", arms = 3}
epsilon = 1.0
horizon = 1_000
"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("swept")
    run(parse(STUDY, "swept.toml"), path)
    return path


@pytest.fixture(scope="module")
def outcome(directory: Path) -> Outcome:
    return load(directory)


def growth(outcome: Outcome, label: str) -> Growth:
    (found,) = (one for one in growths(outcome, panels_of(outcome)) if one.label == label)
    return found


def of(rows: list[dict[str, Any]], policy: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["policy"] == policy]


def test_points_are_mean_final_regrets_with_their_intervals(outcome: Outcome) -> None:
    found = growth(outcome, "rounds")
    assert found.quantity == "Rounds T"
    cells = [cell for cell in outcome.cells if cell.panel.startswith("rounds")]
    for policy in ("prae-r †", "uniform"):
        rows = of(found.points, policy)
        assert [row["at"] for row in rows] == [500, 2_000, 8_000, 32_000]
        own = [cell.result for cell in cells if policy.startswith(cell.policy)]
        for row, result in zip(rows, own, strict=True):
            assert result is not None
            regret = result.final_regret
            assert row["mean"] == pytest.approx(regret.mean())
            low, high = stats.t.interval(0.95, 11, regret.mean(), stats.sem(regret) or 1e-300)
            assert (row["low"], row["high"]) == pytest.approx((low, high))


def test_budgets_are_drawn_against_their_inverse(outcome: Outcome) -> None:
    found = growth(outcome, "budgets")
    assert found.quantity == "1/ε"
    assert [row["at"] for row in of(found.points, "uniform")] == [2.0, 1.0, 0.25]


def test_the_line_to_compare_with_is_the_largest_term_of_the_lower_bound(outcome: Outcome) -> None:
    found = growth(outcome, "budgets")
    for row, epsilon in zip(found.references, (0.5, 1.0, 4.0), strict=True):
        terms = theory.lower_bound(
            arms=3, horizon=2_000, epsilon=epsilon, moments=RawMoment(2, 1.0)
        )
        assert row == {"reference": LOWER, "at": 1 / epsilon, "value": max(terms.values())}


def test_slopes_are_those_of_the_logarithms(outcome: Outcome) -> None:
    found = growth(outcome, "rounds")
    for row in found.slopes:
        own = of(found.points, row["policy"])
        line = stats.linregress(
            [math.log(one["at"]) for one in own], [math.log(one["mean"]) for one in own]
        )
        assert row["slope"] == pytest.approx(line.slope)
        assert row["error"] == pytest.approx(line.stderr)
        assert row["bound"] == pytest.approx(0.5)
        ends = of(found.fits, row["policy"])
        assert [one["at"] for one in ends] == [500, 32_000]
        drawn = math.log(ends[1]["value"] / ends[0]["value"]) / math.log(32_000 / 500)
        assert drawn == pytest.approx(line.slope)
        assert ends[0]["value"] == pytest.approx(math.exp(line.intercept) * 500**line.slope)
    (uniform,) = of(found.slopes, "uniform")
    assert uniform["slope"] == pytest.approx(0.5, abs=0.02)  # gaps follow 1 / sqrt(T)


def test_what_has_no_logarithm_or_no_third_point_has_no_slope() -> None:
    assert slope([1, 10], [1, 10]) is None
    assert slope([1, 10, 100], [0, 10, 100]) is None
    assert slope([], []) is None
    assert slope([1, 10, 100], [3, 3, 3]) == pytest.approx((0, 0, math.log(3)))


def test_a_swept_study_has_one_figure_and_no_curves(outcome: Outcome) -> None:
    drawn = figures(outcome)
    assert set(drawn) == {"scaling.png", "scaling.svg", "scaling.pdf"}
    words = re.sub(r"<[^>]*>", "\n", drawn["scaling.svg"].decode())
    (row,) = of(growth(outcome, "rounds").slopes, "uniform")
    assert f"uniform: slope {row['slope']:.2f} ± {row['error']:.2f}" in words
    assert f"{LOWER}: slope 0.50" in words
    assert "Points are means over 12 replications" in words
    shown = page(outcome)
    assert 'id="growth-1"' in shown
    assert not re.search(r'id="(regret|final|arms|pairs)-', shown)
    assert "bands are" not in shown
    assert f'<td class="number">{row["slope"]:.3f}</td>' in shown


def test_other_panels_keep_their_charts(tmp_path: Path) -> None:
    outcome = run(parse(STUDY + PLAIN, "both.toml").repeated(2), tmp_path)
    names = {name.rpartition(".")[0] for name in figures(outcome)}
    assert names == {"scaling", "figure", "figure-log"}
    shown = page(outcome)
    assert len(re.findall(r'id="regret-\d+"', shown)) == 1
    assert len(re.findall(r'id="growth-\d+"', shown)) == 2


def test_a_study_without_sweeps_says_nothing_of_them(tmp_path: Path) -> None:
    text = STUDY[: STUDY.index("[[panels]]")] + PLAIN
    shown = page(run(parse(text, "plain.toml").repeated(2), tmp_path))
    assert "growth" not in re.sub(r"<script.*?</script>", "", shown, flags=re.DOTALL)


def test_an_unfinished_sweep_is_drawn_as_far_as_it_goes(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "replications").mkdir()
    for path in sorted((directory / "replications").glob("*.parquet")):
        if int(path.name[:4]) >= 10:  # two horizons of the second sweep, both policies
            (tmp_path / "replications" / path.name).write_bytes(path.read_bytes())
    outcome = load(tmp_path)
    found = growth(outcome, "rounds")
    assert [row["at"] for row in of(found.points, "uniform")] == [8_000, 32_000]
    assert (found.slopes, found.fits) == ([], [])
    assert growth(outcome, "budgets").points == []
    assert set(figures(outcome)) == {"scaling.png", "scaling.svg", "scaling.pdf"}
    shown = page(outcome)
    assert "Nothing to draw yet." in shown
    assert "Unfinished" in shown
