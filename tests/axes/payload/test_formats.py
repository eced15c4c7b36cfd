"""Payloads of every text format: nothing is lost, all that is offered is smaller and of the format."""

import ast
import csv
import io
import json
import tomllib
import traceback
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zeroin.axes.payload import read
from zeroin.search import asking
from zeroin.search.reduction import Reduction

PROGRAM = '''"""A module."""
import os, sys
from math import (sin,  # the first
                  cos)


@staticmethod
def first(a, b=2, *rest, key=None, **more):
    """Of two."""
    if a and b:  # both
        return sin(a) + cos(b)
    elif b:
        x = 1; y = 2
    else:
        try:
            print(f"{a!r} {b:>{10}}")
        except (ValueError, TypeError) as error:
            raise KeyError("größer") from error
        finally:
            pass


class Second(dict):

    names = ["one", "two", "three"]

    def method(self): return lambda: {k: v for k, v in self.items() if k}


match sys.argv:
    case [name, *_]:
        print(name)
    case _:
        async def third(): await first(1)
while True: break
'''
SETTINGS = b"""# about
title = "x"

[owner]  # who
name = 'Tom'
ports = [8000, 8001,
  8002]
point = { x = 1, y = -2.5 }
[[rows]]
a = 1
[[rows]]
text = '''
[not.a.table]
'''
"""
DATA = b"""# the model
model:
  name: gpt2   # small
  heads: [1, 2, 3]
  opts: {a: 1, b: "x, y"}
data:
- path: a.csv
  weight: 0.5
# second
- path: b.csv
text: |
  hello

    world
"""
PAGE = (
    b'<!DOCTYPE html><html><p class="a b">one<br>two &amp; three<ul><li>a<li>b</ul></q>'
    b"<script>if (a<b) f()</script></html>"
)
DOCUMENT = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!-- c --><a x="1" y=\'&lt;\'>\n  <b>ü</b><c/>'
    "<![CDATA[<d>]]> tail</a>\n"
).encode()
TABLE = 'id,"na""me",text\r\n1,"a, b",x\r\n2,"two\r\nlines",\r\n3,,"ü"\r\n'.encode()
FILES = {
    "a.py": PROGRAM.encode(),
    "a.toml": SETTINGS,
    "a.yaml": DATA,
    "a.html": PAGE,
    "a.xml": DOCUMENT,
    "a.csv": TABLE,
    "a.json": json.dumps({"a": [1, -2.5e-3, {"b": None}], 'k"': "ä\n\u2028"}, indent=2).encode(),
    "a.jsonl": b'{"a": 1}\n\n{"b": "\\u00e9 x", "c": [true]}\n[]\n',
    "a.txt": b"one two\n\nthree\x00 \xff four\n",
    "a.bin": bytes(range(256)) * 2,
    "u16.txt": "\ufeffeins\nzwei\n".encode("utf-16-le"),
    "cut.json": b'{"a": [1, 2, {"b": \n"c", \n',
    "empty": b"",
}
NAMES = {
    "a.py": "Python",
    "a.toml": "TOML",
    "a.yaml": "YAML",
    "a.html": "HTML",
    "a.xml": "XML",
    "a.csv": "CSV",
    "a.json": "JSON",
    "a.jsonl": "JSON Lines",
    "a.txt": "text",
    "a.bin": "bytes",
    "u16.txt": "text",
    "cut.json": "text",
}


def content(payload):
    return b"".join(payload.pieces())


def single_steps(payload):
    """Each payload that is one part smaller, of any round; and each round without all its parts."""
    for one in payload.rounds():
        yield one, one.keep(())
        for part in range(one.count):
            ranges = ((0, part), (part + 1, one.count))
            yield one, one.keep(tuple((a, b) for a, b in ranges if a < b))


def reduced(payload, fails):
    search = asking.run(
        Reduction.of(payload),
        lambda one: one.payload().is_valid() and fails(content(one.payload())),
    )
    return content(search.payload)


@pytest.mark.parametrize("name", FILES)
def test_what_is_read_is_written(name):
    """A payload that nothing has been taken from is the file, byte for byte."""
    payload = read(FILES[name], name)
    assert content(payload) == FILES[name]
    for one in payload.rounds():
        assert content(one.keep(((0, one.count),) if one.count else ())) == FILES[name], one


