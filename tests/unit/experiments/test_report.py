"""The report of a study: the right numbers, all that was run, and nothing from elsewhere."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from stoic import theory
from stoic.cli.app import app
from stoic.errors import UnusableResults
from stoic.experiments import Outcome, load, parse, run
from stoic.experiments.report import figures, page, write_report
from stoic.experiments.report.bounds import LOWER, PROVED, UNIFORM, references
from stoic.experiments.report.bounds import theory as theory_rows
from stoic.experiments.report.rows import Panel, Played, panels_of

STUDY = """
# what a reader should see again: 1 < 2 & "quoted"
title = "A study of <two> panels"
seed = 7
replications = 60
horizon = 20_000
checkpoints = 20
moments = {kind = "central", k = 2, bound = 5, mean_range = [0, 100]}

[[policies]]
name = "prae-c"
profile = "unit"
epsilon = 1.0

[[policies]]
name = "prae-r"
profile = "proof"
epsilon = 1.0

[[policies]]
name = "ucb1"

[[panels]]
label = "clean <b>"
instance = {name = "paper", family = "pareto", alpha = 0.0}

[[panels]]
label = "dirty"
instance = {name = "paper", family = "pareto", alpha = 0.05}
"""
LABELS = ["prae-c †", "prae-r", "ucb1"]
FIGURES = {f"{name}.{form}" for name in ("figure", "figure-log") for form in ("png", "svg", "pdf")}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("study")
    run(parse(STUDY, "study.toml"), directory)
    return directory


@pytest.fixture(scope="module")
def outcome(directory: Path) -> Outcome:
    return load(directory)


@pytest.fixture(scope="module")
def drawn(outcome: Outcome) -> dict[str, bytes]:
    return figures(outcome)


@pytest.fixture(scope="module")
def text(outcome: Outcome) -> str:
    return page(outcome)


@pytest.fixture(scope="module")
def shown(text: str) -> Reader:
    return Reader(text)


class Reader(HTMLParser):
    """What a page shows (its tables row by row), what it carries, and what it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.rows: list[list[str]] = []
        self.shown: list[str] = []
        self.carried = ""
        self._inside: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.tags.append(tag)
        self.loads += [known[name] or "" for name in ("src", "srcset", "data") if name in known]
        if tag == "link" or (tag == "a" and not (known.get("href") or "").startswith("#")):
            self.loads.append(known.get("href") or "")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self._inside.append((tag, known))

    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tag, known = self._inside[-1] if self._inside else ("", {})
        if tag in ("td", "th"):
            self.rows[-1][-1] += data
        if tag == "script" and known.get("id") == "data":
            self.carried += data
        if tag not in ("script", "style"):
            self.shown.append(data)

    @property
    def text(self) -> str:
        return "".join(self.shown)

    @property
    def inside(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(self.carried)))
        return found


def panel(outcome: Outcome, number: int = 0) -> Panel:
    return panels_of(outcome)[number]


def of(rows: list[dict[str, Any]], policy: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["policy"] == policy]


# --- Numbers ------------------------------------------------------------------------------------


def test_curves_are_means_with_their_intervals(outcome: Outcome) -> None:
    result = outcome.cells[0].result
    assert result is not None
    rows = of(panel(outcome).curves(), "prae-c †")
    assert [row["round"] for row in rows] == list(range(1000, 20_001, 1000))
    for at in (0, 7, 19):
        regret = result.regret[:, at]
        low, high = stats.t.interval(0.95, 59, regret.mean(), stats.sem(regret))
        assert rows[at]["mean"] == pytest.approx(regret.mean())
        assert (rows[at]["low"], rows[at]["high"]) == pytest.approx((low, high))


