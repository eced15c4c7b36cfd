"""Processes on their way out: waited for, and made to go if they don't.

What loses its parent below us becomes ours (we are a subreaper), so every one of them can be
waited for, and none is left as a zombie.
"""

from __future__ import annotations

import os
import signal
import time

from zeroin.run import tree

PATIENCE = 1.0  # seconds from the end of its line to the end of a process


class Leaving:
    """The processes of an engine that it has let go of."""

    def __init__(self, keep: set[int]) -> None:
        self._keep = keep  # see `Aside`: told apart from the program's until they are gone
        self._since: dict[int, float] = {}

    def add(self, pid: int) -> None:
        """Its line is closed, so it ends."""
        if pid:
            self._since.setdefault(pid, time.monotonic())

    def tidy(self, program: int = 0) -> None:
        """Wait for those that have ended, strangers too, but for the program itself."""
        now = time.monotonic()
        below = tree.descendants(os.getpid()) if self._since else []
        # What a snapshot has forked, and what has not called yet, is known by its group.
        groups = {one: _group(one) for one in below if one not in self._keep}
        spared = _group(program)
        for pid, since in list(self._since.items()):
            forked = [one for one, group in groups.items() if one != pid and group == pid != spared]
            left = [one for one in (pid, *forked) if not _gone(one)]
            if not left:
                del self._since[pid]
                self._keep.discard(pid)
            elif now - since > PATIENCE:
                for one in {*left}.intersection(below):
                    _kill(one)
        for pid in tree.descendants(os.getpid()):
            if pid != program and pid not in self._keep and tree.is_zombie(pid):
                _gone(pid)

    def empty(self) -> None:
        """Come back when all are gone."""
        until = time.monotonic() + 3 * PATIENCE
        self.tidy()
        while self._since and time.monotonic() < until:
            time.sleep(0.002)
            self.tidy()


def is_ours(pid: int, limit: float = PATIENCE) -> bool:
    """Whether it is our child; one that has just lost its parent becomes it in a moment."""
    until = time.monotonic() + limit
    while _stat(pid, 1) != os.getpid():
        if time.monotonic() > until or tree.is_zombie(pid):
            return False
        time.sleep(0.001)
    return True


def is_younger(pid: int, other: int) -> bool:
    """Whether `pid` started after `other`, as far as the kernel's clock of 10 ms can tell."""
    return _stat(pid, 19) >= _stat(other, 19) > 0


def end(pid: int) -> None:
    """At once, if it is below us."""
    if pid in tree.descendants(os.getpid()):
        _kill(pid)


def _stat(pid: int, field: int) -> int:
    """A field of /proc/pid/stat, counted from the state."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[field])
    except (OSError, IndexError, ValueError):
        return 0


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid) if pid else 0
    except ProcessLookupError:
        return 0


def _gone(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:  # the program's child, as long as that lives
        return tree.is_zombie(pid)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
