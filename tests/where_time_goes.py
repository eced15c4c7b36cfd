"""`--where-time-goes`: a table of the suite's time, by file and by what it was spent on.

A second process looks at `/proc` a hundred times a second while the tests run. Every process of a
test is a descendant of pytest, or carries the test's mark in its environment; each worker of
pytest writes down which test it is at. So each moment of a test can be put down to what was
running in it: the test itself, an interpreter that starts, an import, a command, or nothing at
all. It costs a tenth of a processor.

An interpreter counts as starting, or as importing a library that it has mapped, until it has used
as much processor time as that took when it was measured, before the first test.
"""

from __future__ import annotations

import collections
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import support

if TYPE_CHECKING:
    from collections.abc import Iterator

STARTING = "starting"
ENVIRONMENTS = "environs"
IMPORTING = "imports"
COMMANDS = "commands"
DRIVER = "zeroin"
PROGRAM = "programs"
TEST = "test"
WAITING = "waiting"
CAUSES = {
    STARTING: "interpreters that start",
    ENVIRONMENTS: "pip, uv and venv",
    IMPORTING: "imports of heavy libraries",
    COMMANDS: "git, shells and other commands",
    DRIVER: "zeroin computes",
    PROGRAM: "programs compute",
    TEST: "the test itself computes",
    WAITING: "nothing runs",
}

# A library whose import takes a while, and a part of a path by which its process is recognised.
HEAVY = {
    "torch": "/libtorch_cpu.so",
    "jax": "/jaxlib/",
    "numba": "/numba/",
    "sklearn": "/sklearn/",
    "cv2": "/cv2/",
    "polars": "/_polars_runtime",
    "pyarrow": "/libarrow.so",
    "pandas": "/pandas/_libs/",
    "matplotlib": "/matplotlib/",
    "numpy": "/numpy/_core/",
}
INSTALLERS = {"pip", "uv", "venv", "ensurepip", "virtualenv"}
TICK = 0.01
MARK = b"ZEROIN_TEST_ID="
# Flags of the kernel, from include/linux/sched.h.
FORKED_WITHOUT_EXEC = 0x40
KERNEL_THREAD = 0x200000
FOLDER = "ZEROIN_TEST_TIME_FOLDER"  # where workers write which test they are at


# --- the process that looks ---------------------------------------------------------


@dataclass
class SeenProcess:
    """What stays true of one process between two looks."""

    worker: int | None  # the pytest whose test it belongs to
    words: list[str]
    name: str  # that the kernel gives it: another one after each exec
    settled: bool  # it has called exec, so all of this is its own
    cost: float = 0.0  # processor seconds that its start takes
    is_python: bool = False


class ProcessSampler:
    """Puts each moment of each test down to what ran in it."""

    def __init__(self, folder: str, costs: dict[str, float]) -> None:
        self.folder = folder  # a file for each worker, named by its pid: the test it is at
        self.costs = costs
        self.known: dict[int, SeenProcess] = {}
        self.workers: set[int] = set()
        self.spent: dict[str, collections.Counter[str]] = {}

    def look(self, weight: float) -> None:
        """Look at all processes once; `weight` is the time since the last look."""
        self.workers = {int(name) for name in os.listdir(self.folder) if name.isdecimal()}
        running: dict[int, list[str]] = {}
        pids = sorted(int(name) for name in os.listdir("/proc") if name.isdecimal())
        for gone in self.known.keys() - set(pids):
            del self.known[gone]
        for pid in pids:
            try:
                found = self._classify(pid)
            except (OSError, IndexError, ValueError):
                continue  # it ended while it was looked at
            if found:
                running.setdefault(found[0], []).append(found[1])
        for worker, causes in running.items():
            test = Path(self.folder, str(worker)).read_text()
            counter = self.spent.setdefault(test, collections.Counter())
            for cause in causes:
                counter[cause] += weight / len(causes)

    def _classify(self, pid: int) -> tuple[int, str] | None:
        known = self.known.get(pid)
        if known is not None and known.settled and known.worker is None and pid not in self.workers:
            return None
        name, _, rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
        stat = rest.split()
        state, parent, flags = stat[0], int(stat[1]), int(stat[6])
        if pid in self.workers:
            return (pid, TEST) if state == "R" else None
        if known is None or not known.settled or known.name != name:
            before = known
            known = self.known[pid] = self._meet(pid, name, parent, flags)
            if known.worker is None and before is not None:
                known.worker = before.worker  # its parent may have ended since
        if known.worker is None or state not in "RD":
            return None
        return known.worker, self._cause(pid, known, forked=bool(flags & FORKED_WITHOUT_EXEC))

    def _meet(self, pid: int, name: str, parent: int, flags: int) -> SeenProcess:
        if flags & KERNEL_THREAD:
            return SeenProcess(None, [], name, settled=True)
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        is_python = os.path.basename(words[0]).startswith(("python", "zeroin", "pytest"))
        return SeenProcess(
            self._find_worker(pid, parent),
            words,
            name,
            # In the middle of an exec there are no words yet.
            any(words) and not flags & FORKED_WITHOUT_EXEC,
            self._start_cost(words),
            is_python,
        )

    def _find_worker(self, pid: int, parent: int) -> int | None:
        """Find the pytest that a process belongs to: by its mark, else by its parents."""
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        for variable in environment:
            if variable.startswith(MARK):
                worker = int(variable.removeprefix(MARK).partition(b"-")[0])
                return worker if worker in self.workers else None
        if parent in self.workers:
            return parent
        return self.known[parent].worker if parent in self.known else None

    def _start_cost(self, words: list[str]) -> float:
        is_driver = "zeroin" in words[1:4] or os.path.basename(words[0]) in ("zeroin", "zin")
        return self.costs["zeroin" if is_driver else "python"]

    def _cause(self, pid: int, known: SeenProcess, *, forked: bool) -> str:
        names = {os.path.basename(word) for word in known.words[:4]}
        if names & INSTALLERS:
            return ENVIRONMENTS
        if not known.is_python:
            return COMMANDS
        is_driver = "zeroin" in names or "zin" in names
        if forked:
            return DRIVER if is_driver else PROGRAM
        used = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
        if used < known.cost:
            return STARTING
        if used < known.cost + max(self.costs.values()):
            maps = Path(f"/proc/{pid}/maps").read_text()
            imports = [self.costs.get(lib, 0.0) for lib, path in HEAVY.items() if path in maps]
            if imports and used < known.cost + max(imports):
                return IMPORTING
        return DRIVER if is_driver else PROGRAM


