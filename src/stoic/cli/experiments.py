"""``stoic experiments``: live experiments in a database, for people and for cron."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

from stoic.errors import MissingExtra

try:
    import typer
except ImportError:
    raise MissingExtra("typer", extra="live") from None

if TYPE_CHECKING:
    from stoic.live import Database

__all__ = ["experiments"]

experiments = typer.Typer(
    name="experiments",
    help="Live experiments: create them, see how they stand, and what they promise.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Url = Annotated[
    str,
    typer.Option(
        "--database",
        "-d",
        envvar="STOIC_DATABASE",
        metavar="URL",
        help="sqlite:///FILE or postgresql://...",
        show_default=False,
    ),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="As JSON.")]


@contextmanager
def _opened(url: str) -> Iterator[Database]:
    from stoic import live

    with live.open(url) as database:
        yield database


@experiments.command()
def create(
    name: Name,
    database: Url,
    arm: Annotated[
        list[str], typer.Option(help="An arm's name; once for each arm.", show_default=False)
    ],
    horizon: Annotated[int, typer.Option(help="Users to plan for.", show_default=False)],
    reward_deadline: Annotated[
        str, typer.Option(help="How long a reward may take, like 7d.", show_default=False)
    ],
    epsilon: Annotated[
        float | None, typer.Option(help="Privacy of each reward.", show_default=False)
    ] = None,
    policy: Annotated[str, typer.Option(help="See 'stoic policies'.")] = "prae-s",
    bound: Annotated[
        float | None,
        typer.Option(help="Bound on the k-th moment of the rewards.", show_default=False),
    ] = None,
    k: Annotated[float, typer.Option(help="Order of that moment.")] = 2.0,
    between: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LO HI",
            help="The bound is on the central moment, all means lie in this range.",
            show_default="the bound is on the raw moment",
        ),
    ] = None,
    contamination: Annotated[
        float | None,
        typer.Option(help="Share of garbage and missing rewards.", show_default="0"),
    ] = None,
    profile: Annotated[
        str | None, typer.Option(help="Of constants.", show_default="the policy's")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Failure probability.", show_default="1 / horizon")
    ] = None,
    goal: Annotated[str, typer.Option(help="max for rewards, min for costs.")] = "max",
    reward_default: Annotated[
        float | None,
        typer.Option(help="What a missing reward counts as.", show_default="nothing"),
    ] = None,
    tick: Annotated[str, typer.Option(help="How often batches are looked at.")] = "1h",
    epoch_deadline: Annotated[
        str | None,
        typer.Option(help="How long a batch may take.", show_default="as long as needed"),
    ] = None,
) -> None:
    """Create an experiment.

    \b
    Example:
      stoic experiments create checkout -d sqlite:///shop.db --arm A --arm B \\
          --horizon 100000 --epsilon 1 --bound 25 --between 0 100 --reward-deadline 7d
    """  # noqa: D301
    options: dict[str, Any] = {
        "epsilon": epsilon,
        "moments": _moments(k, bound, between),
        "contamination": contamination,
        "profile": profile,
        "delta": delta,
    }
    with _opened(database) as db:
        made = db.create(
            name,
            policy=policy,
            arms=arm,
            horizon=horizon,
            goal=goal,
            reward_deadline=reward_deadline,
            tick=tick,
            epoch_deadline=epoch_deadline,
            reward_default=reward_default,
            **{option: given for option, given in options.items() if given is not None},
        )
        print(made.summary())


def _moments(k: float, bound: float | None, between: tuple[float, float] | None) -> Any:
    from stoic.core import CentralMoment, RawMoment

    if bound is None:
        return None
    return RawMoment(k, bound) if between is None else CentralMoment(k, bound, between)


@experiments.command("list")
def list_all(database: Url) -> None:
    """List the experiments of a database, and how each of them stands.

    \b
    Example:
      stoic experiments list -d sqlite:///shop.db
    """  # noqa: D301
    with _opened(database) as db:
        for name in db.list():
            print(str(db.get(name).summary()).partition("\n")[0])


@experiments.command()
def show(name: Name, database: Url, as_json: Json = False) -> None:
    """Show how an experiment stands: winner, effect, intervals, what is still open.

    \b
    Example:
      stoic experiments show checkout -d sqlite:///shop.db
    """  # noqa: D301
    with _opened(database) as db:
        summary = db.get(name).summary()
    print(json.dumps(summary.as_dict()) if as_json else summary)


@experiments.command()
def tick(
    database: Url,
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Which.", show_default="all that run"),
    ] = None,
) -> None:
    """Close and release what is over. For cron: silent unless something happened.

    \b
    Example:
      0 * * * *  stoic experiments tick -d sqlite:////srv/shop.db
    """  # noqa: D301
    with _opened(database) as db:
        for one in name or db.list():
            if db.get(one).tick():
                print(f"{one}: an epoch was closed and released")


@experiments.command()
def disable(
    name: Name,
    arm: Annotated[str, typer.Argument(help="The harmful arm.", show_default=False)],
    database: Url,
) -> None:
    """Give an arm to nobody any more, from now on.

    \b
    Example:
      stoic experiments disable checkout B -d sqlite:///shop.db
    """  # noqa: D301
    with _opened(database) as db:
        experiment = db.get(name)
        experiment.disable(arm)
        print(experiment.summary())


@experiments.command()
def stop(name: Name, database: Url) -> None:
    """End an experiment; rewards that were not released yet are deleted.

    \b
    Example:
      stoic experiments stop checkout -d sqlite:///shop.db
    """  # noqa: D301
    with _opened(database) as db:
        experiment = db.get(name)
        experiment.stop()
        print(experiment.summary())


@experiments.command()
def export(name: Name, database: Url) -> None:
    """Write everything public as lines of JSON: events, releases, assignments with propensities.

    \b
    Example:
      stoic experiments export checkout -d sqlite:///shop.db > checkout.jsonl
    """  # noqa: D301
    with _opened(database) as db:
        for row in db.get(name).export():
            sys.stdout.write(json.dumps(row) + "\n")


@experiments.command()
def privacy(name: Name, database: Url, as_json: Json = False) -> None:
    """Write the privacy statement: what is promised to whom, and what it has cost.

    \b
    Example:
      stoic experiments privacy checkout -d sqlite:///shop.db > checkout-privacy.txt
    """  # noqa: D301
    with _opened(database) as db:
        statement = db.get(name).privacy()
    print(json.dumps(statement.as_dict()) if as_json else statement)
