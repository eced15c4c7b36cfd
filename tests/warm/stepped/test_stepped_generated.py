"""Generated programs behave the same stepped as plainly."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import pytest
import stepped
import stepped_generate

import run_size
import support

if TYPE_CHECKING:
    from pathlib import Path

# A hook that wrote beside its own memory would end the program at once.
SETTINGS = {"env": ["PYTHONMALLOC=debug"]}
FUNCTIONS = 12  # in a file: starting a process costs more than running it
FILES = 60 if run_size.ACCEPTANCE else 6  # a Python


@pytest.mark.slow
@pytest.mark.parametrize("version", support.chosen_versions())
def test_same_as_plain(version: str, tmp_path: Path) -> None:
    """Many random functions a Python print and fail as they do without the stepper."""
    number = support.as_numbers(version)
    jobs = []
    for seed in range(FILES):
        # Each Python gets other seeds: five times the same would show less.
        text = stepped_generate.program(1000 * number[1] + seed, FUNCTIONS, (number[0], number[1]))
        name = f"generated/{1000 * number[1] + seed}-{FUNCTIONS}-{number[1]}"
        program = stepped.Program(name, {"main.py": text}, SETTINGS)
        jobs.append(functools.partial(compare, program, support.interpreters()[version], tmp_path))
    differences = stepped.all_differences(jobs)
    if differences:
        pytest.fail(
            f"{len(differences)} of {FILES} differ:\n" + "\n".join(differences), pytrace=False
        )


def compare(program: stepped.Program, python: str, base: Path) -> str | None:
    """Run it both ways; how it ends is not known beforehand."""
    plain = stepped.run(program, python, base, stepped=False)
    if plain.code not in (0, 1) or b"\n== case_" not in plain.out:
        return f"{program.name}: it doesn't run: {plain.err.decode()[-2000:]}"
    return stepped.difference(program.name, plain, stepped.run(program, python, base, stepped=True))


def test_generated_programs_are_the_same_for_a_seed() -> None:
    """What failed once can be looked at: `python stepped_generate.py SEED COUNT MINOR` prints it."""
    assert stepped_generate.program(5, 4) == stepped_generate.program(5, 4)
    assert stepped_generate.program(5, 4) != stepped_generate.program(6, 4)
