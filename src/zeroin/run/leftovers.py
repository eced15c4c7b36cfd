"""Folders that runs make for themselves, held by a lock; and what killed runs have left of them.

Who has made a folder holds a shared lock of it until its end. That also tells of processes that
can't be seen here, in another pid namespace that has the same temp folder. A folder is left over
if it is ours and for us alone, nobody holds it, and its maker is gone.
"""

from __future__ import annotations

import fcntl
import os
import stat

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def hold_folder(path: str) -> int | None:
    """Lock a folder that we have just made; None if somebody has taken it for a left one."""
    try:
        fd = os.open(path, _FOLDER)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(fd), os.lstat(path)):
            return fd
    except FileNotFoundError:  # it has been removed meanwhile
        pass
    except BlockingIOError:  # it is being removed
        pass
    except OSError:  # a file system without locks: there, nobody gets one to remove it either
        return fd
    os.close(fd)
    return None


def remove_left(parent: str, prefix: str = "") -> None:
    """Remove the folders `PREFIX<pid>-...` in a folder that killed runs of ours have left."""
    try:
        names = os.listdir(parent)
    except OSError:
        return
    for name in names:
        pid = name.removeprefix(prefix).partition("-")[0]
        if name.startswith(prefix) and pid.isascii() and pid.isdigit() and is_gone(int(pid)):
            _remove_unheld(os.path.join(parent, name))


def is_private(info: os.stat_result) -> bool:
    """Whether this is a folder of ours that nobody else can write to."""
    return (
        stat.S_ISDIR(info.st_mode)
        and info.st_uid == os.geteuid()
        and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def is_gone(pid: int) -> bool:
    """Whether a process has ended; a zombie has, though nobody has asked for its exit code yet."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except (OSError, IndexError):
        return not os.path.exists(f"/proc/{pid}")


def _remove_unheld(path: str) -> None:
    try:
        fd = os.open(path, _FOLDER)
    except OSError:
        return  # gone, a link, no folder, or somebody else's
    try:
        if is_private(os.fstat(fd)):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            import shutil

            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return  # held, or on a file system without locks
    finally:
        os.close(fd)
