"""What the first run costs that is made ready to be resumed, beside a plain one.

Twice: stepping alone, `python program.py` with the agent in it and without; and all of it,
`zeroin loop --once`, which takes snapshots, beside `zeroin run`. Whole processes, from the
start to the end, in turn. The ratio that is held against the target is the one of processor
seconds, which a busy machine distorts least; those of the clock stand beside it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench.listening import Listener
from bench.measure import CommandFailedError, Sample, Series, command, interleave
from bench.report import Goal, Row, at_most, ms
from bench.scene import interpreters
from bench.warm_scene import libraries
from zeroin.run.agent_order import AgentOrder, WarmOrder

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.scene import Scene

MOST, MOST_HOT, AIM_HOT = 1.05, 1.2, 1.05  # times the plain run
ROUNDS = 7
STEPS = 10_000_000
# Training is rarely over in a second; with more epochs, what snapshots cost is less of the whole.
LONGER = {"numpy": 75, "torch": 120}


def measure(scene: Scene) -> list[Row]:
    """Imports, training, and a hot loop on every interpreter."""
    rounds = 2 if scene.quick else ROUNDS
    rows: list[Row] = []
    with Listener(scene) as listener:
        for name, words in _programs(scene):
            rows += _compared(scene, listener, name, words, rounds, (MOST, None))
        for name, words in _longer(scene):
            rows += _compared(scene, listener, name, words, rounds // 2, (MOST, None))
        steps = STEPS // 10 if scene.quick else STEPS
        hot = scene.program("warm_hot.py")
        for version, python in interpreters().items():
            name = f"{steps:.0e} steps on {version}".replace("e+0", "e")
            limits = (MOST_HOT, AIM_HOT)
            rows += _compared(scene, listener, name, [python, hot, str(steps)], rounds, limits)
    return rows


def _programs(scene: Scene) -> list[tuple[str, list[str]]]:
    python = libraries(scene)
    heavy = sorted(python.names)[: 1 if scene.quick else None]
    imports, train = scene.program("warm_imports.py"), scene.program("warm_train.py")
    found = [(f"import {', '.join(heavy) or 'much'}", [python.path, imports, *heavy])]
    if heavy:
        found.append(("import much of the standard library", [python.path, imports]))
    models = [name for name in ("numpy", "torch") if python.has(name)]
    models = models[:1] if scene.quick else models
    found += [(f"training with {name}", [python.path, train, name, "6"]) for name in models]
    return found


def _longer(scene: Scene) -> list[tuple[str, list[str]]]:
    python, train = libraries(scene), scene.program("warm_train.py")
    return [
        (f"training with {name} for longer", [python.path, train, name, str(epochs)])
        for name, epochs in LONGER.items()
        if python.has(name) and not scene.quick
    ]


def _compared(
    scene: Scene,
    listener: Listener,
    name: str,
    words: list[str],
    rounds: int,
    limits: tuple[float, float | None],
) -> list[Row]:
    where = scene.make("outside")
    ours = scene.zeroin
    cases: dict[str, Callable[[], Sample]] = {
        "plain": _inside(listener, words, stepped=False),
        "stepped": _inside(listener, words, stepped=True),
        "plain again": _inside(listener, words, stepped=False),
        "run": command([ours, "run", "-q", "--", *words], scene.env, where),
        "loop": command([ours, "loop", "--once", "--", *words], scene.env, where),
    }
    try:
        series = interleave(cases, rounds)
    except CommandFailedError as error:
        return [Row(f"{name}: could not be measured: {error}")]
    plain, again = series["plain"], series["plain again"]
    noise = abs(plain.cpu / again.cpu - 1)
    return [
        _row(f"{name}: stepping", series["stepped"], plain, "plain", limits, noise),
        _row(f"{name}: loop --once", series["loop"], series["run"], "zeroin run", limits, noise),
    ]


def _inside(listener: Listener, words: list[str], *, stepped: bool) -> Callable[[], Sample]:
    def once() -> Sample:
        with _Stepping(listener, stepped=stepped):
            started = time.perf_counter()
            ended, _, _ = listener.run(words, agent=stepped)
        if ended.code:
            raise CommandFailedError(f"exit code {ended.code} of: {' '.join(words)[:100]}")
        return Sample(ended.at - started, ended.cpu)

    return once


class _Stepping:
    """The agent steps through the programs that are started meanwhile, for nobody."""

    def __init__(self, listener: Listener, *, stepped: bool) -> None:
        self._listener = listener
        self._stepped = stepped

    def __enter__(self) -> None:
        if self._stepped:
            self._listener.ask_agents(AgentOrder(warm=WarmOrder("-")))

    def __exit__(self, *_: object) -> None:
        self._listener.ask_agents(AgentOrder())


def _row(
    name: str,
    ours: Series,
    plain: Series,
    beside: str,
    limits: tuple[float, float | None],
    noise: float,
) -> Row:
    ratio = ours.cpu / plain.cpu
    most, aim = limits
    goals: tuple[Goal, ...] = (at_most(ratio, most, "×"),)
    if aim is not None:
        goals = (*goals, at_most(ratio, aim, "×", "aim"))
    return Row(
        name,
        f"{ms(ours.wall):>9} ({ms(ours.median)})  cpu {ms(ours.cpu):>9}",
        f"{ratio:.3f} × {beside} by cpu ({ms(plain.cpu)}; noise ±{noise * 100:.1f} %); "
        f"clock {ours.wall / plain.wall:.3f} ×, medians {ours.median / plain.median:.3f} ×",
        goals,
        {
            "cpu": ours.cpu,
            "plain": plain.cpu,
            "ratio": ratio,
            "wall": ours.wall / plain.wall,
            "median": ours.median / plain.median,
            "noise": noise,
        },
    )
