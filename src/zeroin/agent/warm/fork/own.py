"""Memory of our own, ahead of its first use.

What a forked process writes to is copied page by page, at a fault each; a program of many objects
does that to all of them when it ends. While a runner waits, nobody waits for it: it can have the
copies made by then.
"""

from __future__ import annotations

from . import native, proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Callable

PART = 4 << 20  # bytes at a time: an order may come
FULL = 0.9  # of a mapping must be in memory: what was never touched shall not come to be


def make(limit: int, is_enough: Callable[[], bool]) -> int:
    """Copy no more than so many bytes, until something else is to be done; how many it were."""
    done = 0
    for start, end in _mapped():
        for at in range(start, end, PART):
            size = min(PART, end - at)
            if is_enough() or done + size > limit or not native.make_own(at, size):
                return done
            done += size
    return done


def _mapped() -> Iterator[tuple[int, int]]:
    """Private memory without a file, as good as all of it in use."""
    found: tuple[int, int] | None = None
    for line in proc.read("/proc/self/smaps").splitlines():
        words = line.split()
        if b"-" in words[0] and not words[0].endswith(b":"):
            plain = words[1] == b"rw-p" and words[5:] in ([], [b"[heap]"])
            start, _, end = words[0].partition(b"-")
            found = (int(start, 16), int(end, 16)) if plain else None
        elif words[0] == b"Rss:" and found is not None:
            if int(words[1]) * 1024 >= FULL * (found[1] - found[0]):
                yield found
            found = None
