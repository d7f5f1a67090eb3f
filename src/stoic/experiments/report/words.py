"""What a report says in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stoic.experiments.outcome import Outcome
from stoic.experiments.report.bounds import LOWER, PROVED, UNIFORM
from stoic.experiments.report.rows import CONFIDENCE, DAGGER, Panel

__all__ = ["Words", "words_for"]

_INTERVAL = f"{CONFIDENCE * 100:g} %"

_REFERENCES = {
    UNIFORM: "the regret of a policy that learns nothing.",
    LOWER: (
        "the largest term of the minimax lower bound, with its constant set to 1. It says how the "
        "worst-case regret must grow, not how large it is: on one instance a policy may stay below."
    ),
    PROVED: (
        "what is proved for this policy on these gaps, with all constants; it holds with "
        "probability 1 - 0.83 δ. Drawn only where it is less than playing the worst arm for ever."
    ),
}

_SLOPES = (
    "Slopes are those of the least-squares lines through the logarithms, ± their standard errors. "
    f"{LOWER}: the largest term of the minimax lower bound, with its constant set to 1."
)


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of a report. ``missing`` is empty when the study is finished."""

    summary: str
    notes: tuple[str, ...]
    missing: tuple[str, ...]
    figure: tuple[str, ...]
    scaling: tuple[str, ...]
    footer: str


def words_for(outcome: Outcome, panels: Sequence[Panel], references: Sequence[str]) -> Words:
    """What there is to say of an outcome, with these lines to compare with."""
    missing = _missing(outcome)
    shown = [
        f"{kind}: {text}"
        for kind, text in _REFERENCES.items()
        if any(name.startswith(kind) for name in references)
    ]
    curves = len(panels) > sum(len(one.panels) for one in outcome.study.sweeps)
    band = f"Lines are means over the replications; bands are {_INTERVAL} intervals of the mean"
    notes = [
        "Regret adds up, round by round, how much less the played arm yields on average than the "
        "best arm. It is counted with clean means: outliers do not change it.",
        *([f"{band} (Student's t), not the spread of single runs."] if curves else []),
        "The policies of a panel met the same rewards, replication by replication (common random "
        "numbers), so their differences are taken in pairs.",
        *shown,
    ]
    most = _count(outcome.study.replications, "replication", "replications")
    most = f"{'up to ' if missing else ''}{most}"
    figure = [f"{band}, {most}."]
    scaling = [f"Points are means over {most}, bars their {_INTERVAL} intervals. {_SLOPES}"]
    if outcome.study.sweeps:
        notes.append(scaling[0])
    if any(DAGGER in one.label for panel in panels for one in panel.played):
        notes.append(
            f"{DAGGER} No guarantee. Profile “unit” sets every constant of the theory to 1: "
            "nothing is proved of the accuracy or the regret of these policies."
        )
        for lines in (figure, scaling):
            lines.append(f"{DAGGER} Every constant set to 1 (profile “unit”): no guarantee.")
    alike = _alike(panels)
    if alike:
        notes.append(
            f"A standard error of 0 ({', '.join(alike)}): all replications made the same decisions "
            "in the same rounds, so their regret does not vary."
        )
    if missing:
        for lines in (figure, scaling):
            lines.append(f"Unfinished. {missing[0]}")
    made = outcome.provenance
    return Words(
        summary=_summary(outcome),
        notes=tuple(notes),
        missing=tuple(missing),
        figure=tuple(figure),
        scaling=tuple(scaling),
        footer=f"Made with stoic {made['stoic']} from results of {made['finished']}.",
    )


def _summary(outcome: Outcome) -> str:
    study = outcome.study
    horizons = sorted({cell.player.horizon for cell in study.cells})
    rounds = " to ".join(f"{horizon:,}" for horizon in dict.fromkeys((horizons[0], horizons[-1])))
    return (
        f"{_count(len(study.policies), 'policy', 'policies')} in "
        f"{_count(len(study.panels), 'panel', 'panels')}, "
        f"{_count(study.replications, 'replication', 'replications')} of {rounds} rounds each, "
        f"seed {study.seed}."
    )


def _alike(panels: Sequence[Panel]) -> list[str]:
    """Policies whose regret is the same in all replications of a panel: to be said, not hidden."""
    every = [one for panel in panels for one in panel.played]
    found = [one.label for one in every if one.result.standard_error == 0]
    return list(dict.fromkeys(found))


def _missing(outcome: Outcome) -> list[str]:
    """How far an unfinished study goes, all in all and cell by cell."""
    if outcome.complete:
        return []
    most = outcome.study.replications
    done = {cell: outcome.done(cell) for cell in outcome.cells}
    total = most * len(outcome.cells)
    lines = [f"{sum(done.values()):,} of {total:,} replications are there."]
    for cell, count in done.items():
        if count < most:
            lines.append(f"{cell.panel}, {cell.policy}: {count:,} of {most:,}")
    return lines


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
