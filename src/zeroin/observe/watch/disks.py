"""A disk: how much of it is used, and which files below a folder grow.

A network file system that does not answer stops whoever asks it, for ever. So a thread asks,
and the others go on with what it found last. It goes round the folder in small steps, a few
milliseconds of each second, and looks at files that have grown more often than at others.
"""

from __future__ import annotations

import os
import threading
import time

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

STEP = 0.002  # seconds of looking at files
REST = 1.0  # seconds between two steps
MOST = 100_000  # files that are remembered
HOT = 50  # files that are looked at in each step
LATELY = 10.0  # seconds over which growth is measured
COLD_AFTER = 60.0  # seconds without growth


class Space(NamedTuple):
    """Bytes. What is free is what we may use: a part is often kept for root."""

    total: int
    used: int
    free: int
    files_free: int | None  # None where the file system sets no limit


class Growing(NamedTuple):
    """A file that has grown while we looked."""

    path: str
    size: int
    rate: float  # bytes a second


def space(path: str) -> Space:
    """Ask the file system."""
    found = os.statvfs(path)
    block = found.f_frsize or found.f_bsize
    return Space(
        found.f_blocks * block,
        (found.f_blocks - found.f_bfree) * block,
        found.f_bavail * block,
        found.f_favail if found.f_files else None,
    )


class Disk(threading.Thread):
    """Looks at one folder and the file system it is on, until told to stop."""

    def __init__(self, path: str) -> None:
        super().__init__(name=f"disk {path}", daemon=True)
        self.path = path
        self.space: Space | None = None
        self.at = 0.0  # monotonic; of the last answer
        self.asked_at = time.monotonic()
        self.error = ""
        self.growing: list[Growing] = []
        self._ended = threading.Event()
        self._wake = threading.Event()

    def run(self) -> None:
        """Ask at once whenever somebody wants to know; look at files in between."""
        growth = Growth(self.path)
        due = 0.0
        while not self._ended.is_set():
            self._ask()
            now = time.monotonic()
            if now >= due and not self.error:
                due = now + REST
                growth.step(now)
                self.growing = growth.growing(now)
            self._wake.wait(REST)
            self._wake.clear()

    def ask(self) -> None:
        """Have a fresh answer soon."""
        self._wake.set()

    def stop(self) -> None:
        """End when you can: it may hang."""
        self._ended.set()
        self._wake.set()

    def _ask(self) -> None:
        self.asked_at = time.monotonic()
        try:
            self.space = space(self.path)
            self.error = ""
        except OSError as error:
            self.error = (error.strerror or str(error)).lower()
        self.at = time.monotonic()


class Growth:
    """Which files below a folder grow; on this file system only."""

    def __init__(self, top: str) -> None:
        self.top = top
        self._sizes: dict[str, tuple[int, float]] = {}
        self._hot: dict[str, list[tuple[float, int]]] = {}
        self._walk: Iterator[tuple[str, os.stat_result]] = iter(())

    def step(self, now: float) -> None:
        """Look at those that grow, then at some of the others."""
        for path in list(self._hot):
            self._again(path, now)
        until = time.perf_counter() + STEP
        while time.perf_counter() < until:
            found = next(self._walk, None)
            if found is None:
                self._begin()
                return
            self._first(*found, now)

    def growing(self, now: float) -> list[Growing]:
        """The quickest first."""
        found = []
        for path, points in self._hot.items():
            since, size = points[0]
            if points[-1][1] > size and now - points[-1][0] < LATELY:
                rate = (points[-1][1] - size) / max(now - since, 0.001)
                found.append(Growing(path, points[-1][1], rate))
        return sorted(found, key=lambda one: -one.rate)

    def _begin(self) -> None:
        try:
            device = os.stat(self.top).st_dev
        except OSError:
            return
        self._walk = _files(self.top, device)

    def _first(self, path: str, found: os.stat_result, now: float) -> None:
        size = found.st_size
        before = self._sizes.get(path)
        if before is None:
            if len(self._sizes) < MOST:
                self._sizes[path] = size, now
            # One that was written to just now is worth a second look soon.
            if abs(time.time() - found.st_mtime) < 2 and len(self._hot) < HOT:
                self._hot.setdefault(path, [(now, size)])
        elif size != before[0]:
            self._sizes[path] = size, now
            if size > before[0] and path not in self._hot and len(self._hot) < HOT:
                self._hot[path] = [before[::-1], (now, size)]

    def _again(self, path: str, now: float) -> None:
        points = self._hot[path]
        try:
            size = os.stat(path).st_size
        except OSError:
            del self._hot[path]
            return
        if size < points[-1][1]:  # emptied, or another file
            points.clear()
        if not points or size > points[-1][1]:
            points.append((now, size))
        while len(points) > 2 and points[1][0] < now - LATELY:
            points.pop(0)
        if now - points[-1][0] > COLD_AFTER:
            del self._hot[path]


def _files(top: str, device: int) -> Iterator[tuple[str, os.stat_result]]:
    folders = [top]
    while folders:
        folder = folders.pop()
        try:
            entries = os.scandir(folder)
        except OSError:
            continue
        with entries:
            for entry in entries:
                try:
                    if entry.is_symlink():
                        continue
                    found = entry.stat(follow_symlinks=False)
                    if found.st_dev != device:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.is_file(follow_symlinks=False):
                        yield entry.path, found
                except OSError:
                    continue
