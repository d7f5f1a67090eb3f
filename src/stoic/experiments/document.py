r"""TOML that knows where it stands: every key has a line, so that an error can point to it.

>>> document = Document('seed = 1\n[[policies]]\nname = "ucb"', "study.toml")
>>> document.data
{'seed': 1, 'policies': [{'name': 'ucb'}]}
>>> raise document.error("policies[0].name", "must be one of ucb1, oracle")
Traceback (most recent call last):
    ...
stoic.errors.InvalidStudy: study.toml:3: policies[0].name = 'ucb': must be one of ucb1, oracle
"""

from __future__ import annotations

import difflib
import re
import reprlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoic.core import integer
from stoic.errors import InvalidParameter, InvalidStudy

__all__ = ["Document", "Table", "hint", "within"]

_LAST = re.compile(r"(\.?[^.\[\]]+|\[\d+\])$")
_ENDS = ("]", "}", "'''", '"""')  # one of which ends a statement of several lines
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")  # would garble a terminal
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


class Document:
    """A parsed TOML text, with the line of every key.

    A path is written as one would in Python: ``policies[2].moments.k``.
    """

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        try:
            self.data = tomllib.loads(text)
        except RecursionError:
            raise InvalidStudy(f"{name}:1: nested too deeply") from None
        except ValueError as error:  # not TOML, or a number of thousands of digits
            found = _PLACE.search(str(error))
            if found:
                place = f"{found[1]}:{found[2]}"
            else:  # the end of the text, where something was still open
                place = str(max(first for first, _, _ in _statements(text)))
            raise InvalidStudy(f"{name}:{place}: not TOML: {_PLACE.sub('', str(error))}") from None
        self._lines = _lines(text)

    def line(self, path: str) -> int:
        r"""Where the path is written, or else the nearest thing around it.

        >>> Document("title = ''\n[grid]\nepsilon = [1]", "study.toml").line("grid.delta")
        2
        """
        while path not in self._lines:
            if not path:
                return 1
            shorter = _LAST.sub("", path)
            path = shorter if shorter != path else ""  # an odd key
        return self._lines[path]

    def error(self, path: str, rule: str) -> InvalidStudy:
        """What to raise when the value at this path breaks a rule; it shows a simple value."""
        try:
            found = _at(self.data, path)
        except (KeyError, IndexError, TypeError):
            shown = ""
        else:
            shown = "" if _nested(found) else f" = {_SHORT.repr(found)}"
        key = f"{path}{shown}: " if path else ""
        return InvalidStudy(f"{self.name}:{self.line(path)}: {key}{rule}")


@dataclass(frozen=True)
class Table:
    """A table of a document, and the checks that every table needs."""

    document: Document
    path: str
    items: Mapping[str, Any]

    def where(self, key: str) -> str:
        """The path of one of its keys."""
        return within(self.path, key)

    def wrong(self, key: str, rule: str) -> InvalidStudy:
        """What to raise when the value of a key breaks a rule."""
        return self.document.error(self.where(key), rule)

    def allow(self, keys: Iterable[str]) -> None:
        """Refuse every other key, with a guess at what was meant."""
        known = tuple(keys)
        for key in self.items:
            if key not in known:
                raise self.wrong(key, f"unknown key{hint(key, known)}")

    def require(self, key: str) -> Any:
        """The value of a key that must be there."""
        if key not in self.items:
            raise self.wrong(key, "must be given")
        return self.items[key]

    def text(self, key: str, default: str) -> str:
        """The value of a key that is text."""
        found = self.items.get(key, default)
        if not isinstance(found, str) or not found.strip() or _CONTROL.search(found):
            raise self.wrong(key, "must be text, on one line")
        return found

    def integer(self, key: str, *, at_least: int) -> int:
        """The value of a key that must be there and is an integer."""
        try:
            return integer(key, self.require(key), at_least=at_least)
        except InvalidParameter as error:
            raise self.wrong(key, error.rule) from None

    def table(self, key: str) -> Table:
        """The value of a key that is a table; an empty one if there is none."""
        found = self.items.get(key, {})
        if not isinstance(found, dict):
            raise self.wrong(key, "must be a table")
        return Table(self.document, self.where(key), found)

    def tables(self, key: str) -> list[Table]:
        """The value of a key that must be a list of tables, and not empty."""
        found = self.require(key)
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            raise self.wrong(key, f"must be tables, each under [[{self.where(key)}]]")
        if not found:
            raise self.wrong(key, "must be at least one")
        return [
            Table(self.document, f"{self.where(key)}[{index}]", item)
            for index, item in enumerate(found)
        ]


def within(path: str, key: str) -> str:
    """The path of a key in the table at ``path``.

    >>> within("panels[0]", "label"), within("", "seed")
    ('panels[0].label', 'seed')
    """
    return f"{path}.{key}" if path else key


def hint(word: object, known: Iterable[str]) -> str:
    """What to add to a rule: the word that was meant, if one is close, or else all there are.

    >>> hint("profil", ["name", "profile"]), hint("x", ["name", "profile"])
    ("; did you mean 'profile'?", '; there are name, profile')
    """
    words = list(known)
    close = difflib.get_close_matches(str(word), words, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(words)}"


def _nested(item: Any) -> bool:
    return isinstance(item, dict) or (isinstance(item, list) and any(map(_nested, item)))


def _at(data: Any, path: str) -> Any:
    """The value at a path."""
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        data = data[name] if name else data[int(index)]
    return data


def _lines(text: str) -> dict[str, int]:
    """The line of every path in a valid TOML text: that on which its statement begins."""
    lines: dict[str, int] = {}
    arrays: dict[str, int] = {}  # how many tables each [[array]] has so far
    table = ""
    for first, words, statement in _statements(text):
        if words.lstrip().startswith("["):
            table = _header(statement, arrays)
            lines.setdefault(table, first)
        else:
            for path in _paths(statement, table):
                lines.setdefault(path, first)
    return lines


def _statements(text: str) -> Iterator[tuple[int, str, Any]]:
    """Where each statement of a TOML text begins, its words, and what they say.

    A statement is what parses by itself, and its own parse says which keys it sets; so strings,
    comments and lists over several lines need no rules here. What does not parse up to the end
    comes last, and says None.
    """
    words, first = "", 0
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if words and not any(end in line for end in _ENDS):
            words += f"\n{line}"
            continue
        words, first = (f"{words}\n{line}", first) if words else (line, number)
        try:
            statement = tomllib.loads(words)
        except (ValueError, RecursionError):
            continue
        yield first, words, statement
        words = ""
    if words:
        yield first, words, None


def _header(statement: Any, arrays: dict[str, int]) -> str:
    """The path of the table that a header such as ``[a.b]`` or ``[[a.b]]`` opens."""
    path = ""
    while statement:
        ((key, statement),) = statement.items()
        path = within(path, key)
        if isinstance(statement, list):  # [[...]]: one more table
            arrays[path] = arrays.get(path, 0) + 1
            statement = None
        if path in arrays:
            path = f"{path}[{arrays[path] - 1}]"
    return path


def _paths(item: Any, path: str) -> Iterable[str]:
    """The paths of everything inside an item that stands at ``path``."""
    inside: list[tuple[str, Any]] = []
    if isinstance(item, dict):
        inside = [(within(path, key), part) for key, part in item.items()]
    elif isinstance(item, list):
        inside = [(f"{path}[{index}]", part) for index, part in enumerate(item)]
    for place, part in inside:
        yield place
        yield from _paths(part, place)
