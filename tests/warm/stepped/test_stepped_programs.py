"""Hand-written programs behave the same stepped as plainly: output, stderr, exit code."""

from __future__ import annotations

import functools
import zlib
from typing import TYPE_CHECKING

import pytest
import stepped

import support

if TYPE_CHECKING:
    from pathlib import Path

EACH = 2  # interpreters that a program is run on in an ordinary run; all with ZEROIN_TEST_FULL=1
VERSIONS = list(support.interpreters())
# Says how many points of its own file it has reached: of the module, then also of a function.
TELLS = """\
import os, sys
def f():
    x = 1
    return x
steps = sys.modules.get("_zeroin_agent.warm.stepping.steps")
def count():
    known = steps is not None and os.path.realpath(__file__) in map(os.path.realpath, steps.files)
    return len(steps.reached) if known else 0
before = count()
f()
print(before > 0, count() > before + 1)
"""


def chosen(program: stepped.Program, version: str) -> bool:
    """Tell whether a program runs on an interpreter: on two of those it fits, taken in turn."""
    fitting = [each for each in VERSIONS if program.fits(each)]
    if stepped.FULL or len(fitting) <= EACH:
        return version in fitting
    first = zlib.crc32(program.name.encode()) % len(fitting)
    step = 1 + zlib.crc32(program.name.encode()) // 7 % (len(fitting) - 1)
    return version in (fitting[first], fitting[(first + step) % len(fitting)])


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("topic", stepped.topics())
def test_same_as_plain(topic: str, version: str, tmp_path: Path) -> None:
    """Every program of the topic prints, fails and ends as it does without the stepper."""
    python = support.interpreters()[version]
    programs = [program for program in stepped.programs(topic) if chosen(program, version)]
    jobs = [
        functools.partial(stepped.compare, program, python, tmp_path / "run")
        for program in programs
    ]
    differences = stepped.all_differences(jobs)
    if differences:
        pytest.fail(
            f"{len(differences)} of {len(programs)} differ:\n" + "\n".join(differences),
            pytrace=False,
        )


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ("main.py", {"main.py": TELLS}),
        ("-m pkg", {"pkg/__init__.py": "", "pkg/__main__.py": TELLS}),
        ("-m mod", {"mod.py": TELLS}),
        ("folder", {"folder/__main__.py": TELLS}),
        ("main.py", {"main.py": "import own\n", "own.py": TELLS}),
    ],
    ids=["script", "package", "module", "folder", "import"],
)
def test_really_stepped(words: str, files: dict[str, str], python: str, tmp_path: Path) -> None:
    """The stepper is on where we say so, and only there: else all would be equal for nothing."""
    program = stepped.Program("guard", files, {"run": [words]})
    on = stepped.run(program, python, tmp_path, stepped=True)
    off = stepped.run(program, python, tmp_path, stepped=False)
    assert (on.out, off.out) == (b"True True\n", b"False False\n"), on.err.decode()


def test_enough_programs() -> None:
    """There are several hundred programs, and none is there twice."""
    found = [program for topic in stepped.topics() for program in stepped.programs(topic)]
    texts = {tuple(sorted(program.files.items())) for program in found}
    assert len(found) >= 300
    assert len(texts) == len(found)
