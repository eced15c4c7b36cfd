"""A `zeroin loop` to measure: save a file, wait for the outcome, look at its processes."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.measure import CommandFailedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from bench.scene import Scene

LIMIT = 180.0  # seconds for an outcome
ENOUGH = 10.0  # seconds for a loop to end


class Outcome(NamedTuple):
    """What came of a save."""

    seconds: float  # from the save to the line with the outcome
    line: dict[str, Any]
    shown: str  # the program's output in this iteration


class Loop:
    """One that is driven over `--json`; a context manager."""

    def __init__(self, scene: Scene, folder: str, words: Sequence[str], *options: str) -> None:
        self.folder = folder
        self._shown_to = os.path.join(folder, ".shown")
        self._read = 0
        self._rest = b""
        with open(self._shown_to, "wb") as errors:
            self.process = subprocess.Popen(
                [scene.zeroin, "loop", "--json", *options, "--", *words],
                cwd=folder,
                env=scene.env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(ENOUGH)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for end in (self.process.stdin, self.process.stdout):
            if end is not None:
                end.close()

    def first(self, limit: float = LIMIT) -> Outcome:
        """The run that the loop begins with."""
        return self._outcome(time.perf_counter(), limit)

    def save(self, name: str, text: str, limit: float = LIMIT) -> Outcome:
        """Write a file; what comes of it."""
        path = os.path.join(self.folder, name)
        started = time.perf_counter()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return self._outcome(started, limit)

    def say(self, word: str, limit: float = LIMIT) -> Outcome:
        """A word on its stdin; what comes of it."""
        assert self.process.stdin is not None
        started = time.perf_counter()
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()
        return self._outcome(started, limit)

    def next(self, started: float, limit: float = LIMIT) -> Outcome:
        """What comes of something that was done to a file at that time."""
        return self._outcome(started, limit)

    def _outcome(self, started: float, limit: float) -> Outcome:
        line = json.loads(self._line(started + limit))
        seconds = time.perf_counter() - started
        with open(self._shown_to, "rb") as file:
            file.seek(self._read)
            shown = file.read()
        self._read += len(shown)
        return Outcome(seconds, line, shown.decode("utf-8", "replace"))

    def _line(self, until: float) -> bytes:
        assert self.process.stdout is not None
        fd = self.process.stdout.fileno()
        while b"\n" not in self._rest:
            left = until - time.perf_counter()
            ready, _, _ = select.select([fd], [], [], max(0.0, left))
            data = os.read(fd, 1 << 16) if ready else b""
            if not data:
                raise CommandFailedError("the loop has ended" if ready else "no outcome in time")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    # --- its processes ------------------------------------------------------------------------

    def kept(self) -> list[int]:
        """Its snapshots and the runners that wait."""
        return children(self.process.pid)

    def footprint(self) -> Footprint:
        """Everything the loop holds at this moment."""
        kept = self.kept()
        every = [self.process.pid, *kept]
        return Footprint(
            len(kept),
            sum(memory(pid)["Pss"] for pid in every),
            len(os.listdir(f"/proc/{self.process.pid}/fd")),
            memory(self.process.pid)["Pss"],
        )

    def settled(self, seconds: float = 5.0) -> Footprint:
        """The same once nothing comes or goes any more."""
        until = time.monotonic() + seconds
        before = self.kept()
        while time.monotonic() < until:
            time.sleep(0.4)
            now = self.kept()
            if now == before:
                break
            before = now
        return self.footprint()


class Footprint(NamedTuple):
    """What a loop holds."""

    processes: int  # beside the driver
    pss: int  # bytes of all of them, each shared page counted once
    descriptors: int  # of the driver
    driver: int  # bytes of the driver alone


def children(pid: int) -> list[int]:
    """All processes below one, those that end right now left out."""
    found: list[int] = []
    queue = [pid]
    while queue:
        one = queue.pop()
        try:
            tasks = os.listdir(f"/proc/{one}/task")
            for task in tasks:
                with open(f"/proc/{one}/task/{task}/children", "rb") as file:
                    queue += (below := list(map(int, file.read().split())))
                found += [child for child in below if _lives(child)]
        except OSError:
            continue
    return sorted(found)


def _lives(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def memory(pid: int) -> dict[str, int]:
    """Bytes of one process: `Rss`, `Pss`, and `Private`, which are free when it is gone."""
    found = {"Rss": 0, "Pss": 0, "Private": 0}
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            for line in file:
                name, _, rest = line.partition(":")
                key = "Private" if name.startswith("Private_") else name
                if key in found:
                    found[key] += int(rest.split()[0]) * 1024
    except OSError:
        pass
    return found


def processor(pid: int) -> float:
    """Seconds of processor that a process has used."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def free() -> int:
    """Bytes of memory that may be taken."""
    with open("/proc/meminfo", "rb") as file:
        found = [line for line in file if line.startswith(b"MemAvailable:")]
    return int(found[0].split()[1]) * 1024 if found else 0
