"""Much output: how fast it passes through us, and that neither memory nor disk grows with it.

Bare means `command | cat > /dev/null`, the same with zeroin in front of the command; stderr
goes to a `cat` of its own. The speed is bare time through our time. Memory is the driver's
own high-water mark (not the command's), read from /proc every 10 ms.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bench.measure import Series, interleave, on_terminal, piped
from bench.report import Row, at_least, at_most, mb
from zeroin.record.place import find
from zeroin.tools.config import Config

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.scene import Scene

SIZE = 1_000_000_000
ROUNDS = 5
SPEED = 70  # per cent of the bare speed
GROWTH = 2.5  # of memory, against a run that prints a thousandth: 8 MB wait to be written
MASKED = "a secret to mask"  # in the environment, as most developers have one
STAMPS = 1.1  # time stamps and file system blocks come on top of the output's bound


def measure(scene: Scene) -> list[Row]:
    """Time each kind of output, then look at what the last and largest left on disk."""
    here = scene.make("outside")
    rows = []
    peaks = []
    for name, (words, count) in _kinds(scene).items():
        secret = {"API_TOKEN": "ghp_0123456789abcdef"} if name.endswith(MASKED) else {}
        bare, ours = _compare(scene, here, words, secret)
        peaks.append(ours.peak)
        rows.append(_row(name, bare, ours, count))
    _, little = _compare(scene, here, ["head", "-c", str(SIZE // 1000), "/dev/zero"], {})
    rows.append(_memory(max(peaks), little.peak))
    rows.append(_disk(scene, here))
    rows.append(_terminal(scene, here, SIZE // 100))
    return rows


def _kinds(scene: Scene) -> dict[str, tuple[list[str], int]]:
    many = scene.program("many.py")
    zeros, lines = ["head", "-c", str(SIZE), "/dev/zero"], ["sh", "-c", f"yes | head -c {SIZE}"]
    both = f"head -c {SIZE // 2} /dev/zero & head -c {SIZE // 2} /dev/zero >&2; wait"
    return {
        "1 GB of zeros (head)": (zeros, SIZE),
        "1 GB of lines (yes | head)": (lines, SIZE),
        f"1 GB of lines, {MASKED}": (lines, SIZE),
        "1 GB by Python, 64 KB a write": ([scene.python, many, "65536", str(SIZE)], SIZE),
        "1 GB on stdout and stderr": (["sh", "-c", both], SIZE),
        "10^7 short lines (seq)": (["seq", str(10**7)], 79 * 10**6),
        "10^6 writes of 10 bytes": ([scene.python, many, "10", str(10**7)], 10**7),
    }


def _compare(
    scene: Scene, here: str, words: Sequence[str], more: dict[str, str]
) -> tuple[Series, Series]:
    env = scene.env | more
    series = interleave(
        {
            "bare": piped(words, env, here),
            "ours": piped([scene.zeroin, "run", "-q", "--", *words], env, here),
        },
        2 if scene.quick else ROUNDS,
    )
    return series["bare"], series["ours"]


def _row(name: str, bare: Series, ours: Series, size: int) -> Row:
    """The target is for a gigabyte; in less output, our start is most of the difference."""
    speed = bare.wall / ours.wall * 100
    return Row(
        name,
        f"{ours.wall:.2f} s ({ours.median:.2f} s)  cpu {ours.cpu:.2f} s  driver {mb(ours.peak)}",
        f"{speed:.0f} % of the bare speed ({bare.wall:.2f} s, cpu {bare.cpu:.2f} s)",
        (at_least(speed, SPEED, "%"),) if size == SIZE else (),
        {
            "wall": ours.wall,
            "cpu": ours.cpu,
            "bare": bare.wall,
            "bare_cpu": bare.cpu,
            "speed": speed,
            "driver_peak": ours.peak,
        },
    )


def _memory(most: int, little: int) -> Row:
    ratio = most / little
    return Row(
        "most memory of the driver in all these",
        mb(most),
        f"{ratio:.2f} × with a thousandth of the output ({mb(little)})",
        (at_most(ratio, GROWTH, "×"),),
        {"peak": most, "little": little},
    )


def _disk(scene: Scene, here: str) -> Row:
    """Look at every attempt of this run: none may have kept more than the bound."""
    attempts = os.path.join(find(here, scene.env).folder, "attempts")
    kept = max(_blocks(os.path.join(attempts, name)) for name in os.listdir(attempts))
    limit = Config().output_max * STAMPS / 1e6
    return Row(
        "largest folder of an attempt on disk",
        mb(kept),
        f"{kept / SIZE * 100:.1f} % of the largest output",
        (at_most(kept / 1e6, round(limit, 1), "MB"),),
        {"kept": kept},
    )


def _blocks(folder: str) -> int:
    with os.scandir(folder) as entries:
        return sum(entry.stat().st_blocks * 512 for entry in entries)


def _terminal(scene: Scene, here: str, size: int) -> Row:
    """On a terminal there is no target; the terminal itself is the slow part of both."""
    words = ["sh", "-c", f"yes | head -c {size}"]
    series = interleave(
        {
            "bare": on_terminal(words, scene.env, here),
            "ours": on_terminal([scene.zeroin, "run", "-q", "--", *words], scene.env, here),
        },
        2 if scene.quick else ROUNDS,
    )
    bare, ours = series["bare"], series["ours"]
    return Row(
        f"{size / 1e6:g} MB of lines on a terminal",
        f"{ours.wall:.2f} s ({ours.median:.2f} s)  cpu {ours.cpu:.2f} s",
        f"{bare.wall / ours.wall * 100:.0f} % of the bare speed ({bare.wall:.2f} s)",
        values={"wall": ours.wall, "bare": bare.wall},
    )
