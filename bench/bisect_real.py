"""Bisecting real histories with planted regressions: is each answer right, is warm ever slower?

Take any clone of a Python project: its last commits are made again, merges and all, with a
function at the end of the module that they change most; from one commit on, drawn by lot, that
function is wrong. The same searches are made in three ways, one right after the other:
as zeroin chooses (`auto`), with `--warm` and with `--cold`.
"""

from __future__ import annotations

import collections
import json
import os
import random
import statistics
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple

from bench.report import Goal, Row, at_most

if TYPE_CHECKING:
    from bench.scene import Scene

REPOSITORY = "ZEROIN_BENCH_REPOSITORY"  # the path of a clone; else this project's own history
PYTHONS = "ZEROIN_BENCH_PYTHONS"  # paths with : between them, of Pythons that can import it
PROGRAMS = "ZEROIN_BENCH_PROGRAMS"  # names of programs with , between them; else all
COMMITS = 600
SEARCHES, FEW = 10, 2
SLOWER = 1.2  # times the cold search: what zeroin chooses may take, in the median
MODES = {"auto": (), "warm": ("--warm",), "cold": ("--cold",)}
GOOD = "\n\ndef planted_sum(values):\n    return sum(values)\n"
WRONG = "\n\ndef planted_sum(values):\n    return sum(values[1:])\n"
RAISES = "\n\ndef planted_sum(values):\n    return values[len(values)] + sum(values)\n"
CALL = "from {module} import planted_sum\n\nassert planted_sum([1, 2, 3]) == 6\n"


class Program(NamedTuple):
    """What shows the regression, and what that is."""

    name: str
    text: str  # with {module} in it
    wrong: str = WRONG
    words: tuple[str, ...] = ("repro.py",)
    file: str = "repro.py"


REPROS = (
    Program("an assertion", CALL),
    Program("an exception in the library", CALL, RAISES),
    Program("numpy and pandas first", f"import numpy\nimport pandas\n\n{CALL}"),
    Program("the project first", f"import {{package}}\nimport numpy\nimport pandas\n\n{CALL}"),
    Program(
        "a test of pytest",
        "def test_planted():\n    from {module} import planted_sum\n\n"
        "    assert planted_sum([1, 2, 3]) == 6\n",
        words=("-m", "pytest", "-q", "test_planted.py"),
        file="test_planted.py",
    ),
    Program(
        "a second of work first",
        f"total = 0\nfor number in range(40):\n    total += sum(range(1_000_000))\n{CALL}",
    ),
)


class Past(NamedTuple):
    """The last commits of a repository, oldest first; the first is the good end."""

    folder: str
    shas: list[str]
    parents: dict[str, list[str]]
    trees: dict[str, str]
    path: str  # of the module, in all commits
    texts: dict[str, str]  # of that module, by commit

    @property
    def module(self) -> str:
        """As it is imported."""
        return self.path.removeprefix("src/").removesuffix(".py").replace("/", ".")


class Search(NamedTuple):
    """One search that is over."""

    answer: str
    seconds: float
    cpu: float
    runs: int
    told: str  # by zeroin, where the answer is wrong


