"""Hand-written programs behave the same stepped as plainly: output, stderr, exit code."""

from __future__ import annotations

import functools
import zlib
from typing import TYPE_CHECKING

import pytest
import stepped

import run_size
import support

if TYPE_CHECKING:
    from pathlib import Path

# Programs that differ and may, on all Pythons, and why: they look at what is there of us. One that
# differs no longer has to be taken out.
EXPLAINED = {
    "codes/read_inside_functions": "constants of a function that runs: what hooks look at is there",
    "module/meta_path": "the finders that note what was looked for stand in this list",
}
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


def versions_of(program: stepped.Program) -> list[str]:
    """Choose the interpreters a program runs on: one, in turn; all in the whole acceptance."""
    found = [version for version in support.interpreters() if program.fits(version)]
    if run_size.ACCEPTANCE or not found:
        return found
    found = [version for version in found if version in support.chosen_versions()] or found
    return [found[zlib.crc32(program.name.encode()) % len(found)]]


def select_programs() -> dict[tuple[str, str], list[stepped.Program]]:
    """Group the programs by their topic and the Python that they run on."""
    found: dict[tuple[str, str], list[stepped.Program]] = {}
    for topic in stepped.topics():
        for program in stepped.programs(topic)[:: run_size.ACCEPTANCE_STEP]:
            for version in versions_of(program):
                found.setdefault((topic, version), []).append(program)
    return found


SELECTED = select_programs()


def complain(program: stepped.Program, python: str, base: Path) -> str | None:
    """Say how a program differs, or that it should and doesn't; None if all is as expected."""
    difference = stepped.compare(program, python, base)
    if program.name not in EXPLAINED:
        return difference
    return None if difference else f"{program.name}: is explained, but does not differ"


@pytest.mark.slow
@pytest.mark.parametrize(("topic", "version"), SELECTED)
def test_same_as_plain(topic: str, version: str, tmp_path: Path) -> None:
    """Every program of the topic prints, fails and ends as it does without the stepper."""
    python = support.interpreters()[version]
    programs = SELECTED[topic, version]
    jobs = [functools.partial(complain, program, python, tmp_path / "run") for program in programs]
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
    """There are several hundred programs, none is there twice, and each runs where it can."""
    found = [program for topic in stepped.topics() for program in stepped.programs(topic)]
    for program in found:
        assert versions_of(program) or not any(map(program.fits, support.interpreters())), (
            program.name
        )
    assert {program.name for program in found}.issuperset(EXPLAINED)
    texts = {tuple(sorted(program.files.items())) for program in found}
    assert len(found) >= 300
    assert len(texts) == len(found)
