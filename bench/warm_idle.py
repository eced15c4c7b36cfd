"""What a snapshot costs while nobody uses it, and while the program writes to its memory.

A program of 0.1 and 1 GB is left in its loop: what each of the waiting processes holds for
itself alone, what is free when all of them are gone, and the processor time they use in three
seconds. Then a program that writes to every page of its memory again and again, each of which
has to be copied after each snapshot: `zeroin loop --once` beside `zeroin run`.
"""

from __future__ import annotations

import shutil
import statistics
import time
from typing import TYPE_CHECKING

from bench.measure import CommandFailedError, command, interleave
from bench.report import Row, mb, ms
from bench.warm_loop import Loop, free, memory, processor
from bench.warm_scene import libraries

if TYPE_CHECKING:
    from bench.scene import Scene

SIZES = (100, 1000)  # megabytes
PREFIX = 2.0  # seconds
IDLE = 3.0
WRITES = (300, 40)  # megabytes, times
PROGRAM = "warm_state.py"


def measure(scene: Scene) -> list[Row]:
    """Idle ones first."""
    python = libraries(scene)
    kinds = ("numpy", "objects") if python.has("numpy") else ("objects",)
    rows = []
    for megabytes in SIZES[: 1 if scene.quick else None]:
        for kind in kinds:
            name = f"{megabytes} MB in {kind}"
            if free() < 3_000_000 * megabytes:
                rows.append(Row(f"{name}: skipped, not enough memory is free"))
                continue
            try:
                rows.append(_idle(scene, python.path, name, kind, megabytes))
            except CommandFailedError as error:
                rows.append(Row(f"{name}: could not be measured: {error}"))
    return [*rows, _writes(scene, python.path)]


def _idle(scene: Scene, python: str, name: str, kind: str, megabytes: int) -> Row:
    folder = scene.make(f"idle-{kind}-{megabytes}")
    shutil.copy(scene.program(PROGRAM), folder)
    words = [python, PROGRAM, kind, str(megabytes), str(PREFIX), "0"]
    with Loop(scene, folder, words) as loop:
        first = loop.first().line
        whole = loop.settled()
        kept = loop.kept()
        private = [memory(pid)["Private"] for pid in kept]
        before = sum(map(processor, [loop.process.pid, *kept]))
        time.sleep(IDLE)
        used = sum(map(processor, [loop.process.pid, *kept])) - before
    if not kept:
        raise CommandFailedError(f"there is no snapshot: {first['gate']}")
    median = statistics.median(private)
    return Row(
        f"{name}: {first['snapshots']} snapshots, {len(kept)} processes",
        f"{mb(median)} private each (median; most {mb(max(private))}), "
        f"{mb(whole.pss)} in all, driver {mb(whole.driver)}",
        f"{100 * median / (megabytes * 1e6):.1f} % of the state; "
        f"cpu {ms(used)} in {IDLE:g} s; the loop says {mb(first['snapshot_bytes'])}",
        values={
            "processes": len(kept),
            "private_median": median,
            "private_most": max(private),
            "pss": whole.pss,
            "cpu": used,
        },
    )


def _writes(scene: Scene, python: str) -> Row:
    size, times = WRITES
    turns = times // 4 if scene.quick else times
    words = [python, scene.program("warm_writes.py"), str(size), str(turns)]
    where = scene.make("outside")
    cases = {
        "run": command([scene.zeroin, "run", "-q", "--", *words], scene.env, where),
        "loop": command([scene.zeroin, "loop", "--once", "--", *words], scene.env, where),
    }
    name = f"a program that writes to all of its {size} MB, again and again"
    try:
        series = interleave(cases, 2 if scene.quick else 5)
    except CommandFailedError as error:
        return Row(f"{name}: could not be measured: {error}")
    ours, plain = series["loop"], series["run"]
    return Row(
        name,
        f"{ms(ours.wall):>9} ({ms(ours.median)})  cpu {ms(ours.cpu):>9}",
        f"{ours.cpu / plain.cpu:.2f} × zeroin run by cpu, {ours.wall / plain.wall:.2f} × by clock",
        values={"cpu": ours.cpu / plain.cpu, "wall": ours.wall / plain.wall},
    )
