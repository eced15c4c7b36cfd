"""The record alone: the shadow snapshot of the code, and writing to the store.

The snapshot stands beside `git status` in the same repository, which looks at the same
files; in a copy made by `cp -r`, git's notes of when each file was written are all wrong.
The store stands beside the same number of rows written with nothing but sqlite3. Both are
timed inside this process, so no start-up is in them.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
from typing import TYPE_CHECKING, Any

from bench.measure import Sample, Series, in_process, interleave
from bench.report import Row, at_most, ms
from bench.scene import FILES
from zeroin.record.code import Shadow
from zeroin.record.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.scene import Scene

STATUS = "git status"
RAW = "sqlite3 alone"
AIM = 40  # milliseconds: what `run` may take more with the code than without
MANY = 1000  # attempts in an old record


def measure(scene: Scene) -> list[Row]:
    """Snapshots first, then rows."""
    return [*_snapshots(scene), *_rows(scene)]


# --- the shadow -----------------------------------------------------------------------------


def _snapshots(scene: Scene) -> list[Row]:
    big = scene.big_project()
    copy = scene.copied("copy", big)
    edited = scene.project("edited", FILES)
    loose = scene.project("loose", FILES, git=False)
    kept = scene.make("shadows")
    first = [0]

    def anew() -> None:
        first[0] += 1
        Shadow(os.path.join(kept, f"first{first[0]}"), big).snapshot()

    cases = {
        STATUS: in_process(lambda: _git_status(big, scene.env)),
        "the first snapshot": in_process(anew),
        "nothing changed": in_process(Shadow(f"{kept}/same", big).snapshot),
        "a copy of it, nothing changed": in_process(Shadow(f"{kept}/copy", copy).snapshot),
        "one file edited": in_process(
            Shadow(f"{kept}/edited", edited).snapshot, before=lambda: scene.edit(edited)
        ),
        "no git, nothing changed": in_process(Shadow(f"{kept}/loose", loose).snapshot),
    }
    series = interleave(cases, scene.rounds, warm_up=2)
    return [_row(f"{FILES:,} files: {name}", series[name], series, STATUS) for name in cases]


def _git_status(root: str, env: dict[str, str]) -> None:
    subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, env=env, check=True, capture_output=True
    )


# --- the store ------------------------------------------------------------------------------


def _rows(scene: Scene) -> list[Row]:
    new, old = scene.make("store-new"), scene.make("store-old")
    environment = dict(scene.env)
    store = Store(old)
    for number in range(MANY):
        _attempt(store, number, environment)
    store.close()
    cases: dict[str, Callable[[], Sample]] = {
        RAW: in_process(lambda: _raw(scene.make("store-raw"))),
        "open, begin, finish, close": in_process(lambda: _whole(new, environment)),
        f"the same, {MANY:,} attempts in it": in_process(lambda: _whole(old, environment)),
    }
    series = interleave(cases, scene.rounds, warm_up=2)
    return [_row(f"store: {name}", series[name], series, RAW) for name in cases]


def _whole(folder: str, environment: dict[str, str]) -> None:
    store = Store(folder)
    number = _attempt(store, int.from_bytes(os.urandom(4), "big"), environment)
    attempt = store.attempt(number)
    if attempt is not None:
        store.previous(attempt)
        store.same_failure(attempt.signature or "", number)
    store.close()


def _attempt(store: Store, number: int, environment: dict[str, str]) -> int:
    attempt = store.begin(
        started=float(number),
        command=["python", "train.py"],
        program="python train.py",
        cycle=str(number),
        cwd="/project",
        root="/project",
        settings={},
        environment=store.put(environment),
        driver="1",
    )
    evidence: dict[str, Any] = {"curve": [[n / 20, number] for n in range(100)]}
    store.update(
        attempt,
        evidence=store.put(evidence),
        outcome="failed",
        exit_code=1,
        signature=f"ValueError in fail({number % 10})",
        seconds=1.0,
    )
    return attempt


def _raw(folder: str) -> None:
    """Do the least that keeps an attempt: as many rows, no more columns than needed."""
    db = sqlite3.connect(os.path.join(folder, "raw.db"), isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=NORMAL")
    db.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, data BLOB)")
    for _ in range(3):
        db.execute("INSERT INTO rows (data) VALUES (?)", (os.urandom(500),))
    db.execute("UPDATE rows SET data=? WHERE id=1", (os.urandom(500),))
    db.close()


def _row(name: str, one: Series, series: dict[str, Series], reference: str) -> Row:
    beside = series[reference]
    aimed = name.endswith(("changed", "edited"))
    return Row(
        name,
        f"{ms(one.wall):>9} ({ms(one.median)})  cpu {ms(one.cpu):>8}",
        "" if one is beside else f"{one.wall / beside.wall:.2f} × {reference}",
        (at_most(one.wall * 1000, AIM, "ms", "aim"),) if aimed else (),
        {"wall": one.wall, "cpu": one.cpu, "median": one.median},
    )
