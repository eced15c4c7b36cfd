"""The process tree below us: who is in it, how much memory it holds, and ending it."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PAGE = os.sysconf("SC_PAGE_SIZE")
GRACE = 2.0  # seconds between asking a tree to end and making it
HELPERS: set[int] = set()  # processes of ours below us: no part of any tree, nor what is below them


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, parents before children, without `pid` itself."""
    found: list[int] = []
    queue = [pid]
    while queue:
        children = [child for child in _children(queue.pop(0)) if child not in HELPERS]
        found += children
        queue += children
    return found


def _children(pid: int) -> list[int]:
    """Children of all threads of a process: any of them may have forked."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                found += map(int, file.read().split())
    except OSError:  # it has ended, or this is no Linux
        pass
    return found


def memory(pid: int) -> int:
    """Resident bytes of one process now; 0 when it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


def ticks(pid: int) -> int:
    """CPU time of one process, with the children it has waited for."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    except (OSError, IndexError):
        return 0


def high_water(pid: int) -> int:
    """The most resident bytes a process ever had: `ru_maxrss` keeps our own across exec."""
    return _field(f"/proc/{pid}/status", b"VmHWM:")


def proportional(pid: int) -> int:
    """Bytes with shared pages divided among their sharers. Costs milliseconds."""
    return _field(f"/proc/{pid}/smaps_rollup", b"Pss:")


def _field(path: str, name: bytes) -> int:
    try:
        with open(path, "rb") as file:
            for line in file:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class Sampler:
    """Follows the memory of a tree, at a cost of well under a millisecond a sample."""

    MOST = 600  # points of the curve; when full, every second one is dropped

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.peak = 0
        self.last = 0  # bytes when it was last looked
        self.curve: list[tuple[float, int]] = []
        self._high: dict[int, int] = {}
        self._every = 0.0
        self._share = 1.0  # how much of the summed RSS is real when pages are shared
        self._share_due = 0.0

    def sample(self, now: float) -> None:
        """Look once. `now` is seconds since the start."""
        pids = [self.pid, *descendants(self.pid)]
        sizes = {pid: memory(pid) for pid in pids}
        total = sum(sizes.values())
        if len(pids) > 1 and total * self._share > self.peak and now >= self._share_due:
            self._measure_share(pids, total, now)
        total = int(total * self._share) if len(pids) > 1 else total
        self.last = total
        self.peak = max(self.peak, total)
        if not self.curve or now - self.curve[-1][0] >= self._every:
            self.curve.append((round(now, 3), total))
            if len(self.curve) > self.MOST:
                del self.curve[1::2]
                self._every = 2 * (self._every or (now / self.MOST))
        if len(pids) == 1:
            # One process: the kernel's own mark misses nothing between two samples.
            self.peak = max(self.peak, high_water(self.pid))

    def _measure_share(self, pids: list[int], total: int, now: float) -> None:
        """Forked workers share pages; the sum of RSS would count them several times."""
        started = time.monotonic()
        real = sum(map(proportional, pids))
        took = time.monotonic() - started
        if 0 < real <= total:
            self._share = real / total
        self._share_due = now + max(0.5, 30 * took)


def adopt_orphans() -> None:
    """Make processes that lose their parent ours, so that ending the tree misses none."""
    from zeroin.libc import function

    set_child_subreaper = 36
    function("prctl")(set_child_subreaper, 1, 0, 0, 0)


def end(pid: int, *, keep: int = 0) -> None:
    """End everything below `pid`. No orphan is left."""
    end_all(lambda: _alive(pid, keep), GRACE)


def end_all(alive: Callable[[], list[int]], grace: float) -> None:
    """End whatever there is each time one looks: ask, wait a little, then make it."""
    tell(alive(), signal.SIGTERM)
    tell(alive(), signal.SIGCONT)
    deadline = time.monotonic() + grace
    while alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    for _ in range(200):  # a fork bomb loses as well: each round takes all that are there
        if not tell(alive(), signal.SIGKILL):
            return
        time.sleep(0.01)


def _alive(pid: int, keep: int) -> list[int]:
    return [p for p in descendants(pid) if p != keep and not is_zombie(p)]


def tell(pids: Iterable[int], number: int) -> int:
    """Send a signal to each; how many got it."""
    sent = 0
    for process in pids:
        try:
            os.kill(process, number)
            sent += 1
        except (ProcessLookupError, PermissionError):
            continue
    return sent


def is_stopped(pid: int) -> bool:
    """By a signal, such as a process gets in the background when it reads the terminal."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"T"
    except (OSError, IndexError):
        return False


def is_zombie(pid: int) -> bool:
    """Ended, but not waited for yet (or gone altogether)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except (OSError, IndexError):
        return True
