"""The `python` that has imported its libraries already does what the plain one does."""

from __future__ import annotations

import os
import subprocess

import pytest

PROGRAM = """
import os, sys
print(sys.argv, os.getcwd(), os.environ.get("COLOUR"), __name__, __file__, sys.path[0])
print(sys.stdin.read(), file=sys.stderr)
os.write(int(sys.argv[1]), b"told")
def fail(): raise ValueError(sys.argv[-1])
fail()
"""


def run_both(tmp_path, pythons, *words, **options):
    """Run the same with the plain interpreter and with the one that forks."""
    found = []
    for python in pythons:
        done = subprocess.run(
            [python, *words], cwd=tmp_path, capture_output=True, text=True, check=False, **options
        )
        found.append((done.returncode, done.stdout, done.stderr))
    return found


def test_a_program_can_not_tell(tmp_path, libs, warm_tables):
    """Words, folder, environment, standard input, open files, traceback and exit code."""
    (tmp_path / "train.py").write_text(PROGRAM)
    reading, writing = os.pipe()
    words = ("train.py", str(writing), "last")
    env = {**os.environ, "COLOUR": "red"}
    plain, warm = run_both(
        tmp_path, (libs, warm_tables), *words, env=env, input="typed", pass_fds=[writing]
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == b"toldtold"
    assert plain == warm
    assert "ValueError: last" in warm[2]


@pytest.mark.parametrize(
    "code", ["exit(3)", "import os; os.kill(os.getpid(), 15)", "import os; os._exit(7)"]
)
def test_it_ends_alike(tmp_path, libs, warm_tables, code):
    """By an exit code or by a signal."""
    plain, warm = run_both(tmp_path, (libs, warm_tables), "-c", code)
    assert plain == warm


def test_the_libraries_are_there_already(warm_tables):
    """Nothing has to be imported: that is what it is for."""
    code = "import sys; print('numpy' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([warm_tables, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"
