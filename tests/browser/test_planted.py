"""What a page must not do is noticed: the checks that the real pages pass find these."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.browser import BrowserFailed, opened

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PLANTED = {
    "asks for an image": '<img src="http://example.org/pixel.png">',
    "asks for a script": '<script src="https://example.org/vega.js"></script>',
    "asks for data": '<script>fetch("https://example.org/data.json").catch(() => {})</script>',
    "asks for a neighbour": '<link rel="stylesheet" href="neighbour.css">',
    "sends a beacon": '<script>navigator.sendBeacon("https://example.org/seen")</script>',
    "complains": '<script>console.error("no such table")</script>',
    "throws": "<script>undefinedFunction()</script>",
    "rejects": '<script>Promise.reject(new Error("no such table"))</script>',
    "breaks its own rule": (
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
        '<img src="https://example.org/pixel.png">'
    ),
}


def test_a_page_that_asks_or_complains_is_found(tmp_path: Path) -> None:
    silent = tmp_path / "silent.html"
    silent.write_text("<!doctype html><title>-</title><p>Nothing.", encoding="utf-8")
    with opened(silent, tmp_path / "profile") as page:
        page.settle(1)
        assert page.faults == []
        with pytest.raises(BrowserFailed, match="nothing was found"):
            page.wait_for_fault(patience=0.2)
        for content in PLANTED.values():
            path = tmp_path / "planted.html"
            path.write_text(f"<!doctype html><title>-</title>{content}", encoding="utf-8")
            page.go(path)
            page.wait_for_fault()
