"""A forecast as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from stoic.planning.forecast import Forecast
from stoic.planning.what_if import Cost, Grid, costs, what_if

__all__ = ["describe", "facts", "verdict"]


def describe(forecast: Forecast, grid: Grid | None = None) -> str:
    """All of a forecast: what was asked, the verdict, numbers, what costs most, what if.

    >>> import stoic
    >>> moments = stoic.CentralMoment(2, 5, (0, 100))
    >>> found = stoic.plan(arms=2, horizon=1000, epsilon=1.0, moments=moments, gap=50)
    >>> print(describe(found).splitlines()[2])
    A gap of 50 is typically found with 24 users of each arm, in 1 epoch.
    """
    grid = what_if(forecast) if grid is None else grid
    blocks = [
        setting(forecast),
        verdict(forecast),
        _aligned(facts(forecast)),
        blame(costs(forecast)),
        _table(forecast, grid),
    ]
    return "\n\n".join(block for block in blocks if block)


def setting(forecast: Forecast) -> str:
    """What was asked, in one line."""
    policy = forecast.policy
    estimator = policy.estimator
    return (
        f"{policy.arms} arms, {policy.horizon:,} rounds, epsilon = {policy.epsilon:g}, "
        f"outliers {estimator.contamination.alpha:.3g}, delta = {policy.delta:g}, "
        f"{estimator.moments}"
    )


def verdict(forecast: Forecast) -> str:
    """Whether it can be done, and what would help if not."""
    if not forecast.feasible:
        helps = "".join(f"\n  - {remedy}" for remedy in forecast.remedies)
        return f"This cannot be done: {forecast.why}." + (
            f"\nIt could with{helps}" if helps else ""
        )
    path = forecast.typical
    if path is None:
        return f"The first decision takes {forecast.first:,} users of each arm."
    epochs = "1 epoch" if path.epochs == 1 else f"{path.epochs} epochs"
    return (
        f"A gap of {forecast.gap:g} is typically found with {path.users:,} users of each arm, "
        f"in {epochs}."
    )


def facts(forecast: Forecast) -> list[tuple[str, str]]:
    """The numbers, each with what it is."""
    path = forecast.typical
    rows = [
        ("users of each arm before anything can be decided", _count(forecast.first)),
        (
            "gaps that outliers may hide for ever: up to",
            f"{forecast.smallest_ever:.4g}",
        ),
        ("gaps that are sure to be found in the end: above", f"{forecast.smallest_sure:.4g}"),
        ("smallest gap typically found in this horizon", _amount(forecast.smallest_in_time)),
    ]
    if path is not None:
        rows += [
            ("users of each arm until the gap is found, typically", f"{path.users:,}"),
            ("the same, certified: at most", _count(forecast.most_users)),
            ("regret until then, typically", f"{path.regret:,.0f}"),
        ]
    over = "this gap" if path is not None else "all gaps"
    rows.append((f"regret over {over}, certified: at most", f"{forecast.regret_at_most:,.0f}"))
    return rows


def blame(found: Sequence[Cost]) -> str:
    """Which assumption costs most."""
    dear = [cost for cost in found if cost.factor > 1.05]
    if not dear:
        return ""
    first, *others = (f"{cost.assumption} ({cost.factor:.1f} times the users)" for cost in dear)
    rest = f"; then {', '.join(others)}" if others else ""
    return f"What costs most: {first}{rest}."


def _table(forecast: Forecast, grid: Grid) -> str:
    what = "before anything can be decided"
    if forecast.gap is not None:
        what = f"to find a gap of {forecast.gap:g}"
    head = ["epsilon", *(f"{alpha:.3g}" for alpha in grid.alphas)]
    rows = [
        [f"{epsilon:g}", *map(_count, row)]
        for epsilon, row in zip(grid.epsilons, grid.users, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in (head, *rows)
    ]
    title = f"What if: users of each arm {what}, by epsilon and share of outliers"
    return "\n".join([title, *lines])


def _aligned(rows: Sequence[tuple[str, str]]) -> str:
    left, right = (max(len(row[side]) for row in rows) for side in (0, 1))
    return "\n".join(f"{label:<{left}}  {number:>{right}}" for label, number in rows)


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _amount(number: float | None) -> str:
    return "-" if number is None else f"{number:.4g}"
