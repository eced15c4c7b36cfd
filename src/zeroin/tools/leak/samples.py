"""The samples that agents left, and which place of the program to judge by."""

from __future__ import annotations

import json
import os

from zeroin.named import NamedTuple
from zeroin.observe.trend import Trend, trend
from zeroin.regular import read_regular
from zeroin.tools.leak.report import Place

KEYS = ("in_use", "rss", "fds", "threads", "children", "gpu")
# Below these totals, growth is nothing: buffers, counters, caches of the interpreter.
LEAST = {"in_use": 64 << 10, "rss": 1 << 20, "fds": 5, "threads": 4, "children": 4, "gpu": 64 << 10}
MOST = 1 << 28  # bytes of one process's samples
FEWEST = 8  # repetitions
COVERS = 0.4  # of the time between the first sample of all and the last


class Series(NamedTuple):
    """The samples of one place in one process."""

    pid: int
    place: Place
    rows: list[list[float]]  # count, time, and the values in the order of KEYS

    @property
    def seconds(self) -> float:
        """From the first to the last."""
        return self.rows[-1][1] - self.rows[0][1]

    def trends(self) -> dict[str, Trend]:
        """Of everything that could be told."""
        found = {}
        for index, key in enumerate(KEYS):
            points = [(row[0], row[2 + index]) for row in self.rows]
            if all(value >= 0 for _, value in points):
                found[key] = trend(points, LEAST[key])
        return found


def read(folder: str) -> list[Series]:
    """All places of all processes."""
    found: list[Series] = []
    for name in sorted(os.listdir(folder)):
        if name.startswith("leak-") and name[5:].isdecimal():
            found += _of_process(os.path.join(folder, name), int(name[5:]))
    return found


def _of_process(path: str, pid: int) -> list[Series]:
    places: dict[int, Place] = {}
    rows: dict[int, list[list[float]]] = {}
    counts: dict[int, int] = {}
    try:
        data = read_regular(path, MOST)
    except OSError:
        return []
    for line in data.decode("utf-8", "replace").splitlines():
        try:
            told = json.loads(line)
            if isinstance(told, dict) and "counts" in told:
                counts = {int(key): int(value) for key, value in told["counts"].items()}
            elif isinstance(told, dict):
                about = str(told["kind"]), str(told["file"]), int(told["line"]), str(told["name"])
                places[int(told["id"])] = Place(*about, 0)
            else:
                first, *numbers = told
                if not all(isinstance(one, (int, float, type(None))) for one in numbers):
                    continue
                rows.setdefault(int(first), []).append(numbers)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
            continue  # it was killed in the middle of it, or somebody else wrote it
    return [
        Series(pid, places[key]._replace(times=counts.get(key, int(found[-1][0]))), found)
        for key, found in rows.items()
        if key in places
    ]


def choose(found: list[Series]) -> Series | None:
    """The outermost thing that repeats often enough, and for most of the time.

    Loops come before functions, since a function may be called from anywhere; of several the one
    with the fewest repetitions is around the others.
    """
    often = [one for one in found if len(one.rows) >= FEWEST]
    if not often:
        return None
    longest = max(one.seconds for one in often)
    long = [one for one in often if one.seconds >= COVERS * longest]
    order = {"run": 0, "loop": 1, "function": 2}
    return min(long, key=lambda one: (order.get(one.place.kind, 3), one.place.times))
