"""What a piece of work cost: seconds on the clock, memory that stayed, and the most it held.

The kernel keeps the high-water mark of a process; it is set back before the work begins, so
that the peak is exact and nothing has to be sampled meanwhile. Where that is forbidden, the
peak is only known when it was the highest ever.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from . import memory


class Cost(NamedTuple):
    """Seconds; bytes that stayed, the most above the start, and in use at the end."""

    seconds: float
    grown: int
    peak: int
    used: int


class Meter:
    """Measures from where it is made: `Meter().read()`."""

    __slots__ = ("_before", "_exact", "_mark", "_started")

    def __init__(self) -> None:
        self._exact = memory.reset_peak()
        self._before, self._mark = memory.resident(), memory.peak()
        self._started = time.perf_counter()

    def read(self) -> Cost:
        """The cost so far."""
        seconds = time.perf_counter() - self._started
        used, peak = memory.resident(), memory.peak()
        if not self._exact and peak <= self._mark:
            peak = used  # the mark is older than the work
        return Cost(seconds, used - self._before, max(0, peak - self._before), used)
