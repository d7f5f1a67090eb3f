"""Colours, dashes and shapes: a policy has the same everywhere, and everybody tells them apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from stoic.charts import dashes, styles, theme

SIX = ["prae-c", "prae-r", "dprse", "prae-s", "ucb1", "uniform"]

# What is seen with no cones of one kind (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
FAR = 15.0  # six times what is just noticeable when colours lie side by side

TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(colour: str) -> NDArray[np.float64]:
    """The light of a colour as written in hexadecimal."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIE L*a*b*, in which distance is what the eye sees of a difference."""
    ratio = TO_XYZ @ light / (TO_XYZ @ np.ones(3))
    cubic = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * cubic[1] - 16, 500 * (cubic[0] - cubic[1]), 200 * (cubic[1] - cubic[2])])


def nearest(colours: list[str], sight: NDArray[np.float64]) -> float:
    """How different the two most similar colours look."""
    seen = [lab(np.clip(sight @ linear(colour), 0, 1)) for colour in colours]
    return min(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(seen, 2))


def contrast(one: str, other: str) -> float:
    """As the accessibility guidelines count it."""
    light = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_are_told_apart_by_everybody(sight: str) -> None:
    colours = [style.colour for style in styles(SIX).values()]
    assert len(set(colours)) == 6
    assert nearest(colours, SIGHTS[sight]) > FAR


def test_colours_that_only_some_tell_apart_are_found_out() -> None:
    traffic_light = ["#D55E00", "#909000"]
    assert nearest(traffic_light, SIGHTS["normal"]) > FAR
    assert nearest(traffic_light, SIGHTS["deuteranopia"]) < FAR


@pytest.mark.parametrize("dark", [False, True])
def test_words_are_legible(dark: bool) -> None:
    made = theme(dark=dark)
    page = "#15181d" if dark else "#ffffff"
    for words in (made["axis"]["labelColor"], made["axis"]["titleColor"], made["title"]["color"]):
        assert contrast(words, page) >= 7
    assert made["axis"]["labelFontSize"] >= 11


def test_a_usual_policy_looks_the_same_in_every_study() -> None:
    alone = styles(["PRAE-C"])["PRAE-C"]
    assert styles(["ucb1", "dprse", "prae-c"])["prae-c"] == alone
    assert styles(["DPRSE †", "PRAE-C †"])["PRAE-C †"] == alone
    assert styles(["prae-c, eps = 1", "prae-r"])["prae-c, eps = 1"] == alone


def test_two_variants_of_a_usual_policy_look_different() -> None:
    look = styles(["prae-c, eps = 1", "prae-c, eps = 2", "prae-r"])
    assert len({style.colour for style in look.values()}) == 3


def test_past_six_every_policy_still_looks_different() -> None:
    many = styles([f"policy {number}" for number in range(30)])
    assert len(set(many.values())) == 30
    for one, other in itertools.combinations(many.values(), 2):
        assert one.colour != other.colour or (one.dash, one.shape) != (other.dash, other.shape)


def test_print_without_colours_tells_six_apart() -> None:
    look = styles(SIX).values()
    assert len({style.dash for style in look}) == len({style.shape for style in look}) == 6


def test_lines_to_compare_with_differ_in_their_dashes() -> None:
    known = dashes(["linear", "lower", "linear", "upper"])
    assert list(known) == ["linear", "lower", "upper"]
    assert len(set(known.values())) == 3