def test_arms_left_begin_with_all_and_count_what_is_in_play(outcome: Outcome) -> None:
    result = outcome.cells[0].result
    assert result is not None
    rows = of(panel(outcome).arms_left(), "prae-c †")
    assert (rows[0]["round"], rows[0]["arms"]) == (0, 5.0)
    for row in rows[1:]:
        gone = (result.eliminated_at >= 0) & (result.eliminated_at <= row["round"])
        assert row["arms"] == pytest.approx(5 - gone.sum(axis=1).mean())
    assert rows[-1]["arms"] < 5


def test_the_table_of_means(outcome: Outcome, shown: Reader) -> None:
    result = outcome.cells[0].result
    assert result is not None
    (row,) = of(panel(outcome).means(), "prae-c †")
    assert row["mean"] == pytest.approx(result.final_regret.mean())
    assert row["error"] == pytest.approx(stats.sem(result.final_regret))
    assert row["median"] == pytest.approx(np.median(result.final_regret))
    assert (row["best_kept"], row["replications"]) == (result.best_kept.sum(), 60)
    told = [cells for cells in shown.rows if cells[0] == "prae-c †" and "of 60" in cells[6]]
    assert len(told) == 2
    assert told[0][1:3] == [f"{row['mean']:,.0f}", f"± {row['error']:,.0f}"]


def test_pairs_are_paired_by_replication(outcome: Outcome) -> None:
    one, other = (outcome.cells[index].result for index in (0, 1))
    assert one is not None
    assert other is not None
    difference = one.final_regret - other.final_regret
    rows = panel(outcome).pairs()
    assert [row["pair"] for row in rows] == [
        "prae-c † minus prae-r",
        "prae-c † minus ucb1",
        "prae-r minus ucb1",
    ]
    low, high = stats.t.interval(0.95, 59, difference.mean(), stats.sem(difference))
    assert rows[0]["difference"] == pytest.approx(difference.mean())
    assert (rows[0]["low"], rows[0]["high"]) == pytest.approx((low, high))
    apart = one.final_regret.var() + other.final_regret.var()
    assert rows[0]["reduction"] == pytest.approx(apart / difference.var())


def test_intervals_cover_the_truth_as_often_as_they_say(outcome: Outcome) -> None:
    # Of 2,000 intervals from ten normal replications, 95 % cover zero: 1900 +- 10. Off by fifty
    # (five deviations, 6e-7), they would be other intervals, such as normal ones (91.8 %).
    (player, *_), checkpoints = panel(outcome).played, np.arange(1, 2001)
    rng = np.random.Generator(np.random.SFC64(1))
    regret = rng.normal(size=(10, 2000))
    result = dataclasses.replace(
        player.result,
        replications=np.arange(10),
        checkpoints=checkpoints,
        regret=regret,
        final_regret=regret[:, -1],
    )
    rows = Panel("", (Played("one", result),), points=2000, dots=10).curves()
    covered = sum(row["low"] <= 0 <= row["high"] for row in rows)
    assert abs(covered - 1900) < 50
    deviation = regret.std(axis=0, ddof=1) / np.sqrt(10)
    normal = np.count_nonzero(np.abs(regret.mean(axis=0)) <= 1.96 * deviation)
    assert abs(normal - 1900) >= 50


def test_of_very_many_replications_evenly_many_are_drawn(outcome: Outcome) -> None:
    (player, *_) = panel(outcome).played
    regret = np.random.Generator(np.random.SFC64(2)).permutation(10_001).astype(float)
    result = dataclasses.replace(player.result, final_regret=regret, replications=np.arange(10_001))
    rows = Panel("", (Played("one", result),), points=10, dots=101).final_regrets()
    assert [row["regret"] for row in rows] == [100.0 * number for number in range(101)]


# --- Bounds -------------------------------------------------------------------------------------


