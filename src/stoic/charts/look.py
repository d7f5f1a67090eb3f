"""Colours, dashes, shapes and fonts.

The colours are those of Okabe and Ito, which people with any of the common colour blindnesses can
tell apart; dash and shape say the same once more, for print without colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Style", "dashes", "styles", "theme"]


@dataclass(frozen=True, slots=True)
class Style:
    """How one policy is drawn."""

    colour: str
    dash: tuple[int, ...]
    shape: str


_STYLES = (
    Style("#0072B2", (1, 0), "circle"),  # blue
    Style("#D55E00", (7, 3), "square"),  # vermillion
    Style("#009E73", (2, 2), "triangle-up"),  # bluish green
    Style("#CC79A7", (9, 3, 2, 3), "diamond"),  # reddish purple
    Style("#E69F00", (12, 4), "triangle-down"),  # orange
    Style("#56B4E9", (5, 2, 2, 2, 2, 2), "cross"),  # sky blue
)

# What most studies compare keeps its style from one study to the next.
_USUAL = ("prae-c", "prae-r", "dprse", "prae-s")

_REFERENCES = ((1, 3), (6, 4), (1, 2, 6, 2), (3, 6))

_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


def styles(policies: Sequence[str]) -> dict[str, Style]:
    """A style for each policy: by name for the usual ones, for the others in the order given.

    >>> styles(["ucb1", "PRAE-C"])["PRAE-C"] == styles(["prae-c"])["prae-c"]
    True
    """
    labels = list(dict.fromkeys(policies))
    places: dict[str, int] = {}
    for label in labels:
        name = label.casefold().replace(" ", "-")
        usual = [place for place, start in enumerate(_USUAL) if name.startswith(start)]
        if usual and usual[0] not in places.values():
            places[label] = usual[0]
    free = (place for place in range(len(labels) + len(_USUAL)) if place not in places.values())
    fresh = {label: next(free) for label in labels if label not in places}
    return {label: _style({**places, **fresh}[label]) for label in labels}


def _style(place: int) -> Style:
    """Past the sixth, colours come again with another dash and another shape."""
    again, place = divmod(place, len(_STYLES))
    other = _STYLES[(place + again) % len(_STYLES)]
    return Style(_STYLES[place].colour, other.dash, other.shape)


def dashes(references: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """A dash for each line to compare with; these lines have no colour and are thinner.

    >>> dashes(["linear", "lower bound"])
    {'linear': (1, 3), 'lower bound': (6, 4)}
    """
    names = dict.fromkeys(references)
    return {name: _REFERENCES[place % len(_REFERENCES)] for place, name in enumerate(names)}


def theme(*, dark: bool = False) -> dict[str, Any]:
    """The configuration of all charts, for a light or a dark page.

    >>> theme()["background"], theme(dark=True)["background"]
    ('white', 'transparent')
    """
    if dark:
        background, ink, soft, grid = "transparent", "#e8eaed", "#b4bac4", "#333a45"
    else:
        background, ink, soft, grid = "white", "#1b1f24", "#4a525e", "#e3e6ea"
    return {
        "background": background,
        "font": _FONT,
        "view": {"stroke": None},
        "axis": {
            "labelColor": soft,
            "labelFontSize": 11,
            "labelPadding": 4,
            "titleColor": ink,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
            "gridColor": grid,
            "domainColor": soft,
            "tickColor": soft,
            "tickSize": 4,
        },
        "title": {
            "color": ink,
            "fontSize": 13,
            "fontWeight": 600,
            "anchor": "start",
            "frame": "group",
            "offset": 8,
        },
        "style": {
            "strong": {"color": ink},
            "soft": {"color": soft},
            "key": {"color": ink, "fontSize": 12},
            "note": {"color": soft, "fontSize": 11},
        },
    }
