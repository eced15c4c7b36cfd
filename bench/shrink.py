"""Shrinking beside other reducers: what is left, how many tries, how long.

All have the same question, "does it fail in the planted way?", and a time limit; others ask it by
a script that runs the program. Ours is measured with whole runs, as theirs, and warm.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from bench.report import Goal, Row, at_most
from bench.scene import interpreters
from bench.warm_scene import libraries

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.scene import Scene

LIMIT = 60.0  # seconds for each,
SLOW_LIMIT = 600.0  # and with a slow start
PACKAGES = ("shrinkray<26", "picire", "lithium-reducer")
ALSO = "setuptools<80"  # picire needs its pkg_resources
TRIES, TIME, WARM = 0.3, 0.3, 0.03  # times the best of the others
SCRIPT = """#!/bin/sh
printf . >> {count}
{python} {use} {kind} {given} 2>&1 | grep -q '^PlantedError\\|^__main__.PlantedError'
"""


class Done(NamedTuple):
    """What one of them made of one case."""

    size: int
    tries: int
    seconds: float
    finished: bool
    steps: tuple[tuple[int, int, float], ...] = ()  # tries, the size after them, seconds

    def to(self, size: int) -> tuple[int, float]:
        """How many tries and seconds it took to be as small as that."""
        found = ((tries, seconds) for tries, left, seconds in self.steps if left <= size)
        return next(found, (self.tries, self.seconds))


class Case(NamedTuple):
    """What is to be made smaller."""

    kind: str
    name: str
    make: Callable[[str], None]


def measure(scene: Scene) -> list[Row]:
    """A row a case and tool, and ours against the best of the others."""
    peers = _peers() if scene.peers else {}
    missing = [] if peers else [Row("other reducers: --peers installs and measures them")]
    rows = []
    for case in CASES[: 2 if scene.quick else None]:
        rows += _case(scene, case, peers)
    return [*rows, *_large(scene), *missing]


def _case(scene: Scene, case: Case, peers: dict[str, str]) -> list[Row]:
    whole = _whole(scene, case)
    found = {}
    if os.path.isfile(os.path.join(scene.make(f"shrink-{case.kind}"), case.name)):  # no folders
        found = {name: _theirs(scene, case, name, program) for name, program in peers.items()}
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
        theirs = _theirs(scene, case, name, peers[name], "torch", SLOW_LIMIT)
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
    return _size(path)


def _size(path: str) -> int:
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(
        os.path.getsize(os.path.join(folder, name))
        for folder, _, names in os.walk(path)
        for name in names
        if not folder.endswith("__pycache__")
    )


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


# --- theirs -------------------------------------------------------------------------------------


def _peers() -> dict[str, str]:
    """Install them beside our environments; what can't be is left out."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".cache")
    home = os.path.join(folder, "reducers")
    if not os.path.isdir(home):
        known = interpreters().items()
        fit = [path for version, path in known if version.startswith("3.12.")]  # for shrinkray
        python = fit[-1] if fit else os.path.realpath(sys.executable)
        subprocess.run([python, "-m", "venv", home], check=True)
    found = {}
    for package in PACKAGES:
        name = package.partition("<")[0].removesuffix("-reducer")
        program = os.path.join(home, "bin", name)
        if not os.path.exists(program):
            words = [os.path.join(home, "bin", "pip"), "-q", "install", ALSO, package]
            try:
                subprocess.run(words, check=False, timeout=300, capture_output=True)
            except subprocess.TimeoutExpired:
                continue
        if os.path.exists(program):
            found[name] = program
    if cvise := shutil.which("cvise"):
        found["cvise"] = cvise
    return found


def _theirs(
    scene: Scene, case: Case, name: str, program: str, imports: str = "", limit: float = LIMIT
) -> Done:
    work = scene.make(f"shrink-{case.kind}-{name}{imports}")
    payload = os.path.join(work, case.name)
    source = os.path.join(scene.make(f"shrink-{case.kind}"), case.name)
    shutil.copy(source, payload)
    count, script = os.path.join(work, "count"), os.path.join(work, "test.sh")
    given = {"lithium": '"$1"', "picire": '"$1"', "shrinkray": '"$1"'}.get(name, case.name)
    python = libraries(scene).path if imports else os.path.realpath(scene.python)
    with open(script, "w", encoding="utf-8") as file:
        use = scene.program("shrink_use.py")
        told = SCRIPT.format(count=count, python=python, use=use, kind=case.kind, given=given)
        file.write(told.replace("2>&1", f"{imports} 2>&1"))
    os.chmod(script, stat.S_IRWXU)
    open(count, "w").close()
    words = {
        "lithium": [program, "--testcase", payload, "outputs", "--", script, payload],
        "picire": [program, "-i", payload, "--test", script, "-o", os.path.join(work, "out")],
        "shrinkray": [program, "--ui=basic", "--timeout=20", script, payload],
        "cvise": [program, "--n", "1", "./test.sh", case.name],
    }[name]
    if name == "lithium":
        _lithium(work, script)
        words = [program, "--testcase", payload, os.path.join(work, "interesting.py"), payload]
    started = time.monotonic()
    finished = _ends_within(limit, words, work, scene.env)
    seconds = time.monotonic() - started
    left = os.path.join(work, "out", case.name) if name == "picire" else payload
    size = _size(left) if os.path.exists(left) else _size(source)
    return Done(size, os.path.getsize(count), seconds, finished)


