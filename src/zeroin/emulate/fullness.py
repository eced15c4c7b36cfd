"""How full a small file system was while the command ran: what is deleted again is not seen later.

Run by the guard, which looks at it through a process of the command's. A program that fills it,
notices and tidies up within milliseconds can be missed.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.emulate.part import Eyes

FASTEST = 4e9  # bytes a second that could be written at most,
SOONEST, LATEST = 0.002, 0.1  # and so the seconds until it is worth looking again,
IDLE = 0.01  # or this, while nothing is written


class Fullness:
    """Looks at the file system that lies on a folder in the command's namespace."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._real = os.stat(path).st_dev
        self._fd = -1
        self._used = self._peak = 0
        self._files_left = self._fewest_left = 0
        self._was_full = False
        self._wait = SOONEST

    def look(self, eyes: Eyes, now: float) -> float:
        """Look once."""
        del now
        if self._fd < 0 and not self._find(eyes):
            return SOONEST
        before = self._used
        room = self._see()
        soon = min(max(room / FASTEST, SOONEST), LATEST)
        self._wait = soon if self._used != before else max(soon, min(2 * self._wait, IDLE))
        return self._wait

    def _find(self, eyes: Eyes) -> bool:
        for pid in eyes.members():
            try:
                fd = os.open(f"/proc/{pid}/root{self._path}", os.O_PATH | os.O_CLOEXEC)
            except OSError:  # it has ended, or may not be looked at
                continue
            if os.fstat(fd).st_dev != self._real:
                self._fd = fd
                self._fewest_left = os.fstatvfs(fd).f_ffree
                return True
            os.close(fd)  # nothing lies on it yet
        return False

    def _see(self) -> int:
        """The bytes that are left."""
        now = os.fstatvfs(self._fd)
        self._used = (now.f_blocks - now.f_bfree) * now.f_frsize
        self._peak = max(self._peak, self._used)
        self._was_full = self._was_full or not now.f_bfree
        self._files_left = now.f_ffree
        self._fewest_left = min(self._fewest_left, now.f_ffree)
        return now.f_bfree * now.f_frsize

    def told(self) -> Mapping[str, Any]:
        """Only what is not seen at the end: to tell takes longer than to look."""
        if self._fd < 0:
            return {}
        self._see()
        if self._peak <= self._used and self._fewest_left >= self._files_left:
            return {}
        return {"peak": self._peak, "full": self._was_full, "files_left": self._fewest_left}
