"""Running the rows of the table through the real command line, each once per test session."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import support
import warm_libraries

from .circumstances import stage
from .table import FAILURES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .table import Failure

BY_NAME = {failure.name: failure for failure in FAILURES}

# A row takes seconds; what takes this long is stuck, and must not hold up the whole suite.
STUCK = 120


class Job(NamedTuple):
    """One run of one row."""

    name: str
    variant: int
    agent: bool = True

    @property
    def key(self) -> str:
        """Return a short name for the files of this run."""
        number = list(BY_NAME).index(self.name)
        return f"{number:03}{'ab'[self.variant]}{'' if self.agent else 'n'}"


class Ran(NamedTuple):
    """What `zeroin run --json` said, and what the program printed."""

    signature: str | None
    outcome: str
    exit_code: int | None
    output: str


class Ledger:
    """The results so far, in a folder that all workers of pytest-xdist share."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def collect(self, jobs: list[Job], at_once: int) -> None:
        """Run the jobs, a few at once; beside them, one by one, those that only wait."""
        waiting = [job for job in jobs if BY_NAME[job.name].timeout]
        working = [job for job in jobs if not BY_NAME[job.name].timeout]
        with ThreadPoolExecutor(1) as patient, ThreadPoolExecutor(at_once) as pool:
            patient.map(self.try_run, waiting)
            list(pool.map(self.try_run, working))

    def try_run(self, job: Job) -> None:
        """Run the job, unless it is done or another worker is at it."""
        with self.lock(job, fcntl.LOCK_EX | fcntl.LOCK_NB) as mine:
            if mine:
                self.run(job)

    def get(self, name: str, variant: int, *, agent: bool = True) -> Ran:
        """Return what came of the run, after waiting for the worker that is at it."""
        job = Job(name, variant, agent)
        with self.lock(job, fcntl.LOCK_EX):
            self.run(job)
        with open(self.path(job), encoding="utf-8") as stream:
            return Ran(**json.load(stream))

    def run(self, job: Job) -> None:
        """Run the job, if it is not done, and keep its result; its lock must be held."""
        if not os.path.exists(self.path(job)):
            ran = run(BY_NAME[job.name], os.path.join(self.folder, job.key), job)
            with open(self.path(job), "w", encoding="utf-8") as stream:
                json.dump(ran._asdict(), stream)

    def path(self, job: Job) -> str:
        """Return where the job's result is kept."""
        return os.path.join(self.folder, f"{job.key}.json")

    @contextmanager
    def lock(self, job: Job, how: int) -> Iterator[bool]:
        """Hold the job's lock; gives false where `how` does not wait and somebody holds it."""
        with open(os.path.join(self.folder, f"{job.key}.lock"), "w", encoding="utf-8") as stream:
            try:
                fcntl.flock(stream, how)
            except BlockingIOError:
                yield False
            else:
                yield True


def run(failure: Failure, folder: str, job: Job) -> Ran:
    """Stage the row and run it by `zeroin run`."""
    python = interpreter(failure)
    # Imported in another way is one more circumstance; what varies by the hash seed needs a start.
    if "torch" in failure.needs and job.variant and not failure.varies:
        python = warm_libraries.find_executable(warm_libraries.TORCH)
    staged = stage(failure, folder, job.variant, python)
    env = {**staged.env, "XDG_STATE_HOME": os.path.join(folder, "state")}
    if "PYTHONPATH" in os.environ:  # zeroin may be found by it and not be installed
        env["PYTHONPATH"] = os.environ["PYTHONPATH"]
    options = [] if job.agent else ["--no-agent"]
    if failure.timeout:
        options += ["--timeout", f"{failure.timeout}s"]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "zeroin", "run", "--json", *options, "--", *staged.command],
            cwd=staged.cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=STUCK,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Ran(None, f"stuck for {STUCK} s, or something it started holds its output", None, "")
    output = done.stderr + done.stdout
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return Ran(None, f"no JSON on stdout, exit code {done.returncode}", None, output)
    return Ran(said["signature"], said["outcome"], said["exit_code"], output)


def interpreter(failure: Failure) -> str:
    """Return the Python for the row: that of the libraries if it needs any, else our own."""
    if any(not need.startswith("bin:") for need in failure.needs):
        return support.libs_python()
    return sys.executable


def missing(failure: Failure) -> str:
    """Say what the row needs and this machine lacks; empty if nothing."""
    python = interpreter(failure)
    for need in failure.needs:
        if need.startswith("bin:"):
            if shutil.which(need.removeprefix("bin:")) is None:
                return f"the command {need.removeprefix('bin:')} is not installed"
        elif not importable(python, need):
            return f"{need} is not there: `make setup`, or set ZEROIN_TEST_LIBS to a Python with it"
    if version(python) < failure.min_python:
        return f"needs Python {'.'.join(map(str, failure.min_python))}"
    return ""


@functools.cache
def importable(python: str, module: str) -> bool:
    """Say whether that Python has the module, without importing it."""
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    try:
        return subprocess.run([python, "-c", look], check=False).returncode == 0
    except FileNotFoundError:
        return False


@functools.cache
def version(python: str) -> tuple[int, ...]:
    """Return the first two numbers of that Python's version."""
    look = "import sys; print(*sys.version_info[:2])"
    shown = subprocess.run([python, "-c", look], check=True, capture_output=True, text=True).stdout
    return tuple(int(word) for word in shown.split())


def left_running(folder: str) -> list[str]:
    """Return the processes whose working folder is in `folder`."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(folder):
                with open(f"/proc/{pid}/cmdline", "rb") as stream:
                    found.append(f"{pid} {stream.read().replace(bytes(1), b' ').decode()}")
        except OSError:  # it ended, or is not ours
            continue
    return found
