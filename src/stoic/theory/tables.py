"""The bounds of one setting side by side, as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from stoic.core import CentralMoment, Moment
from stoic.errors import InvalidParameter
from stoic.theory.accuracy import Accuracy
from stoic.theory.profiles import PROFILES
from stoic.theory.rates import lower_bound, upper_bound
from stoic.theory.regret import earliest_removal, first_judged, regret_bound

__all__ = ["table"]


def table(
    *,
    arms: int,
    horizon: int,
    epsilon: float,
    moments: Moment,
    contamination: float = 0.0,
    delta: float | None = None,
    gaps: Sequence[float] | None = None,
) -> str:
    """What the theory says of a setting, for both of the paper's policies and every profile.

    PRAE-C needs a :class:`stoic.CentralMoment`; PRAE-R then works with the raw moment it implies.
    With ``gaps`` (0 for the best arm) also the pulls and the regret that are proved for them.

    >>> from stoic.core import RawMoment
    >>> print(table(arms=2, horizon=10**6, epsilon=1.0, moments=RawMoment(2, 1.0), gaps=[0, 0.5]))
    2 arms, 1,000,000 rounds, epsilon = 1, contamination = 0, delta = 1e-06
    RawMoment(k=2.0, bound=1.0)
    <BLANKLINE>
                                             prae-r proof  prae-r unit
    proved                                            yes           no
    breakdown point (contamination)                   0.5        0.249
    threshold: n of one estimate                        1            1
    no arm leaves before round                          4            4
    radius of a batch of 512                         1.02        0.329
    radius of a batch of 8,192                       0.26       0.0821
    radius of a batch of 262,144                   0.0466       0.0145
    radius of an endless batch (bias floor)             0            0
    gaps sure to be told apart: above                   0            0
    pulls of an arm with gap 0.5: at most         131,070
    regret on these gaps: at most                  65,535
    <BLANKLINE>
    minimax rates, constants 1  sampling  privacy  contamination  threshold
    lower bound                    1,414    1,414              0
    prae-r, delta = 1/T            5,257    5,257              0          0
    <BLANKLINE>
    A radius that is missing belongs to a batch below the threshold.
    unit sets every constant to 1. Nothing about it is proved.
    """
    delta = 1 / horizon if delta is None else delta
    run: dict[str, Any] = {"arms": arms, "horizon": horizon}
    setting: dict[str, Any] = {"epsilon": epsilon, "contamination": contamination}
    known: dict[str, Moment] = {"prae-r": moments}
    if isinstance(moments, CentralMoment):
        known = {"prae-r": moments.as_raw(), "prae-c": moments}
    notes: list[str] = []

    columns: dict[str, Accuracy] = {}
    for policy, assumed in known.items():
        for profile in PROFILES:
            title = f"{policy} {profile}"
            try:
                columns[title] = Accuracy(assumed, profile=profile, **setting)
            except InvalidParameter as error:
                notes.append(f"{title} does not apply: {error}.")
    accuracies = _accuracies(columns, delta=delta, gaps=gaps, **run)

    rates = [["minimax rates, constants 1", "sampling", "privacy", "contamination", "threshold"]]
    rates.append(["lower bound", *_terms(lower_bound(moments=moments, **run, **setting))])
    for policy, assumed in known.items():
        try:
            terms = upper_bound(moments=assumed, **run, **setting)
        except InvalidParameter as error:
            notes.append(f"The upper bound of {policy} does not apply: {error}.")
        else:
            rates.append([f"{policy}, delta = 1/T", *_terms(terms)])

    notes += [note for title, mean in columns.items() for note in _caveats(title, mean, delta, run)]
    notes.append("A radius that is missing belongs to a batch below the threshold.")
    notes.append("unit sets every constant to 1. Nothing about it is proved.")
    head = (
        f"{arms:,} arms, {horizon:,} rounds, epsilon = {epsilon:g}, "
        f"contamination = {contamination:g}, delta = {delta:g}"
    )
    blocks = [[head, str(moments)], _aligned(accuracies), _aligned(rates), notes]
    return "\n\n".join("\n".join(block) for block in blocks)


def _accuracies(
    columns: dict[str, Accuracy],
    *,
    arms: int,
    horizon: int,
    delta: float,
    gaps: Sequence[float] | None,
) -> list[list[str]]:
    run: dict[str, Any] = {"arms": arms, "horizon": horizon, "delta": delta}
    rows = [["", *columns]]

    def row(label: str, cell: Callable[[Accuracy], str]) -> None:
        rows.append([label, *(cell(mean) for mean in columns.values())])

    def threshold(mean: Accuracy) -> str:
        failure = mean.share(delta, arms, first_judged(mean, **run))
        return _number(mean.threshold(failure))

    def radius(batch: int, mean: Accuracy) -> str:
        if batch < first_judged(mean, **run):
            return ""
        n = mean.sample_size(1 << batch)
        return _number(float(mean.radius(n, mean.share(delta, arms, batch))))

    row("proved", lambda mean: "yes" if mean.guaranteed else "no")
    row("breakdown point (contamination)", lambda mean: _number(mean.breakdown))
    row("threshold: n of one estimate", threshold)
    row("no arm leaves before round", lambda mean: _number(earliest_removal(mean, **run)))
    largest = (horizon // arms).bit_length() - 1  # the batch that the horizon allows every arm
    for batch in sorted({max(1, quarters * largest // 4) for quarters in (2, 3, 4)}):
        row(f"radius of a batch of {1 << batch:,}", partial(radius, batch))
    row("radius of an endless batch (bias floor)", lambda mean: _number(mean.floor))
    row("gaps sure to be told apart: above", lambda mean: _number(4 * mean.floor))
    if gaps is None:
        return rows

    bounds = {
        mean: regret_bound(mean, gaps, horizon=horizon, delta=delta)
        for mean in columns.values()
        if mean.guaranteed
    }
    for arm, gap in enumerate(gaps):
        if gap > 0:
            most = {mean: _number(bound.pulls[arm]) for mean, bound in bounds.items()}
            row(f"pulls of an arm with gap {gap:g}: at most", partial(_get, most))
    regret = {mean: _number(bound.on_good_event) for mean, bound in bounds.items()}
    row("regret on these gaps: at most", partial(_get, regret))
    return rows


def _get(cells: dict[Accuracy, str], mean: Accuracy) -> str:
    return cells.get(mean, "")


def _caveats(title: str, mean: Accuracy, delta: float, run: dict[str, Any]) -> list[str]:
    earliest = earliest_removal(mean, delta=delta, **run)
    if earliest > run["horizon"]:
        return [f"{title}: no arm can leave before round {earliest:,}, beyond the horizon."]
    if 4 * mean.floor >= mean.largest_gap:
        most = f"{_number(4 * mean.floor)} exceeds the largest possible gap"
        return [f"{title}: no gap is sure to be told apart; {most}, {_number(mean.largest_gap)}."]
    return []


def _terms(terms: dict[str, float]) -> list[str]:
    return [_number(term) for term in terms.values()]


def _number(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 or number == int(number) else f"{number:.3g}"


def _aligned(rows: list[list[str]]) -> list[str]:
    """Columns of equal width, the first to the left, the others to the right."""
    rows = [row + [""] * (len(rows[0]) - len(row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
