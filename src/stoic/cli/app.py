"""All commands. Each loads what it needs only when it is called, so that ``--help`` is fast."""

from __future__ import annotations

from typing import Annotated

from stoic.cli.audit import audit
from stoic.cli.experiments import experiments
from stoic.cli.listing import environments, policies
from stoic.cli.plan import plan
from stoic.cli.studies import report, run
from stoic.errors import MissingExtra

try:
    import typer
except ImportError:
    raise MissingExtra("typer", extra="lab") from None

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
for command in (run, report, plan, policies, environments, audit):
    app.command()(command)
app.add_typer(experiments)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"stoic {version('stoic-bandits')}")
        raise typer.Exit


@app.callback()
def _stoic(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")
    ] = False,
) -> None:
    """Private and robust bandits: studies, what they can be made of, and live experiments.

    \b
    Examples:
      stoic run paper/figure1.toml           run a study, or go on with it
      stoic run paper/figure1.toml --quick   a first look
      stoic report results/figure1           its figures, and a page about it
      stoic plan --help                      how many users an experiment needs
      stoic policies                         what there is to compare
      stoic experiments list -d sqlite:///shop.db
      stoic audit live                       is the promise kept?
      stoic --install-completion             completion for this shell
    """  # noqa: D301
