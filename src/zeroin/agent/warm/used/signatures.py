"""How a path is known again: its kind, its size and time, what is in it.

A save without a change is no change, as far as that can be told cheaply: small files are
hashed when they are first read, within a budget for the whole run.
"""

from __future__ import annotations

import posix
import stat as kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional, Tuple

    Content = Tuple[int, int, int, Optional[int]]  # size, mtime, inode, hash

FILE, FOLDER = kinds.S_IFREG, kinds.S_IFDIR
HASH_BYTES = 1 << 20  # larger files: any save counts as a change
HASH_LEAST = 1 << 14  # what a file takes of the budget at least: opening it costs, too
_hash_budget = 8 << 20  # bytes that may be read again, in all, to tell a save from a change
_lists = True
inodes: set[int] = set()  # of what was read
_PACKAGES = (".dist-info", ".egg-info", ".egg", ".egg-link")
unlisted = {"__pycache__"}  # names that a listing is the same without


def look_no_more() -> None:
    """Open nothing from here on: what is used now, no snapshot depends on."""
    global _hash_budget, _lists
    _hash_budget, _lists = 0, False


def state(path: str) -> posix.stat_result | None:
    """Look without being seen by our own probes."""
    try:
        return posix.stat(path)
    except (OSError, ValueError):
        return None


def kind(found: posix.stat_result | None) -> int | None:
    """File, folder, pipe, ..."""
    return None if found is None else kinds.S_IFMT(found.st_mode)


def link(path: str) -> tuple[int, str] | None:
    """What the path itself is, and where it leads if it's a link."""
    try:
        found = posix.lstat(path)
        leads = posix.readlink(path) if kinds.S_ISLNK(found.st_mode) else ""
    except (OSError, ValueError):
        return None
    return kinds.S_IFMT(found.st_mode), leads


def measure(found: posix.stat_result | None) -> tuple[int, int, int] | None:
    """Give what programs ask `os.stat` for."""
    return None if found is None else (found.st_mode, found.st_size, found.st_mtime_ns)


def content(path: str, found: posix.stat_result | None, hashed: bool) -> Content | None:
    """Tell a file by its size, time and inode; a small one also by what is in it."""
    global _hash_budget  # noqa: PLW0603 - one run, one budget
    if found is None:
        return None
    inodes.add(found.st_ino)
    digest = None
    cost = max(found.st_size, HASH_LEAST)
    if hashed and found.st_size <= HASH_BYTES and cost <= _hash_budget:
        _hash_budget -= cost
        digest = digest_of(path)
    return found.st_size, found.st_mtime_ns, found.st_ino, digest


def digest_of(path: str) -> int | None:
    """Python's own hash will do: all who compare are forks of one process."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except OSError:
        return None
    try:
        parts = []
        while part := posix.read(fd, HASH_BYTES):
            parts.append(part)
        return hash(b"".join(parts))
    except OSError:
        return None
    finally:
        posix.close(fd)


def names(folder: str, deep: int) -> int | None:
    """Hash the names in a folder: 0 without hidden ones, 1 all, 2 with sizes and times.

    -1: only those of packages that are installed there.
    """
    if not _lists:
        return None
    try:
        found = [name for name in posix.listdir(folder) if name not in unlisted]
    except (OSError, ValueError):
        return None
    if deep < 0:
        found = [name for name in found if name.endswith(_PACKAGES)]
    elif deep == 0:
        found = [name for name in found if name[:1] != "."]
    found.sort()
    if deep < 2:
        return hash(tuple(found))
    return hash(tuple([(name, measure(state(f"{folder}/{name}"))) for name in found]))
