"""What `zeroin shapes` costs: a transformer's forward, loops, and all other code.

CPU time within a process, the best of its rounds and of several processes by turns: plain, with
looks in the model's file, with looks in one function of it, and traced by other tools that show
the values of each line. `other` is code of the same program that is not looked at: its target is
held against instructions (see `probe`), since a clock can't tell 2 %.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

from bench.measure import counted, valgrind
from bench.report import Goal, Row, at_most, ms

if TYPE_CHECKING:
    from bench.scene import Scene

PEERS = {"TorchSnooper": "TorchSnooper", "PySnooper": "PySnooper", "snoop": "snoop"}
SECONDS = 300
FEW, MANY = 10_000, 50_000  # calls, where each instruction is counted
OTHERS = 1.02


def measure(scene: Scene) -> list[Row]:
    """Each way by turns."""
    python = os.environ.get("ZEROIN_TEST_LIBS", "")
    if not python:
        return [Row("skipped, ZEROIN_TEST_LIBS names no Python with torch")]
    main, model = scene.program("shapes_main.py"), scene.program("shapes_model.py")
    zeroin = [scene.zeroin, "shapes", "--no-record"]
    ways = {
        "plain": [python, main],
        "shapes": [*zeroin, model, "--", python, main],
        "shapes --func loop": [*zeroin, "--func", "loop", model, "--", python, main],
    }
    best: dict[str, dict[str, float]] = {way: {} for way in ways}
    for _ in range(2 if scene.quick else 4):
        for way, words in ways.items():
            _keep_best(best[way], _run(scene, words))
    rows = [_row(way, what, best) for what in best["plain"] for way in ways]
    rows += _others(scene)
    return rows + (_peers(scene, python, main, best["plain"]) if scene.peers else [])


def _others(scene: Scene) -> list[Row]:
    """Instructions of a call that is not looked at."""
    log = os.path.join(scene.make("shapes"), "counted")
    tool = valgrind(log)
    if not tool:
        return [Row("instructions: valgrind is not installed")]
    main, looked = scene.program("shapes_other.py"), scene.program("shapes_looked.py")
    zeroin = [scene.zeroin, "shapes", "--no-record"]
    ways = {
        "zeroin run": [scene.zeroin, "run", "-q", "--no-record", "--"],
        "shapes": [*zeroin, looked, "--"],
        "shapes --func loop": [*zeroin, "--func", "loop", looked, "--"],
    }
    env = {**scene.env, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}

    def instructions(before: list[str], calls: int) -> int:
        words = [*before, *tool, os.path.realpath(scene.python), main, str(calls)]
        subprocess.run(words, env=env, check=True, timeout=SECONDS, capture_output=True)
        return counted(log)

    each = {
        way: (instructions(before, MANY) - instructions(before, FEW)) / (MANY - FEW)
        for way, before in ways.items()
    }
    bare = each["zeroin run"]
    return [
        Row(
            f"other code, instructions: {way}",
            f"{value:,.1f} a call",
            f"× {value / bare:.3f} zeroin run",
            (at_most(value / bare, OTHERS, "× zeroin run"),) if way != "zeroin run" else (),
            {"instructions": value, "bare": bare},
        )
        for way, value in each.items()
    ]


def _run(scene: Scene, words: list[str], **env: str) -> dict[str, float]:
    result = os.path.join(scene.make("shapes"), "result.json")
    subprocess.run(
        words,
        env={**scene.env, "RESULT": result, "ROUNDS": "3" if scene.quick else "8", **env},
        check=True,
        timeout=SECONDS,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with open(result, encoding="utf-8") as file:
        found: dict[str, float] = json.load(file)
    return found


def _keep_best(best: dict[str, float], found: dict[str, float]) -> None:
    for what, value in found.items():
        best[what] = min(value, best.get(what, value))


WHAT = {
    "forward": "forward of 4 blocks",
    "loop": "loop of 10^6, 3 assignments",
    "arrays": "10^5 arrays assigned",
    "other": "other code, 10^6 calls",
}


def _row(way: str, what: str, best: dict[str, dict[str, float]]) -> Row:
    value, plain = best[way][what], best["plain"][what]
    ratio = value / plain
    goals: tuple[Goal, ...] = ()
    if way == "shapes" and what == "forward":
        goals = (at_most(ratio, 1.2, "× plain", "aim"),)
    return Row(
        f"{WHAT[what]}: {way}",
        f"{ms(value):>10}",
        f"× {ratio:.3f} plain",
        goals,
        {"seconds": value, "plain": ratio},
    )


def _peers(scene: Scene, python: str, main: str, plain: dict[str, float]) -> list[Row]:
    """Other tools, in an environment that sees the libraries of the first."""
    rows: list[Row] = []
    folder = os.path.join(scene.folder, "venv-snoopers")
    subprocess.run([python, "-m", "venv", "--system-site-packages", folder], check=True)
    theirs = os.path.join(folder, "bin", "python")
    libraries = subprocess.run(
        [python, "-c", "import torch, os; print(os.path.dirname(os.path.dirname(torch.__file__)))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    for name, package in PEERS.items():
        try:
            words = [theirs, "-m", "pip", "-q", "install", package]
            subprocess.run(words, check=True, timeout=SECONDS, capture_output=True)
            found = _run(scene, [theirs, main], PEER=name, PYTHONPATH=libraries)
        except (OSError, subprocess.SubprocessError) as error:
            rows.append(Row(f"{name}: can't be installed or run here ({type(error).__name__})"))
            continue
        for what, value in found.items():
            ratio = value / plain[what]
            rows.append(
                Row(
                    f"{WHAT[what]}: {name}",
                    f"{ms(value):>10}",
                    f"× {ratio:.1f} plain",
                    values={"seconds": value, "plain": ratio},
                )
            )
    return rows
