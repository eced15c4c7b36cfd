"""Folders of ours that go with us, however we go."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile

from zeroin.emulate.values import free_memory
from zeroin.run import tree
from zeroin.run.leftovers import hold_folder, remove_left
from zeroin.run.limit_guard import LimitGuard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own in there, as private as any
LITTLE = 0.05  # of the memory that is free


class OwnFolder:
    """One of our own, until it is closed or its owner and all its workers have ended.

    Those go as well whose owners were killed together with the guards that remove them.
    """

    def __init__(self, prefix: str, base: str = "") -> None:
        base = base or tempfile.gettempdir()
        for place in {base, MEMORY}:
            remove_left(place, prefix)
        lock = None
        while lock is None:
            self.path = os.path.join(base, f"{prefix}{os.getpid()}-{os.urandom(6).hex()}")
            # Before the folder: whenever we are killed, there is somebody to remove it. Workers are
            # copies of us, with our end of the guard's pipe: it waits for them, too.
            self._guard = LimitGuard((), os.path.basename(self.path), [self.path], wait=True)
            tree.HELPERS.add(self._guard.pid)
            try:
                os.mkdir(self.path, 0o700)
                # Held as long as we live, and our workers: the processes of another container are
                # not to be seen in /proc, but may have their folders here.
                lock = hold_folder(self.path)
            finally:
                if lock is None:
                    self._guard.close()
                    tree.HELPERS.discard(self._guard.pid)
        self._lock = lock

    @property
    def mark(self) -> str:
        """What ends with us if we are killed, besides the folder: see `limit_guard.MARK`."""
        return os.path.basename(self.path)

    def close(self) -> None:
        """Nobody needs it any more."""
        if self._lock < 0:
            return
        _remove(self.path)
        self._guard.close()
        tree.HELPERS.discard(self._guard.pid)
        os.close(self._lock)
        self._lock = -1


@contextlib.contextmanager
def own_temporaries(prefix: str) -> Iterator[None]:
    """While it lasts, all that `tempfile` makes is in a folder that goes with us."""
    before = tempfile.tempdir
    own = OwnFolder(prefix)
    tempfile.tempdir = own.path
    try:
        yield
    finally:
        tempfile.tempdir = before
        own.close()


def _remove(folder: str) -> None:
    """The folders in it at the same time: there may be many thousands of files."""
    folders = [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    removers = [
        subprocess.Popen(["rm", "-rf", "--", one], stderr=subprocess.DEVNULL) for one in folders
    ]
    for one in removers:
        one.wait()
    shutil.rmtree(folder, ignore_errors=True)


def quick_base(size: int = 0) -> str:
    """For many small things that come and go: in memory, if programs can be started there.

    `size` is about how many bytes they have together: they shall take little of what is free.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return tempfile.gettempdir()
    there = os.statvfs(MEMORY)
    free = min(there.f_bavail * there.f_frsize, free_memory())
    if there.f_flag & os.ST_NOEXEC or size > LITTLE * free:
        return tempfile.gettempdir()
    return MEMORY
