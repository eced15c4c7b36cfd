"""From a save to the outcome, in a loop: beside the cold run, and beside a bare fork.

A program builds state in a prefix of five seconds and ends with a tail, which is edited: in a
function that has not run yet, or in `main()` itself, which is active. The time goes from the
save to the line with the outcome. It stands beside `python` running the same program, and
beside another process with the same state that does nothing but fork, run the tail in the
child, and wait for it; these forks take turns with the edits. Tails are of 30 ms, and empty,
where only the overhead is left. Between two edits there is a pause, as there is with people;
edits at once, without it, stand in a line of their own. What the loop then says of itself is
checked: an edit whose outcome was not the new one is not counted but told.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from bench.measure import CommandFailedError, command
from bench.report import Goal, Row, at_least, at_most, ms
from bench.warm_loop import Loop, free
from bench.warm_scene import libraries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from bench.scene import Scene

PREFIX = 5.0  # seconds
SIZE = 300  # megabytes
OTHER_SIZES = (100, 1000, 4000)
TAIL = 30.0  # milliseconds
PAUSE = 0.5  # seconds between two edits
EDITS = 8
FASTER, FORKS = 50, 3  # times
PROGRAM = "warm_state.py"


class Case(NamedTuple):
    """A program of this shape."""

    kind: str  # of state
    megabytes: int
    tail: float  # milliseconds
    place: str  # of the edit

    @property
    def name(self) -> str:
        """In words."""
        what = {"numpy": "in numpy", "objects": "in Python objects"}[self.kind]
        tail = f"tail of {self.tail:g} ms" if self.tail else "empty tail"
        return f"{self.megabytes} MB {what}, {tail}, edit in {self.place}()"


def measure(scene: Scene) -> list[Row]:
    """The size that has targets first, then the others."""
    python = libraries(scene)
    kinds = ("numpy", "objects") if python.has("numpy") else ("objects",)
    rows = [] if python.has("numpy") else [Row(f"numpy: skipped, {python.lack}")]
    edits = 4 if scene.quick else EDITS
    for kind in kinds:
        for tail in (TAIL,) if scene.quick else (TAIL, 0.0):
            places = ("finish", "main") if tail else ("finish",)
            cases = [Case(kind, SIZE, tail, place) for place in places]
            rows += _rows(scene, python.path, cases, edits)
    for megabytes in OTHER_SIZES:
        for kind in kinds:
            case = Case(kind, megabytes, TAIL, "finish")
            needed = 4 * megabytes * 1_000_000
            if scene.quick:
                rows.append(Row(f"{case.name}: not with --quick"))
            elif free() < needed:
                rows.append(Row(f"{case.name}: skipped, less than {needed / 1e9:g} GB free"))
            else:
                rows += _rows(scene, python.path, [case], edits)
    return rows


def _rows(scene: Scene, python: str, cases: list[Case], edits: int) -> list[Row]:
    """Of one loop: cases that differ in the place of the edit only."""
    shape = cases[0]
    try:
        with _Edited(scene, python, shape) as edited:
            cold = edited.cold(1 if scene.quick else 3)
            found = {case: edited.series(case.place, edits) for case in cases}
            rush = edited.rush(shape.place, edits) if shape.megabytes == SIZE else None
    except CommandFailedError as error:
        return [Row(f"{shape.name}: could not be measured: {error}")]
    rows = [_row(case, cold, *found[case]) for case in cases]
    if rush is not None:
        told = f"{shape.megabytes} MB, {shape.kind}: edits without a pause"
        rows.append(_plain_row(told, cold, rush))
    return rows


class Times(NamedTuple):
    """Seconds of a series of edits."""

    edits: list[float]
    modes: list[str]  # how each came to be, in the loop's words
    ran: list[float]  # of the program alone, in the loop's words
    wrong: int = 0


class Forks(NamedTuple):
    """Seconds of bare forks."""

    fork: list[float]
    whole: list[float]


class _Edited:
    """A loop over the program, and the process that forks bare."""

    def __init__(self, scene: Scene, python: str, shape: Case) -> None:
        self.scene = scene
        self.folder = scene.make(f"warm-{shape.kind}-{shape.megabytes}-{shape.tail:g}")
        self.numbers: dict[str, int] = {"finish": 0, "main": 0}
        with open(scene.program(PROGRAM), encoding="utf-8") as file:
            self.text = file.read()
        self._write(self.text)
        args = [shape.kind, str(shape.megabytes), str(PREFIX), str(shape.tail)]
        self.words = [python, PROGRAM, *args]

    def __enter__(self) -> Self:
        self._bare = subprocess.Popen(
            [*self.words, "fork"],
            cwd=self.folder,
            env=self.scene.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._bare.stdout is not None
        if self._bare.stdout.readline() != "ready\n":
            self._bare.kill()
            raise CommandFailedError("the bare program has failed")
        self._loop = Loop(self.scene, self.folder, self.words)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.__exit__()
        self._bare.kill()
        self._bare.wait()

    def cold(self, rounds: int) -> list[float]:
        """Plain runs; the loop's first run comes before them."""
        self._loop.first()
        once = command(self.words, self.scene.env, self.folder)
        return [once().wall for _ in range(rounds)]

    def series(self, place: str, edits: int) -> tuple[Times, Forks]:
        """Edits and bare forks in turn; the first of each only warms up."""
        forks = Forks([], [])
        found: list[Times] = []
        for times in self._edits(place, edits + 1, PAUSE):
            fork, whole = self._fork()
            if found:
                forks.fork.append(fork)
                forks.whole.append(whole)
            found.append(times)
        return found[-1], forks

    def rush(self, place: str, edits: int) -> Times:
        """Edits one right after the other."""
        return list(self._edits(place, edits + 1, 0.0))[-1]

    def _edits(self, place: str, edits: int, pause: float) -> Iterator[Times]:
        found = Times([], [], [])
        for number in range(edits):
            time.sleep(pause)
            words = self._next(place)
            done = self._loop.save(PROGRAM, self.text)
            if words not in done.shown:
                found = found._replace(wrong=found.wrong + 1)
            elif number:
                line = done.line
                found.edits.append(done.seconds)
                found.ran.append(line["seconds"])
                at = line["resumed_at"] or line["reason"]
                found.modes.append(f"{line['mode']} {at}")
            yield found

    def _next(self, place: str) -> str:
        self.numbers[place] += 1
        words = f"edit {self.numbers[place]} of {place}"
        self.text = re.sub(rf"edit \d+ of {place}", words, self.text)
        return words

    def _write(self, text: str) -> None:
        with open(os.path.join(self.folder, PROGRAM), "w", encoding="utf-8") as file:
            file.write(text)

    def _fork(self) -> tuple[float, float]:
        assert self._bare.stdin is not None
        assert self._bare.stdout is not None
        self._bare.stdin.write("again\n")
        self._bare.stdin.flush()
        fork, whole = map(float, self._bare.stdout.readline().split())
        return fork, whole


