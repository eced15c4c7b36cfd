"""How long `zeroin which` takes: a module, a method, against asking Python for it.

The module is found without an import; the method needs one, so its figure stands beside the bare
import. Asking which distribution each module is of takes `importlib.metadata` alone about as long.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bench.measure import Series, command, interleave
from bench.report import Row, at_most, ms

if TYPE_CHECKING:
    from bench.scene import Scene


def measure(scene: Scene) -> list[Row]:
    """The interpreter that zeroin itself runs on has pytest in it, for the distribution."""
    here = scene.make("which-work")
    python = os.path.join(os.path.dirname(scene.zeroin), "python")
    asked = [scene.zeroin, "which", "--python", python]
    ways = {
        "python -c pass": [python, "-c", "pass"],
        "python -c 'import pytest'": [python, "-c", "import pytest"],
        "packages_distributions()": [
            python,
            "-c",
            "import importlib.metadata as m; m.packages_distributions()",
        ],
        "zeroin which pytest": [*asked, "pytest"],
        "zeroin which pytest.Item.add_marker": [*asked, "pytest.Item.add_marker"],
    }
    cases = {way: command(words, scene.env, here) for way, words in ways.items()}
    series = interleave(cases, max(3, scene.rounds // 2))
    return [_row(name, one, series) for name, one in series.items()]


def _row(name: str, one: Series, series: dict[str, Series]) -> Row:
    goals = ()
    if name == "zeroin which pytest":
        goals = (at_most(one.wall * 1000, 400, "ms", "aim"),)
    elif name.startswith("zeroin"):
        imported = series["python -c 'import pytest'"].wall
        goals = (at_most(one.wall / imported, 2, "× the import", "aim"),)
    ratio = one.wall / series["python -c pass"].wall
    figures = f"{ms(one.wall):>10} ({ms(one.median)})"
    return Row(name, figures, f"× {ratio:.1f} python -c pass", goals, {"wall": one.wall})
