"""Run a project in a loop, edit it, and compare each run with a cold one of the same files."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import support

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .rows import Row

PATIENCE = 40  # seconds for a run on a loaded machine
NOTICED = 8  # seconds in which a save must have started something
OFTEN = 1e-6  # seconds between snapshots: one at every point
PACES = {"": OFTEN, "often": 0.01, "rare": 0.3, "real": None}


@dataclasses.dataclass
class Ran:
    """What a user has of one run."""

    code: int
    out: bytes
    err: bytes
    files: dict[str, bytes]


@dataclasses.dataclass
class Step:
    """One edit, and what the loop made of it."""

    warm: Ran
    told: dict[str, Any]
    faults: list[str]
    seconds: float = 0.0
    cold: Ran | None = None

    @property
    def mode(self) -> str:
        """How it was run: `resumed`, `back` (from an earlier snapshot than the last) or `cold`."""
        if self.told["mode"] == "resumed" and self.told["reason"]:
            return "back"
        return str(self.told["mode"])


# --- loops ---------------------------------------------------------------------------------------


class Drivers:
    """The process that loops are forked from."""

    def __init__(self, source: Path | None = None) -> None:
        self.folder = tempfile.mkdtemp(prefix="z")  # a socket's path must be short
        self.path = os.path.join(self.folder, "s")
        env = {k: v for k, v in os.environ.items() if k != support.TEST_ID}
        if source is not None:  # another zeroin than the one under test
            env["PYTHONPATH"] = str(source)
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("driver.py"), self.path],
            env=env,
            stdin=subprocess.PIPE,  # it ends with us
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.process.stdout.readline()

    def close(self) -> None:
        """Nobody else can start a loop."""
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        shutil.rmtree(self.folder)


class Loop:
    """One loop: save files, then ask what came of it."""

    def __init__(self, drivers: Drivers, base: Path, request: dict[str, Any]) -> None:
        self.base = base
        self._at = [0, 0]
        self._rest = b""
        names = {"out": str(base / "out"), "err": str(base / "err")}
        self.names = list(names.values())
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(drivers.path)
        self._socket.sendall(json.dumps({**request, **names}).encode() + b"\n")

    def say(self, word: str) -> None:
        """As a user would type it; if it has ended, `hear` will tell."""
        with contextlib.suppress(BrokenPipeError):
            self._socket.sendall(word.encode() + b"\n")

    def hear(self, patience: float) -> dict[str, Any] | None:
        """What it tells next; None when nothing comes."""
        until = time.monotonic() + patience
        while b"\n" not in self._rest:
            self._socket.settimeout(max(0.001, until - time.monotonic()))
            try:
                data = self._socket.recv(1 << 16)
            except TimeoutError:
                return None
            if not data:
                return {"kind": "bug", "text": f"the loop has ended: {self._rest!r}"}
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def settle(self, patience: float = PATIENCE) -> tuple[Any, tuple[bytes, bytes], list[str]]:
        """The last run after which nothing is left to do: what it told and wrote; and faults.

        A word is obeyed after all saves that are whole; others may take until `patience` is over.
        """
        found = self._until_fence()
        if found[0] is None and not found[2] and patience:
            told = self.hear(patience)
            if told is not None:
                found = self._until_fence(told)
        return found

    def _until_fence(self, told: Any = None) -> tuple[Any, tuple[bytes, bytes], list[str]]:
        self.say("fence")
        faults: list[str] = []
        last, wrote = None, (b"", b"")
        told = told or self.hear(PATIENCE)
        while told is not None and told["kind"] != "fence":
            if told["kind"] == "run":
                piece = self._written(told["written"])
                if not told["stopped"]:
                    last, wrote = told, piece
            elif told["kind"] in ("mistake", "bug"):
                faults.append(told["text"])
                if told["kind"] == "bug":
                    break
            told = self.hear(PATIENCE)
        if told is None:
            faults.append(f"nothing was heard of the loop for {PATIENCE} s")
        return last, wrote, faults

    def _written(self, upto: list[int]) -> tuple[bytes, bytes]:
        found = []
        for name, begin, end in zip(self.names, self._at, upto, strict=True):
            with open(name, "rb") as file:
                file.seek(begin)
                found.append(file.read(end - begin))
        self._at = upto
        return found[0], found[1]

    def close(self) -> None:
        """Quit, and wait until all of it is gone."""
        with contextlib.suppress(OSError):
            self.say("quit")
            self._socket.settimeout(PATIENCE)
            while self._socket.recv(1 << 16):
                pass
        self._socket.close()


# --- projects --------------------------------------------------------------------------------------


class Project:
    """A folder with a project in it, an environment, and a way to run it."""

    def __init__(self, base: Path, python: str, row: Row) -> None:
        self.base = base
        self.row = row
        self.folder = base / "project"
        self.env = support.clean_environment(base)
        support.place_python(support.tools_of(base).parent, python)
        (base / "tmp").mkdir()
        self.env["TMPDIR"] = str(base / "tmp")
        settings = Path(self.env["XDG_CONFIG_HOME"], "zeroin", "config.toml")
        settings.parent.mkdir()
        settings.write_text("code = false\n")  # what is recorded of a run is not compared here
        name, equals, value = row.get("env").partition("=")
        if equals:
            self.env[name] = value
        self.command = ["python", *row.get("run", "train.py").split()]
        self.cwd = self.folder / row.get("cwd")
        self.stdin: Path | None = None
        if row.get("stdin"):
            self.stdin = base / "stdin"
            self.stdin.write_text(row.get("stdin").encode().decode("unicode_escape"))
        self.cwd.mkdir(parents=True)
        for path, text in row.versions[0].items():
            self._write(path, text)

    def request(self) -> dict[str, Any]:
        """For the driver."""
        return {
            "command": self.command,
            "cwd": str(self.cwd),
            "env": self.env,
            "stdin": str(self.stdin) if self.stdin else None,
            "strict": bool(self.row.get("strict")),
            "every": PACES[self.row.get("pace")],
        }

    def edit(self, old: dict[str, str], new: dict[str, str]) -> None:
        """Save what differs."""
        for path in old:
            if path not in new:
                (self.folder / path).unlink()
        for path, text in new.items():
            if old.get(path) != text:
                self._write(path, text)
        how = self.row.get("save")
        if how in ("touch", "again"):
            for path in new:
                if not path.endswith(".py"):
                    self._touch(self.folder / path, how)

    def _touch(self, path: Path, how: str) -> None:
        if how == "again":
            path.write_bytes(path.read_bytes())
        os.utime(path)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.row.get("save") == "rename" and path.exists():
            other = path.with_name(path.name + ".new")
            other.write_text(text)
            other.replace(path)
        elif not path.exists():  # a loop that is quick could run it before it has its text
            other = self.base / "written"
            other.write_text(text)
            other.replace(path)
        else:
            path.write_text(text)

    def keep(self, name: str, of: Path | None = None) -> Path:
        """A copy of all there is now (or in another folder), without compiled files."""
        target = self.base / name
        shutil.copytree(
            of or self.folder, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
        return target

    def put(self, kept: Path) -> None:
        """Make it what was kept, at the same place."""
        shutil.rmtree(self.folder)
        kept.rename(self.folder)

    def files(self) -> dict[str, bytes]:
        """All that is there now, without compiled files."""
        found = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found[str(path.relative_to(self.folder))] = path.read_bytes()
        return found

    def run_plainly(self, patience: float = PATIENCE) -> Ran:
        """As without a loop.

        Python takes a compiled file for fresh when size and second are the same as before.
        """
        for compiled in list(self.folder.rglob("__pycache__")):
            shutil.rmtree(compiled)
        with contextlib.ExitStack() as stack:
            stdin: Any = subprocess.DEVNULL
            if self.stdin is not None:
                stdin = stack.enter_context(self.stdin.open("rb"))
            done = subprocess.run(
                self.command,
                cwd=self.cwd,
                env=self.env,
                stdin=stdin,
                capture_output=True,
                timeout=patience,
                check=False,
            )
        return Ran(done.returncode, done.stdout, done.stderr, self.files())


# --- a row --------------------------------------------------------------------------------------------


def run(drivers: Drivers, python: str, row: Row) -> list[Step]:
    """Run it in a loop with all its edits, then each version cold."""
    with _folder() as base:
        project = Project(base, python, row)
        steps, kept = _loop(drivers, project)
        for number, (step, folder) in enumerate(zip(steps, kept, strict=True)):
            project.put(folder)
            if number:
                project.edit(row.versions[number - 1], row.versions[number])
            if str(number) not in row.get("broken"):
                step.cold = project.run_plainly()
        return steps


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="zeroin-edits-", ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def _loop(drivers: Drivers, project: Project) -> tuple[list[Step], list[Path]]:
    row, steps, kept = project.row, [], [project.keep("kept-0")]
    loop = Loop(drivers, project.base, project.request())
    in_first_world = row.get("world") == "first"
    try:
        steps.append(_step(loop, project, time.monotonic(), PATIENCE))
        for number, (old, new) in enumerate(zip(row.versions, row.versions[1:], strict=False), 1):
            kept.append(project.keep(f"kept-{number}", of=kept[0] if in_first_world else None))
            began = time.monotonic()
            project.edit(old, new)
            if row.get("unnoticed"):
                loop.say("run")
            steps.append(_step(loop, project, began, NOTICED))
    finally:
        loop.close()
    return steps, kept


def _step(loop: Loop, project: Project, began: float, patience: float) -> Step:
    told, (out, err), faults = loop.settle(patience)
    seconds = time.monotonic() - began
    if told is None and not faults:
        faults.append("the save was not noticed")
        loop.say("run")
        told, (out, err), more = loop.settle()
        faults += more
    if told is None:
        told = {"mode": None, "reason": "", "exit_code": None, "resumed_at": None}
        return Step(Ran(-1, out, err, {}), told, [*faults, "there was no run"], seconds)
    return Step(Ran(told["exit_code"], out, err, project.files()), told, faults, seconds)


# --- judging ------------------------------------------------------------------------------------------


def differences(row: Row, number: int, step: Step) -> list[str]:
    """What is not as it would have been cold, or not as quick as it must be."""
    found = list(step.faults)
    if step.cold is None:
        if not step.told.get("broken"):
            found.append(f"it was run: {step.told}")
        return found
    warm, cold = step.warm, step.cold
    if warm.code != cold.code:
        found.append(f"exit code {warm.code}, cold {cold.code}")
    if (step.told.get("outcome") == "passed") != (cold.code == 0):
        found.append(f"outcome {step.told.get('outcome')}, exit code {cold.code}")
    found += compare("stdout", _mask(row, warm.out), _mask(row, cold.out))
    found += compare("stderr", _mask(row, warm.err), _mask(row, cold.err))
    for name in sorted(warm.files.keys() | cold.files.keys()):
        one, other = warm.files.get(name), cold.files.get(name)
        if one is None or other is None:
            found.append(f"{name} is there only {'cold' if one is None else 'in the loop'}")
        else:
            found += compare(name, _mask(row, one), _mask(row, other))
    return found + _place(row, number, step) + (_lateness(row, number, step) if number else [])


def _mask(row: Row, data: bytes) -> bytes:
    return re.sub(row.get("mask").encode(), b"~", data) if row.get("mask") else data


def compare(name: str, warm: bytes, cold: bytes) -> list[str]:
    """How two texts differ, if they do."""
    if warm == cold:
        return []
    lines = difflib.unified_diff(
        cold.decode(errors="backslashreplace").splitlines(),
        warm.decode(errors="backslashreplace").splitlines(),
        f"{name}, cold",
        f"{name}, loop",
        lineterm="",
    )
    return ["\n".join(lines) or f"{name} differs in line ends"]


def _place(row: Row, number: int, step: Step) -> list[str]:
    """The user is told of lines that there are."""
    name, _, line = str(step.told["resumed_at"] or "").rpartition(":")
    texts = [text for path, text in row.versions[number].items() if Path(path).name == name]
    if texts and int(line) > max(len(text.splitlines()) for text in texts):
        return [f"resumed at {name}:{line}, which is no line of it"]
    return []


def _lateness(row: Row, number: int, step: Step) -> list[str]:
    expected = row.get("expect")
    if not expected:
        return []
    told = step.told
    where = f"{told['mode']} at {told['resumed_at']}: {told['reason']}"
    if told["mode"] != "resumed":
        return [f"not resumed: {where}"]
    text = expected.removeprefix("resumed").removeprefix(" at ").strip()
    if not text:
        return []
    name, _, line = str(told["resumed_at"]).rpartition(":")
    for path, content in row.versions[number].items():
        if Path(path).name != name:
            continue
        lines = content.splitlines()
        first, *others = text.split(" | ")
        at = [i for i, one in enumerate(lines, 1) if first in one]
        here = lines[int(line) - 1] if int(line) <= len(lines) else ""
        if (at and int(line) >= at[0]) or any(other in here for other in others):
            return []
    return [f"resumed before {text!r}: {where}"]
