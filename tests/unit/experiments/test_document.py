import re

import pytest

from stoic.errors import InvalidStudy
from stoic.experiments.document import Document, Table, hint

TEXT = '''\
# a comment with title = "not this"
title = "a # in a string"

"quoted key" = 1
dotted.key = 2
many = [
  1,   # one = 1
  "]",
  { inside = [3] },
]
long = """
seed = 1
[panels]
"""
inline = { a = 1, b = { c = [10, 20] } }

[table]
x = 1

[table.inner]
y = 2

[[panels]]
label = "first"

[[panels.arms]]
law = "a"

[[panels.arms]]
law = "b"

[[panels]]
label = "second"
[panels.sub]
z = 3
'''

PLACES = {
    "title": 2,
    "quoted key": 4,
    "dotted.key": 5,
    "many": 6,
    "many[2].inside[0]": 6,
    "long": 11,
    "inline.b.c[1]": 15,
    "table": 17,
    "table.x": 18,
    "table.inner": 20,
    "table.inner.y": 21,
    "panels[0]": 23,
    "panels[0].label": 24,
    "panels[0].arms[0].law": 27,
    "panels[0].arms[1]": 29,
    "panels[0].arms[1].law": 30,
    "panels[1].label": 33,
    "panels[1].sub.z": 35,
}


@pytest.mark.parametrize(("path", "line"), PLACES.items())
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_key_has_its_line(path, line, end):
    assert Document(TEXT.replace("\n", end), "a.toml").line(path) == line


@pytest.mark.parametrize(
    ("path", "line"),
    [("panels[1].missing", 32), ("panels[0].arms[1].p[3]", 29), ("nothing", 1), ("a[", 1)],
)
def test_what_is_missing_is_looked_for_where_it_should_be(path, line):
    assert Document(TEXT, "a.toml").line(path) == line


@pytest.mark.parametrize("value", ["1" * 5_000, "[" * 5_000 + "]" * 5_000])
def test_numbers_and_nesting_beyond_what_python_reads(value):
    with pytest.raises(InvalidStudy, match=r"^a\.toml:[12]: (nested too deeply|not TOML: Exceeds)"):
        Document(f"a = 1\nb = {value}\n", "a.toml")


def test_a_long_list_is_read_in_no_time():
    numbers = "\n".join(f"  {number}," for number in range(20_000))
    document = Document(f"a = [\n{numbers}\n]\nb = 2\n", "a.toml")
    assert document.line("b") == 20_003


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a = 1\nb = \n", "2:5"),
        ("a = 1\na = 2\n", "2:6"),
        ("[t\n", "1:3"),
        ("a = 1\n\nb 2", "3:3"),
        ("a = 0123", "1:6"),
    ],
)
def test_what_is_not_toml_has_its_place(text, place):
    with pytest.raises(InvalidStudy, match=rf"^a\.toml:{place}: not TOML: "):
        Document(text, "a.toml")


@pytest.mark.parametrize("open_end", ["c = [1,\n2, #", "c = 'x", 'c = """x', "c = {d = 1"])
def test_what_is_never_closed_has_the_line_on_which_it_begins(open_end):
    text = f"a = [\n1]\n\n{open_end}\n\n"
    with pytest.raises(InvalidStudy, match=r"^a\.toml:4(:\d+)?: not TOML: "):
        Document(text, "a.toml")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("title", "a.toml:2: title = 'a # in a string': is wrong"),
        ("many[0]", "a.toml:6: many[0] = 1: is wrong"),
        ("inline", "a.toml:15: inline: is wrong"),
        ("panels", "a.toml:1: panels: is wrong"),  # tables are not shown
        ("", "a.toml:1: is wrong"),
    ],
)
def test_an_error_shows_simple_values(path, message):
    assert str(Document(TEXT, "a.toml").error(path, "is wrong")) == message


def test_an_error_is_one_short_line():
    document = Document(f"a = '{'x' * 999}'\nb = {list(range(999))}\nc = \"\\n\\u001b\"", "a.toml")
    for path in "abc":
        message = str(document.error(path, "is wrong"))
        assert len(message) < 200
        assert message.isprintable()


def table(text):
    document = Document(text, "a.toml")
    return Table(document, "", document.data)


@pytest.mark.parametrize(
    "text", ["a = ''", "a = ' '", "a = 3", "a = ['x']", r'a = "\n"', r'a = "x\u001b"']
)
def test_text_is_text_on_one_line(text):
    with pytest.raises(InvalidStudy, match="must be text, on one line"):
        table(text).text("a", "default")


def test_text_may_hold_any_letters_and_may_be_left_out():
    assert table("a = 'δ\u00a0=\u202f5 %'").text("a", "") == "δ\u00a0=\u202f5 %"
    assert table("").text("a", "default") == "default"


@pytest.mark.parametrize("text", ["n = 0", "n = 1.5", "n = true", "n = '3'", "n = nan", "n = []"])
def test_an_integer_is_an_integer(text):
    with pytest.raises(InvalidStudy, match=r"^a\.toml:1: n = .*must be an integer, >= 1"):
        table(text).integer("n", at_least=1)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("t = 1", "must be tables"),
        ("t = [1]", "must be tables"),
        ("t = [{}, 1]", "must be tables"),
        ("t = []", "must be at least one"),
        ("", "must be given"),
    ],
)
def test_tables_are_tables(text, rule):
    with pytest.raises(InvalidStudy, match=rule):
        table(text).tables("t")


def test_the_paths_of_tables_lead_to_their_keys():
    tables = table(TEXT).tables("panels")
    assert [one.where("label") for one in tables] == ["panels[0].label", "panels[1].label"]
    assert tables[1].table("sub").where("z") == "panels[1].sub.z"
    assert table(TEXT).table("absent").items == {}


def test_an_unknown_key_is_refused_with_a_guess():
    assert re.search("did you mean 'epsilon'", hint("epsilonn", ["epsilon", "delta"]))
    with pytest.raises(
        InvalidStudy, match=r"^a\.toml:2: delt = 1: unknown key; did you mean 'delta'\?"
    ):
        table("epsilon = 1\ndelt = 1").allow(["epsilon", "delta"])
