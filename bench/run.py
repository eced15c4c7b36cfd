"""What `zeroin run` adds to a command that takes no time itself.

`true` bare and under zeroin: outside a project, in a small one, in a repository of 1,704
files, unchanged and with one file edited before each run (the shadow snapshot has to find
it), and on a terminal. Peers that wrap a command are measured in the same rounds: `script`
where it is, the others with `--peers`.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from bench import peers
from bench.measure import Sample, Series, command, interleave, on_terminal
from bench.report import Goal, Row, at_most, more, ms
from bench.scene import FILES

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.scene import Scene

BARE = "true"
AIM, AIM_WITH_CODE, MUST = 40, 80, 150  # milliseconds added


def measure(scene: Scene) -> list[Row]:
    """Time `true` in all these places."""
    outside, small = scene.make("outside"), scene.project("small", 10)
    big, edited = scene.big_project(), scene.project("edited", FILES)
    words = [scene.zeroin, "run", "-q", "--", "true"]
    ours = {
        "outside a project": (AIM, command(words, scene.env, outside)),
        "outside, on a terminal": (AIM, on_terminal(words, scene.env, outside)),
        "in a git project of 10 files": (AIM_WITH_CODE, command(words, scene.env, small)),
        f"in one of {FILES:,} files": (AIM_WITH_CODE, command(words, scene.env, big)),
        f"in one of {FILES:,}, one edited": (
            AIM_WITH_CODE,
            command(words, scene.env, edited, before=lambda: scene.edit(edited)),
        ),
    }
    others, missing = _others(scene)
    cases = {BARE: command(["true"], scene.env, outside)}
    cases |= {name: case for name, (_, case) in ours.items()} | others
    series = interleave(cases, scene.rounds, warm_up=2)
    bare = series[BARE]
    rows = [_row("true, bare", bare, bare, ())]
    for name, (aim, _) in ours.items():
        added = (series[name].wall - bare.wall) * 1000
        goals = (at_most(added, MUST, "ms"), at_most(added, aim, "ms", "aim"))
        rows.append(_row(f"zeroin run, {name}", series[name], bare, goals))
    rows += [_row(f"peer: {name}", series[name], bare, ()) for name in others]
    return rows + [Row(f"peer: {line}") for line in missing]


def _others(scene: Scene) -> tuple[dict[str, Callable[[], Sample]], list[str]]:
    found: dict[str, Callable[[], Sample]] = {}
    here = scene.make("peers-work")
    if shutil.which("script"):
        found["script"] = command(["script", "-qec", "true", "typescript"], scene.env, here)
    if not scene.peers:
        return found, ["asciinema, con-duct, guild: not measured without --peers"]
    installed, missing = peers.install(scene)
    for name, words in installed.items():
        found[name] = command(words, scene.env, here)
    return found, missing


def _row(name: str, one: Series, bare: Series, goals: tuple[Goal, ...]) -> Row:
    added = one.wall - bare.wall
    return Row(
        name,
        f"{ms(one.wall):>9} ({ms(one.median)})  cpu {ms(one.cpu):>8}",
        "" if one is bare else f"{more(added)}, cpu {more(one.cpu - bare.cpu)}",
        goals,
        {"wall": one.wall, "cpu": one.cpu, "median": one.median, "added": added},
    )
