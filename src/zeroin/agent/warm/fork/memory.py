"""Memory that is shared with other processes: a fork would share it with the snapshot, too.

Only one kind is let through and carried: the semaphores of multiprocessing's locks (tqdm makes
one for its bars). Nobody else can reach them, their names are gone at once.
"""

from __future__ import annotations

import os

from . import native, proc

# struct procmap_query of linux/fs.h (6.11): eleven words and more, the first five of interest.
QUERY = 0xC0686611
QUERY_SIZE = 104
WRITABLE_AND_SHARED = 0x02 | 0x08
THIS_OR_NEXT = 0x10
SEMAPHORE = "/dev/shm/sem."  # noqa: S108 - where the C library keeps them
DELETED = " (deleted)"
ANONYMOUS = f"/dev/zero{DELETED}"

_carried: set[int] = set()  # semaphores that `renew` has put at these addresses


class Semaphore:
    """A page of memory, and what was in it."""

    def __init__(self, start: int, end: int, content: bytes) -> None:
        self.start = start
        self.end = end
        self.content = content


def reason() -> str | None:
    """Say which memory is shared with others; None if none is."""
    for start, _, path in _shared():
        if not _is_semaphore(start, path):
            return f"shared memory is mapped ({_called(path)})"
    return None


def _called(path: str) -> str:
    return "anonymous" if path == ANONYMOUS else proc.shown(path)


def _is_semaphore(start: int, path: str) -> bool:
    if start in _carried and path == ANONYMOUS:
        return True
    return path.startswith(SEMAPHORE) and path.endswith(DELETED) and native.can_map()


def _shared() -> list[tuple[int, int, str]]:
    if not _has_shared():
        return []
    return [
        (start, end, path)
        for start, end, permissions, path in proc.mappings()
        if permissions[1:2] == b"w" and permissions[3:4] == b"s"
    ]


def _has_shared() -> bool:
    """Ask the kernel for the first one: the list of all takes milliseconds in a large process."""
    import fcntl

    try:
        fd = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    question = bytearray(QUERY_SIZE)
    question[0:8] = QUERY_SIZE.to_bytes(8, "little")
    question[8:16] = (WRITABLE_AND_SHARED | THIS_OR_NEXT).to_bytes(8, "little")
    try:
        fcntl.ioctl(fd, QUERY, question)
    except FileNotFoundError:
        return False
    except OSError:  # an older kernel
        return True
    finally:
        os.close(fd)
    return True


def capture() -> list[Semaphore]:
    """Note the semaphores and their values."""
    found = []
    rows = _shared()
    if not rows:
        return []
    memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        for start, end, path in rows:
            if _is_semaphore(start, path):
                found.append(Semaphore(start, end, os.pread(memory, end - start, start)))
    finally:
        os.close(memory)
    return found


def renew(semaphores: list[Semaphore]) -> bool:
    """Put semaphores of our own, with the same values, in their places."""
    if not semaphores:
        return True
    memory = os.open("/proc/self/mem", os.O_RDWR | os.O_CLOEXEC)
    try:
        for one in semaphores:
            if not native.map_afresh(one.start, one.end - one.start):
                return False
            os.pwrite(memory, one.content, one.start)
            _carried.add(one.start)
    finally:
        os.close(memory)
    return True
