"""``stoic plan``: how many users an experiment needs, before it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from stoic.errors import InvalidParameter, MissingExtra

try:
    import typer
except ImportError:
    raise MissingExtra("typer", extra="lab") from None

if TYPE_CHECKING:
    from stoic.core import Moment
    from stoic.planning import Forecast, Pilot

__all__ = ["plan"]


def plan(
    arms: Annotated[int, typer.Option(help="How many arms.", show_default=False)],
    epsilon: Annotated[float, typer.Option(help="The privacy budget.", show_default=False)],
    horizon: Annotated[int, typer.Option(help="How many rounds in all.", show_default=False)],
    moment: Annotated[
        float | None, typer.Option(help="Bound on the moment of a clean reward.")
    ] = None,
    order: Annotated[float, typer.Option(help="Order of that moment.")] = 2.0,
    mean_range: Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Where the means lie. Without it the moment is a raw one.", metavar="LO HI"
        ),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="The share of outliers.", show_default="0")
    ] = None,
    gap: Annotated[float | None, typer.Option(help="The difference worth finding.")] = None,
    delta: Annotated[
        float | None, typer.Option(help="How often it may fail.", show_default="1 / horizon")
    ] = None,
    goal: Annotated[str, typer.Option(help="max for rewards, min for costs.")] = "max",
    pilot: Annotated[
        Path | None,
        typer.Option(help="Public data that suggest what is not given: CSV, Parquet or NPY."),
    ] = None,
    reward_column: Annotated[str, typer.Option(help="Of the pilot.")] = "reward",
    arm_column: Annotated[str | None, typer.Option(help="Of the pilot, if it has one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with a chart, too.")] = None,
) -> None:
    """Say how many users an experiment needs, which gaps it can find, and what costs most.

    It is planned for the policy prae-s, whose guarantee is proved.

    \b
    Examples:
      stoic plan --arms 5 --epsilon 0.5 --horizon 100000 --moment 5 --mean-range 0 100
      stoic plan --arms 5 --epsilon 0.5 --horizon 100000 --moment 10005 --alpha 0.05 --gap 25
      stoic plan --arms 3 --epsilon 1 --horizon 20000 --pilot last-year.csv --arm-column variant
      stoic plan --arms 2 --epsilon 1 --horizon 5000 --moment 4 --mean-range 0 10 --html plan.html
    """  # noqa: D301
    from stoic import planning
    from stoic.core import choice_of_goal

    found = None
    if pilot is not None:
        found = planning.read_pilot(pilot, k=order, reward=reward_column, arm=arm_column)
    moments, contamination = _assumed(found, moment, order, mean_range, alpha)
    forecast = planning.plan(
        arms=arms,
        horizon=horizon,
        epsilon=epsilon,
        moments=moments,
        contamination=contamination,
        delta=delta,
        gap=gap,
        goal=choice_of_goal(goal),
    )
    notes = [] if found is None else _told(found)
    if as_json:
        print(json.dumps(_plain(forecast, found), indent=2))
    else:
        print("\n".join([*notes, ""] if notes else []), end="")
        print(planning.describe(forecast))
    if html is not None:
        from stoic.planning.page import render_page

        try:
            html.write_text(render_page(forecast, notes), encoding="utf-8")
        except OSError as error:
            rule = f"cannot be written: {error.strerror}"
            raise InvalidParameter("html", str(html), rule) from None
        if not as_json:
            print(f"\nWritten to {html}.")
    if not forecast.feasible:
        raise typer.Exit(1)


def _assumed(
    pilot: Pilot | None,
    moment: float | None,
    order: float,
    mean_range: tuple[float, float] | None,
    alpha: float | None,
) -> tuple[Moment, float]:
    """What was given, and from the pilot what was not."""
    from stoic.core import CentralMoment, RawMoment

    share = alpha if alpha is not None else 0.0 if pilot is None else pilot.contamination.alpha
    if pilot is not None:
        bound = pilot.bound[1] if moment is None else moment
        return CentralMoment(order, bound, mean_range or pilot.mean_range), share
    if moment is None:
        raise typer.BadParameter("needed, unless there is a --pilot", param_hint="--moment")
    if mean_range is None:
        return RawMoment(order, moment), share
    return CentralMoment(order, moment, mean_range), share


def _told(pilot: Pilot) -> list[str]:
    low, high = pilot.mean_range
    return [
        f"Pilot: {pilot.rewards:,} rewards of {pilot.arms} arms.",
        f"  moment of order {pilot.k:g}: {pilot.bound[0]:.4g}, at most {pilot.bound[1]:.4g}",
        f"  means: {low:.4g} to {high:.4g}",
        f"  outliers: {pilot.alpha[0]:.3g}, at most {pilot.alpha[1]:.3g}",
        f"  tail index: {pilot.tail_index[0]:.3g}, at least {pilot.tail_index[1]:.3g}",
        *(f"Warning: {warning}." for warning in pilot.warnings),
    ]


def _plain(forecast: Forecast, pilot: Pilot | None) -> dict[str, Any]:
    """Everything as JSON."""
    import dataclasses

    from stoic import planning
    from stoic.core import dumps

    grid = planning.what_if(forecast)
    shown = {
        name: getattr(forecast, name)
        for name in (
            "gap",
            "feasible",
            "why",
            "remedies",
            "first",
            "smallest_ever",
            "smallest_sure",
            "smallest_in_time",
            "most_users",
            "regret_at_most",
        )
    }
    return {
        "policy": json.loads(dumps(forecast.policy)),
        **shown,
        "typical": None if forecast.typical is None else dataclasses.asdict(forecast.typical),
        "costs": {cost.assumption: cost.factor for cost in planning.costs(forecast)},
        "what_if": dataclasses.asdict(grid),
        "pilot": None
        if pilot is None
        else {**dataclasses.asdict(pilot), "warnings": pilot.warnings},
    }
