"""The table of bounds: every cell is what the functions say, and every gap has its reason."""

import pytest

from stoic.core import CentralMoment, RawMoment
from stoic.errors import InvalidParameter
from stoic.theory import (
    Accuracy,
    earliest_removal,
    first_judged,
    lower_bound,
    regret_bound,
    table,
    upper_bound,
)

RAW, CENTRAL = RawMoment(2, 1.0), CentralMoment(2, 5.0, (0, 100))
GAPS = [0.0, 0.5, 1.0]


def shown(number):
    return f"{number:,.0f}" if abs(number) >= 1000 or number == int(number) else f"{number:.3g}"


def blocks(text):
    """Head, accuracies, rates and notes; the middle two as rows of a label and cells."""
    head, accuracies, rates, notes = text.split("\n\n")
    return head.split("\n"), cells(accuracies), cells(rates), notes.split("\n")


def cells(block):
    """Cells by label and column: every cell ends where its column's title does."""
    title, *rows = block.split("\n")
    first = len(title) - len(title.lstrip()) or title.index("  ")
    columns, at = {}, first
    for name in title[first:].split("  "):
        at += len(name) + 2
        if name.strip():
            columns[name.strip()] = at - 2
    found = {}
    for row in rows:
        label = row[:first].strip() or row.split("  ")[0]
        found[label] = {}
        start = first
        for name, end in columns.items():
            found[label][name] = row[start:end].strip()
            start = end
    return found


def test_every_cell_of_the_accuracies_is_what_the_functions_say():
    run = {"arms": 3, "horizon": 10**6}
    text = table(epsilon=1.0, moments=RAW, contamination=0.001, delta=0.01, gaps=GAPS, **run)
    _, found, _, _ = blocks(text)
    for profile in ("proof", "unit"):
        mean = Accuracy(RAW, 1.0, 0.001, profile)
        column = {label: row[f"prae-r {profile}"] for label, row in found.items()}
        judged = first_judged(mean, delta=0.01, **run)
        assert column["proved"] == ("yes" if mean.guaranteed else "no")
        assert column["breakdown point (contamination)"] == shown(mean.breakdown)
        failure = mean.share(0.01, 3, judged)
        assert column["threshold: n of one estimate"] == shown(mean.threshold(failure))
        earliest = earliest_removal(mean, delta=0.01, **run)
        assert column["no arm leaves before round"] == shown(earliest)
        for batch in (9, 13, 18):  # 2^18 <= 10^6 / 3 < 2^19
            beta = shown(float(mean.radius(2**batch, mean.share(0.01, 3, batch))))
            expected = beta if batch >= judged else ""
            assert column[f"radius of a batch of {2**batch:,}"] == expected
        assert column["radius of an endless batch (bias floor)"] == shown(mean.floor)
        assert column["gaps sure to be told apart: above"] == shown(4 * mean.floor)
    bound = regret_bound(Accuracy(RAW, 1.0, 0.001), GAPS, delta=0.01, horizon=10**6)
    for gap, most in zip(GAPS[1:], bound.pulls[1:], strict=True):
        row = found[f"pulls of an arm with gap {gap:g}: at most"]
        assert row == {"prae-r proof": shown(most), "prae-r unit": ""}
    row = found["regret on these gaps: at most"]
    assert row == {"prae-r proof": shown(bound.on_good_event), "prae-r unit": ""}


def test_every_rate_is_what_the_functions_say():
    setting = {"arms": 5, "horizon": 100_000, "epsilon": 0.5, "contamination": 0.05}
    _, _, rates, _ = blocks(table(moments=CENTRAL, **setting))
    expected = {
        "lower bound": lower_bound(moments=CENTRAL, **setting),
        "prae-r, delta = 1/T": upper_bound(moments=CENTRAL.as_raw(), **setting),
        "prae-c, delta = 1/T": upper_bound(moments=CENTRAL, **setting),
    }
    assert rates == {
        label: {
            name: shown(terms[name]) if name in terms else ""
            for name in ("sampling", "privacy", "contamination", "threshold")
        }
        for label, terms in expected.items()
    }


def test_the_head_states_the_setting():
    head, *_ = blocks(table(arms=5, horizon=100_000, epsilon=0.5, moments=CENTRAL))
    assert head == [
        "5 arms, 100,000 rounds, epsilon = 0.5, contamination = 0, delta = 1e-05",
        str(CENTRAL),
    ]


def test_raw_moments_have_no_column_of_prae_c():
    text = table(arms=2, horizon=1000, epsilon=1.0, moments=RAW)
    assert "prae-r proof" in text
    assert "prae-c" not in text


def test_what_does_not_apply_is_left_out_and_says_why():
    text = table(arms=5, horizon=100_000, epsilon=2.0, moments=CENTRAL, contamination=0.2)
    _, found, rates, notes = blocks(text)
    assert set(found["proved"]) == {"prae-r proof", "prae-r unit", "prae-c unit"}
    assert "prae-c, delta = 1/T" not in rates
    rule = "contamination = 0.2: must be < 0.133 for PRM-C, profile 'proof'."
    assert f"prae-c proof does not apply: {rule}" in notes
    assert f"The upper bound of prae-c does not apply: {rule}" in notes
    text = table(arms=5, horizon=100_000, epsilon=2.0, moments=RAW, contamination=0.3)
    assert set(blocks(text)[1]["proved"]) == {"prae-r proof"}


def test_what_cannot_decide_says_so():
    text = table(arms=5, horizon=100_000, epsilon=0.5, moments=CENTRAL, contamination=0.05)
    notes = blocks(text)[3]
    earliest = earliest_removal(Accuracy(CENTRAL, 0.5, 0.05), arms=5, horizon=100_000, delta=1e-5)
    late = f"prae-c proof: no arm can leave before round {earliest:,}, beyond the horizon."
    assert late in notes
    floor = 4 * Accuracy(CENTRAL.as_raw(), 0.5, 0.05).floor
    largest = 2 * CENTRAL.as_raw().scale
    hidden = f"{floor:.3g} exceeds the largest possible gap, {largest:.3g}."
    assert f"prae-r proof: no gap is sure to be told apart; {hidden}" in notes
    assert not any(note.startswith("prae-c unit") for note in notes)


def test_nothing_unproved_is_printed_without_saying_so():
    notes = blocks(table(arms=2, horizon=1000, epsilon=1.0, moments=RAW))[3]
    assert notes[-1] == "unit sets every constant to 1. Nothing about it is proved."


@pytest.mark.parametrize(
    "wrong",
    [
        {"arms": 1},
        {"horizon": 1},
        {"epsilon": 0},
        {"delta": 2},
        {"contamination": 1},
        {"gaps": [1]},
    ],
    ids=str,
)
def test_a_setting_that_means_nothing_is_refused(wrong):
    with pytest.raises(InvalidParameter):
        table(**{"arms": 2, "horizon": 1000, "epsilon": 1.0, "moments": RAW, **wrong})
