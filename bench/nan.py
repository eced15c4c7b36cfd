"""What `zeroin nan` costs: a training step of a small transformer, as a ratio to the plain one.

Beside it autograd's own anomaly mode, which looks at the backward pass only. One thread,
processor time, the quickest step of each run. The losses must be the same to the last bit.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from bench.report import Goal, Row, at_most
from bench.warm_scene import libraries

if TYPE_CHECKING:
    from bench.scene import Scene

STEPS = 12
AIM = 2.0


def measure(scene: Scene) -> list[Row]:
    """Each way in turn, several times."""
    python = libraries(scene)
    if not python.has("torch"):
        return [Row("needs torch: ZEROIN_TEST_LIBS names an interpreter that has it")]
    plain = [python.path, scene.program("transformer.py"), str(STEPS)]
    looked_at = [scene.zeroin, "nan", "--"]
    ways = {
        "plain": plain,
        "zeroin nan": [*looked_at, *plain],
        f"zeroin nan --after {STEPS}": [*looked_at[:2], "--after", str(STEPS), "--", *plain],
        "autograd's anomaly mode": [*plain, "anomaly"],
    }
    best: dict[str, float] = {}
    losses: dict[str, str] = {}
    for _ in range(2 if scene.quick else 4):
        for way, words in ways.items():
            took, losses[way] = _run(words, scene)
            best[way] = min(took, best.get(way, took))
    return [_row(way, best, losses) for way in ways]


def _run(words: list[str], scene: Scene) -> tuple[float, str]:
    done = subprocess.run(words, env=scene.env, capture_output=True, text=True, check=True)
    took, loss = done.stdout.split()
    return float(took), loss


def _row(way: str, best: dict[str, float], losses: dict[str, str]) -> Row:
    ratio = best[way] / best["plain"]
    goals: list[Goal] = []
    if way.startswith("zeroin"):
        aim = AIM if way == "zeroin nan" else 1.1
        goals = [
            at_most(ratio, aim, "× plain", "aim"),
            Goal("the same losses", losses[way] == losses["plain"]),
        ]
    values = {"ms": best[way], "ratio": ratio}
    return Row(way, f"{best[way]:.1f} ms a step", f"× {ratio:.2f} plain", tuple(goals), values)
