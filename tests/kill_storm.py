"""A storm of kills: every verb is killed at random moments, and then all is looked at.

The order, the moments and the signals come from a seed, so that a storm can be repeated as far as
the machine lets it. `tests/tools/test_kill_storm.py` runs a short one, `make bench
ARGS="storm --rounds 1000"` a long one.
"""

from __future__ import annotations

import contextlib
import glob
import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK = "ZEROIN_STORM"  # in the environment of all that a kill could leave behind
PATIENCE = 15.0  # seconds for what was killed, and for who tidies up after it, to end
LONGEST = 60.0  # seconds that a scenario may take if nobody kills it
SOON = 0.25  # seconds: many kills fall into the first ones, in which most is set up
ATTEMPTS_KEPT = 60  # the record is made small again from time to time

FILES = {
    "work.py": """\
import json, os, sys, time
started = time.monotonic()
print("begins", flush=True)
rows = [list(range(50)) for _ in range(50)]
kept = []
for number in range(12):
    kept.append(bytearray(20_000))
    time.sleep(0.01)
    print("step", number, flush=True)
print("ends", len(rows))
""",
    "fails.py": """\
import json, time
time.sleep(0.05)
rows = json.load(open("data.json"))
total = sum(row["price"] for row in rows)
""",
    "writes.py": """\
import os, sys, time
for number in range(10):
    with open(os.path.join("out", f"part-{number}"), "wb") as file:
        file.write(b"x" * 10_000)
    time.sleep(0.01)
""",
    "restored.py": """\
import time
with open("state.txt", "a") as file:
    file.write("more\\n")
time.sleep(0.1)
""",
    "reads.py": """\
import sys, tomllib
settings = tomllib.load(open(sys.argv[1], "rb"))
assert settings["b"]["rate"] < 5, settings["b"]["rate"]
""",
    "commit.py": "import library\nassert library.answer() == 42\n",
    "tests/test_order.py": """\
import pytest
LEFT = []
def test_a(): pass
def test_b(): LEFT.append(1)
def test_c(): pass
def test_d(): assert not LEFT
""",
    "good.toml": "a = 1\nname = 'x'\n[b]\nrate = 1\nsize = 3\n",
    "bad.toml": "a = 2\nname = 'y'\n[b]\nrate = 9\nsize = 4\n",
    "state.txt": "first\n",
    "out/.keep": "",
    "data.csv": "id,price,name\n" + "".join(f"{n},{n * 3},item{n}\n" for n in range(300)),
}
# What a program of the storm changes itself, as any program may.
OWN_CHANGES = ("state.txt", "out/", "__pycache__", ".pytest_cache")


# Seconds that a command takes on a machine of 2026, if more than half a second; by its name.
LONG = {
    "shrink": 1.5,
    "shrink, a script": 4.0,
    "bisect commits": 2.0,
    "bisect tests": 6.0,
    "bisect settings": 2.0,
    "bisect attempts": 1.0,
    "loop": 1.5,  # and on, as `watch`
    "watch": 1.5,
    "leak": 1.2,
    "doctor": 1.0,
}
ENDLESS = ("loop", "watch")
# What leaves most to be tidied up is killed more often.
MORE_OFTEN = ("again --code", "run --limit, five at once", "run --limit, memory and processes")


class Scenario(NamedTuple):
    """One command line, and what it is called in the answer."""

    name: str
    words: tuple[str, ...]
    stdin: bool = False  # it reads its standard input until that ends