def measure(scene: Scene) -> list[Row]:
    """A row for each Python and program."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    given = os.environ.get(REPOSITORY, own)
    folder = os.path.join(scene.make("bisect-planted"), "clone")
    subprocess.run(["git", "clone", "-q", given, folder], check=True)
    past = read_past(folder)
    pythons = os.environ.get(PYTHONS, scene.python).split(":")
    named = os.environ.get(PROGRAMS)
    rows = [Row(f"{os.path.basename(given)}: {len(past.shas):,} commits, in {past.module}")]
    programs = [one for one in REPROS if named is None or one.name in named.split(",")]
    rows += [
        measure_program(scene, past, python, program) for python in pythons for program in programs
    ]
    return rows


def measure_program(scene: Scene, past: Past, python: str, program: Program) -> Row:
    """Ratios of the medians over all searches, and the answers that were wrong."""
    found: dict[str, list[Search]] = {mode: [] for mode in MODES}
    wrong = []
    drawn = random.Random(f"{program.name} {past.shas[-1]}")
    for _ in range(FEW if scene.quick else SEARCHES):
        first = drawn.choice(past.shas[1:])
        good, bad, culprit = plant(past, first, program)
        modes = list(MODES)
        drawn.shuffle(modes)
        for mode in modes:
            search = search_culprit(scene, past, (good, bad), python, program, mode)
            found[mode].append(search)
            if search.answer != culprit:
                wrong.append(f"{mode}, {first[:10]}: {search.told}")
    wall = {mode: statistics.median(one.seconds for one in some) for mode, some in found.items()}
    cpu = {mode: statistics.median(one.cpu for one in some) for mode, some in found.items()}
    runs = {mode: statistics.median(one.runs for one in some) for mode, some in found.items()}
    ratio = {mode: wall[mode] / wall["cold"] for mode in MODES}
    used = cpu["auto"] / cpu["cold"]
    worst = max(a.seconds / c.seconds for a, c in zip(found["auto"], found["cold"], strict=True))
    version = os.path.realpath(python).rpartition("/")[2]
    return Row(
        f"{version}, {program.name}",
        f"auto {ratio['auto']:.2f} × cold (cpu {used:.2f}, worst {worst:.2f}), "
        f"--warm {ratio['warm']:.2f} ×",
        f"{wall['cold']:.1f} s cold, {runs['cold']:.0f} runs"
        + "".join(f"; WRONG: {one}" for one in wrong),
        (
            Goal("all right", not wrong),
            at_most(min(ratio["auto"], used), SLOWER, "× cold, on the clock or of processors"),
        ),
        {"wall": wall, "cpu": cpu, "runs": runs, "wrong": wrong, "worst": worst},
    )


def read_past(folder: str) -> Past:
    """The last commits of a clone, and the module that most of them touch and all of them have."""
    line = _git(folder, "rev-list", "--first-parent", "HEAD").split()
    low, high = 1, len(line) - 1
    while low < high:
        middle = (low + high) // 2
        count = int(_git(folder, "rev-list", "--count", f"{line[middle]}..HEAD"))
        low, high = (low, middle) if count >= COMMITS else (middle + 1, high)
    oldest = line[low]
    listed = _git(
        folder, "log", "--topo-order", "--reverse", "--format=%H %T %P", f"{oldest}..HEAD"
    )
    rows = [row.split() for row in listed.splitlines()]
    shas = [oldest, *(row[0] for row in rows)]
    inside = set(shas)
    # A parent from before the oldest is left out, as if its branch had begun with the good end.
    parents = {row[0]: [one for one in row[2:] if one in inside] or [oldest] for row in rows}
    trees = {row[0]: row[1] for row in rows}
    trees[oldest] = _git(folder, "rev-parse", f"{oldest}^{{tree}}").strip()
    touched = _git(folder, "log", "--format=", "--name-only", f"{oldest}..HEAD").split("\n")
    for path, _ in collections.Counter(touched).most_common():
        parts = path.removeprefix("src/").split("/")
        if not path.endswith(".py") or len(parts) < 2 or not all(map(_is_name, parts[:-1])):
            continue
        if "test" in path or parts[-1].startswith("__") or parts[0] in ("docs", "doc", "bench"):
            continue
        texts = _texts(folder, shas, path)
        if texts is not None:
            return Past(folder, shas, {**parents, oldest: []}, trees, path, texts)
    raise ValueError("no module is in all of its last commits")


def _is_name(part: str) -> bool:
    return part.isidentifier()


def _texts(folder: str, shas: list[str], path: str) -> dict[str, str] | None:
    """A file in all commits; None where one does not have it."""
    asked = "".join(f"{sha}:{path}\n" for sha in shas)
    told = subprocess.run(
        ["git", "cat-file", "--batch"],
        cwd=folder,
        input=asked.encode(),
        capture_output=True,
        check=True,
    ).stdout
    texts, at = {}, 0
    for sha in shas:
        end = told.index(b"\n", at)
        words = told[at:end].split()
        if words[-1] == b"missing":
            return None
        size = int(words[2])
        texts[sha] = told[end + 1 : end + 1 + size].decode()
        at = end + size + 2
    return texts


def plant(past: Past, first: str, program: Program) -> tuple[str, str, str]:
    """Make the commits again: good end, bad end, and the commit that breaks it."""
    numbers = {sha: number for number, sha in enumerate(past.shas, 1)}
    broken: set[str] = set()
    orders = []
    for number, sha in enumerate(past.shas, 1):
        parents = past.parents[sha]
        if sha == first or any(parent in broken for parent in parents):
            broken.add(sha)
        text = past.texts[sha] + (program.wrong if sha in broken else GOOD)
        message = f"Change {number}"
        orders.append(
            f"commit refs/heads/planted\nmark :{number}\n"
            f"committer A <a@example.org> {1_600_000_000 + number} +0000\n"
            f"data {len(message)}\n{message}\n"
        )
        orders += [f"from :{numbers[one]}\n" for one in parents[:1]]
        orders += [f"merge :{numbers[one]}\n" for one in parents[1:]]
        orders.append(f'M 040000 {past.trees[sha]} ""\n')
        orders.append(f"M 644 inline {past.path}\ndata {len(text.encode())}\n{text}\n")
    orders.insert(0, "feature done\nreset refs/heads/planted\n")
    marks = os.path.join(past.folder, ".git", "planted-marks")
    _git(past.folder, "checkout", "-q", "--detach")
    subprocess.run(
        ["git", "fast-import", "--quiet", "--force", f"--export-marks={marks}"],
        cwd=past.folder,
        input="".join([*orders, "done\n"]).encode(),
        check=True,
    )
    _git(past.folder, "reset", "-q", "--hard", "planted")
    with open(marks, encoding="utf-8") as file:
        made = dict(line.split() for line in file)
    package = past.module.partition(".")[0]
    with open(os.path.join(past.folder, program.file), "w", encoding="utf-8") as file:
        file.write(program.text.format(module=past.module, package=package))
    last = len(past.shas)
    return made[":1"], made[f":{last}"], made[f":{numbers[first]}"]


def search_culprit(
    scene: Scene, past: Past, ends: tuple[str, str], python: str, program: Program, mode: str
) -> Search:
    """One search, in one way."""
    words = [scene.zeroin, "bisect", "commits", *ends, "--fresh", "--json", *MODES[mode]]
    source = os.path.join(past.folder, "src")
    env = scene.env | {"PYTHONPATH": source if os.path.isdir(source) else past.folder}
    before, began = os.times(), time.monotonic()
    done = subprocess.run(
        [*words, "--", python, *program.words],
        cwd=past.folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds, after = time.monotonic() - began, os.times()
    cpu = after[2] + after[3] - before[2] - before[3]
    try:
        told = json.loads(done.stdout)
    except ValueError:
        return Search("", seconds, cpu, 0, (done.stdout + done.stderr).strip()[-500:])
    said = " ".join(str(told.get(key)) for key in ("verdict", "first_bad", "why", "notes"))
    return Search(told.get("first_bad") or "", seconds, cpu, told.get("tries") or 0, said)


def _git(folder: str, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