def test_lines_to_compare_with_are_those_of_theory(outcome: Outcome) -> None:
    rows = references(panel(outcome, 1))
    last = {row["reference"]: row["value"] for row in rows if row["round"] == 20_000}
    assert last[UNIFORM] == 20_000 * 50
    for kind, index in (("central", 0), ("raw", 1)):
        result = outcome.cells[3 + index].result
        assert result is not None
        terms = theory.lower_bound(
            arms=5,
            horizon=20_000,
            epsilon=1.0,
            moments=result.policy.estimator.moments,
            contamination=0.05,
        )
        assert last[f"{LOWER}, {kind} moments"] == pytest.approx(max(terms.values()))
    assert len(last) == 3  # at this horizon nothing is proved


PROVABLE = """
seed = 1
replications = 4
horizon = 3_000_000
checkpoints = 30
epsilon = 1.0
moments = {kind = "raw", k = 2, bound = 1}

[[policies]]
name = "prae-r"
label = "honest"

[[policies]]
name = "prae-r"
label = "daring"
profile = "unit"

[[policies]]
name = "prae-r"
label = "blind"
contamination = 0.0

[[panels]]
[panels.instance]
alpha = 1e-3
contaminant = {law = "point", at = 0.0}
arms = [{law = "bernoulli", p = 1.0}, {law = "bernoulli", p = 0.1}]
"""


def test_what_is_proved_is_drawn_where_it_says_something(tmp_path: Path) -> None:
    found = panels_of(run(parse(PROVABLE, "study.toml"), tmp_path))[0]
    rows = references(found)
    proved = {row["reference"] for row in rows if row["reference"].startswith(PROVED)}
    assert proved == {f"{PROVED} honest"}  # the others' assumptions do not hold, or prove nothing
    line = {row["round"]: row["value"] for row in rows if row["reference"] == f"{PROVED} honest"}
    assert line[3_000_000] < 0.2 * 0.9 * 3_000_000
    for row in of(found.curves(), "honest"):
        assert row["mean"] <= line[row["round"]]
    (told,) = of(theory_rows(found), "honest")
    assert told["proved"] == line[3_000_000]
    assert of(theory_rows(found), "daring †")[0]["proved"] is None


# --- The page -----------------------------------------------------------------------------------


def test_the_figure_comes_in_all_forms(drawn: dict[str, bytes]) -> None:
    assert set(drawn) == FIGURES


def test_the_page_is_small_and_loads_nothing(text: str, shown: Reader) -> None:
    assert len(text.encode()) < 1_500_000
    assert shown.loads == []
    assert not re.search(r"@import|url\(", text.split("</style>")[0])
    assert "default-src 'none'" in text


def test_a_page_that_loads_something_would_be_found() -> None:
    for planted in ('<img src="a.png">', '<link href="a.css">', '<script src="a.js"></script>'):
        assert Reader(planted).loads


def test_what_a_study_says_is_shown_and_never_run(shown: Reader) -> None:
    assert "A study of <two> panels" in shown.text
    assert '# what a reader should see again: 1 < 2 & "quoted"' in shown.text
    assert "two" not in shown.tags
    assert "b" not in shown.tags
    assert ["clean <b>"] in shown.rows


def test_settings_are_exact(outcome: Outcome, shown: Reader) -> None:
    made = outcome.provenance
    for text in (made["digest"], made["numpy"], made["scipy"], made["python"], made["stoic"]):
        assert text in shown.text
    for moment in (made["started"], made["finished"]):
        assert moment.replace("T", " ").replace("+00:00", " UTC") in shown.text
    assert "20,000" in shown.text
    head = next(cells for cells in shown.rows if "instance.alpha" in cells)
    settings = [
        dict(zip(head, cells, strict=True)) for cells in shown.rows if len(cells) == len(head)
    ]
    told = [one for one in settings if one["Policy"] == "prae-r" and one["name"] == "prae-r"]
    assert [one["profile"] for one in told] == ["proof", "proof"]
    assert [one["contamination"] for one in told] == ["0.0", "0.05"]


def test_the_dagger_stands_where_nothing_is_proved(shown: Reader) -> None:
    assert "† No guarantee" in shown.text
    assert "prae-c †" in shown.text
    assert "prae-r †" not in shown.text
    assert "ucb1 †" not in shown.text


