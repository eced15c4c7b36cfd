"""The process tree below us: who is in it, how much memory it holds, and ending it."""

from __future__ import annotations

import os
import signal
import time

TYPE_CHECKING = False
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


def cpu_seconds(pids: Iterable[int]) -> float:
    """CPU time of some processes so far, in seconds."""
    return sum(map(ticks, pids)) / os.sysconf("SC_CLK_TCK")


def high_water(pid: int) -> int:
    """The most resident bytes a process ever had: `ru_maxrss` keeps our own across exec."""
    return _field(f"/proc/{pid}/status", b"VmHWM:")


def together(pids: Iterable[int]) -> int:
    """Resident bytes of some processes, with what they share counted once. Costs milliseconds.

    Memory of their own is divided among its sharers by the kernel, and these are all here: who
    forked it. Files are shared with strangers as well, so they count at least as the process counts
    that has most of them.
    """
    own, files, most = 0, 0, 0
    for pid in pids:
        told = _rollup(pid)
        if "Pss_Anon" not in told:  # not ours to see, or an old kernel
            own += told.get("Pss", memory(pid))
            continue
        own += told["Pss_Anon"]
        files += told["Pss_File"] + told["Pss_Shmem"]
        most = max(most, told["Rss"] - told["Anonymous"])
    return own + max(files, most)


def _rollup(pid: int) -> dict[str, int]:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            rows = [line.split() for line in file][1:]
    except OSError:
        return {}
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows}


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

    def __init__(self, pid: int, members: Callable[[int], list[int]] = descendants) -> None:
        self.pid = pid
        self.peak = 0
        self.peak_between = (0.0, 0.0)  # two looks
        self._looked = 0.0
        self.last = 0  # bytes when it was last looked
        self.curve: list[tuple[float, int]] = []
        self._members = members  # all of it below that process
        self._every = 0.0
        self._shared = 0  # bytes that the sum of these counts more than once,
        self._known: set[int] = set()
        self._new: dict[int, int] = {}  # and what others had when they were first seen
        self._due = 0.0  # when to measure that again

    def sample(self, now: float) -> None:
        """Look once. `now` is seconds since the start."""
        pids = [self.pid, *self._members(self.pid)]
        sizes = {pid: memory(pid) for pid in pids}
        total, largest = sum(sizes.values()), max(sizes, key=sizes.__getitem__)
        if len(pids) > 1:
            if now >= self._due:
                self._measure_shared(pids, total, now)
            total = max(total - self._twice(sizes), sizes[largest])
        self.last = total
        # The kernel's own mark misses nothing between two samples.
        peak = max(self.peak, total, high_water(largest))
        if peak > self.peak:
            self.peak, self.peak_between = peak, (self._looked, now)
        self._looked = now
        if not self.curve or now - self.curve[-1][0] >= self._every:
            self.curve.append((round(now, 3), total))
            if len(self.curve) > self.MOST:
                del self.curve[1::2]
                self._every = 2 * (self._every or (now / self.MOST))

    def _twice(self, sizes: dict[int, int]) -> int:
        """What their sum has more than once: a fork shares all that it has at first."""
        known = [size for pid, size in sizes.items() if pid in self._known]
        new = {pid: size for pid, size in sizes.items() if pid not in self._known}
        self._new = {pid: min(size, self._new.get(pid, size)) for pid, size in new.items()}
        return min(self._shared, sum(known) - max(known, default=0)) + sum(self._new.values())

    def _measure_shared(self, pids: list[int], total: int, now: float) -> None:
        """Forked workers share pages; the sum of RSS would count them several times."""
        started = time.thread_time()
        self._shared = max(0, total - together(pids))
        self._known = set(pids)
        self._due = now + max(0.5, 30 * (time.thread_time() - started))


def adopt_orphans() -> bool:
    """Make processes that lose their parent ours, so that ending the tree misses none.

    Returns False if they were ours already: then another caller relies on it.
    """
    if adopts_orphans():
        return False
    _set_subreaper(1)
    return True


def adopts_orphans() -> bool:
    """Whether processes below us that lose their parent become our children."""
    from zeroin.libc import INT, function, pass_by_reference

    get_child_subreaper = 37
    answer = INT()
    function("prctl")(get_child_subreaper, pass_by_reference(answer), 0, 0, 0)
    return bool(answer.value)


def release_orphans() -> None:
    """Undo `adopt_orphans`: later orphans go to whoever is above us."""
    _set_subreaper(0)


def _set_subreaper(value: int) -> None:
    from zeroin.libc import function

    set_child_subreaper = 36
    function("prctl")(set_child_subreaper, value, 0, 0, 0)


def end(pid: int, *, keep: int = 0) -> None:
    """End everything below `pid`. No orphan is left."""
    end_all(lambda: _alive(pid, keep), GRACE)


def end_with_all_below(pid: int, grace: float) -> None:
    """End a process and all that is or was below it since we looked, in whatever session."""
    started: dict[int, int] = {}

    def list_alive() -> list[int]:
        for known in [pid, *started]:
            for one in [known, *descendants(known)]:
                started.setdefault(one, start_time(one))
        same = [one for one, since in started.items() if since and start_time(one) == since]
        return [one for one in same if not is_zombie(one)]

    end_all(list_alive, grace)


def start_time(pid: int) -> int:
    """When a process was started, in ticks since the machine was; 0 if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError):
        return 0


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
