"""What `zeroin files` costs: against the plain run of a command, as a ratio.

A program that only computes, and one that does nothing but open files, half of them in vain.
Beside it strace as it is usually called, which stops the program at every call.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from bench.measure import Series, command, interleave
from bench.report import Row, at_most, ms

if TYPE_CHECKING:
    from bench.scene import Scene

OPENS = 3_000
PROGRAMS = {
    "computing": ("for _ in range(120): sum(range(200_000))", 1.1),
    "reading": ("for _ in range(60_000): f.seek(0); f.read(1)", 1.2),
    f"{OPENS:,} opens": (
        f"""
for n in range({OPENS}):
    try:
        open("/etc/passwd" if n % 2 else "/nowhere/" + str(n)).close()
    except OSError:
        pass
""",
        10.0,
    ),
}


def measure(scene: Scene) -> list[Row]:
    """Each program bare, recorded, and traced."""
    here = scene.make("files-work")
    rows: list[Row] = []
    for name, (text, aim) in PROGRAMS.items():
        script = os.path.join(here, f"{name.split()[-1]}.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"f = open('/etc/passwd', 'rb', 0)\n{text}\n")
        bare = [scene.python, "-S", script]
        ways = {
            "bare": bare,
            "zeroin run": [scene.zeroin, "run", "-q", "--no-record", "--", *bare],
            "zeroin files": [scene.zeroin, "files", "--no-record", "--", *bare],
        }
        if shutil.which("strace"):
            ways["strace -f"] = ["strace", "-f", "-o", os.devnull, *bare]
        cases = {way: command(words, scene.env, here) for way, words in ways.items()}
        series = interleave(cases, max(3, scene.rounds // 5))
        rows += [_row(f"{name}: {way}", one, series, aim) for way, one in series.items()]
    return rows


def _row(name: str, one: Series, series: dict[str, Series], aim: float) -> Row:
    ratio = one.wall / series["bare"].wall
    against = one.wall / series["zeroin run"].wall
    goals = (at_most(against, aim, "× zeroin run", "aim"),) if "files" in name else ()
    return Row(
        name,
        f"{ms(one.wall):>10} ({ms(one.median)})",
        f"× {ratio:.2f} bare, × {against:.2f} zeroin run",
        goals,
        {"wall": one.wall, "bare": ratio, "run": against},
    )
