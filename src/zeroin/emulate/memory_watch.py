"""What happens when a tree of processes has reached its memory: who, where, with which values.

Run by the guard. The biggest process is ended, as the kernel would do; its stack is taken before.
What is left of the tree may go on, unless it only waits for the one that is gone, as a pool of
`multiprocessing` does for ever.
"""

from __future__ import annotations

import os
import signal
import time

from zeroin.emulate import cgroups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.emulate.part import Eyes

FASTEST = 8e9  # bytes a second that a tree could take at most,
SOONEST, LATEST = 0.002, 0.1  # and so the seconds until it is worth looking again,
REAL = 0.02  # and at least between two looks at what is shared
LOOKED_AT = 8  # processes whose stacks are taken
HITS = 3  # processes that are ended before all are
WAITS = 2.0  # seconds that the rest may do nothing
BUSY = 0.05  # of a core: less is nothing
TO_LOOK = 64 << 20  # bytes
ALONE, TOGETHER = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
SPAN = 1.0  # seconds over which the growth is told


class Watch:
    """The kinds differ in how they learn that the limit is reached."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._hits: list[dict[str, Any]] = []
        self._recent: list[tuple[float, int]] = []
        self._peak = 0
        self._hung = False
        self._since = (0.0, 0)  # when the rest was last seen to work, and its CPU time then

    def look(self, eyes: Eyes, now: float) -> float:
        """Look once."""
        pids = eyes.members()
        # Until it is gone it still has its memory.
        if not pids or (self._hits and not _is_gone(self._hits[-1]["pid"])):
            return SOONEST
        if self._hits:  # one that nobody has asked after yet waits for nothing
            pids = [pid for pid in pids if not _is_gone(pid)]
            if not pids:
                return SOONEST
        if self._hits and self._only_waits(eyes, pids, now):
            self._hung = True
            _tell(pids, signal.SIGKILL)
            return LATEST
        return self._look(eyes, pids, now)

    def _look(self, eyes: Eyes, pids: list[int], now: float) -> float:
        raise NotImplementedError

    def told(self) -> Mapping[str, Any]:
        """For the part."""
        growth = 0.0
        if len(self._recent) > 1:
            (first, low), (last, high) = self._recent[0], self._recent[-1]
            growth = (high - low) / (last - first) if last > first else 0.0
        return {
            "hits": self._hits,
            "peak": self._peak,
            "most": self._most(),
            "growth": growth,
            "hung": self._hung,
        }

    def _most(self) -> int:
        """What it ever had, with what was kept of files, and also if that was over at once."""
        return self._peak

    def _saw(self, now: float, used: int) -> None:
        self._peak = max(self._peak, used)
        if self._hits:
            return  # the growth is that before the first one
        self._recent.append((now, used))
        while self._recent[-1][0] - self._recent[0][0] > SPAN:
            self._recent.pop(0)

    def _end_biggest(self, eyes: Eyes, pids: list[int], now: float, used: int) -> None:
        """Take the stacks, then end the one that has most; or all, if that was in vain."""
        sizes = sorted(((eyes.memory(pid), pid) for pid in pids), reverse=True)
        size, victim = sizes[0]
        stacks = eyes.stacks([pid for _, pid in sizes[:LOOKED_AT]])
        self._note(pids, victim, size, used, stacks)
        _tell(pids if len(self._hits) >= HITS else [victim], signal.SIGKILL)
        self._since = now, _ticks(eyes, pids)

    def _note(
        self, pids: list[int], victim: int, size: int, used: int, stacks: list[dict[str, Any]]
    ) -> None:
        hit = {"pid": victim, "who": who(victim, pids), "size": size, "used": used}
        own = [stack for stack in stacks if stack["pid"] == victim]
        others = [stack for stack in stacks if stack["pid"] != victim]
        kept = [*own, *others] if not self._hits else own
        self._hits.append({**hit, "count": len(pids), "stacks": kept})

    def _only_waits(self, eyes: Eyes, pids: list[int], now: float) -> bool:
        since, ticks = self._since
        if now - since < WAITS:
            return False
        used = _ticks(eyes, pids) - ticks
        self._since = now, used + ticks
        return used / os.sysconf("SC_CLK_TCK") < BUSY * (now - since)


class ByLooking(Watch):
    """Adds up what the processes have; no rights needed."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self._shared = 0  # bytes that the sum counts more than once: it may become less any time
        self._due = 0.0

    def _look(self, eyes: Eyes, pids: list[int], now: float) -> float:
        sizes = list(map(eyes.memory, pids))
        if len(pids) > 1 and sum(sizes) >= self.limit and now >= self._due:
            self._measure(eyes, pids, now)
        used = max(sum(sizes) - self._shared, *sizes) if len(pids) > 1 else sizes[0]
        self._saw(now, used)
        if used < self.limit:
            return min(max((self.limit - used) / FASTEST, SOONEST), LATEST)
        pids = _stop(eyes, pids)
        used = self._measure(eyes, pids, now)
        if used >= self.limit:
            self._end_biggest(eyes, pids, now, used)
        _tell(pids, signal.SIGCONT)
        return SOONEST

    def _measure(self, eyes: Eyes, pids: list[int], now: float) -> int:
        """How much they really have together; seldom enough to cost little."""
        started = time.monotonic()
        rough = sum(map(eyes.memory, pids))
        exact = eyes.together(pids) if len(pids) > 1 else rough
        self._shared = max(0, rough - exact)
        self._due = now + max(REAL, 20 * (time.monotonic() - started))
        return exact or rough


