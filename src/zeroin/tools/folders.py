"""Folders of ours that go with us."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile

from zeroin.emulate.values import free_memory

MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own in there, as private as any
LITTLE = 0.05  # of the memory that is free


def own_folder(prefix: str, base: str = "") -> str:
    """One of our own; and those go whose owners were killed."""
    base = base or tempfile.gettempdir()
    for place in {base, MEMORY}:
        for name in os.listdir(place) if os.path.isdir(place) else ():
            pid = name.removeprefix(prefix).partition("-")[0]
            if name.startswith(prefix) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
                _remove_left(os.path.join(place, name))
    made = tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=base)
    # Held as long as we live, and our workers: the processes of another container are not to
    # be seen in /proc, but may have their folders here.
    fcntl.flock(os.open(made, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_SH)
    return made


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