@pytest.mark.parametrize("name", NAMES)
def test_the_format_is_known_by_the_content(name):
    """The name is not needed, but for Python, which is a text like any other."""
    given_name = name if name.endswith(".py") else ""
    assert read(FILES[name], given_name).format.name == NAMES[name]


@pytest.mark.parametrize("name", NAMES)
def test_all_can_go(name):
    """If anything fails, next to nothing is left, and the search ends."""
    left = reduced(read(FILES[name], name), lambda _: True)
    assert len(left) < 20, left


PARSERS = {
    "a.py": ast.parse,
    "a.toml": tomllib.loads,
    "a.xml": ET.fromstring,
    "a.json": json.loads,
    "a.jsonl": lambda text: [json.loads(line) for line in text.split("\n") if line.strip()],
    "a.csv": lambda text: [list(csv.reader(io.StringIO(text), strict=True))],
}


@pytest.mark.parametrize("name", PARSERS)
def test_what_is_tried_is_of_the_format(name):
    """Every step that is offered as valid can be read."""
    count = 0
    for one, smaller in single_steps(read(FILES[name], name)):
        if smaller.is_valid():
            count += 1
            try:
                PARSERS[name](content(smaller).decode())
            except Exception as error:
                pytest.fail(f"{type(one).__name__}: {content(smaller)!r}: {error}")
    assert count > 5


def fails_with(word):
    """Whether a program raises an error that says so."""

    def is_failing(text):
        try:
            exec(compile(text, "a.py", "exec"), {})
        except ValueError as error:
            return word in str(error)
        except Exception:
            return False
        return False

    return is_failing


def test_a_program_as_a_person_would_have_it():
    """Values stand where they are used, and nothing is bound that nobody needs."""
    text = b"first = 'x' + 'y'\nb: int = int(first)\nc = b\n"
    assert reduced(read(text, "a.py"), fails_with("'xy'")) == b"int('x' + 'y')\n"


def failure_of(text):
    """What a program fails with, and how deep."""
    try:
        exec(compile(text, "a.py", "exec"), {"__name__": "a"})
    except Exception as error:
        return type(error), len(traceback.extract_tb(error.__traceback__))
    return None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "def f(x, y=[1], *, z=(2, 3)):\n int('')\n\nf((1), z=f, y=2)\n",
            "def f():\n int('')\nf()\n",
        ),
        (
            "def f(x, y):\n  return g(y, x, y)\n\ndef g(u, v, w):\n  int(w)\nf(f, '')\n",
            "def f(y):\n return g(y)\ndef g(w):\n int(w)\nf('')\n",
        ),
        (
            "def f(x, y):\n  int(y)\n  return ''\nf(1, f(f(7, 0), f(8, 9)))\n",
            "def f(y):\n int(y)\n return ''\nf(f(0))\n",
        ),
        (
            "class C:\n def __init__(self, x):\n  self.m(x)\n def m(self, x):\n  1 / 0\nC([1],)\n",
            "class C:\n def __init__(a):\n  a.m()\n def m(a):\n  0 / 0\nC()\n",
        ),
        ("def f(x, y):\n  int('')\nf(*(1, 2))\n", "def f(x, y):\n int('')\nf(*(0, 0))\n"),
    ],
    ids=["by position and name", "through two", "calls within calls", "methods", "unpacked"],
)
def test_a_parameter_goes_with_its_arguments(text, left):
    """Neither can go alone: a call would have one too many, or lack one."""
    wanted = failure_of(text)
    found = reduced(read(text.encode(), "a.py"), lambda data: failure_of(data) == wanted)
    assert found.decode() == left


@pytest.mark.parametrize(
    ("text", "word", "left"),
    [
        (b"- n:\n      k: 4\n      l: 5\n- m: 2\n", b"k: ", b"- k: \n"),
        (b"a:\n  b:\n    c: 1\n", b"c: ", b"c: \n"),
        (b"a: [0.9, 0.99]\n", b"[", b"a: []\n"),
        (b"a = 1\nb = [0.9, 0.99]\n", b"b = [0", b"b = [0]\n"),
    ],
)
def test_settings_without_what_is_around_them(text, word, left):
    """A key makes way for what is below it, and numbers in lists get simple as well."""
    assert reduced(read(text), lambda one: word in one) == left


