"""What `zeroin leak` costs in its first run: against `zeroin run`, as a ratio.

Steps of some milliseconds, as a training loop has them; a hot loop of small calls, where each
call is counted; and one that makes and frees objects. Beside it the program with
PYTHONMALLOC=malloc alone, with which all memory is in one account: what that costs is the price of
the allocator, most of all where ints are made and freed, and not that of looking. And the program
under tracemalloc from its start, which is what the second run has for ten steps.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bench.measure import Series, command, interleave
from bench.report import Row, at_most, ms

if TYPE_CHECKING:
    from bench.scene import Scene

STEPS = """\
def step(n):
    return sum(range(100_000))

for n in range(150):
    step(n)
"""
CALLS = """\
def add(a, b):
    return a + b

def main():
    total = 0
    for n in range(1_500_000):
        total = add(total, n)

main()
"""
OBJECTS = """\
def make():
    return [{"n": n} for n in range(20_000)]

for _ in range(60):
    make()
"""
PROGRAMS = {"steps": (STEPS, 1.2), "small calls": (CALLS, 5.0), "objects": (OBJECTS, 2.0)}


def measure(scene: Scene) -> list[Row]:
    """Each program bare, run, looked at, and traced."""
    here = scene.make("leak-work")
    rows: list[Row] = []
    for name, (text, aim) in PROGRAMS.items():
        script = os.path.join(here, f"{name.split()[0]}.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(text)
        bare = [scene.python, script]
        ways = {
            "bare": bare,
            "zeroin run": [scene.zeroin, "run", "-q", "--no-record", "--", *bare],
            "zeroin leak --quick": [scene.zeroin, "leak", "--quick", "--", *bare],
            "run with malloc": [
                *(scene.zeroin, "run", "-q", "--no-record", "--env", "PYTHONMALLOC=malloc"),
                *("--", *bare),
            ],
            "tracemalloc": [scene.python, "-X", "tracemalloc", script],
        }
        cases = {way: command(words, scene.env, here) for way, words in ways.items()}
        series = interleave(cases, max(3, scene.rounds // 5))
        rows += [_row(f"{name}: {way}", one, series, aim) for way, one in series.items()]
    return rows


def _row(name: str, one: Series, series: dict[str, Series], aim: float) -> Row:
    ratio = one.cpu / series["bare"].cpu
    against = one.cpu / series["zeroin run"].cpu
    goals = (at_most(against, aim, "× zeroin run", "aim"),) if "leak" in name else ()
    return Row(
        name,
        f"{ms(one.cpu):>10} cpu ({ms(one.median)} on the clock)",
        f"× {ratio:.2f} bare, × {against:.2f} zeroin run",
        goals,
        {"cpu": one.cpu, "bare": ratio, "run": against},
    )
