"""Payloads that are nested more deeply than anybody writes: bounded, by lines, and said."""

from __future__ import annotations

import resource

import pytest

from zeroin.axes.payload import lines
from zeroin.axes.payload.depth import DEEPEST
from zeroin.axes.payload.reading import is_too_deep, read

MANY = 20_000
DEEP = {
    "a.xml": "<a>" * MANY + "x" + "</a>" * MANY,
    "a.html": "<html>" + "<div>" * MANY + "x",
    "a.json": "[" * MANY + '"x"' + "]" * MANY,
    "object.json": '{"a":' * MANY + "1" + "}" * MANY,
    "a.toml": "a = " + "[" * MANY + '"x"' + "]" * MANY,
    "a.yaml": "".join(" " * deep + f"k{deep}:\n" for deep in range(3000)),
    "flow.yaml": "a: " + "[" * MANY + "]" * MANY + "\n",
    "dashes.yaml": "- " * MANY + "x\n",
    "sum.py": "y = " + "+".join(["1"] * 2000) + "\n",
    "minus.py": "y = " + "-" * 5000 + "1\n",
    "elif.py": "if a: pass\n" + "elif b: pass\n" * 2000,
}
SHALLOW = {
    "a.xml": "<a>" + "<b>x</b>" * 3000 + "</a>",
    "a.html": "<html><body>" + "<p>x</p>" * 3000,
    "a.json": "[" + ",".join(["[[1]]"] * 3000) + "]",
    "text.json": '["' + "[" * 3000 + '"]',
    "a.toml": "a = [" + "[1]," * 3000 + "]\n",
    "a.yaml": "".join(f"k{n}:\n  v: [{{a: 1}}]\n" for n in range(1000)),
    "many.py": "x = [" + "(1, [2])," * 1000 + "]\n" * 1,
}


@pytest.mark.parametrize("name", DEEP)
def test_deep_ones_are_lines(name, tmp_path):
    """In a second, and without a tree: the format is text, and `is_too_deep` says so."""
    (tmp_path / name).write_text(DEEP[name])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    found = read(DEEP[name].encode(), name)
    assert found.format is lines.LINES
    assert is_too_deep(str(tmp_path / name))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 10


@pytest.mark.parametrize("name", SHALLOW)
def test_wide_ones_are_trees(name, tmp_path):
    """Many parts beside one another, and brackets in texts, are no depth."""
    (tmp_path / name).write_text(SHALLOW[name])
    assert read(SHALLOW[name].encode(), name).format is not lines.LINES
    assert not is_too_deep(str(tmp_path / name))


def test_long_numbers_are_no_bug():
    """Python refuses to read integers of thousands of digits: the text is read by its lines."""
    long = "1" * 10_000
    for text, name in ((f"a = {long}\n", "a.toml"), (f'{{"a": {long}}}', "a.json")):
        assert read(text.encode(), name).format is lines.LINES


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.xml", "a.yaml", "a.json"])
def test_shrink_within_little_memory(somebody, name):
    """The search says that it goes by lines, finds the part that fails, and needs little memory."""
    (somebody.project / name).write_text(DEEP[name].replace("x", "") + "\nBAD\n")
    (somebody.project / "reads.py").write_text(
        "import sys\nassert 'BAD' not in open(sys.argv[1]).read()\n"
    )
    somebody.own()
    before = ("sh", "-c", 'ulimit -v 3000000; exec "$@"', "sh")
    words = ("shrink", name, "-o", "small", "--", "python", "reads.py", name)
    done = somebody(*words, before=before, timeout=200)
    assert done.returncode == 0, done.stderr
    assert f"nested more than {DEEPEST} levels deep" in done.stderr
    assert (somebody.project / "small").read_text().strip() == "BAD"


def test_settings_and_rows_that_are_too_deep(project, zeroin):
    """`bisect settings` and `tiny` say so with exit code 2, and name what can be done."""
    for name in ("good.json", "bad.json"):
        (project / name).write_text(DEEP["a.json"])
    words = ("bisect", "settings", "good.json", "bad.json", "--", "true")
    for done in (
        zeroin(*words, cwd=project),
        zeroin("tiny", "data", "object.xml", cwd=_with(project, "object.xml", DEEP["a.xml"])),
    ):
        assert (done.returncode, f"more than {DEEPEST} levels deep" in done.stderr) == (2, True)


def _with(project, name, text):
    (project / name).write_text(text)
    return project
