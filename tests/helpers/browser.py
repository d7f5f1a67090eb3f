"""A page as headless Chromium sees it, with the network off.

Chromium is spoken to through its debugging pipe, so nothing has to be installed besides it.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
INSTALL = "apt-get install chromium"

_FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-sandbox",  # the pages are our own, and a container may have no sandbox
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",  # what does not ask for names gets no further either
)
_COMPLAINTS = ("error", "warning", "assert")
_PATIENCE = 60.0  # seconds; a loaded machine is slow


class BrowserFailed(AssertionError):
    """Chromium did not answer, or the page never came to its end."""


@dataclass
class Page:
    """An open page: what it asked for (its own file aside), and what went wrong on it."""

    _ask: Callable[..., dict[str, Any]]
    _listen: Callable[[float], None]
    requests: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def go(self, path: Path) -> None:
        """Open a file, and forget what the one before it did."""
        self.requests.clear()
        self.errors.clear()
        url = path.resolve().as_uri()
        self._ask("Page.navigate", url=url)
        self.wait_for(f"document.readyState === 'complete' && location.href === {url!r}")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression on the page; of a promise, what comes of it."""
        found = self._ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise BrowserFailed(_words(found["exceptionDetails"]))
        return found["result"].get("value")

    @property
    def faults(self) -> list[str]:
        """All that a page which stands alone must not do."""
        return [*(f"asked for {url}" for url in self.requests), *self.errors]

    def wait_for(self, expression: str, patience: float = _PATIENCE) -> None:
        """Until the expression holds on the page."""
        end = time.monotonic() + patience
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise BrowserFailed(f"never became true: {expression}; errors: {self.errors}")
            self._listen(0.05)

    def wait_for_fault(self, patience: float = _PATIENCE) -> None:
        """Until something is wrong with the page."""
        end = time.monotonic() + patience
        while not self.faults:
            if time.monotonic() > end:
                raise BrowserFailed("nothing was found wrong with the page")
            self._listen(0.05)

    def settle(self, seconds: float = 0.3) -> None:
        """Hear what the page still has to say."""
        self._listen(seconds)

    def resize(self, width: int, height: int) -> None:
        """Another window; below 500 pixels a phone."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def point_at(self, selector: str, across: float = 0.5, down: float = 0.5) -> None:
        """Move the pointer over an element, from its left and its top edge by so much of it."""
        self.evaluate(f"document.querySelector({json.dumps(selector)}).scrollIntoView()")
        left, top, width, height = self.evaluate(
            f"(({{x, y, width, height}}) => [x, y, width, height])"
            f"(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )
        for nudge in (0, 2):  # a pointer that moves
            self._ask(
                "Input.dispatchMouseEvent",
                type="mouseMoved",
                x=left + across * width + nudge,
                y=top + down * height,
            )

    def screenshot(self, path: Path) -> None:
        """What is in the window, as PNG."""
        path.write_bytes(base64.b64decode(self._ask("Page.captureScreenshot")["data"]))

    def _hear(self, method: str, said: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            url = said["request"]["url"]
            if said.get("type") != "Document" or not url.startswith("file:"):
                self.requests.append(url)
        elif method == "Runtime.exceptionThrown":
            self.errors.append(_words(said["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and said["type"] in (
            "error",
            "warning",
            "assert",
        ):
            values = (one.get("value", one.get("description")) for one in said["args"])
            self.errors.append(" ".join(map(str, values)))
        elif method == "Log.entryAdded" and said["entry"]["level"] in _COMPLAINTS:
            self.errors.append(said["entry"]["text"])


@contextmanager
def opened(path: Path, profile: Path, *, width: int = 1280, height: int = 900) -> Iterator[Page]:
    """Open a file in a browser of its own, whose files are in ``profile``."""
    with _chromium(profile) as pipe:
        target = pipe.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = pipe.ask("Target.attachToTarget", targetId=target, flatten=True)
        session = attached["sessionId"]

        def ask(method: str, **parameters: Any) -> dict[str, Any]:
            return pipe.ask(method, session=session, **parameters)

        page = Page(ask, pipe.listen)
        pipe.tell = page._hear
        for domain in ("Network", "Runtime", "Log", "Page"):
            ask(f"{domain}.enable")
        ask(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )
        page.resize(width, height)
        page.go(path)
        yield page


class _Pipe:
    """The protocol: JSON messages that end with a zero byte."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._rest = b""
        self._number = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self.tell: Callable[[str, dict[str, Any]], None] = lambda method, said: None

    def ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + _PATIENCE
        while number not in self._answers:
            if time.monotonic() > end:
                raise BrowserFailed(f"no answer to {method}")
            self._receive(0.1)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise BrowserFailed(f"{method}: {answer['error']['message']}")
        result: dict[str, Any] = answer["result"]
        return result

    def listen(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._receive(left)

    def _receive(self, seconds: float) -> None:
        ready, _, _ = select.select([self._read], [], [], seconds)
        if not ready:
            return
        heard = os.read(self._read, 1 << 20)
        if not heard:
            raise BrowserFailed("Chromium is gone")
        *messages, self._rest = (self._rest + heard).split(b"\0")
        for text in messages:
            message = json.loads(text)
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.tell(message["method"], message["params"])


@contextmanager
def _chromium(profile: Path) -> Iterator[_Pipe]:
    if CHROMIUM is None:
        raise BrowserFailed(f"Chromium is not installed: {INSTALL}")
    (their_read, write), (read, their_write) = _pipe(), _pipe()
    # Chromium reads from descriptor 3 and writes to 4, wherever the pipes are here.
    shell = f'exec "$@" 3<&{their_read} 4>&{their_write}'
    process = subprocess.Popen(
        ["/bin/bash", "-c", shell, "-", CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"],
        pass_fds=(their_read, their_write),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(their_read)
    os.close(their_write)
    try:
        yield _Pipe(read, write)
    finally:
        os.close(write)  # Chromium ends when its pipe does
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(read)


def _pipe() -> tuple[int, int]:
    """Both ends, neither of them where Chromium wants the other's."""
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low]
    for end in low:
        os.close(end)
    return high[0], high[1]


def _words(details: dict[str, Any]) -> str:
    exception = details.get("exception", {})
    return str(exception.get("description") or exception.get("value") or details["text"])
