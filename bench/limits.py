"""What a limit costs, and how exactly it is held.

A full disk is compared with the same run without the limit. The watcher, which stands in where
there are no control groups, is measured at an allocation of a gigabyte a second, and for what it
takes while it only looks.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from bench.measure import command, interleave
from bench.report import Row, at_most, more, ms

if TYPE_CHECKING:
    from bench.scene import Scene

SET_UP = 10  # milliseconds more
OVERSHOOT, BUSY = 5, 5  # percent
LIMIT = 1_000_000_000
PIECE = 4_000_000  # bytes, of which a gigabyte a second is taken
HELD = 500_000_000
SECONDS = 4.0
# Only the last back-end, whatever else this machine has.
WATCHER = """\
import zeroin.emulate.memory as memory
kind = memory.KINDS["memory"]
memory.KINDS["memory"] = kind._replace(backends=kind.backends[-1:])
from zeroin.fronts.cli import enter
enter()
"""
TAKES = f"""\
import mmap, time
began = time.monotonic()
held = []
for number in range(1000):
    held.append(mmap.mmap(-1, {PIECE}, flags=mmap.MAP_PRIVATE | mmap.MAP_POPULATE))
    ahead = (number + 1) * {PIECE} / 1e9 - (time.monotonic() - began)
    if ahead > 0:
        time.sleep(ahead)
"""
HOLDS = f"""\
import mmap, time
held = mmap.mmap(-1, {HELD}, flags=mmap.MAP_PRIVATE | mmap.MAP_POPULATE)
time.sleep({SECONDS})
"""


def measure(scene: Scene) -> list[Row]:
    """A row each."""
    return [*_disk(scene), _overshoot(scene), *_idle(scene)]


def _disk(scene: Scene) -> list[Row]:
    here = scene.make("limits/out")
    words = [scene.zeroin, "run", "-q", "--no-record"]
    cases = {
        "without": command([*words, "--", "true"], scene.env, here),
        "disk": command([*words, "--limit", "disk=.:5M", "--", "true"], scene.env, here),
        "files": command([*words, "--limit", "files=99", "--", "true"], scene.env, here),
    }
    series = interleave(cases, scene.rounds, warm_up=2)
    bare = series["without"]
    rows = [Row("zeroin run -- true", ms(bare.wall))]
    for name in ("disk", "files"):
        added = (series[name].wall - bare.wall) * 1000
        rows.append(
            Row(
                f"with --limit {name}",
                ms(series[name].wall),
                more(series[name].wall - bare.wall),
                (at_most(added, SET_UP, "ms more"),),
                {"added_ms": added},
            )
        )
    return rows


def _overshoot(scene: Scene) -> Row:
    """How much the tree had when it was stopped; the worst of some runs."""
    here = scene.make("limits")
    words = [sys.executable, "-c", WATCHER, "run", "--json", "--no-record"]
    words += ["--limit", f"memory={LIMIT}", "--", scene.python, "-c", TAKES]
    over = []
    for _ in range(3 if scene.quick else 8):
        done = subprocess.run(words, cwd=here, env=scene.env, capture_output=True, check=False)
        told = json.loads(done.stdout)
        over.append(100 * (max(told["peak_bytes"], LIMIT) - LIMIT) / LIMIT)
    over.sort()
    return Row(
        "watcher: 1 GB at 1 GB/s, over the limit by",
        f"{over[len(over) // 2]:.1f} %",
        f"at most {over[-1]:.1f} %",
        (at_most(over[len(over) // 2], OVERSHOOT, "%"),),
        {"percent": over},
    )


def _idle(scene: Scene) -> list[Row]:
    """Processor time of the whole run, with and without the watcher; the command sleeps."""
    here = scene.make("limits")
    rows = []
    for what, limit in (("far from the limit", 10 * HELD), ("close to it", int(1.1 * HELD))):
        shares = []
        for _ in range(2 if scene.quick else 4):
            with_it = _cpu(scene, here, ["--limit", f"memory={limit}"])
            without = _cpu(scene, here, [])
            shares.append(100 * (with_it - without) / SECONDS)
        best = min(shares)
        goal = at_most(best, BUSY, "% of a processor")
        rows.append(Row(f"watcher, {what}", f"{best:.1f} %", "", (goal,), {"percent": shares}))
    return rows


def _cpu(scene: Scene, here: str, limit: list[str]) -> float:
    words = [sys.executable, "-c", WATCHER, "run", "-q", "--no-record", *limit]
    words += ["--", scene.python, "-c", HOLDS]
    process = subprocess.Popen(words, cwd=here, env=scene.env)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"it ended with {process.returncode} at {time.time():.0f}")
    return used.ru_utime + used.ru_stime
