"""Bisecting beside `git bisect run`: the same commits, the same test, the same answer.

Git's own way tries one commit after the other in the checkout itself. Ours looks at both ends first
and at the answer once more, which is in its time.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from bench.report import Row, at_most
from bench.warm_scene import libraries

if TYPE_CHECKING:
    from bench.scene import Scene

COMMITS, BAD = 1024, 700
REPOSITORY = "ZEROIN_BENCH_REPOSITORY"  # the path of a clone, for a longer history than ours
WAITING, BUSY, WARM = 0.6, 1.0, 0.3  # times git's own way
GOOD_TEXT, BAD_TEXT = "def add(x):\n    return x + 1\n", "def add(x):\n    return x / 0\n"
TAIL = "from core import add\nassert add(1) == 2\n"
PROGRAMS = {
    "waits": f"import time\ntime.sleep(1)\n{TAIL}",
    "busy": f"import time\nwhile time.process_time() < 1: pass\n{TAIL}",
    "imports": f"import numpy, pandas, torch\n{TAIL}",
}


class Case(NamedTuple):
    """A program, and how it is run."""

    name: str
    program: str
    words: tuple[str, ...]
    most: float  # of git's time


CASES = (
    Case("a test that waits 1 s, 4 at once", "waits", ("-j", "4"), WAITING),
    Case("a test that needs 1 s of a processor", "busy", (), BUSY),
    Case("a test that imports numpy, pandas and torch", "imports", (), WARM),
)


def measure(scene: Scene) -> list[Row]:
    """A row a case, ours against git's."""
    rows = []
    for case in CASES[: 1 if scene.quick else None]:
        if case.program == "imports" and not libraries(scene).has("torch"):
            continue
        python = libraries(scene).path if case.program == "imports" else scene.python
        folder = _generated(scene, case.program)
        rows += _both(scene, case, folder, [python, "repro.py"], f"HEAD~{COMMITS - 1}")
    return [*rows, *_real(scene)]


def _both(scene: Scene, case: Case, folder: str, command: list[str], good: str) -> list[Row]:
    theirs, their_time = _git(folder, command, good)
    ours, our_time, tries = _zeroin(scene, case, folder, command, good)
    ratio = our_time / their_time
    same = "the same commit" if ours == theirs else f"ANOTHER COMMIT: {ours[:10]}, {theirs[:10]}"
    return [
        Row(
            case.name,
            f"{our_time:6.1f} s ({tries} runs), git {their_time:.1f} s",
            f"{ratio:.2f} ×, {same}",
            (at_most(ratio, case.most, "×"),),
            {"ours": our_time, "git": their_time, "same": ours == theirs},
        )
    ]


def _generated(scene: Scene, program: str) -> str:
    folder = scene.make(f"bisect-{program}")
    orders = []
    for number in range(COMMITS):
        text = GOOD_TEXT if number < BAD else BAD_TEXT
        message = f"Change {number}"
        orders.append(
            f"commit refs/heads/main\ncommitter A <a@example.org> {1_600_000_000 + number} +0000\n"
            f"data {len(message)}\n{message}\n"
            f"M 644 inline core.py\ndata {len(text)}\n{text}\n"
            f"M 644 inline number.txt\ndata {len(str(number))}\n{number}\n"
        )
    _run(folder, ["git", "init", "-q", "-b", "main"])
    _run(folder, ["git", "fast-import", "--quiet"], "".join(orders))
    _run(folder, ["git", "reset", "-q", "--hard", "main"])
    with open(os.path.join(folder, "repro.py"), "w", encoding="utf-8") as file:
        file.write(PROGRAMS[program])
    return folder


def _real(scene: Scene) -> list[Row]:
    """A real history, of any repository or this project's own: since when is there a file?"""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    here = os.environ.get(REPOSITORY, own)
    whose = "this project's own history" if here == own else f"the history of {here}"
    folder = os.path.join(scene.make("bisect-real"), "clone")
    done = subprocess.run(["git", "clone", "-q", here, folder], capture_output=True, check=False)
    if done.returncode:
        return [Row(f"{whose}: there is none here")]
    shas = _run(folder, ["git", "rev-list", "--first-parent", "--reverse", "HEAD"]).split()
    added = ("git", "diff-tree", "--no-commit-id", "-r", "--name-only", "--diff-filter=A")
    for sha in shas[2 * len(shas) // 3 :]:
        names = _run(folder, [*added, sha]).split()
        names = [name for name in names if os.path.exists(os.path.join(folder, name))]
        if names:
            break
    else:
        return [Row(f"{whose} is too short")]
    rows = []
    for how, path in (
        ("names the file", names[0]),
        ("names no file", f'"$(printf %s {names[0][::-1]} | rev)"'),  # nothing can be guessed
    ):
        name = f"{whose}, {len(shas):,} commits, a test that waits and {how}"
        case = Case(name, "", ("-j", "4"), WAITING)
        rows += _both(scene, case, folder, ["sh", "-c", f"sleep 1; test ! -e {path}"], shas[0])
    return rows


def _git(folder: str, command: list[str], good: str) -> tuple[str, float]:
    _run(folder, ["git", "bisect", "start", "HEAD", good])
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # or it would name another commit
    started = time.monotonic()
    _run(folder, ["git", "bisect", "run", *command], env=env)
    seconds = time.monotonic() - started
    found = _run(folder, ["git", "rev-parse", "refs/bisect/bad"]).strip()
    _run(folder, ["git", "bisect", "reset"])
    return found, seconds


def _zeroin(
    scene: Scene, case: Case, folder: str, command: list[str], good: str
) -> tuple[str, float, int]:
    words = ["bisect", "commits", good, "--json", *case.words, "--", *command]
    started = time.monotonic()
    told = json.loads(_run(folder, [scene.zeroin, *words]))
    return told["first_bad"], time.monotonic() - started, told["tries"]


def _run(folder: str, words: list[str], stdin: str = "", env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        words, cwd=folder, input=stdin, capture_output=True, text=True, check=True, env=env
    )
    return done.stdout
