"""Shrinking beside other reducers: what is left, how many tries, how long.

All have the same question, "does it fail in the planted way?", and a time limit; others ask it by
a script that runs the program. Ours is measured with whole runs, as theirs, and warm.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

from bench.reducers import ELSEWHERE, LIMIT, Done, install, reduced
from bench.report import Goal, Row, at_most
from bench.shrink_cases import CASES, size_of
from bench.warm_scene import libraries

if TYPE_CHECKING:
    from bench.scene import Scene
    from bench.shrink_cases import Case

SLOW_LIMIT = 10 * LIMIT  # with a slow start
TRIES, TIME, WARM = 0.3, 0.3, 0.03  # times the best of the others


def measure(scene: Scene) -> list[Row]:
    """A row a case and tool, and ours against the best of the others."""
    peers = install() if scene.peers else {}
    lacking = [f"{name} is not here: {how}" for name, how in ELSEWHERE.items() if name not in peers]
    missing = lacking if peers else ["other reducers: --peers installs and measures them"]
    rows = []
    for case in CASES[: 2 if scene.quick else None]:
        rows += _case(scene, case, peers)
    return [*rows, *_large(scene), *map(Row, missing)]


def _case(scene: Scene, case: Case, peers: dict[str, str]) -> list[Row]:
    whole = _whole(scene, case)
    found = {}
    if os.path.isfile(os.path.join(scene.make(f"shrink-{case.kind}"), case.name)):  # no folders
        found = {name: reduced(scene, case, name, program) for name, program in peers.items()}
    ours = _ours(scene, case, ["--cold"])
    warm = _ours(scene, case, [])
    rows = [
        _row(f"{case.name} ({whole:,} B): {name}", done, _goals(name, done, found))
        for name, done in {"zeroin, whole runs": ours, "zeroin, warm": warm, **found}.items()
    ]
    rows += [_beside(case.name, name, ours, done) for name, done in found.items()]
    if case.kind == "rows" and libraries(scene).has("torch"):
        rows += _slow_start(scene, case, peers, found)
    return rows


def _slow_start(
    scene: Scene, case: Case, peers: dict[str, str], found: dict[str, Done]
) -> list[Row]:
    """With an import of torch before: whoever starts the program anew for each try pays for it."""
    title = f"{case.name}, with import torch"
    ours = _ours(scene, case, [], libraries(scene).path, ["torch"])
    rows = [_row(f"{title}: zeroin, warm", ours, ())]
    best = _best(found) if any(one.tries for one in found.values()) else []
    for name, before in found.items():
        if name != "lithium" and before not in best:
            continue
        theirs = reduced(scene, case, name, peers[name], "torch", SLOW_LIMIT)
        ratio = ours.seconds / theirs.seconds
        goals = (at_most(ratio, WARM, "× its time"),) if before in best else ()
        rows.append(_row(f"{title}: {name}", theirs, goals))
        rows.append(Row(f"{title}: zeroin beside {name}", f"{ratio:.3f} ×"))
    return rows


def _row(name: str, done: Done, goals: tuple[Goal, ...]) -> Row:
    end = "" if done.finished else ", cut off"
    return Row(
        name,
        f"{done.size:>9,} B",
        f"{done.tries:>6,} tries, {done.seconds:6.1f} s{end}",
        goals,
        done._asdict(),
    )


def _goals(name: str, done: Done, others: dict[str, Done]) -> tuple[Goal, ...]:
    if name != "zeroin, whole runs" or not any(one.tries for one in others.values()):
        return ()
    near = _best(others)
    # What it took them to where they ended beside what it took us to the same size: who stops at a
    # larger one has not done the rest.
    tries = max(done.to(one.size)[0] / max(1, one.tries) for one in near)
    seconds = max(done.to(one.size)[1] / one.seconds for one in near)
    return (
        at_most(done.size, min(one.size for one in near), "B"),
        at_most(tries, TRIES, "× their tries to their size"),
        at_most(seconds, TIME, "× their time to their size"),
    )


def _beside(case: str, name: str, ours: Done, theirs: Done) -> Row:
    tries, seconds = ours.to(theirs.size)
    shares = f"{tries / max(1, theirs.tries):.2f} × tries, {seconds / theirs.seconds:.2f} × time"
    return Row(f"{case}: zeroin to the size of {name}", f"{theirs.size:>9,} B", shares)


def _best(others: dict[str, Done]) -> list[Done]:
    """Those who came near the smallest result: who stops early is quick for nothing."""
    smallest = min(one.size for one in others.values() if one.tries)
    return [one for one in others.values() if one.size <= 2 * smallest and one.tries]


def _whole(scene: Scene, case: Case) -> int:
    folder = scene.make(f"shrink-{case.kind}")
    path = os.path.join(folder, case.name)
    if not os.path.exists(path):
        case.make(path)
    return size_of(path)


# --- ours ---------------------------------------------------------------------------------------


def _ours(
    scene: Scene,
    case: Case,
    options: list[str],
    python: str = "",
    imports: list[str] | None = None,
) -> Done:
    folder = scene.make(f"shrink-{case.kind}")
    os.makedirs(os.path.join(folder, ".zeroin"), exist_ok=True)
    shutil.copy(scene.program("shrink_use.py"), os.path.join(folder, "use.py"))
    command = [python or os.path.realpath(scene.python), "use.py", case.kind, case.name]
    started = time.monotonic()
    done = subprocess.run(
        [
            scene.zeroin,
            "shrink",
            "--json",
            "--fresh",
            *options,
            case.name,
            "--",
            *command,
            *(imports or []),
        ],
        cwd=folder,
        env=scene.env,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.monotonic() - started
    if done.returncode:
        raise RuntimeError(done.stdout[-300:] + done.stderr[-300:])
    told = json.loads(done.stdout)
    start = seconds - told["seconds"]  # of our own process
    steps = tuple((one["tries"], one["bytes_now"], start + one["seconds"]) for one in told["steps"])
    left = told["payloads"][0]["bytes_after"]
    return Done(left, told["tries"], seconds, told["confirmed"], steps)


# --- a gigabyte ---------------------------------------------------------------------------------


def _large(scene: Scene) -> list[Row]:
    """One bad row in much: bounded memory, and about log₂ n reads."""
    size = (64 << 20) if scene.quick else (1 << 30)
    folder = scene.make("shrink-large")
    path = os.path.join(folder, "large.jsonl")
    row = json.dumps({"id": 0, "price": 1, "text": "lorem ipsum " * 20}) + "\n"
    bad = json.dumps({"id": 1, "text": "no price"}) + "\n"
    block = row * 4000
    with open(path, "w", encoding="utf-8") as file:
        written = 0
        while written < size:
            file.write(bad if written == 0 else block)
            written += len(block)
    use = os.path.join(folder, "use.py")
    with open(use, "w", encoding="utf-8") as file:
        file.write(
            "import sys\n\nfor line in open(sys.argv[1]):\n"
            "    if '\"price\"' not in line:\n        raise KeyError('price')\n"
        )
    os.makedirs(os.path.join(folder, ".zeroin"), exist_ok=True)
    words = [scene.zeroin, "shrink", "--json", "--fresh", "-j", "1", "large.jsonl", "--"]
    started = time.monotonic()
    with subprocess.Popen(
        [*words, os.path.realpath(scene.python), "use.py", "large.jsonl"],
        cwd=folder,
        env=scene.env,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        out = running.stdout.read() if running.stdout is not None else ""
        _, _, used = os.wait4(running.pid, 0)
        running.returncode = 0
    told = json.loads(out)
    left = told["payloads"][0]["bytes_after"]
    os.unlink(path)
    return [
        Row(
            f"one bad row in {written / 1e9:.2f} GB",
            f"{left:>9,} B",
            f"{told['tries']:>6,} tries, {time.monotonic() - started:6.1f} s, driver at most "
            f"{used.ru_maxrss / 1024:.0f} MB",
            (at_most(used.ru_maxrss / 1024, 300, "MB"),),
            told,
        )
    ]
