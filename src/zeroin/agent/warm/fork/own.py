"""Memory of our own, ahead of its first use.

What a forked process writes to is copied page by page, at a fault each; a program of many objects
does that to all of them when it ends. While a runner waits, nobody waits for it: it can have the
copies made by then.
"""

from __future__ import annotations

import os

from . import native, proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Callable

PART = 4 << 20  # bytes at a time: an order may come
FULL = 0.9  # of it must be in memory: what was never touched shall not come to be
PAGE, PIECE = os.sysconf("SC_PAGE_SIZE"), 64  # bytes; pages that are looked at together
PAGEMAP, ENTRY = "/proc/self/pagemap", 8  # bytes a page, the last of them from 0x80 on if present
ABSENT = bytes(range(0x80))


def make(limit: int, is_enough: Callable[[], bool]) -> int:
    """Copy no more than so many bytes, until something else is to be done; how many it were."""
    done = 0
    for start, end, is_full in _mapped():
        for at in range(start, end, PART):
            size = min(PART, end - at)
            if is_enough():
                return done
            for first, count in ((at, size),) if is_full else _in_use(at, size):
                if done + count > limit or not native.make_own(first, count):
                    return done
                done += count
    return done


def _mapped() -> Iterator[tuple[int, int, bool]]:
    """Private memory without a file that is in use at all, and whether as good as all of it is."""
    found: tuple[int, int] | None = None
    for line in proc.read("/proc/self/smaps").splitlines():
        words = line.split()
        if b"-" in words[0] and not words[0].endswith(b":"):
            plain = words[1] == b"rw-p" and words[5:] in ([], [b"[heap]"])
            start, _, end = words[0].partition(b"-")
            found = (int(start, 16), int(end, 16)) if plain else None
        elif words[0] == b"Rss:" and found is not None:
            used, size = int(words[1]) * 1024, found[1] - found[0]
            if used:
                yield found[0], found[1], used >= FULL * size
            found = None


def _in_use(at: int, size: int) -> Iterator[tuple[int, int]]:
    """Neighbours are one mapping for the kernel: an arena of objects, and room never touched."""
    try:
        fd = os.open(PAGEMAP, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # some containers don't have it
        return
    try:
        pages = os.pread(fd, size // PAGE * ENTRY, at // PAGE * ENTRY)[ENTRY - 1 :: ENTRY]
    except OSError:
        return
    finally:
        os.close(fd)
    for first in range(0, len(pages), PIECE) if pages.translate(None, ABSENT) else ():
        piece = pages[first : first + PIECE]
        if len(piece.translate(None, ABSENT)) >= FULL * len(piece):
            yield at + first * PAGE, len(piece) * PAGE
