"""The folder of packages and environments that searches share, `~/.cache/zeroin`, and its bound.

Whoever works with it holds a lock, shared with others. Only who gets the lock alone removes
something: what was not used for the longest time goes first, and never what is in use.
"""

from __future__ import annotations

import fcntl
import os
import shutil

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PINS = "pins"  # for each interpreter a folder, in it one for each release
EDITABLE = "editable"  # one folder for each environment, and a lock beside it
LOCK = ".in-use"
MAKING = ".making-"  # what its maker has not finished, or somebody has begun to remove


class CacheEntry(NamedTuple):
    """A release or an environment."""

    path: str
    used: float  # when it was last needed
    size: int  # bytes on the disk


class CacheReport(NamedTuple):
    """What was removed, and what is left."""

    folder: str
    before: int
    after: int
    removed: int  # releases and environments
    is_busy: bool  # another zeroin works with it, so nothing was removed


def cache_folder(environ: Mapping[str, str]) -> str:
    """`$XDG_CACHE_HOME/zeroin`."""
    home = environ.get("HOME") or os.path.expanduser("~")
    return os.path.join(environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache"), "zeroin")


def mark_used(path: str) -> None:
    """Note that an entry is needed now."""
    try:
        os.utime(path)
    except OSError:  # somebody else's, or not there
        return


class CacheUse:
    """Holds the cache from now on: nobody removes anything until `close`, or our end.

    Before that it is brought below the bound, if nobody else is working with it.
    """

    def __init__(self, environ: Mapping[str, str], bound: int) -> None:
        folder = cache_folder(environ)
        os.makedirs(folder, exist_ok=True)
        self._lock = _open_lock(folder)
        if _lock_alone(self._lock):
            _shrink(folder, bound)
        _lock_shared(self._lock)

    def close(self) -> None:
        """Let others remove what is there."""
        os.close(self._lock)


def collect_cache(environ: Mapping[str, str], bound: int) -> CacheReport:
    """Remove what is beyond the bound, unless somebody is working with it."""
    folder = cache_folder(environ)
    before = sum(entry.size for entry in _entries(folder))
    if not os.path.isdir(folder):
        return CacheReport(folder, 0, 0, 0, is_busy=False)
    if before <= bound and not list(_unfinished(folder)):
        return CacheReport(folder, before, before, 0, is_busy=False)
    lock = _open_lock(folder)
    try:
        if not _lock_alone(lock):
            return CacheReport(folder, before, before, 0, is_busy=True)
        removed = _shrink(folder, bound)
        return CacheReport(
            *(folder, before, sum(entry.size for entry in _entries(folder)), removed),
            is_busy=False,
        )
    finally:
        os.close(lock)


def _open_lock(folder: str) -> int:
    return os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock_alone(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # in use, or a file system without locks
        return False
    return True


def _lock_shared(lock: int) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_SH)
    except OSError:  # likewise: there, nobody gets it alone either
        return


def _shrink(folder: str, bound: int) -> int:
    """Remove entries, those that were not used for the longest time first; how many."""
    for path in _unfinished(folder):
        shutil.rmtree(path, ignore_errors=True)
    entries = sorted(_entries(folder), key=lambda entry: entry.used)
    excess = sum(entry.size for entry in entries) - bound
    removed = 0
    for entry in entries:
        if excess <= 0:
            break
        if _remove_entry(entry.path):
            excess -= entry.size
            removed += 1
    return removed


def _remove_entry(path: str) -> bool:
    """Take its name away first, so that nobody ever finds half of it."""
    parent, name = os.path.split(path)
    gone = os.path.join(parent, f"{MAKING}{os.getpid()}-{name}")
    try:
        os.rename(path, gone)
    except OSError:  # a folder that is not ours
        return False
    shutil.rmtree(gone, ignore_errors=True)
    if os.path.exists(f"{path}.lock"):
        os.unlink(f"{path}.lock")
    return True


def _homes(folder: str) -> Iterator[str]:
    """Folders whose folders are entries."""
    pins = os.path.join(folder, PINS)
    yield from (os.path.join(pins, name) for name in _names(pins))
    yield os.path.join(folder, EDITABLE)


def _entries(folder: str) -> list[CacheEntry]:
    found = []
    for home in _homes(folder):
        for name in _names(home):
            path = os.path.join(home, name)
            if not name.startswith(".") and os.path.isdir(path):
                found.append(CacheEntry(path, os.stat(path).st_mtime, _size_of(path)))
    return found


def _unfinished(folder: str) -> Iterator[str]:
    for home in _homes(folder):
        yield from (os.path.join(home, name) for name in _names(home) if name.startswith(MAKING))


def _names(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


def _size_of(path: str) -> int:
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
            except OSError:
                continue
    return total
