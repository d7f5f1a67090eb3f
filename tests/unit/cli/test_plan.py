"""``stoic plan`` as users meet it."""

import json

import numpy as np
import pytest

import stoic
from helpers.policies import generator
from helpers.studies import command

SETTING = ("--arms", "5", "--epsilon", "0.5", "--horizon", "100000")
CENTRAL = ("--moment", "5", "--order", "2", "--mean-range", "0", "100", "--alpha", "0.05")


def test_it_prints_what_the_library_says():
    code, out, err = command("plan", *SETTING, *CENTRAL, "--gap", "25")
    assert (code, err) == (0, "")
    forecast = stoic.plan(
        arms=5,
        horizon=100_000,
        epsilon=0.5,
        moments=stoic.CentralMoment(2, 5, (0, 100)),
        contamination=0.05,
        gap=25,
    )
    assert out.strip() == stoic.planning.describe(forecast)


def test_json_holds_the_same_numbers():
    code, out, _ = command("plan", *SETTING, *CENTRAL, "--gap", "25", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["first"] == 81
    assert found["typical"]["separated"] is True
    assert found["what_if"]["epsilons"] == [0.1, 0.2, 0.5, 1.0, 2.0, 5.0]
    assert found["policy"]["kind"] == "PRAES"


def test_the_page_holds_table_and_chart_and_nothing_from_elsewhere(tmp_path):
    page = tmp_path / "plan.html"
    code, out, _ = command("plan", *SETTING, *CENTRAL, "--html", str(page))
    text = page.read_text(encoding="utf-8")
    assert code == 0
    assert out.endswith(f"Written to {page}.\n")
    assert "<svg" in text
    assert 'class="own">81<' in text
    assert "<script" not in text
    assert "src=" not in text


def test_what_cannot_be_done_ends_with_code_1_and_says_why():
    code, out, _ = command("plan", *SETTING, *CENTRAL, "--gap", "0.5")
    assert code == 1
    assert "This cannot be done: PRAE-S cannot tell a gap of 0.5 from outliers." in out
    assert "  - gaps of at least" in out


def test_a_pilot_gives_what_is_not_said(tmp_path):
    file = tmp_path / "pilot.npy"
    np.save(file, generator(1).normal(50, 2, 5000))
    code, out, _ = command("plan", *SETTING, "--pilot", str(file))
    assert code == 0
    assert "Pilot: 5,000 rewards of 1 arms." in out
    assert "Warning: the pilot was read without privacy" in out
    assert "bound=4." in out
    code, given, _ = command("plan", *SETTING, "--pilot", str(file), "--moment", "9")
    assert "bound=9.0" in given


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (SETTING, "--moment"),
        ((*SETTING, *CENTRAL, "--alpha", "0.6"), "contamination = 0.6"),
        ((*SETTING, *CENTRAL, "--gap", "-3"), "gap = -3"),
        ((*SETTING, *CENTRAL, "--goal", "up"), "goal = 'up'"),
        ((*SETTING, "--pilot", "nowhere.csv"), "No such file"),
        ((*SETTING, *CENTRAL, "--html", "nowhere/plan.html"), "No such file"),
    ],
)
def test_wrong_use_is_answered_in_a_line(arguments, says):
    code, out, err = command("plan", *arguments)
    assert code == 2
    assert says in err
    assert "Traceback" not in out + err