def list_scenarios(python: str) -> list[Scenario]:
    """Every verb, and the ways of it that set up most."""
    run = ("--", python)
    limits = ("memory=500M", "processes=200", "cpu=50%", "files=200", "disk=out:5M")
    many = tuple(word for one in limits for word in ("--limit", one))
    every = {
        "run": ("run", *run, "work.py"),
        "run, failing": ("run", *run, "fails.py"),
        "run --timeout": ("run", "--timeout", "100ms", *run, "work.py"),
        "run --repeat": ("run", "--repeat", "3", *run, "fails.py"),
        "run --restore": ("run", "--restore", "state.txt", *run, "restored.py"),
        "run --at": ("run", "--at", "work.py:7", "peek=number", *run, "work.py"),
        "run --limit, five at once": ("run", *many, *run, "writes.py"),
        "run --limit, memory and processes": (
            *("run", "--limit", "memory=300M", "--limit", "processes=100"),
            *(*run, "work.py"),
        ),
        "limit memory": ("limit", "memory=300M", *run, "work.py"),
        "limit disk": ("limit", "disk=out:1M", *run, "writes.py"),
        "limit disk, a new folder": ("limit", "disk=new/deep:1M", *run, "work.py"),
        "limit network": ("limit", "network=off", *run, "work.py"),
        "loop": ("loop", "--json", *run, "work.py"),
        "loop --once": ("loop", "--once", "--json", *run, "fails.py"),
        "shrink": ("shrink", "data.json", "-o", "../result.json", *run, "fails.py"),
        "shrink, a script": ("shrink", "fails.py", "-o", "../result.py", *run, "fails.py"),
        "bisect commits": ("bisect", "commits", "HEAD~5", "HEAD", *run, "commit.py"),
        "bisect tests": ("bisect", "tests", "tests/test_order.py::test_d", *run, "-m", "pytest"),
        "bisect settings": (
            "bisect",
            "settings",
            "good.toml",
            "bad.toml",
            *run,
            "reads.py",
            "bad.toml",
        ),
        "bisect limit": ("bisect", "limit", "files", "4", "64", *run, "work.py"),
        "bisect attempts": ("bisect", "attempts"),
        "tiny": ("tiny", "data", "data.csv", "-n", "5", "-o", "../tiny.csv"),
        "tiny, packed": ("tiny", "data", "data.csv.gz", "-n", "5", "-o", "../tiny.csv.gz"),
        "fake": ("fake", "--like", "data.csv", "-n", "50", "-o", "../fake.csv"),
        "again": ("again", "last"),
        "again --code": ("again", "last", "--code"),
        "log": ("log", "--json"),
        "show": ("show", "last"),
        "diff": ("diff", "last-failed", "last"),
        "why": ("why",),
        "files": ("files", *run, "fails.py"),
        "stacks": ("stacks", "--after", "50ms", *run, "work.py"),
        "watch": ("watch", "-n", "50ms", "--", "date"),
        "which": ("which", "json"),
        "which, proven": ("which", "json.load", *run, "fails.py"),
        "shapes": ("shapes", "work.py", *run, "work.py"),
        "nan": ("nan", *run, "work.py"),
        "leak": ("leak", *run, "work.py"),
        "trust": ("trust",),
        "gc": ("gc", "--to", "1k"),
        "doctor": ("doctor",),
        "completion": ("completion", "bash"),
    }
    return [Scenario(name, words, stdin=name == "loop") for name, words in every.items()]


class Kill(NamedTuple):
    """What was done to one command."""

    number: int
    scenario: str
    signal: str
    after: float  # seconds
    was_running: bool


class Report(NamedTuple):
    """What a storm has found."""

    seed: int
    kills: list[Kill]
    violations: list[str]
    checks: Counter[str]

    @property
    def landed(self) -> int:
        """Kills that found the command running."""
        return sum(kill.was_running for kill in self.kills)

    def lines(self) -> list[str]:
        """Say what was killed, and what was looked at."""
        by_verb = Counter(kill.scenario for kill in self.kills if kill.was_running)
        by_signal = Counter(kill.signal for kill in self.kills if kill.was_running)
        return [
            f"seed {self.seed}: {self.landed} kills of {len(by_verb)} kinds of commands",
            "  killed: " + ", ".join(f"{name} {n}" for name, n in by_verb.most_common()),
            "  with: " + ", ".join(f"{name} {n}" for name, n in by_signal.most_common()),
            "  looked at: " + ", ".join(f"{name} {n}" for name, n in self.checks.items()),
            f"  violations: {len(self.violations)}",
            *(f"    {text}" for text in self.violations),
        ]