def test_without_the_unit_profile_there_is_no_dagger(outcome: Outcome) -> None:
    kept = tuple(cell for cell in outcome.cells if cell.policy != "prae-c")
    study = dataclasses.replace(outcome.study, policies=("prae-r", "ucb1"))
    assert "†" not in page(dataclasses.replace(outcome, cells=kept, study=study))


def test_a_regret_that_never_varies_is_remarked_on(outcome: Outcome) -> None:
    def with_regrets(spread: float) -> str:
        cells = []
        for cell in outcome.cells:
            assert cell.result is not None
            regret = np.arange(60.0) * (0.0 if cell.policy == "ucb1" else spread)
            result = dataclasses.replace(cell.result, final_regret=regret)
            cells.append(dataclasses.replace(cell, result=result))
        return Reader(page(dataclasses.replace(outcome, cells=tuple(cells)))).text

    assert "A standard error of 0 (ucb1)" in with_regrets(1.0)
    assert "A standard error of 0 (prae-c †, prae-r, ucb1)" in with_regrets(0.0)


def test_a_policy_has_one_colour_everywhere(
    drawn: dict[str, bytes], text: str, shown: Reader
) -> None:
    colours: dict[str, set[str]] = {label: set() for label in LABELS}
    scales = list(found(shown.inside["charts"], "color"))
    for one in scales:
        for label, colour in zip(one["scale"]["domain"], one["scale"]["range"], strict=True):
            colours[label].add(colour)
    assert [len(colours[label]) for label in LABELS] == [1, 1, 1]
    assert len({*colours["prae-c †"], *colours["prae-r"], *colours["ucb1"]}) == 3
    for (colour,) in colours.values():
        assert colour.encode() in drawn["figure.svg"]
        assert colour in text  # of the key


