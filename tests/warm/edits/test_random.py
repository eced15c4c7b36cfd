"""Random edits of small real projects, one on top of the other, each compared with a cold run."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import support

from . import rows, running
from .mutate import mutate

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

PROJECTS = rows.read(Path(__file__).resolve().parent / "projects")
FULL = os.environ.get("ZEROIN_TEST_FULL") == "1"
EDITS = 60 if FULL else 12
UNDONE = 0.15  # of the edits go back to an earlier text
SEED = int(os.environ.get("ZEROIN_TEST_SEED", "1"))
TOO_LONG = 3.0  # seconds: an edit that made an endless loop


def _selected() -> list[tuple[str, str]]:
    """Every project on the oldest and the newest Python, and in turn on one in between."""
    versions = list(support.interpreters())
    between = versions[1:-1] or versions
    return [
        (name, version)
        for number, name in enumerate(PROJECTS)
        for version in versions
        if FULL or version in (versions[0], versions[-1], between[number % len(between)])
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


class Trial:
    """A loop, and beside it a folder in which the same is run plainly."""

    def __init__(self, base: Path, drivers: running.Drivers, python: str, name: str) -> None:
        files = files_of(name)
        row = rows.Row("random", name, {"pace": "often"}, [files])
        self.row = row
        self.files = files
        (base / "warm").mkdir()
        (base / "cold").mkdir()
        self.warm = running.Project(base / "warm", python, row)
        self.cold = running.Project(base / "cold", python, row)
        self.loop = running.Loop(drivers, base / "warm", self.warm.request())
        self.modes: list[str] = []

    def first(self) -> list[str]:
        """The first run."""
        return self._compare(0, self.cold.run_plainly())

    def save(self, files: dict[str, str]) -> list[str] | None:
        """What differs after a save; None for one that can't be compared."""
        self.cold.edit(self.files, files)
        try:
            ran = self.cold.run_plainly(TOO_LONG)
        except subprocess.TimeoutExpired:
            self.cold.edit(files, self.files)
            return None
        self.warm.edit(self.files, files)
        self.files = files
        return self._compare(1, ran)

    def _compare(self, number: int, cold: running.Ran) -> list[str]:
        told, (out, err), faults = self.loop.settle(0 if number else running.PATIENCE)
        if told is None and not faults:  # a file that nobody uses any more
            self.loop.say("run")
            told, (out, err), faults = self.loop.settle()
        if told is None:
            return [*faults, "there was no run"]
        ran = running.Ran(told["exit_code"], out, err, self.warm.files())
        here, there = str(self.cold.base).encode(), str(self.warm.base).encode()
        cold.out, cold.err = cold.out.replace(here, there), cold.err.replace(here, there)
        step = running.Step(ran, told, faults, cold=cold)
        self.modes.append(step.mode)
        row = rows.Row("random", self.row.name, {}, [self.files])
        found = running.differences(row, 0, step)
        if found:
            found.append(f"{told['mode']} at {told['resumed_at']}: {told['reason']}")
        return found


@pytest.mark.parametrize(("name", "version"), _selected())
def test_random_edits_give_what_cold_runs_give(
    drivers: running.Drivers, tmp_path: Path, name: str, version: str
) -> None:
    """Each of a row of edits; a failure names the seed and the edits that led to it."""
    rng = random.Random(f"{name} {version} {SEED}")
    trial = Trial(tmp_path, drivers, support.interpreters()[version], name)
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
                changes = [
                    "\n".join(running._compare(path, files[path].encode(), before[path].encode()))
                    for path in files
                    if files[path] != before[path]
                ]
                pytest.fail("\n".join([f"seed {SEED}", *done, *changes, *wrong]), pytrace=False)
            files, what = next(source)
    finally:
        trial.loop.close()
    assert "resumed" in trial.modes or "back" in trial.modes
