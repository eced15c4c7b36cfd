"""When a notebook's cells are out of date, and above all when they are not."""

from __future__ import annotations

import json
import subprocess

import pytest

import support

PROGRAM = support.ROOT / "tests" / "programs" / "notebook_cells.py"


def warnings(python, folder, cells):
    """Run the cells; what is said after each."""
    return warnings_of_all(python, folder, [cells])[0]


def warnings_of_all(python, folder, notebooks):
    done = subprocess.run(
        [python, PROGRAM, support.SRC],
        input=json.dumps(notebooks),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return json.loads(done.stdout.splitlines()[-1])


IMPORTS = "import json\nimport os.path as path\nfrom math import sqrt"
# What is run, cell by cell; nothing may be said.
QUIET = {
    "in order": [("a", "x = 1"), ("b", "y = x + 1"), ("c", "print(x, y)")],
    "run again unchanged": [("a", "x = 1"), ("b", "y = x"), ("a", "x = 1"), ("b", "y = x")],
    "a comment": [("a", "x = 1"), ("b", "y = x"), ("a", "x = 1  # one\n\n")],
    "a docstring": [
        ("a", "def f():\n    return 1"),
        ("b", "y = f()"),
        ("a", 'def f():\n    """One."""\n    return 1'),
    ],
    "another name of the cell": [("a", "x = 1\nz = 1"), ("b", "y = x"), ("a", "x = 1\nz = 2")],
    "one more import": [("a", IMPORTS), ("b", "y = sqrt(4)"), ("a", IMPORTS + "\nimport sys")],
    "a later cell": [("a", "x = 1"), ("b", "y = x"), ("c", "x = 2")],
    "its own names": [("a", "x = 1"), ("b", "x = 5\ny = x"), ("a", "x = 2")],
    "a loop's name": [("a", "for i in range(3):\n    pass"), ("b", "for i in range(2):\n    i")],
    "a comprehension's name": [("a", "x = 1"), ("b", "y = [x for x in (1, 2)]"), ("a", "x = 2")],
    "a parameter": [("a", "x = 1"), ("b", "def f(x):\n    return x\ny = f(3)"), ("a", "x = 2")],
    "a column set twice": [
        ("a", "df = {'a': 1}"),
        ("b", "df['b'] = df['a'] * 2"),
        ("c", "df['b']"),
        ("b", "df['b'] = df['a'] * 2"),
    ],
    "cleaned twice": [("a", "s = ' x '"), ("b", "s = s.strip()"), ("b", "s = s.strip()")],
    "a method that reads": [
        ("a", "s = 'x'"),
        ("b", "s.upper()"),
        ("c", "t = s"),
        ("b", "s.upper()\ns.lower()"),
    ],
    "set in the same cell": [("a", "x = 0\nx += 1"), ("b", "x"), ("a", "x = 0\nx += 1")],
    "a list made anew": [("a", "l = []\nl.append(1)"), ("b", "l"), ("a", "l = []\nl.append(1)")],
    "edited and failed": [("a", "x = 1"), ("b", "y = x"), ("a", "x = 1 / 0")],
    "a setting of a module": [
        ("a", "import sys"),
        ("b", "sys.zeroin_test = 1"),
        ("c", "sys.path"),
        ("b", "sys.zeroin_test = 2"),
    ],
    "never used again": [("a", "x = 1"), ("a", "x = 2"), ("a", "x = 3")],
    "unknown names": [("a", "print(len([1]))"), ("b", "len"), ("a", "print(len([1, 2]))")],
    "a deferred use": [("a", "x = 1"), ("b", "def f():\n    return x"), ("a", "x = 2")],
    "exception's name": [
        ("a", "e = 1"),
        ("b", "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    str(e)"),
    ],
    "swapped": [("a", "x, y = 1, 2"), ("b", "x, y = 1, 2"), ("c", "x"), ("b", "x, y = 1, 2")],
}


@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_said(name, tmp_path):
    """A false alarm is worse than a miss."""
    said = warnings(support.base_python(), tmp_path, QUIET[name])
    assert said == [[]] * len(said)


# What is run, and what is said after the last cell.
LOUD = {
    "edited": (
        [("a", "x = 1"), ("b", "y = x"), ("a", "x = 2")],
        "⚠ cell [2] used x from cell [1], which was edited and re-run as [3]: run [2] again",
    ),
    "several": (
        [("a", "x = 1"), ("b", "y = x"), ("c", "z = x"), ("a", "x = 2")],
        (
            "⚠ cells [2] and [3] used x from cell [1], which was edited and re-run as [4]: run [2] and "
            "[3] again"
        ),
    ),
    "and what hangs on it": (
        [("a", "x = 1"), ("b", "y = x"), ("c", "z = y"), ("a", "x = 2")],
        (
            "⚠ cell [2] used x from cell [1], which was edited and re-run as [4]: run [2] again, then "
            "[3]"
        ),
    ),
    "through a function": (
        [("a", "k = 1"), ("f", "def f():\n    return k"), ("b", "y = f()"), ("a", "k = 2")],
        "⚠ cell [3] used k from cell [1], which was edited and re-run as [4]: run [3] again",
    ),
    "the function": (
        [("f", "def f():\n    return 1"), ("b", "y = f()"), ("f", "def f():\n    return 2")],
        "⚠ cell [2] used f from cell [1], which was edited and re-run as [3]: run [2] again",
    ),
    "a method of a class": (
        [("k", "class K:\n    n = 1"), ("b", "y = K().n"), ("k", "class K:\n    n = 2")],
        "⚠ cell [2] used K from cell [1], which was edited and re-run as [3]: run [2] again",
    ),
    "a column": (
        [("a", "d = {}"), ("b", "d['x'] = 1"), ("c", "d['x']"), ("b", "d['x'] = 2")],
        "⚠ cell [3] used d from cell [2], which was edited and re-run as [4]: run [3] again",
    ),
    "a name that is gone": (
        [("a", "x = 1"), ("b", "y = x"), ("a", "z = 1")],
        (
            "⚠ cell [2] used x from cell [1], which was edited, and re-run as [3] makes it no more: run "
            "[2] again"
        ),
    ),
    "on other values": (
        [("a", "x = 1"), ("b", "y = x"), ("c", "z = y"), ("a", "x = 2"), ("b", "y = x")],
        None,  # said after the edit already
    ),
    "built on it": (
        [("a", "x = 1"), ("b", "y = x"), ("a", "x = 2"), ("c", "z = y")],
        "⚠ cell [4] used y from cell [2], which is out of date: run [2], then this one again",
    ),
    "counted twice": (
        [("a", "x = 0"), ("b", "x += 1"), ("b", "x += 1")],
        (
            "⚠ cell [3] changed x once more, starting from its own earlier result: a fresh run changes "
            "it once"
        ),
    ),
    "appended twice": (
        [("a", "l = []"), ("b", "l.append(1)"), ("b", "l.append(1)")],
        (
            "⚠ cell [3] changed l once more, starting from its own earlier result: a fresh run changes "
            "it once"
        ),
    ),
    "added to itself": (
        [("a", "x = 1"), ("b", "x = 2 * x"), ("b", "x = 2 * x")],
        (
            "⚠ cell [3] changed x once more, starting from its own earlier result: a fresh run changes "
            "it once"
        ),
    ),
    "exec": (
        [("a", "exec('x = 1')"), ("b", "y = x"), ("a", "exec('x = 2')")],
        "⚠ cell [2] used x from cell [1], which was edited and re-run as [3]: run [2] again",
    ),
    "global": (
        [
            ("f", "def f():\n    global g\n    g = 1"),
            ("a", "f()"),
            ("b", "y = g"),
            ("a", "f(); g = 5"),
        ],
        "⚠ cell [3] used g from cell [2], which was edited and re-run as [4]: run [3] again",
    ),
    "a conditional value": (
        [("a", "if True:\n    x = 1"), ("b", "y = x"), ("a", "if True:\n    x = 2")],
        "⚠ cell [2] used x from cell [1], which was edited and re-run as [3]: run [2] again",
    ),
    "before the failing line": (
        [("a", "x = 1"), ("b", "y = x\n1 / 0"), ("c", "z = y"), ("a", "x = 2")],
        (
            "⚠ cell [2] used x from cell [1], which was edited and re-run as [4]: run [2] again, then "
            "[3]"
        ),
    ),
}


@pytest.mark.parametrize("name", LOUD)
def test_it_is_said(name, tmp_path):
    """In one line, once, with the cells to run again."""
    cells, line = LOUD[name]
    said = warnings(support.base_python(), tmp_path, cells)
    assert said[-1] == ([line] if line else [])
    again = warnings(support.base_python(), tmp_path, [*cells, ("other", "1")])
    assert again[-1] == []


def test_after_running_it_again_all_is_well(tmp_path):
    """And an edit later on is a new situation."""
    cells = [("a", "x = 1"), ("b", "y = x"), ("a", "x = 2"), ("b", "y = x"), ("c", "y")]
    said = warnings(support.base_python(), tmp_path, [*cells, ("a", "x = 3")])
    assert [len(lines) for lines in said] == [0, 0, 1, 0, 0, 1]


def test_on_every_python(python, tmp_path):
    """What is said does not depend on the interpreter."""
    loud = warnings_of_all(python, tmp_path, [cells for cells, _ in LOUD.values()])
    assert [said[-1] for said in loud] == [[line] if line else [] for _, line in LOUD.values()]
    assert not any(map(any, warnings_of_all(python, tmp_path, list(QUIET.values()))))


# --- with the notebook's file --------------------------------------------------------------------

ABC = [("a", "x = 1"), ("b", "y = x"), ("c", "x = 2")]


def saved(cells):
    return ("save", [list(cell) for cell in cells])


def test_a_value_from_below(tmp_path):
    """The cell above it was not what the value came from."""
    said = warnings(support.base_python(), tmp_path, [saved(ABC), *ABC, ABC[1]])
    assert said[-1] == [
        (
            "⚠ cell [4] used x from cell [3], a fresh run takes it from [1]: run [1], then this one "
            "again"
        )
    ]
    assert not any(said[:-1])


def test_a_name_that_is_only_below(tmp_path):
    """A fresh run fails there."""
    cells = [("b", "y = x"), ("c", "x = 2")]
    said = warnings(support.base_python(), tmp_path, [saved(cells), cells[1], cells[0]])
    assert said[-1] == [
        "⚠ cell [2] used x from cell [1], which stands below it: a fresh run does not have it here"
    ]


def test_a_step_between_that_was_left_out(tmp_path):
    """`df` was loaded anew, and what the next cell does to it was not done."""
    cells = [("a", "d = {}"), ("b", "d['x'] = 1"), ("c", "n = len(d)")]
    said = warnings(support.base_python(), tmp_path, [saved(cells), *cells, cells[0], cells[2]])
    assert said[-1] == [
        (
            "⚠ cell [5] used d from cell [4], a fresh run takes it from [2]: run [2], then this one "
            "again"
        )
    ]


def test_edited_and_not_run(tmp_path):
    """The saved notebook has other code than what was run."""
    first, edited = [("a", "x = 1"), ("b", "y = x")], [("a", "x = 9"), ("b", "y = x")]
    said = warnings(
        support.base_python(), tmp_path, [saved(first), *first, saved(edited), first[1]]
    )
    assert said[-1] == [
        "⚠ cell [3] used x from cell [1], which was edited and not run since: run it, then [3] again"
    ]


def test_deleted(tmp_path):
    """Only if the notebook has had the cell: one that was never saved is not deleted."""
    first = [("a", "x = 1"), ("b", "y = x")]
    said = warnings(
        support.base_python(), tmp_path, [saved(first), *first, saved(first[1:]), first[1]]
    )
    assert said[-1] == [
        "⚠ cell [3] used x from cell [1], which was deleted: a fresh run does not have it"
    ]
    never = warnings(support.base_python(), tmp_path, [saved(first[1:]), *first, first[1]])
    assert not any(never)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 3}', '{"cells": [{}]}'])
def test_a_file_that_is_no_notebook(tmp_path, text):
    """It is being written, or is something else: nothing is said, and nothing breaks."""
    (tmp_path / "note.ipynb").write_text(text)
    assert not any(warnings(support.base_python(), tmp_path, ABC))
