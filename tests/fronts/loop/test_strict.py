"""`zeroin loop --strict`: nothing is changed in a running program, only gone back from."""

import pytest

TOOLS = """\
import time
loaded = time.monotonic_ns()

def late():
    return 1
"""
USES_TOOLS = """\
from zeroin import checkpoint
import time
begun = time.monotonic_ns()
checkpoint()
import tools
checkpoint()
print("begun", begun)
print("loaded", tools.loaded)
checkpoint()
print("late", tools.late())
"""


def _said(text, word):
    return [line.split()[1] for line in text.splitlines() if line.startswith(f"{word} ")]


@pytest.mark.parametrize("strict", [True, False])
def test_strict_loads_a_changed_file_again(scripted, project, python, strict):
    """Though the function that changed had not run: no body is put in, its module is made anew."""
    (project / "tools.py").write_text(TOOLS)
    loop = scripted(USES_TOOLS, *["--strict"] * strict, command=[python, "train.py"])
    assert loop.line()["outcome"] == "passed"
    loop.edit("tools.py", TOOLS.replace("return 1", "return 2"))
    line = loop.line()
    assert (line["mode"], line["outcome"]) == ("resumed", "passed")
    assert ("--strict" in line["reason"]) is strict
    first, second = _said(loop.shown, "loaded")
    assert (first != second) is strict  # else it is a test of nothing
    begun = _said(loop.shown, "begun")
    assert begun[0] == begun[1]  # but no further back than that
    assert _said(loop.shown, "late") == ["1", "2"]


def test_strict_begins_anew_for_the_script_itself(scripted):
    """It was loaded first."""
    source = USES_TOOLS.replace("import tools", "").replace("tools.loaded", "0")
    source = "def late():\n    return 1\n\n" + source.replace("tools.late", "late")
    loop = scripted(source, "--strict")
    loop.line()
    loop.edit("train.py", source.replace("return 1", "return 2"))
    line = loop.line()
    assert "--strict" in line["reason"]
    first, second = _said(loop.shown, "begun")
    assert first != second
    assert _said(loop.shown, "late") == ["1", "2"]


def test_strict_goes_on_where_no_code_has_changed(scripted, project):
    """A comment changes no body, so nothing has to be loaded again."""
    (project / "tools.py").write_text(TOOLS)
    loop = scripted(USES_TOOLS, "--strict", "--verify")
    loop.line()
    loop.edit("tools.py", TOOLS + "# done\n")
    assert loop.line()["mode"] == "resumed"
    first, second = _said(loop.shown, "loaded")
    assert first == second


def test_strict_is_the_opposite_of_from_failure(zeroin, project):
    """Both at once can't be."""
    done = zeroin("loop", "--strict", "--from-failure", "--", "true", cwd=project)
    assert done.returncode == 2
    assert "--strict" in done.stderr
