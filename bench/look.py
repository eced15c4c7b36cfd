"""What the library costs: a `peek` beside a `print`, a section, and the import.

Processor time of one call, the least of many rounds of 2,000, timed by the program itself with
stderr in /dev/null. So is the import, in a process of its own each time.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

from bench.agent import has_numpy
from bench.report import Row, at_most, ms

if TYPE_CHECKING:
    from bench.scene import Scene

PEEK, SECTION = 30, 50  # microseconds
IMPORT = 1.0  # milliseconds
SRC = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "src")
SHELL = ("sh", "-c", '"$@"; exit $?', "sh")  # which forks: as people start programs
PEEKS = {"int": "int", "text": "int", "list": "list", "dict": "dict", "tensor": "tensor"}


def measure(scene: Scene) -> list[Row]:
    """All of them, on our own Python, and tensors where there is torch."""
    took = _calls(scene, os.path.realpath(scene.python))
    libs = os.environ.get("ZEROIN_TEST_LIBS", "")
    rows = [_peek(kind, took) for kind in PEEKS if f"peek {kind}" in took]
    rows += _sections(took, "")
    # What it has inherited hides its own peak until it is larger, and the kernel is asked longer.
    larger = _calls(scene, os.path.realpath(scene.python), ())
    rows += _sections(larger, ", started by a larger process")
    if libs and has_numpy(libs):
        rows.append(_peek("tensor", _calls(scene, libs)))
    else:
        rows.append(Row("peek of a tensor: skipped, ZEROIN_TEST_LIBS names no Python with torch"))
    return [*rows, *_imports(scene)]


def _sections(took: dict[str, float], how: str) -> list[Row]:
    return [_section(name + how, took[name]) for name in took if name.startswith("section")]


def _calls(scene: Scene, python: str, start: tuple[str, ...] = SHELL) -> dict[str, float]:
    words = [*start, python, scene.program("look_cost.py"), "5" if scene.quick else "25"]
    env = scene.env | {"PYTHONPATH": SRC}
    done = subprocess.run(
        words, env=env, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _peek(kind: str, took: dict[str, float]) -> Row:
    ours, plain = took[f"peek {kind}"] * 1e6, took[f"print {PEEKS[kind]}"] * 1e6
    goals = (at_most(ours - plain, PEEK, "µs above print"),) if kind != "tensor" else ()
    return Row(
        f"peek of a small {kind}",
        f"{ours:.1f} µs",
        f"print {plain:.1f} µs",
        goals,
        {"peek_us": ours, "print_us": plain},
    )


def _section(name: str, seconds: float) -> Row:
    goals = (at_most(seconds * 1e6, SECTION, "µs"),)
    return Row(name, f"{seconds * 1e6:.1f} µs", "", goals, {"us": seconds * 1e6})


def _imports(scene: Scene) -> list[Row]:
    """By the program's own clock: whole processes differ by more than this takes."""
    python = os.path.realpath(scene.python)
    codes = ("import zeroin", "from zeroin import peek", "from zeroin import section")
    env = scene.env | {"PYTHONPATH": SRC}
    best: dict[str, float] = {}
    for _ in range(scene.rounds):
        for code in codes:
            clock = f"import time; a = time.process_time(); {code}; print(time.process_time() - a)"
            done = subprocess.run(
                [python, "-c", clock], env=env, check=True, capture_output=True, text=True
            )
            best[code] = min(best.get(code, 9.0), float(done.stdout))
    return [
        Row(
            code,
            ms(took),
            "",
            (at_most(took * 1000, IMPORT, "ms"),) if code == "import zeroin" else (),
            {"seconds": took},
        )
        for code, took in best.items()
    ]
