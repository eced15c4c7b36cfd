"""Looking at a tree of processes hundreds of times a second, for next to nothing.

Who is in the tree changes only when a process is made, and the kernel tells which number it gave
out last; so the tree is walked again only then. What a process has is read from a file that stays
open.
"""

from __future__ import annotations

import os
import time

from zeroin.run import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds after which a process whose number was given out surely hangs below its parent.
SETTLED = 0.05
MOST_OPEN = 64  # files


class Glance:
    """All below a process."""

    def __init__(self, pid: int, walk: Callable[[int], list[int]] = tree.descendants) -> None:
        self._pid = pid
        self._walk = walk
        self._pids: list[int] = []
        self._given_out = b""
        self._changed = 0.0
        self._files: dict[int, int] = {}
        try:
            self._load = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # another kind of /proc
            self._load = -1

    def members(self) -> list[int]:
        """As `tree.descendants`; some of them may have ended."""
        now = time.monotonic()
        given_out = self._last_given_out()
        if given_out != self._given_out:
            self._given_out, self._changed = given_out, now
        if not given_out or now - self._changed < SETTLED:
            self._pids = self._walk(self._pid)
            for gone in self._files.keys() - self._pids:
                os.close(self._files.pop(gone))
        return self._pids

    def memory(self, pid: int) -> int:
        """As `tree.memory`."""
        file = self._files.get(pid)
        if file is None:
            if pid not in self._pids or len(self._files) >= MOST_OPEN:
                return tree.memory(pid)
            try:
                file = os.open(f"/proc/{pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return 0
            self._files[pid] = file
        try:
            return int(os.pread(file, 128, 0).split(None, 2)[1]) * tree.PAGE
        except (OSError, IndexError):  # it has ended
            return 0

    def _last_given_out(self) -> bytes:
        """Empty where that is not told."""
        if self._load < 0:
            return b""
        number = os.pread(self._load, 128, 0).rpartition(b" ")[2].strip()
        return b"" if number == b"0" else number
