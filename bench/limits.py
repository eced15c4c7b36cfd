"""What a limit costs, and how exactly it is held.

A full disk is compared with the same run without the limit. The watcher, which stands in where
there are no control groups, is measured at an allocation of a gigabyte a second, and for what it
takes while it only looks.
"""

from __future__ import annotations

import json
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
print("held", flush=True)
time.sleep({SECONDS + 1})
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
    """Processor time of the watcher, a process of its own, while the command sleeps."""
    here = scene.make("limits")
    rows = []
    for what, limit in (("far from the limit", 10 * HELD), ("close to it", int(1.1 * HELD))):
        shares = [_busy(scene, here, limit) for _ in range(2 if scene.quick else 4)]
        shares.sort()
        goal = at_most(shares[-1], BUSY, "% of a processor")
        text = f"at most {shares[-1]:.2f} %"
        name = f"watcher, {what}"
        rows.append(Row(name, f"{shares[0]:.2f} %", text, (goal,), {"percent": shares}))
    return rows


def _busy(scene: Scene, here: str, limit: int) -> float:
    """In percent of a processor, from when the memory is held."""
    words = [sys.executable, "-c", WATCHER, "run", "-q", "--no-record"]
    words += ["--limit", f"memory={limit}", "--", scene.python, "-c", HOLDS]
    process = subprocess.Popen(words, cwd=here, env=scene.env, stdout=subprocess.PIPE)
    process.stdout.readline()
    watcher = _watcher(process.pid)
    began, before = time.monotonic(), _nanoseconds(watcher)
    time.sleep(SECONDS)
    used, seconds = _nanoseconds(watcher) - before, time.monotonic() - began
    if process.wait():
        raise RuntimeError(f"it ended with {process.returncode} at {time.time():.0f}")
    return used / seconds / 1e7


def _watcher(driver: int) -> int:
    """The child of the driver's that is a copy of it."""
    with open(f"/proc/{driver}/cmdline", "rb") as file:
        own = file.read()
    with open(f"/proc/{driver}/task/{driver}/children", "rb") as file:
        children = list(map(int, file.read().split()))
    for child in children:
        with open(f"/proc/{child}/cmdline", "rb") as file:
            if file.read() == own:
                return child
    raise RuntimeError("there is no watcher")


def _nanoseconds(pid: int) -> int:
    with open(f"/proc/{pid}/schedstat", "rb") as file:
        return int(file.read().split()[0])
