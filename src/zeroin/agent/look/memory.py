"""How much memory this process has, in the counters that the kernel and the allocators keep.

*Resident* is what the kernel counts. *In use* is what malloc has given out and not got back:
numpy's and torch's arrays are in it, whether written to yet or not. *Blocks* are Python's own
small objects, which malloc does not see. The allocator *retains* what is resident and no longer
in use. The *peak* is the kernel's own.
"""

from __future__ import annotations

import gc
import sys
import time
from resource import RUSAGE_SELF, getrusage

from ..memory import in_use, peak, reset_peak, resident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BLOCK = 128  # bytes that a small object may take with what it holds; most take less
NEAR = 1 << 18  # bytes; the kernel counts resident pages in batches
CHEAP = 20e-6  # seconds that a look at the allocators may always take
SHARE = 0.02  # of the time, that they may take together
AT_ONCE = 0.25  # seconds that a look at all objects may always take
NOTHING = 1 << 20  # bytes that are not worth a word


class Level:
    """What this process has at one moment; None for what this machine can't tell."""

    __slots__ = ("blocks", "in_use", "resident")

    def __init__(self, resident: int, in_use: int | None, blocks: int | None) -> None:
        self.resident = resident
        self.in_use = in_use
        self.blocks = blocks


class Budget:
    """What looking at the allocators may cost: they walk through lists that may be long."""

    def __init__(self) -> None:
        self.since = time.perf_counter()
        self.spent = 0.0
        self.last = 0.0  # seconds that the last look took

    def allows(self) -> bool:
        """Whether a look is cheap, or what was spent on them so far is little."""
        if self.last < CHEAP:
            return True
        return self.spent < SHARE * (time.perf_counter() - self.since)

    def level(self, deep: bool) -> Level:
        """Read the counters; those of the allocators only if `deep`."""
        if not deep:
            return Level(resident(), None, None)
        started = time.perf_counter()
        used = in_use()
        blocks = sys.getallocatedblocks()
        self.last = time.perf_counter() - started
        self.spent += self.last
        return Level(resident(), used, blocks)


def retained(grown: int, in_use: int | None, blocks: int | None) -> int:
    """Give how much of the growth is kept by the allocator only, as far as that is sure."""
    if in_use is None or blocks is None:
        return 0
    return max(0, grown - max(0, in_use) - BLOCK * max(0, blocks))


def collections() -> int:
    """How often all objects were looked through for garbage."""
    return int(gc.get_stats()[2]["collections"])


# --- the peak ----------------------------------------------------------------------------------


class Peaks:
    """The peak inside each open section. There is one counter, so what it had goes to all.

    Where the process had more before, the counter does not move: the peak is not told then,
    unless it may be set back, which changes what everybody else reads of it.
    """

    def __init__(self) -> None:
        self.open: list[Any] = []  # with the attributes `peak` and `hidden`
        # What `getrusage` tells includes the peak of the program before exec: up to here it says
        # nothing, and `status` is read, which takes far longer. None before the first look.
        self.inherited: int | None = None

    def begin(self, span: Any, now: int, may_reset: bool) -> None:
        """Count for this one from now on, when so much is resident."""
        high = self._note()
        # Where the peak is now, there is nothing to reset: most sections of a loop.
        hides = high - now > NEAR and not (may_reset and self._reset(now))
        span.peak, span.hidden = now, high if hides else 0
        self.open.append(span)

    def end(self, span: Any) -> int | None:
        """Give its peak; None where that can't be told."""
        self._note()
        self.open = [one for one in self.open if one is not span]
        return int(span.peak) if span.peak > span.hidden else None

    def _note(self) -> int:
        high = self._read()
        for one in self.open:
            one.peak = max(one.peak, high)
        return high

    def _reset(self, now: int) -> bool:
        done = reset_peak()
        left = getrusage(RUSAGE_SELF).ru_maxrss * 1024
        if done and left - now > 4 * NEAR:
            self.inherited = left
        return done

    def _read(self) -> int:
        high = getrusage(RUSAGE_SELF).ru_maxrss * 1024
        if self.inherited is None:
            known = peak()
            self.inherited = high if 0 < known < high - 4 * NEAR else 0
            return known if self.inherited else high
        return high if high > self.inherited else peak() or high
