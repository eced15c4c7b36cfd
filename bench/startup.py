"""How long the command itself takes to start, against the bare interpreter.

Every verb pays this, and so does every shell completion. `python -c pass` is the same
interpreter in the same environment, so what it spends on site-packages is in both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.measure import Series, command, interleave
from bench.report import Row, at_most, ms

if TYPE_CHECKING:
    from bench.scene import Scene

BARE = "python -c pass"
RECORDED = 30  # attempts that `zeroin log` has to list from


def measure(scene: Scene) -> list[Row]:
    """Time the words that do nothing, and the first one that reads the record."""
    here = scene.make("outside")
    for number in range(1 if scene.quick else RECORDED):
        command([scene.zeroin, "run", "-q", "--", "echo", str(number)], scene.env, here)()
    words = {
        BARE: [scene.python, "-c", "pass"],
        "zeroin --version": [scene.zeroin, "--version"],
        "zeroin --help": [scene.zeroin, "--help"],
        "zeroin run --help": [scene.zeroin, "run", "--help"],
        "zeroin log": [scene.zeroin, "log"],
    }
    cases = {name: command(word, scene.env, here) for name, word in words.items()}
    series = interleave(cases, 2 * scene.rounds, warm_up=2)
    return [_row(name, series[name], series[BARE]) for name in words]


def _row(name: str, one: Series, bare: Series) -> Row:
    ratio = one.wall / bare.wall
    return Row(
        name,
        f"{ms(one.wall):>8} ({ms(one.median)})  cpu {ms(one.cpu):>8}",
        "" if one is bare else f"{ratio:.2f} × {BARE} (cpu {one.cpu / bare.cpu:.2f} ×)",
        (at_most(ratio, 2.5, "×"),) if name == "zeroin --version" else (),
        {"wall": one.wall, "cpu": one.cpu, "median": one.median, "ratio": ratio},
    )