def measure_costs(libs: str | None) -> dict[str, float]:
    """Measure the processor seconds of a start and of each heavy import here."""
    costs = {
        "python": _processor_seconds([sys.executable, "-c", ""]),
        "zeroin": _processor_seconds([sys.executable, "-m", "zeroin", "--version"]),
    }
    if libs:
        for name in HEAVY:
            costs[name] = _processor_seconds([libs, "-c", f"import {name}"])
    return costs


def _processor_seconds(command: list[str]) -> float:
    def run() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        return 0.0 if done.returncode else used

    run()  # so that all is in the page cache
    return run()


def sample_until_told(folder: str, libs: str | None) -> None:
    """Look until standard input ends, then print what was seen."""
    sampler = ProcessSampler(folder, measure_costs(libs))
    print("ready", flush=True)
    before = time.monotonic()
    while not select.select([sys.stdin], [], [], TICK)[0]:
        now = time.monotonic()
        sampler.look(now - before)
        before = now
    print(json.dumps(sampler.spent))


# --- in pytest --------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--where-time-goes",
        action="store_true",
        help="print the suite's time by file and by what it was spent on",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin to look, where it was asked for: once, not in each worker of pytest-xdist."""
    if config.getoption("--where-time-goes") and not hasattr(config, "workerinput"):
        libs = None if support.lack_of_libs() else support.libs_python()
        config.pluginmanager.register(TimeTable(libs))


@dataclass
class FileTime:
    """The seconds of one test file, by cause."""

    tests: int = 0
    causes: collections.Counter[str] = field(default_factory=collections.Counter)

    @property
    def seconds(self) -> float:
        """All of it."""
        return sum(self.causes.values())


class TimeTable:
    """The plugin of the process that prints: starts the sampler, collects the tests' times."""

    def __init__(self, libs: str | None) -> None:
        self.durations: collections.Counter[str] = collections.Counter()
        self.folder = tempfile.TemporaryDirectory(prefix="zeroin-time-")
        os.environ[FOLDER] = self.folder.name
        self.sampler = subprocess.Popen(
            [sys.executable, __file__, self.folder.name, libs or ""],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.sampler.stdout is not None
        if self.sampler.stdout.readline() != "ready\n":
            raise pytest.UsageError("--where-time-goes: the process that looks did not start")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the phases of a test."""
        self.durations[report.nodeid] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print where the time went; all of it, test by test, into a file if one is named."""
        spent = json.loads(self.sampler.communicate("")[0])
        self.folder.cleanup()
        tests = {
            test: split_time(seconds, spent.get(test, {}))
            for test, seconds in self.durations.items()
        }
        if file := os.environ.get("ZEROIN_TEST_TIMES"):
            Path(file).write_text(json.dumps(tests))
        for line in format_table(sum_files(tests)):
            terminalreporter.write_line(line)


def sum_files(tests: dict[str, dict[str, float]]) -> dict[str, FileTime]:
    """Sum the tests of each file."""
    files: dict[str, FileTime] = {}
    for test, causes in tests.items():
        row = files.setdefault(test.partition("::")[0], FileTime())
        row.tests += 1
        row.causes.update(causes)
    return files


def split_time(seconds: float, seen: dict[str, float]) -> dict[str, float]:
    """Split a test's time by cause; the moments in which nothing ran are waiting."""
    return {**seen, WAITING: max(0.0, seconds - sum(seen.values()))}


def format_table(files: dict[str, FileTime]) -> Iterator[str]:
    """Write the table: a row a file, the longest first, and the sums."""
    yield ""
    yield "where the time goes, in seconds of the workers, by cause:"
    yield from (f"  {cause:8} {meaning}" for cause, meaning in CAUSES.items())
    yield f" tests {'all':>7} " + " ".join(f"{cause:>8}" for cause in CAUSES)
    total = FileTime()
    for name, row in sorted(files.items(), key=lambda one: -one[1].seconds):
        total.tests += row.tests
        total.causes.update(row.causes)
        yield format_row(row, name)
    yield format_row(total, "all files")


def format_row(row: FileTime, name: str) -> str:
    """Write one row of the table."""
    parts = " ".join(f"{row.causes[cause]:8.1f}" for cause in CAUSES)
    return f"{row.tests:6} {row.seconds:7.1f} {parts}  {name}"


# In each worker; without pytest-xdist that is the process that prints, too.


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Write down which test this worker is at."""
    if FOLDER in os.environ:
        Path(os.environ[FOLDER], str(os.getpid())).write_text(item.nodeid)


if __name__ == "__main__":
    sample_until_told(sys.argv[1], sys.argv[2] or None)
