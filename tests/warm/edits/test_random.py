"""Random edits of small real projects, one on top of the other, each compared with a cold run."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import run_size
import support

from . import rows, running
from .mutate import mutate
from .trial import Trial, changes

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

PROJECTS = rows.read(Path(__file__).resolve().parent / "projects")
EDITS = 60 if run_size.ACCEPTANCE else 8
UNDONE = 0.15  # of the edits go back to an earlier text
SEED = int(os.environ.get("ZEROIN_TEST_SEED", "1"))


def _selected() -> list[tuple[str, str]]:
    """Every project on one Python, in turn; in the whole acceptance on all."""
    versions = support.chosen_versions()
    return [
        (name, version)
        for number, name in enumerate(PROJECTS)
        for version in (versions if run_size.ACCEPTANCE else [versions[number % len(versions)]])
    ]


@pytest.fixture(scope="module")
def drivers() -> Iterator[running.Drivers]:
    """Loops for all tests of a worker."""
    opened = running.Drivers()
    yield opened
    opened.close()


def files_of(project: str) -> dict[str, str]:
    """As it is written."""
    (row,) = PROJECTS[project]
    return row.versions[0]


def edit(files: dict[str, str], rng: random.Random) -> tuple[dict[str, str], str]:
    """Another project, and what was done."""
    code = [name for name in files if name.endswith(".py")]
    name = rng.choice(sorted(code))
    text, kind = mutate(files[name], rng)
    return {**files, name: text}, f"{kind} in {name}"


def edits(project: str, rng: random.Random) -> Iterator[tuple[dict[str, str], str]]:
    """Project after project, each an edit of the one before."""
    history = [files_of(project)]
    while True:
        if len(history) > 1 and rng.random() < UNDONE:
            history.append(rng.choice(history[-5:-1]))
            yield history[-1], "undone"
            continue
        files, what = edit(history[-1], rng)
        history.append(files)
        if (yield files, what) == "bad":
            history.pop()


@pytest.mark.parametrize(("name", "version"), _selected())
def test_random_edits_give_what_cold_runs_give(
    drivers: running.Drivers, tmp_path: Path, name: str, version: str
) -> None:
    """Each of a row of edits; a failure names the seed and the edits that led to it."""
    rng = random.Random(f"{name} {version} {SEED}")
    trial = Trial(tmp_path, drivers, support.interpreters()[version], files_of(name))
    done: list[str] = []
    try:
        assert not trial.first()
        source = edits(name, rng)
        files, what = next(source)
        while len(done) < EDITS:
            before = trial.files
            wrong = trial.save(files)
            if wrong is None:
                files, what = source.send("bad")
                continue
            done.append(f"{what}: {trial.modes[-1]}")
            if wrong:
                told = [f"seed {SEED}", *done, *changes(before, files), *wrong]
                pytest.fail("\n".join(told), pytrace=False)
            files, what = next(source)
    finally:
        trial.close()
    assert "resumed" in trial.modes or "back" in trial.modes