class Storm:
    """A user's project, and somebody who kills whatever is run there."""

    def __init__(
        self,
        base: Path,
        zeroin: Sequence[str],
        python: str,
        seed: int,
        *,
        env: Mapping[str, str] | None = None,
        identity: Mapping[str, object] | None = None,
    ) -> None:
        self.base = base
        self.zeroin = [*zeroin]
        self.seed = seed
        self.project = base / "project"
        self.temps = base / "tmp"
        self.runtime = base / "runtime"
        self._random = random.Random(seed)
        self._python = python
        self._identity = dict(identity or {})
        self._env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            **(env or {}),
            "HOME": str(base / "home"),
            "TMPDIR": str(self.temps),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "XDG_STATE_HOME": str(base / "home/state"),
            "XDG_CACHE_HOME": str(base / "home/cache"),
            "XDG_CONFIG_HOME": str(base / "home/config"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._scenarios = list_scenarios(python)
        self._seconds = {one.name: LONG.get(one.name, 0.5) for one in self._scenarios}
        self.report = Report(seed, [], [], Counter())

    # --- before ---------------------------------------------------------------------------------

    def prepare(self, *, measure: bool = False) -> None:
        """Make the project and a record; `measure`: see how long each command takes alone."""
        for folder in (self.project, self.temps, self.runtime, self.base / "home"):
            folder.mkdir(parents=True, exist_ok=True)
        for name, text in FILES.items():
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text(text)
        rows = [{"price": n, "name": f"item {n}"} for n in range(40)]
        del rows[27]["price"]
        (self.project / "data.json").write_text(json.dumps(rows, indent=1))
        (self.project / "data.csv.gz").write_bytes(gzip.compress(FILES["data.csv"].encode()))
        self._make_history()
        self._give_to_user()
        before = self._files()
        for program in ("work.py", "fails.py"):
            self._run("run", "-q", "--", self._python, program)
        for scenario in self._scenarios if measure else ():
            if scenario.name not in ENDLESS:
                began = time.monotonic()
                self._run(*scenario.words)
                self._seconds[scenario.name] = max(0.1, time.monotonic() - began)
        if self._files() != before:
            raise AssertionError("the commands of the storm change the project themselves")

    def _make_history(self) -> None:
        who = ("-c", "user.name=storm", "-c", "user.email=storm@localhost")
        env = {**self._env, "GIT_CONFIG_NOSYSTEM": "1"}

        def git(*words: str) -> None:
            subprocess.run(["git", *who, *words], cwd=self.project, env=env, check=True)

        git("-c", "init.defaultBranch=main", "init", "-q")
        (self.project / ".gitignore").write_text("out/\n__pycache__/\n.pytest_cache/\n")
        for number in range(6):
            value = 42 if number < 3 else 41
            text = f"# {number}\ndef answer():\n    return {value}\n"
            (self.project / "library.py").write_text(text)
            git("add", "-A")
            git("commit", "-q", "-m", f"number {number}")

    def _give_to_user(self) -> None:
        user, group = self._identity.get("user"), self._identity.get("group")
        if isinstance(user, int) and isinstance(group, int):
            for path in (self.base, *self.base.rglob("*")):
                os.chown(path, user, group, follow_symlinks=False)

    def _run(self, *words: str) -> subprocess.CompletedProcess[str] | None:
        """Run zeroin to its end; None if it had to be ended."""
        process = self._start(Scenario("", words), {})
        try:
            out, err = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            process.communicate(timeout=PATIENCE)
            return None
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def _start(self, scenario: Scenario, mark: Mapping[str, str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.zeroin, *scenario.words],
            cwd=self.project,
            env={**self._env, **mark},
            stdin=subprocess.PIPE if scenario.stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            **self._identity,  # type: ignore[call-overload]
        )

    # --- kills ----------------------------------------------------------------------------------

    def rage(self, kills: int) -> Report:
        """Kill so many commands that run; what has ended by itself does not count."""
        order: list[Scenario] = []
        while self.report.landed < kills and len(self.report.kills) < 20 * kills:
            if not order:
                order = [*self._scenarios]
                order += [one for one in order if one.name in MORE_OFTEN]
                self._random.shuffle(order)
            self._kill_one(order.pop())
            if len(self.report.kills) % ATTEMPTS_KEPT == 0:
                self._run("gc", "--to", "1k")
        return self.report

    def _kill_one(self, scenario: Scenario) -> None:
        whole = self._seconds[scenario.name]
        after = self._random.uniform(0, min(whole, SOON if self._random.random() < 0.4 else whole))
        how = self._random.choices(("KILL", "KILL to the group", "TERM", "INT"), (70, 14, 8, 8))[0]
        number = len(self.report.kills)
        where = f"kill {number}: {scenario.name}, {how} after {after * 1000:.0f} ms"
        mark = uuid.UUID(int=self._random.getrandbits(128)).hex
        before = _Surroundings.look(self)
        files = self._files()
        process = self._start(scenario, {MARK: mark})
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(after)
        was_running = process.poll() is None
        if was_running:
            code = signal.SIGKILL if how.startswith("KILL") else signal.Signals[f"SIG{how}"]
            (os.killpg if "group" in how else os.kill)(process.pid, code)
        self.report.kills.append(Kill(number, scenario.name, how, after, was_running))
        if process.stdin is not None:
            process.stdin.close()
            process.stdin = None
        try:
            _, said = self._wait_for_end(process, again=how)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, said = process.communicate()
            self._accuse(where, "it did not end")
        if was_running:
            self._check(where, process, said, mark, before, files)

    def _wait_for_end(self, process: subprocess.Popen[str], again: str) -> tuple[str, str]:
        """What it said; who pressed Ctrl-C too early presses it again.

        While Python itself comes up it drops a KeyboardInterrupt here and there.
        """
        try:
            return process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            if again == "INT":
                process.send_signal(signal.SIGINT)
        return process.communicate(timeout=LONGEST)

    # --- what is looked at ----------------------------------------------------------------------

    def _accuse(self, where: str, what: str) -> None:
        self.report.violations.append(f"{where}: {what}")

    def _count(self, what: str) -> None:
        self.report.checks[what] += 1

    def _check(
        self,
        where: str,
        process: subprocess.Popen[str],
        said: str,
        mark: str,
        before: _Surroundings,
        files: dict[str, str],
    ) -> None:
        until = time.monotonic() + PATIENCE
        while (left := _processes_of(mark, process.pid)) and time.monotonic() < until:
            time.sleep(0.02)
        self._count("processes")
        if left:
            self._accuse(where, f"left running: {left}")
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
        self._count("what was said")
        if process.returncode == 3 or "bug in zeroin" in said:
            self._accuse(where, f"exit code {process.returncode}: {said[-300:]}")
        if "Traceback" in said and 'zeroin/fronts/cli/__init__.py", line' in said:
            self._accuse(where, f"a traceback of our own: {said[-300:]}")
        now = self._wait_for_surroundings(before, process.pid)
        for name in ("mounts", "groups", "temporary files"):
            self._count(name)
        for text in now.differences(before, process.pid):
            self._accuse(where, text)
        self._sweep(where)
        self._count("the user's files")
        changed = sorted({*files.items()} ^ {*self._files().items()})
        if changed:
            self._accuse(where, f"files of the user's changed: {changed[:4]}")
        self._check_record(where)

    def _wait_for_surroundings(self, before: _Surroundings, pid: int) -> _Surroundings:
        until = time.monotonic() + PATIENCE
        while (now := _Surroundings.look(self)).differences(before, pid):
            if time.monotonic() > until:
                break
            time.sleep(0.05)
        return now

    def _sweep(self, where: str) -> None:
        """A run without a guard leaves its socket's folder: the next run removes it."""
        self._run("run", "-q", "--no-record", "--", "true")
        self._count("socket folders")
        left = [name for name in os.listdir(self.runtime) if os.listdir(self.runtime / name)]
        if left:
            self._accuse(where, f"left after the next run: {left}")
            for name in left:
                shutil.rmtree(self.runtime / name)

    def _check_record(self, where: str) -> None:
        self._count("the record")
        store = self.project / ".zeroin/store.db"
        if not store.exists():
            return
        done = self._run("log", "--json", "-n", "3")
        if done is None or done.returncode or "warning" in done.stderr:
            self._accuse(where, f"log: {done and (done.returncode, done.stderr[-300:])}")
            return
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        if any(row["outcome"] == "running" for row in rows):
            self._accuse(where, f"still said to be running: {rows[0]['id']}")
        with contextlib.closing(sqlite3.connect(store)) as opened:
            (verdict,) = opened.execute("PRAGMA integrity_check").fetchone()
        if verdict != "ok":
            self._accuse(where, f"the record is damaged: {verdict}")
        if self._identity:
            self._give_to_user()

    def _files(self) -> dict[str, str]:
        """Everything of the user's, git's own files among it, but for what programs change."""
        found = {}
        for folder, folders, names in os.walk(self.project):
            below = os.path.relpath(folder, self.project)
            folders[:] = [one for one in folders if one not in (".zeroin", *OWN_CHANGES)]
            for name in (*names, *folders):
                path = os.path.normpath(os.path.join(below, name))
                if not path.startswith(OWN_CHANGES) and path != "out":
                    found[path] = _describe(os.path.join(folder, name))
        return found


class _Surroundings(NamedTuple):
    """What is not the project's: mounts, control groups, temporary files."""

    mounts: frozenset[str]
    groups: frozenset[str]
    temps: frozenset[str]

    @classmethod
    def look(cls, storm: Storm) -> _Surroundings:
        temps = [str(path) for path in storm.temps.iterdir()]
        temps += glob.glob("/dev/shm/zeroin-*") + glob.glob("/dev/shm/*zeroin*")
        mounts = Path("/proc/self/mountinfo").read_text(errors="replace").splitlines()
        ours = [line for line in mounts if str(storm.base) in line or "zeroin" in line]
        groups = glob.glob("/sys/fs/cgroup/**/zeroin-limit-*", recursive=True)
        return cls(frozenset(ours), frozenset(groups), frozenset(temps))

    def differences(self, before: _Surroundings, pid: int) -> list[str]:
        """What is there now and was not; others on this machine use zeroin, too."""
        found = [f"mounted: {line}" for line in self.mounts - before.mounts]
        found += [
            f"a control group: {path}"
            for path in self.groups - before.groups
            if os.path.basename(path).startswith(f"zeroin-limit-{pid}-")
        ]
        found += [
            f"a temporary file: {path}"
            for path in self.temps - before.temps
            if not path.startswith("/dev/shm") or str(pid) in path
        ]
        return found


def _processes_of(mark: str, session: int) -> dict[int, str]:
    """What still runs of a command: by what it inherited, and by its session."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError, IndexError):
            fields = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()
            if fields[0] in "ZX":
                continue
            inherited = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
            if wanted in inherited or int(fields[3]) == session:
                line = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ")
                found[int(name)] = line.decode(errors="replace")[:100]
    return found


def _describe(path: str) -> str:
    told = os.lstat(path)
    if stat.S_ISREG(told.st_mode):
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
        return f"{oct(told.st_mode)} {digest}"
    return f"{oct(told.st_mode)} {os.readlink(path) if stat.S_ISLNK(told.st_mode) else ''}"
