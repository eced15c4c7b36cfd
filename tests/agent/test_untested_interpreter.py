"""On an interpreter that zeroin has not been tested with, programs run as they are, which is said.

The interpreter is one that is here, and zeroin a copy that does not know it.
"""

import json
import re
import shutil
import sys

import pytest

import support

PROGRAM = """\
import sys
def double(x):
    y = x + x
    return y
print(double(4), sys.gettrace(), [f.co_name for f in [sys._getframe().f_code]])
"""
LAST = f"CPython 3.{sys.version_info[1]}"


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory):
    """The words that run a zeroin which has been tested with Python 3.9 alone."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(
        support.SRC / "zeroin", copy / "zeroin", ignore=shutil.ignore_patterns("__pycache__")
    )
    table = copy / "zeroin" / "agent" / "cpython" / "tested.py"
    text, changed = re.subn(r"(?m)^(NEWEST_\w+) = \(3, \d+\)", r"\1 = (3, 9)", table.read_text())
    assert changed == 2
    table.write_text(text)
    code = f"import sys; sys.path.insert(0, {str(copy)!r}); from zeroin.fronts.cli import enter"
    return [sys.executable, "-c", f"{code}; enter()"]


@pytest.fixture
def program(project):
    (project / "train.py").write_text(PROGRAM)
    return project


def test_a_loop_is_cold(forgetful, zeroin, program):
    """Each run starts from the beginning, prints what it prints without zeroin, and says why."""
    done = zeroin(
        "loop",
        "--json",
        "--",
        "python",
        "train.py",
        cwd=program,
        input="run\nquit\n",
        driver=forgetful,
    )
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["mode"], second["mode"]) == ("cold", "cold")
    assert first["outcome"] == second["outcome"] == "passed"
    assert first["snapshots"] == 0
    assert f"has not been tested with {LAST}" in first["gate"]
    assert done.stderr == "8 None ['<module>']\n" * 2


def test_a_loop_says_it_in_words(forgetful, zeroin, program):
    """Without a place since which it is so: it is so from the start."""
    done = zeroin("loop", "--once", "--", "python", "train.py", cwd=program, driver=forgetful)
    assert f"no snapshots: zeroin has not been tested with {LAST}" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--at", "train.py:3", "peek=x"),
        ("shapes", "train.py"),
        ("which", "train:double"),
    ],
)
def test_nothing_is_put_into_its_files(forgetful, zeroin, program, words):
    """Not "it was never loaded": the file was, and could not be looked into."""
    done = zeroin(*words, "--", "python", "train.py", cwd=program, driver=forgetful)
    said = done.stdout + done.stderr
    assert f"zeroin has not been tested with {LAST}" in said
    assert "never load" not in said
    assert "8 None ['<module>']" in said


def test_it_is_shrunk_cold(forgetful, zeroin, program):
    """The answer is the same, without snapshots."""
    (program / "data.txt").write_text("".join(f"{n}\n" for n in range(50)))
    (program / "train.py").write_text(
        "for line in open('data.txt'):\n    assert line.strip() != '33', 'bad'\n"
    )
    command = ("shrink", "--json", "data.txt", "--", "python", "train.py")
    done = zeroin(*command, cwd=program, driver=forgetful, timeout=100)
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["verdict"], told["confirmed"], told["warm"]) == ("found", True, False)
