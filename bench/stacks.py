"""What `zeroin stacks` takes: against one py-spy dump of each process, all run side by side.

Eight processes with four threads each, and their launcher. py-spy alone prints the stacks; zeroin
also names the processes, follows what they wait for and judges. With `--peers` also pystack,
one process after the other as it is called. Merging is measured alone, for 1,024 ranks.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from bench.measure import Sample, Series, command, interleave
from bench.report import Row, at_most, ms
from zeroin.observe.stacks import find_py_spy
from zeroin.observe.stacks.merge import Thread, grouped
from zeroin.observe.stacks.ranks import Name
from zeroin.observe.stacks.stack import Stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.scene import Scene

PROCESSES = 8
PROGRAM = """
import subprocess, sys, threading, time
def deep(n):
    if n:
        return deep(n - 1)
    time.sleep(1000)
if sys.argv[1:]:
    for _ in range(3):
        threading.Thread(target=deep, args=(20,), daemon=True).start()
    print("up", flush=True)
    deep(20)
else:
    below = [subprocess.Popen([sys.executable, __file__, "1"], stdout=-1) for _ in range(%d)]
    for one in below:
        one.stdout.readline()
    print(*(one.pid for one in below), flush=True)
    time.sleep(1000)
"""


def measure(scene: Scene) -> list[Row]:
    """Side by side, in turns."""
    py_spy = find_py_spy()
    if py_spy is None:
        return [Row("py-spy is not installed")]
    with _processes(scene) as pids:
        each = " & ".join(f"{py_spy} dump --nonblocking --pid {pid} >/dev/null" for pid in pids)
        paused = each.replace(" --nonblocking", "")
        ways = {
            "py-spy, one of each": ["sh", "-c", f"{each} & wait"],
            "py-spy that pauses": ["sh", "-c", f"{paused} & wait"],
            "zeroin stacks": [scene.zeroin, "stacks", str(pids[0]), "--json"],
            "zeroin stacks --locals": [scene.zeroin, "stacks", str(pids[0]), "--json", "--locals"],
        }
        missing = []
        if scene.peers:
            pystack = _pystack(scene)
            if pystack:
                one_by_one = "; ".join(f"{pystack} remote {pid} >/dev/null" for pid in pids)
                ways["pystack, one by one"] = ["sh", "-c", one_by_one]
            else:
                missing = [Row("pystack: can't be installed or run here")]
        cases = {way: command(words, scene.env, scene.folder) for way, words in ways.items()}
        series = interleave(cases, max(5, scene.rounds // 2))
    base = series["py-spy, one of each"]
    rows = [_row(way, one, base) for way, one in series.items()]
    return [*rows, *missing, _merging(scene)]


def _row(way: str, one: Series, base: Series) -> Row:
    ratio = one.wall / base.wall
    goals = (at_most(ratio, 1.5, "× py-spy"),) if way == "zeroin stacks" else ()
    return Row(
        f"{PROCESSES} processes: {way}",
        f"{ms(one.wall):>10} ({ms(one.median)})",
        f"× {ratio:.2f} py-spy, cpu {ms(one.cpu)}",
        goals,
        {"wall": one.wall, "ratio": ratio, "cpu": one.cpu},
    )


@contextlib.contextmanager
def _processes(scene: Scene) -> Iterator[list[int]]:
    """The launcher, then the others."""
    path = os.path.join(scene.make("stacks-work"), "ranks.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM % PROCESSES)
    python = os.path.realpath(sys.executable)
    parent = subprocess.Popen(
        [python, path], stdout=subprocess.PIPE, env=scene.env, start_new_session=True
    )
    try:
        assert parent.stdout is not None
        yield [parent.pid, *map(int, parent.stdout.readline().split())]
    finally:
        os.killpg(parent.pid, 9)
        parent.communicate()


def _pystack(scene: Scene) -> str:
    folder = os.path.join(scene.folder, "venv-pystack")
    program = os.path.join(folder, "bin", "pystack")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 600}
    try:
        subprocess.run([os.path.realpath(sys.executable), "-m", "venv", folder], check=True)
        install = [f"{folder}/bin/python", "-m", "pip", "-q", "install", "pystack"]
        subprocess.run(install, check=True, **quiet)  # type: ignore[call-overload]
        subprocess.run([program, "--help"], check=True, **quiet)  # type: ignore[call-overload]
    except (OSError, subprocess.SubprocessError):
        return ""
    return program


def _merging(scene: Scene) -> Row:
    base = tuple((f"/env/lib/python3.12/site-packages/x/m{n}.py", n, "f") for n in range(23))
    threads = [
        Thread(
            Stack(
                rank,
                "MainThread" if not thread else f"t{thread}",
                [*base, ("/me/train.py", 41 + (rank == 77), "main"), ("/me/data.py", thread, "f")],
                "py-spy",
            ),
            Name(f"rank {rank}", "rank", rank),
        )
        for rank in range(1024)
        for thread in range(8)
    ]

    def merge() -> Sample:
        began, used = time.perf_counter(), time.process_time()
        grouped(threads)
        return Sample(time.perf_counter() - began, time.process_time() - used)

    one = interleave({"merge": merge}, max(3, scene.rounds // 5))["merge"]
    return Row(
        "merging 1,024 ranks × 8 threads × 25 frames",
        f"{ms(one.wall):>10} ({ms(one.median)})",
        "",
        (at_most(one.wall, 0.15, "s", "aim"),),
        {"wall": one.wall},
    )