def _row(case: Case, cold: list[float], times: Times, forks: Forks) -> Row:
    if not times.edits:
        return Row(f"{case.name}: {times.wrong} edits, none gave its outcome")
    least = min(times.edits)
    faster, ratio = min(cold) / least, least / min(forks.whole)
    goals: tuple[Goal, ...] = ()
    if case.megabytes == SIZE:
        word = "target" if case.tail else "aim"
        goals = (at_least(faster, FASTER, "×", word), at_most(ratio, FORKS, "×", word))
    if times.wrong:
        goals = (*goals, Goal(f"target: no wrong outcome ({times.wrong} were)", False))
    return Row(
        case.name,
        f"{ms(least):>8} ({ms(statistics.median(times.edits))})  {_modes(times)}",
        f"{faster:.1f} × faster than cold ({min(cold):.2f} s); {ratio:.1f} × fork + tail "
        f"({ms(min(forks.fork))} + {ms(min(forks.whole) - min(forks.fork))}; "
        f"{statistics.median(times.edits) / statistics.median(forks.whole):.1f} × by medians)",
        goals,
        {
            "wall": least,
            "median": statistics.median(times.edits),
            "cold": min(cold),
            "faster": faster,
            "fork": min(forks.fork),
            "fork_and_tail": min(forks.whole),
            "ratio": ratio,
            "ran": min(times.ran),
            "wrong": times.wrong,
        },
    )


def _plain_row(name: str, cold: list[float], times: Times) -> Row:
    if not times.edits:
        return Row(f"{name}: {times.wrong} edits, none gave its outcome")
    least = min(times.edits)
    return Row(
        name,
        f"{ms(least):>8} ({ms(statistics.median(times.edits))})  {_modes(times)}",
        f"{min(cold) / least:.1f} × faster than cold ({min(cold):.2f} s)",
        values={"wall": least, "median": statistics.median(times.edits), "wrong": times.wrong},
    )


def _modes(times: Times) -> str:
    """How the edits came to be: the commonest way, and how many did."""
    most = statistics.mode(times.modes)
    return f"{times.modes.count(most)}/{len(times.modes)} {most}"
