"""``stoic audit``: look for a broken promise, with noise for real people."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from stoic.errors import MissingExtra

try:
    import typer
except ImportError:
    raise MissingExtra("typer", extra="live") from None

if TYPE_CHECKING:
    from stoic.privacy.audit import Audit

__all__ = ["audit"]

_DOUBTFUL = 1  # exit code: the promise is broken


def audit(
    what: Annotated[
        str,
        typer.Argument(metavar="WHAT", help="'live', a mechanism or a policy.", show_default=False),
    ],
    epsilon: Annotated[float, typer.Option(help="What is promised.")] = 1.0,
    runs: Annotated[
        int | None,
        typer.Option(min=100, help="Of each input.", show_default="enough for a factor of two"),
    ] = None,
    confidence: Annotated[float, typer.Option(help="That an alarm is no mistake.")] = 0.999,
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            "-d",
            envvar="STOIC_AUDIT_DATABASE",
            metavar="URL",
            help="For 'live': where to play; it is filled with experiments.",
            show_default="a new file, removed afterwards",
        ),
    ] = None,
) -> None:
    """Bound the true epsilon from below: play two inputs that differ in one reward, and compare.

    WHAT is 'live' (the whole path: asking, telling, storing, releasing), a mechanism
    (truncated-mean, clipped-mean, histogram, window-counts) or a policy ('stoic policies'). A bound
    above the promise means that it is broken, and the exit code is 1; a bound below it proves
    nothing, but a bug by a factor of two would have been seen.

    \b
    Examples:
      stoic audit live
      stoic audit clipped-mean --epsilon 0.5
      stoic audit prae-s --runs 5000
    """  # noqa: D301
    from stoic.privacy.audit import runs_needed

    needed = runs_needed(epsilon, confidence=confidence)
    wanted = needed if runs is None else runs
    found = _audit(what, epsilon, wanted, confidence, database)
    print(f"{what}: promised epsilon {epsilon:g}, at least {found.epsilon:.3f} was found")
    one, other = found.frequencies
    print(f"  where: {found.event}, in {one:.1%} and {other:.1%} of {found.judged:,} judged runs")
    print(f"  confidence {found.confidence:g}; a bug by a factor of two shows in {needed:,} runs")
    if found.epsilon > epsilon:
        print("stoic: the promise is broken", file=sys.stderr)
        raise typer.Exit(_DOUBTFUL)


def _audit(what: str, epsilon: float, runs: int, confidence: float, database: str | None) -> Audit:
    from stoic.core import choice
    from stoic.policies import POLICIES
    from stoic.privacy.audit import audit as judge

    mechanisms = _mechanisms(epsilon)
    if choice("WHAT", what, ("live", *mechanisms, *POLICIES)) == "live":
        return _live(epsilon, runs, confidence, database)
    play = _mechanism(mechanisms[what]) if what in mechanisms else _policy(what, epsilon)
    return judge(lambda: play(-1.0), lambda: play(1.0), runs=runs, confidence=confidence)


def _live(epsilon: float, runs: int, confidence: float, database: str | None) -> Audit:
    from stoic import live

    clock = live.SteppingClock()
    with tempfile.TemporaryDirectory() as folder:
        url = database or f"sqlite:///{folder}/audit.db"
        with live.open(url, clock=clock) as opened:
            return live.audit_live(opened, clock, epsilon=epsilon, runs=runs, confidence=confidence)


def _mechanisms(epsilon: float) -> Mapping[str, Any]:
    """One of each, with the rewards -1 and 1 as far apart as rewards can be."""
    from stoic.privacy import ClippedMean, Histogram, TruncatedMean, WindowCounts

    return {
        "truncated-mean": TruncatedMean(0.0, 1.0, epsilon),
        "clipped-mean": ClippedMean(0.0, 1.0, epsilon),
        "histogram": Histogram(lo=-1.5, width=1.5, bins=2, epsilon=epsilon),
        "window-counts": WindowCounts(
            lo=-1.0, step=2.0, windows=2, half_width=0.5, epsilon=epsilon
        ),
    }


def _mechanism(mechanism: Any) -> Callable[[float], float]:
    import numpy as np

    from stoic.privacy import answer
    from stoic.privacy.secure import SecureNoise

    noise = SecureNoise()

    def play(reward: float) -> float:
        return answer(mechanism, [[np.array([reward])]], [1], noise=noise)[0].value

    return play


def _policy(name: str, epsilon: float) -> Callable[[float], Any]:
    """A short run of a policy whose first counted reward is changed; the order of its arms."""
    import numpy as np

    from stoic import options
    from stoic.agent import Agent
    from stoic.core import CentralMoment
    from stoic.errors import InvalidParameter
    from stoic.policies import POLICIES, create
    from stoic.privacy.secure import SecureNoise

    takes = options.of(POLICIES[name])
    given: dict[str, Any] = {
        "moments": CentralMoment(2, 0.04, (-1, 1)),
        "epsilon": epsilon,
        "delta": 0.5,
        "best": 0,
        "profile": "certified" if name == "prae-s" else "unit",
    }
    policy = create(
        name,
        arms=2,
        horizon=400,
        **{option: value for option, value in given.items() if option in takes},
    )
    if policy.privacy != "central":
        raise InvalidParameter("WHAT", name, "promises no privacy")
    noise = SecureNoise()

    def play(reward: float) -> Any:
        agent = Agent(policy, noise=noise, rng=np.random.Generator(np.random.SFC64()))
        pulls, changed = [], False
        while agent.open_slots:
            block = agent.ask_many(agent.open_slots)
            rewards = np.zeros(len(block))
            first = np.flatnonzero(block.arms == 0)
            if not changed and first.size:
                rewards[first[0]], changed = reward, True
            agent.tell_many(block, rewards)
            pulls.append(first.size)
        return agent.recommend(), tuple(pulls)

    return play