def test_an_empty_element_is_written_shortly():
    """`<x/>`, in XML only."""
    assert reduced(read(b"<a><x>\n</x></a>"), lambda text: b"<x" in text) == b"<x/>"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (b"a = 1\n\n[b]\nc = 2\nd = 3\n", (5, "line")),
        (b"a:\n  b: 1\n  c: 2\n", (3, "line")),
        (b"<a><b/><b><c/></b></a>", (4, "element")),
    ],
)
def test_all_of_what_the_word_says_is_counted(text, parts):
    """Not only what is outermost."""
    payload = read(text)
    assert (payload.parts, payload.noun) == parts


@pytest.mark.parametrize("name", FILES)
def test_the_parts_of_what_is_left_are_counted_as_those_of_a_file(name):
    """Whatever was cut, and however: two lines that have become one are one line."""
    for _, smaller in single_steps(read(FILES[name], name)):
        if smaller.is_valid():
            again = read(content(smaller), name)
            assert again.noun != smaller.noun or again.parts == smaller.parts, content(smaller)


def test_broken_json_is_text():
    """Its lines may look like YAML, of which less could be left out."""
    broken = b"{\n" + b'  "a": 1,\n' * 9 + b'  "bad" 3\n}\n'
    assert reduced(read(broken, "x.json"), lambda text: b'"bad" ' in text) == b'"bad" '


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(
    st.dictionaries(st.text(), JSON_VALUES, min_size=1),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
)
@settings(max_examples=50, deadline=None)
def test_any_json_gets_smaller_and_stays_json(value, indent, is_ascii):
    """Also with odd keys, numbers that are none, and escapes."""
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    payload = read(text.encode("utf-8", "surrogatepass"))
    assert content(payload) == text.encode("utf-8", "surrogatepass")
    assert payload.format.name == "JSON"
    for _, smaller in single_steps(payload):
        json.loads(content(smaller).decode("utf-8", "surrogatepass"))
    left = reduced(payload, lambda _: True)
    assert len(left) <= 2


CELLS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\r\x00"), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=3, max_size=8))
@settings(max_examples=50, deadline=None)
def test_any_table_keeps_its_cells(rows):
    """After rows, columns and ends of lines have gone, the other cells are what they were."""
    out = io.StringIO()
    csv.writer(out).writerows([["c1", "c2", "c3"], *rows])
    payload = read(out.getvalue().encode(), "a.csv")
    if payload.format.name != "CSV":
        return
    level, columns, ends = list(payload.rounds())[:3]
    assert (level.count, ends.count) == (len(rows), 2)
    less = level.keep(((1, 2),))
    assert _cells(content(less)) == [["c1", "c2", "c3"], rows[1]]
    less = columns.keep(((0, 1), (2, 3)))
    assert _cells(content(less)) == [["c1", "c3"], *([row[0], row[2]] for row in rows)]
    less = content(ends.keep(()))
    assert (_cells(less), b"\r" in less, less[-1:] == b"\n") == (
        [["c1", "c2", "c3"], *rows],
        False,
        False,
    )


def _cells(text):
    return [row for row in csv.reader(io.StringIO(text.decode(), newline="")) if row]


@pytest.mark.parametrize(
    ("text", "needs", "left"),
    [
        ("from os import path, sep, linesep\n", "linesep", "from os import linesep\n"),
        ("import os, sys, re\n", "sys", "import sys\n"),
        ("x = 1, 2, 3\ndel x, y\n", "del y", "del y\n"),
    ],
)
def test_lists_without_brackets(text, needs, left):
    """Names that are imported, tuples and what is deleted lose single ones as well."""

    def fails(one):
        return one.payload().is_valid() and needs in content(one.payload()).decode()

    done = asking.run(Reduction.of(read(text.encode(), "a.py")), fails)
    assert content(done.payload).decode() == left
