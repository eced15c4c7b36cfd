"""How often each probe was reached: counted in memory that the driver reads.

Each process has a file of its own in the run's folder, with four numbers a probe. They are there
also after `kill -9`, in a child that ends by `os._exit`, and while the program still runs. What
counts without our being called (see `Counter.step`) is written down when the process ends: the
first number of the file is 1 then. A process that is killed has not come to that.
"""

from __future__ import annotations

import os
from itertools import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What is counted of a probe, in this order.
KINDS = ("reached", "acted", "raised", "called")
WORD = 8
PREFIX = "probes-"

_numbers: Any = None  # the file, as a list of numbers
_counters: list[Counter] = []


class Counter:
    """One number, which grows by one: threads don't lose any, and a fork begins at zero."""

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.base = 0
        self._count = count(1)
        # In C, without arguments: where only counting is left, code calls this and nothing else.
        self.step = self._count.__next__
        _counters.append(self)

    def add(self) -> int:
        """One more; returns which one it is."""
        number = self.step() - self.base
        if _numbers is not None:
            _numbers[self.slot] = number
        return number

    def value(self) -> int:
        """How many so far."""
        return int(repr(self._count)[6:-1]) - 1 - self.base

    def write(self) -> None:
        """Put it where the driver looks."""
        if _numbers is not None:
            _numbers[self.slot] = self.value()


def begin(folder: str, probes: int) -> None:
    """Called once, before anything is counted."""
    import atexit

    _open(folder, probes)
    os.register_at_fork(after_in_child=lambda: _begin_anew(folder, probes))
    atexit.register(write)
    _write_before_leaving()


def counters(probe: int) -> list[Counter]:
    """Make those of one probe, in the order of `KINDS`."""
    return [Counter(1 + probe * len(KINDS) + at) for at in range(len(KINDS))]


def write() -> None:
    """Write all numbers down."""
    for one in _counters:
        one.write()
    if _numbers is not None:
        _numbers[0] = 1


def size(probes: int) -> int:
    """How many bytes the file has."""
    return WORD * (1 + probes * len(KINDS))


def _open(folder: str, probes: int) -> None:
    """A file of this process's own: a fork would write into its parent's."""
    global _numbers  # noqa: PLW0603 - one a process
    import mmap

    _numbers = None
    name = f"{folder}/{PREFIX}{os.getpid()}-{os.urandom(4).hex()}"
    try:
        fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:  # the run is over, and we are a daemon that it left
        return
    try:
        os.ftruncate(fd, size(probes))
        _numbers = memoryview(mmap.mmap(fd, size(probes))).cast("Q")
    finally:
        os.close(fd)


def _begin_anew(folder: str, probes: int) -> None:
    for one in _counters:
        one.base += one.value()
    _open(folder, probes)


def _write_before_leaving() -> None:
    """`os._exit` runs nothing else: children of multiprocessing end by it."""
    plain = os._exit

    def _exit(status: int) -> Any:
        write()
        plain(status)

    os._exit = _exit
