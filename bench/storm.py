"""Kills at random moments: does anything of the user's change, and is anything left behind?

Every verb is started in a project of its own and killed, most often with SIGKILL, at a moment that
a seed decides. Then the user's files, processes, mounts, control groups, temporary files and the
record are looked at. `--rounds` is the number of kills; the seed is ZEROIN_STORM_SEED, or 1.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from bench.report import Row, at_most

if TYPE_CHECKING:
    from bench.scene import Scene

TESTS = Path(__file__).resolve().parent.parent / "tests"
MEMORY = "/dev/shm"


def measure(scene: Scene) -> list[Row]:
    """As many kills as rounds were asked for, or a hundred."""
    sys.path.insert(0, str(TESTS))
    storms = import_module("kill_storm")
    kills = scene.asked or (20 if scene.quick else 100)
    seed = int(os.environ.get("ZEROIN_STORM_SEED") or 1)
    base = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="bench-storm-", dir=base) as folder:
        storm = storms.Storm(Path(folder), [scene.zeroin], scene.python, seed)
        storm.prepare(measure=True)
        report = storm.rage(kills)
    first, *rest = report.lines()
    count = len(report.violations)
    goal = at_most(count, 0, "violations")
    values = {"seed": seed, "kills": report.landed, "violations": report.violations}
    return [
        Row(first, f"{count} violations", goals=(goal,), values=values),
        *(Row(line) for line in rest),
    ]