def _ends_within(limit: float, words: list[str], work: str, env: dict[str, str]) -> bool:
    """Whether it does; if not, it is ended with all that it has started."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    with subprocess.Popen(
        words, cwd=work, env=env, start_new_session=True, stderr=subprocess.DEVNULL, **quiet
    ) as running:
        try:
            running.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            return False
    return True


def _lithium(work: str, script: str) -> None:
    with open(os.path.join(work, "interesting.py"), "w", encoding="utf-8") as file:
        file.write(
            "import subprocess\n\n\ndef interesting(args, prefix):\n"
            f"    return subprocess.run([{script!r}, args[0]]).returncode == 0\n"
        )


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


# --- the cases ----------------------------------------------------------------------------------


def _rows(path: str) -> None:
    drawn = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(5000):
            row = {"id": number, "price": number / 7, "name": f"thing {number}", "text": "x" * 90}
            if number == 1234:
                row["price"] = 10_000.5
            row["tags"] = [drawn.choice("abcdef") for _ in range(4)]
            file.write(json.dumps(row) + "\n")


def _nested(path: str) -> None:
    drawn = random.Random(2)

    def some(depth: int) -> object:
        if not depth:
            return drawn.choice([1, 2.5, None, True, "text", [1, 2, 3]])
        return {f"k{drawn.randrange(1000)}": some(depth - 1) for _ in range(4)}

    shops = {str(n): {"open": n % 3 == 2, "stock": some(2)} for n in range(40)}
    limits = {"strict": True, "other": some(3)}
    data = {
        "version": 1,
        "regions": {"south": some(4), "north": {"shops": shops, "notes": some(3)}, "east": some(4)},
        "settings": {"limits": limits, "more": some(4)},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=2)


def _table(path: str) -> None:
    drawn = random.Random(3)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([f"column{n}" for n in range(30)])
    for number in range(20_000):
        row = [str(drawn.randrange(10**6)) for _ in range(30)]
        if number == 13_131:
            row[17] = "n/a"
        writer.writerow(row)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(out.getvalue())


def _module(path: str) -> None:
    """A real one, of more than 2,000 lines."""
    shutil.copy(argparse.__file__, path)
    with open(path, "a", encoding="utf-8") as file:
        file.write("\n\ndef added():\n    try:\n        return 1\n    finally:\n        print()\n")


def _package(path: str) -> None:
    drawn = random.Random(4)
    os.makedirs(path)
    with open(os.path.join(path, "__init__.py"), "w", encoding="utf-8") as file:
        file.write('"""A package."""\n')
    for number in range(200):
        lines = [f"VALUE = {number}", "", "", "def double(x):", "    return 2 * x", ""]
        if number % 3 == 0 and number:
            lines.insert(0, f"from . import part{drawn.randrange(number)} as other")
        with open(os.path.join(path, f"part{number}.py"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines * drawn.randrange(1, 8)))
    with open(os.path.join(path, "start.py"), "w", encoding="utf-8") as file:
        file.write(
            "from . import part7, part21, part33\n\n\ndef run():\n"
            "    return part21.VALUE * 2 if part7.VALUE else part33.VALUE\n"
        )


def _document(path: str) -> None:
    drawn = random.Random(5)

    def items(depth: int) -> str:
        name = drawn.choice(["item", "group", "section"])
        inner = "".join(items(depth - 1) for _ in range(5)) if depth else "some text &amp; more"
        return f'<{name} id="n{drawn.randrange(10**6)}" lang="en">\n{inner}\n</{name}>'

    text = "".join(items(4) for _ in range(4))
    planted = '<section><reference to="nowhere" x="1"><note>see</note>text</reference></section>'
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<?xml version="1.0"?>\n<book>{text}{planted}{items(3)}</book>\n')


CASES = (
    Case("rows", "rows.jsonl", _rows),
    Case("nested", "nested.json", _nested),
    Case("table", "table.csv", _table),
    Case("module", "module.py", _module),
    Case("package", "pkg", _package),
    Case("document", "document.xml", _document),
)
