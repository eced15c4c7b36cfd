"""Folders of ours that go with us, however we go."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile

from zeroin.emulate.values import free_memory
from zeroin.run import tree
from zeroin.run.limit_guard import LimitGuard

MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own in there, as private as any
LITTLE = 0.05  # of the memory that is free


class OwnFolder:
    """One of our own, until it is closed or its owner and all its workers have ended.

    Those go as well whose owners were killed together with the guards that remove them.
    """

    def __init__(self, prefix: str, base: str = "") -> None:
        base = base or tempfile.gettempdir()
        for place in {base, MEMORY}:
            for name in os.listdir(place) if os.path.isdir(place) else ():
                pid = name.removeprefix(prefix).partition("-")[0]
                if name.startswith(prefix) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
                    _remove_left(os.path.join(place, name))
        self.path = tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=base)
        # Held as long as we live, and our workers: the processes of another container are not to
        # be seen in /proc, but may have their folders here.
        self._lock = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        # Workers are copies of us, with our end of its pipe: it waits for them, too.
        self._guard = LimitGuard((), os.path.basename(self.path), [self.path])
        tree.HELPERS.add(self._guard.pid)

    def close(self) -> None:
        """Nobody needs it any more."""
        if self._lock < 0:
            return
        _remove(self.path)
        self._guard.close()
        tree.HELPERS.discard(self._guard.pid)
        os.close(self._lock)
        self._lock = -1


def _remove(folder: str) -> None:
    """The folders in it at the same time: there may be many thousands of files."""
    folders = [entry.path for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)]
    removers = [
        subprocess.Popen(["rm", "-rf", "--", one], stderr=subprocess.DEVNULL) for one in folders
    ]
    for one in removers:
        one.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _remove_left(folder: str) -> None:
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return  # gone, or somebody else's
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(opened)


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
