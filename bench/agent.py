"""What the agent adds inside a Python program: to its start, and to its running.

The start is `python -c pass` with and without the agent, on every CPython from 3.9 on that
this machine has; it includes the message the agent sends at the exit. Running is timed by
the program itself, from its first line to its last: a loop, imports, numpy (where
ZEROIN_TEST_LIBS names a Python that has it). There the bare program is run twice a round;
how much these two differ is the noise, and "nothing measurable" is a ratio within it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from typing import TYPE_CHECKING

from bench.listening import Listener
from bench.measure import CommandFailedError, Sample, Series, interleave
from bench.report import Goal, Row, at_most, more, ms
from bench.scene import interpreters

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.scene import Scene

START = 25  # milliseconds
ROUNDS = 15
LEAST_NOISE = 0.005  # a clock's worth: no machine is quieter than that


def measure(scene: Scene) -> list[Row]:
    """Time the start on all interpreters, the running on the oldest and the newest."""
    pythons = interpreters()
    with Listener(scene) as listener:
        rows = _starts(listener, pythons, scene.rounds)
        rounds = 3 if scene.quick else ROUNDS
        ends = list(dict.fromkeys([next(iter(pythons)), list(pythons)[-1]]))
        for program in ("loop.py", "imports.py"):
            path = scene.program(program)
            rows += [
                _running(listener, [pythons[v], path], f"{program} on {v}", rounds) for v in ends
            ]
        libs = os.environ.get("ZEROIN_TEST_LIBS", "")
        if libs and has_numpy(libs):
            words = [libs, scene.program("numeric.py")]
            rows.append(_running(listener, words, "numeric.py (numpy)", rounds))
        else:
            rows.append(Row("numeric.py: skipped, ZEROIN_TEST_LIBS names no Python with numpy"))
        return rows


def has_numpy(python: str) -> bool:
    """Whether that interpreter can be started and has numpy."""
    try:
        asked = subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False)
    except OSError:
        return False
    return asked.returncode == 0


# --- the start ------------------------------------------------------------------------------


def _starts(listener: Listener, pythons: dict[str, str], rounds: int) -> list[Row]:
    starts = {name: [python, "-c", "pass"] for name, python in pythons.items()}
    newest = list(pythons)[-1]
    # As with PYTHONDONTWRITEBYTECODE, or where the agent lies in a folder of someone else.
    no_cache = [pythons[newest], "-B", "-X", "pycache_prefix=/nonexistent", "-c", "pass"]
    starts[f"{newest}, no bytecode cache"] = no_cache
    cases = {
        f"{name} {agent}": _start(listener, words, agent=agent)
        for name, words in starts.items()
        for agent in (False, True)
    }
    series = interleave(cases, rounds, warm_up=2)
    return [_start_row(name, series[f"{name} False"], series[f"{name} True"]) for name in starts]


def _start(listener: Listener, words: list[str], *, agent: bool) -> Callable[[], Sample]:
    def once() -> Sample:
        started = time.perf_counter()
        ended, _, messages = listener.run(words, agent=agent)
        if ended.code or bool(messages) is not agent:
            raise CommandFailedError(f"the agent did not work in {words[0]}")
        return Sample(ended.at - started, ended.cpu)

    return once


def _start_row(version: str, bare: Series, ours: Series) -> Row:
    added = ours.wall - bare.wall
    return Row(
        f"python -c pass, CPython {version}",
        f"{ms(ours.wall):>8} ({ms(ours.median)})  cpu {ms(ours.cpu):>8}",
        f"{more(added)} to {ms(bare.wall)}, cpu {more(ours.cpu - bare.cpu)}",
        (at_most(added * 1000, START, "ms"),),
        {"wall": ours.wall, "bare": bare.wall, "added": added},
    )


# --- the running ----------------------------------------------------------------------------


def _running(listener: Listener, words: list[str], name: str, rounds: int) -> Row:
    cases = {
        "bare": _inside(listener, words, agent=False),
        "agent": _inside(listener, words, agent=True),
        "bare again": _inside(listener, words, agent=False),
    }
    series = interleave(cases, rounds)
    bare, ours, twin = series["bare"], series["agent"], series["bare again"]
    least = min(bare.cpu, twin.cpu)
    ratio = ours.cpu / least
    noise = _noise(bare, twin)
    return Row(
        name,
        f"{ms(ours.wall):>8} ({ms(ours.median)})  cpu {ms(ours.cpu):>8}",
        f"{ratio:.3f} × without the agent (cpu); noise ±{noise * 100:.1f} %",
        (Goal("target: within the noise", ratio <= 1 + noise),),
        {"cpu": ours.cpu, "bare": least, "ratio": ratio, "noise": noise},
    )


def _inside(listener: Listener, words: list[str], *, agent: bool) -> Callable[[], Sample]:
    def once() -> Sample:
        ended, written, _ = listener.run(words, agent=agent)
        if ended.code:
            raise CommandFailedError(f"exit code {ended.code} of: {' '.join(words)}")
        wall, cpu = map(float, written.split())
        return Sample(wall, cpu)

    return once


def _noise(one: Series, other: Series) -> float:
    """How much two series of the very same thing differ: their minima, or half their rounds."""
    minima = abs(one.cpu / other.cpu - 1)
    rounds = [
        abs(a.cpu / b.cpu - 1) for a, b in zip(one.samples, other.samples, strict=True) if b.cpu
    ]
    return max(LEAST_NOISE, minima, statistics.median(rounds))
