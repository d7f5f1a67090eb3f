"""``stoic run`` and ``stoic report``: a study, from its file to its results and its figures."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from stoic.errors import MissingExtra, StoicError

try:
    import typer
except ImportError:
    raise MissingExtra("typer", extra="lab") from None

if TYPE_CHECKING:
    from stoic.experiments import Outcome

__all__ = ["report", "run"]


def run(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY", help="The study, a TOML file.", show_default=False)
    ],
    out: Annotated[
        Path | None, typer.Option(help="Where results go.", show_default="results/<study>")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes.", show_default="one for each core")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A Dask scheduler instead, or 'local'."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few replications, in results/<study>-quick.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Remove what is there, and start anew.")
    ] = False,
) -> None:
    """Run a study, or what is still missing of it.

    Results are kept chunk by chunk: a run that was stopped, in whatever way, goes on from there.

    \b
    Examples:
      stoic run paper/figure1.toml
      stoic run paper/figure1.toml --quick
      stoic run study.toml --out /data/study --jobs 8
      stoic run study.toml --dask tcp://scheduler:8786
    """  # noqa: D301
    if dask is not None and jobs:
        raise typer.BadParameter("--jobs and --dask exclude each other")
    from stoic import experiments
    from stoic.cli.progress import Progress

    wanted = experiments.read(study)
    directory = out or Path("results") / f"{study.stem}{'-quick' if quick else ''}"
    wanted = wanted.quick() if quick else wanted
    watch = Progress(wanted.title)
    workers = (jobs or _cores()) if dask is None else dask
    try:
        with watch, _terminations_as_interrupts():
            outcome = experiments.run(wanted, directory, workers=workers, fresh=fresh, watch=watch)
    except (KeyboardInterrupt, StoicError) as error:
        kept = f"{watch.kept} are kept, the same command goes on from there"
        print(f"stopped: {kept if watch.kept else 'nothing is kept yet'}", file=sys.stderr)
        if isinstance(error, StoicError):
            raise
        raise typer.Exit(130) from None
    _summarise(outcome)
    print(f"\nKept in {directory}.")


def report(
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Where the results of a study are.", show_default=False),
    ],
) -> None:
    """Draw the figures of a study, and write its report: one page that opens offline.

    The figure is drawn as PNG, SVG and PDF, and once more on logarithmic axes. An unfinished study
    is reported as far as it goes.

    \b
    Examples:
      stoic report results/figure1
      stoic report /data/study
    """  # noqa: D301
    from stoic.experiments.report import write_report

    for path in write_report(directory):
        print(path)


@contextlib.contextmanager
def _terminations_as_interrupts() -> Iterator[None]:
    """Who asks a run to end, as batch systems do before they kill, is heard like Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _cores() -> int:
    """How many this process may use."""
    try:
        import joblib
    except ImportError:
        return 1
    return int(joblib.cpu_count())


def _summarise(outcome: Outcome) -> None:
    """Mean final regret of every policy in every panel."""
    width = max(map(len, outcome.study.policies))
    print(f"Regret at the horizon, mean of {outcome.study.replications} replications")
    panel = None
    for cell in outcome.cells:
        if cell.panel != panel:
            panel = cell.panel
            print(f"\n{panel}")
        if cell.result is not None:
            print(f"  {cell.policy:<{width}}  {_number(cell.result.mean):>12}", end="")
            print(f" ± {_number(cell.result.standard_error)}")


def _number(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
