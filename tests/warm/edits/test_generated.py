"""Random edits of random programs, with a snapshot at every point."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

import run_size
import support

from . import mutate, running
from .programs import Writer
from .trial import Trial, changes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("ZEROIN_TEST_SEED", "1"))
PROGRAMS = 40 if run_size.ACCEPTANCE else 5
EDITS = 15 if run_size.ACCEPTANCE else 4
UNDONE = 0.1  # of the edits go back to the text before
# These went wrong once, after so many edits.
ONCE_WRONG = [(1006, "3.10", 13), (1007, "3.11", 11), (1016, "3.10", 16), (2016, "3.10", 6)]


@pytest.fixture(scope="module")
def drivers() -> Iterator[running.Drivers]:
    """Loops for all tests of a worker."""
    opened = running.Drivers()
    yield opened
    opened.close()


def _selected() -> list[tuple[int, str, int]]:
    """Each program on one Python, in turn."""
    versions = support.chosen_versions()
    first = SEED * 1000
    some = [(first + n, versions[n % len(versions)], EDITS) for n in range(PROGRAMS)]
    known = {one[:2] for one in some}
    more = [one for one in ONCE_WRONG if one[1] in support.interpreters() and one[:2] not in known]
    return [*some, *more]


@pytest.mark.parametrize(("seed", "version", "edits"), _selected())
def test_edits_of_a_random_program_give_what_cold_runs_give(
    drivers: running.Drivers, tmp_path: Path, seed: int, version: str, edits: int
) -> None:
    """Whatever a function stands in when it is edited; a failure shows the program and the edit."""
    rng = random.Random(seed)
    text = Writer(seed).program()
    history = [text]
    trial = Trial(tmp_path, drivers, support.interpreters()[version], {"train.py": text}, pace="")
    try:
        assert not trial.first()
        while len(trial.modes) <= edits:
            if len(history) > 1 and rng.random() < UNDONE:
                text = history[-2]
            else:
                text, _ = mutate.mutate(history[-1], rng, mutate.SMALL)
            before = trial.files
            wrong = trial.save({"train.py": text})
            if wrong:
                told = [text, *changes(before, trial.files), *wrong]
                pytest.fail("\n".join(told), pytrace=False)
            if wrong is not None:
                history.append(text)
    finally:
        trial.close()


def test_some_of_these_edits_go_on_from_a_snapshot(
    drivers: running.Drivers, tmp_path: Path
) -> None:
    """They would be equal as well if each run were cold."""
    text = Writer(1).program()
    python = list(support.interpreters().values())[-1]
    trial = Trial(tmp_path, drivers, python, {"train.py": text}, pace="")
    try:
        assert not trial.first()
        for number in range(3):
            assert not trial.save({"train.py": f"{text}print('end', {number})\n"})
    finally:
        trial.close()
    assert trial.modes[1:] == ["resumed"] * 3