def found(tree: Any, name: str) -> Any:
    """All values under a name, however deep."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == name and isinstance(value, dict) and "scale" in value:
                yield value
            yield from found(value, name)
    elif isinstance(tree, list):
        for value in tree:
            yield from found(value, name)


def test_rows_inside_are_the_rows_of_the_charts(outcome: Outcome, shown: Reader) -> None:
    inside = shown.inside
    (name,) = [
        name
        for name in inside["charts"]["regret-0"]["linear"]["tables"]
        if "mean" in inside["tables"][name]["columns"]
    ]
    table = inside["tables"][name]["columns"]
    rows = panel(outcome).curves()
    assert [table["policy"]["levels"][at] for at in table["policy"]["values"]] == [
        row["policy"] for row in rows
    ]
    assert table["round"]["values"] == [row["round"] for row in rows]
    assert table["mean"]["values"] == pytest.approx([row["mean"] for row in rows], rel=1e-6)


def test_the_same_results_make_the_same_page(directory: Path, text: str) -> None:
    assert page(load(directory)) == text


def test_a_page_of_very_many_rows_stays_small(outcome: Outcome) -> None:
    rng = np.random.Generator(np.random.SFC64(3))
    cells = []
    for cell in outcome.cells:
        assert cell.result is not None
        regret = np.cumsum(rng.random((200, 20_000)), axis=1)
        final = rng.random(20_000)
        large = dataclasses.replace(
            cell.result,
            replications=np.arange(20_000),
            checkpoints=np.arange(1, 20_001),
            regret=regret,
            final_regret=final,
            eliminated_at=rng.integers(-1, 20_000, (20_000, 5)),
        )
        cells.append(dataclasses.replace(cell, result=large))
    text = page(dataclasses.replace(outcome, cells=tuple(cells)))
    assert len(text.encode()) < 2_000_000


# --- Unfinished studies, and what cannot be written ---------------------------------------------


@pytest.fixture
def unfinished(tmp_path: Path, directory: Path) -> Path:
    """Without the last chunk of the first cell, and without the whole second cell."""
    there = sorted((directory / "replications").glob("*.parquet"))
    first = [path for path in there if path.name.startswith("0000")]
    second = [path for path in there if path.name.startswith("0001")]
    assert len(first) > 1
    (tmp_path / "replications").mkdir()
    for path in there:
        if path != first[-1] and path not in second:
            (tmp_path / "replications" / path.name).write_bytes(path.read_bytes())
    return tmp_path


def test_a_finished_study_is_not_called_unfinished(shown: Reader) -> None:
    assert "Unfinished" not in shown.text


def test_an_unfinished_study_is_reported_as_far_as_it_goes(unfinished: Path) -> None:
    outcome = load(unfinished)
    one, other = outcome.cells[0].result, outcome.cells[2].result
    assert one is not None
    assert other is not None
    done = len(one.replications)
    assert done == 50
    assert outcome.cells[1].result is None
    shown = Reader(page(outcome))
    assert f"Unfinished. {240 + done} of 360 replications are there." in shown.text
    assert f"clean <b>, prae-c: {done} of 60" in shown.text
    assert "clean <b>, prae-r: 0 of 60" in shown.text
    assert "dirty, prae-c" not in shown.text
    assert "prae-r" in shown.text
    (pair,) = panel(outcome).pairs()  # of what both have played
    common = one.final_regret - other.final_regret[:done]
    assert pair["difference"] == pytest.approx(common.mean())
    assert pair["error"] == pytest.approx(stats.sem(common))


def test_a_panel_without_results_says_so(unfinished: Path) -> None:
    for path in (unfinished / "replications").glob("*.parquet"):
        if path.name[:4] in ("0000", "0002"):
            path.unlink()
    outcome = load(unfinished)
    drawn = figures(outcome)
    assert set(drawn) == FIGURES  # of the other panel
    assert "up to 60 replications" in drawn["figure.svg"].decode()
    assert Reader(page(outcome)).text.count("Nothing to draw yet.") == 4


def test_one_replication_has_no_intervals(outcome: Outcome) -> None:
    cells = []
    for cell in outcome.cells:
        assert cell.result is not None
        rows = ("replications", "regret", "final_regret", "pulls")
        rows += ("eliminated_at", "recommended", "draws")
        first = {name: getattr(cell.result, name)[:1] for name in rows}
        cells.append(dataclasses.replace(cell, result=dataclasses.replace(cell.result, **first)))
    single = dataclasses.replace(outcome, cells=tuple(cells), study=outcome.study.repeated(1))
    shown = Reader(page(single))
    assert "1 replication of" in shown.text
    assert "nan" not in shown.text.lower()
    assert {row["low"] for row in panel(single).curves()} == {None}


@pytest.fixture
def short(tmp_path: Path) -> Path:
    """A study without checkpoints, which has no curves."""
    study = STUDY.replace("checkpoints = 20", "checkpoints = 0")
    run(parse(study.replace("replications = 60", "replications = 2"), "study.toml"), tmp_path)
    return tmp_path


def test_a_study_without_checkpoints_has_tables_and_no_figure(short: Path) -> None:
    outcome = load(short)
    assert figures(outcome) == {}
    assert "2 of 2" in Reader(page(outcome)).text


def test_what_cannot_be_written_is_an_error(short: Path) -> None:
    (short / "report.html").mkdir()
    with pytest.raises(UnusableResults, match=r"cannot write .*report\.html"):
        write_report(short)


# --- The command --------------------------------------------------------------------------------


def test_the_command_names_what_it_wrote(directory: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(directory)])
    assert done.exit_code == 0
    named = {Path(line) for line in done.stdout.split("\n") if line}
    assert named == {directory / name for name in (*FIGURES, "report.html")}
    assert all(path.stat().st_size > 1000 for path in named)


def test_the_command_refuses_a_directory_without_results(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert isinstance(done.exception, UnusableResults)
    assert "no results here" in str(done.exception)