class ByGroup1(Watch):
    """Version 1 lets whoever is too greedy wait until we have looked.

    To look takes memory as well: what is read of a process may have to be brought in, on its
    account. So all are stopped, and have a little more until the biggest is gone.
    """

    def __init__(self, limit: int, folder: str) -> None:
        super().__init__(limit)
        self._folder = folder
        self._raised = False

    def _look(self, eyes: Eyes, pids: list[int], now: float) -> float:
        used = int(cgroups.read(self._folder, "memory.usage_in_bytes") or 0)
        if self._raised:
            self._raised = not self._set(self.limit)
            _tell(pids, signal.SIGCONT)
            return SOONEST
        self._saw(now, used)
        if cgroups.numbers(self._folder, "memory.oom_control").get("under_oom"):
            pids = _stop(eyes, pids)
            self._raised = self._set(self.limit + TO_LOOK)
            self._end_biggest(eyes, pids, now, self.limit)
            return SOONEST
        return 0.02

    def _most(self) -> int:
        return int(cgroups.read(self._folder, "memory.max_usage_in_bytes") or 0)

    def _set(self, limit: int) -> bool:
        """Both settings: memory with swap must not be less than memory, so one of them waits."""
        done = False
        for knob in (TOGETHER, ALONE, TOGETHER):
            try:
                with open(f"{self._folder}/{knob}", "r+b", buffering=0) as file:
                    file.write(b"%d" % limit)
                done = done or knob == ALONE
            except OSError:  # the other first, or there is no such setting
                continue
        return done


class ByGroup2(Watch):
    """Version 2 lets whoever is over the limit wait ever longer, so there is time to look."""

    def __init__(self, limit: int, folder: str) -> None:
        super().__init__(limit)
        self._folder = folder
        self._killed = 0  # by the kernel, far above the limit
        self._sizes: dict[int, int] = {}  # what each had at the last look

    def _look(self, eyes: Eyes, pids: list[int], now: float) -> float:
        self._note_killed(pids)
        used = self._used()
        self._saw(now, used)
        if used < self.limit:
            self._sizes = {pid: eyes.memory(pid) for pid in pids}
            return min(max((self.limit - used) / FASTEST, SOONEST), LATEST)
        pids = _stop(eyes, pids)
        self._end_biggest(eyes, pids, now, used)
        _tell(pids, signal.SIGCONT)
        return SOONEST

    def _used(self) -> int:
        """Without what the kernel has only kept of files, and gives up before it kills."""
        stat = cgroups.numbers(self._folder, "memory.stat")
        kept = stat.get("active_file", 0) + stat.get("inactive_file", 0)
        return max(0, int(cgroups.read(self._folder, "memory.current") or 0) - kept)

    def _most(self) -> int:
        return int(cgroups.read(self._folder, "memory.peak") or self._peak)  # since Linux 5.19

    def _note_killed(self, pids: list[int]) -> None:
        """Somebody was quicker than we are."""
        killed = cgroups.numbers(self._folder, "memory.events").get("oom_kill", 0)
        if killed <= self._killed:
            return
        self._killed = killed
        before = list(self._sizes) or pids
        if before:
            victim = max(before, key=lambda pid: self._sizes.get(pid, 0))
            self._note(before, victim, self._sizes.get(victim, 0), self.limit + TO_LOOK, [])

    def told(self) -> Mapping[str, Any]:
        """For the part; who was killed last is not seen before the end."""
        self._note_killed([])
        return super().told()


def who(pid: int, pids: list[int]) -> str:
    """`worker 3`: which child of the command it is; "" for the command itself."""
    if not pids or pid == pids[0]:
        return ""
    above = _parent(pid)
    beside = [one for one in pids if _parent(one) == above and not _is_tracker(one)]
    number = beside.index(pid) + 1 if pid in beside else 0
    return f"worker {number}" if number else "a child"


def _is_tracker(pid: int) -> bool:
    """A helper of `multiprocessing`'s own, which comes before its workers."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"resource_tracker" in file.read()
    except OSError:
        return False


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _is_gone(pid: int) -> bool:
    """With all its threads: the last of them gives the memory back, which takes its time."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0]
        return state in (b"Z", b"X") and len(os.listdir(f"/proc/{pid}/task")) <= 1
    except OSError:
        return True


def _stop(eyes: Eyes, pids: list[int]) -> list[int]:
    """All of them, also those that came while we were at it."""
    stopped: set[int] = set()
    while new := [pid for pid in pids if pid not in stopped]:
        _tell(new, signal.SIGSTOP)
        stopped.update(new)
        pids = eyes.members()
    return pids


def _ticks(eyes: Eyes, pids: list[int]) -> int:
    return sum(map(eyes.ticks, pids))


def _tell(pids: list[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue
