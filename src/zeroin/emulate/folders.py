"""The folders that limits lie on: one that is not there yet is made, and taken away again.

A program makes the folder for its checkpoints itself, but only what is there can be covered. What
is written goes elsewhere, so the folder is still empty at the end of the run, and is removed then.
Runs at the same time may need the same one: each holds a lock on it, and who is not the last
to use it leaves it alone.
"""

from __future__ import annotations

import fcntl
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ROUND = 0.02  # seconds between two tries


class LimitFolders:
    """Those of one run. Remove them in any case."""

    def __init__(self) -> None:
        self.made: list[str] = []  # the outermost first
        self._held: list[int] = []

    def take(self, path: str) -> None:
        """Make a folder that is not there, with those above it; OSError if that can't be."""
        while True:
            self._make(path)
            held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(held, fcntl.LOCK_SH)
            except OSError:  # a network file system without locks
                pass
            if os.fstat(held).st_nlink:  # nobody has removed it meanwhile
                self._held.append(held)
                return
            os.close(held)

    def _make(self, path: str) -> None:
        for one in missing_folders(path):
            try:
                os.mkdir(one)
            except FileExistsError:  # another run was quicker
                continue
            self.made.append(one)

    def remove(self) -> None:
        """Take away what is still empty, and what nobody else uses."""
        for held in self._held:
            os.close(held)
        self._held = []
        remove_empty(self.made)
        self.made = []


def missing_folders(path: str) -> list[str]:
    """That folder and those above it which are not there, the outermost first."""
    missing = []
    path = os.path.realpath(path)
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing[::-1]


def remove_empty(folders: Sequence[str], patience: float = 0.0) -> None:
    """Take away those that are empty, the innermost first; others are in use.

    After a kill, processes that are about to end may still hold a lock: `patience` is how many
    seconds they have.
    """
    until = time.monotonic() + patience
    left = [path for path in reversed(folders) if not _remove_one(path)]
    while left and time.monotonic() < until:
        time.sleep(ROUND)
        left = [path for path in left if not _remove_one(path)]


def _remove_one(path: str) -> bool:
    """Whether it is gone."""
    try:
        held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:  # the program has removed it
        return True
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rmdir(path)
    except OSError:  # something was written to it, or another run needs it
        return False
    finally:
        os.close(held)
    return True
