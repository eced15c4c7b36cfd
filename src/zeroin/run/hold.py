"""Holding a program still when its memory is at its highest, for somebody to look at it."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

from zeroin.named import NamedTuple
from zeroin.run import tree
from zeroin.run.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zeroin.run.execute import Ended
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper

FASTEST = 4e9  # bytes a second that a program could take at most,
SOONEST, LATEST = 0.003, 0.05  # and so the seconds until it is worth looking again
MORE = 1.1  # times what it had when it was held: that is another peak
ROUNDS = 20  # of stopping: what is forked meanwhile is stopped in the next one
SETTLED = 1.0  # seconds, until all stand still, but for who waits in the kernel
DEAF = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGTERM)


class Held(NamedTuple):
    """Who is held, the biggest first, and what they have."""

    processes: list[tuple[int, int]]  # pid and bytes
    total: int
    at: int  # what it was held for
    seconds: float  # since the start


class Missed(NamedTuple):
    """It had more memory than when it was held, or was never held."""

    peak: int
    between: tuple[float, float]  # two looks, seconds since the start
    seen: bool  # it lasted until a look
    held: int  # what it had when it was held; 0 if it never was
    at: int


class Hold(Witness):
    """Waits for that much memory; then nothing of the program moves until it is told to go on."""

    def __init__(self, at: int, tell: Callable[[Held | Missed | None], None]) -> None:
        self.at = at
        self._held = 0
        self._tell = tell  # with None once it goes on
        self._done = False
        self._pids: list[int] = []
        self._guard: _Guard | None = None

    @property
    def holds(self) -> bool:
        """Whether it is being held now."""
        return bool(self._pids)

    def next_look(self, total: int) -> float:
        """Soon where it may be reached soon; a peak may be short."""
        if self._done:
            return LATEST
        return min(max((self.at - total) / FASTEST, SOONEST), LATEST)

    def look(self, now: float, total: int, members: Callable[[], Sequence[int]]) -> None:
        """Called after each look at the memory."""
        if self._pids:
            if not any(map(tree.is_stopped, self._pids)):
                self._stop_holding()
                self._tell(None)
        elif not self._done and total >= self.at:
            self._stop(members)
            sizes = sorted(((tree.memory(pid), pid) for pid in self._pids), reverse=True)
            if sum(size for size, _ in sizes) < self.at:  # too late: it has let go of it
                self.let_go()
                return
            self._done = True
            self._held = total
            self._tell(Held([(pid, size) for size, pid in sizes], total, self.at, now))

    def _stop(self, members: Callable[[], Sequence[int]]) -> None:
        for _ in range(ROUNDS):
            new = [p for p in members() if p not in self._pids and not tree.is_zombie(p)]
            if not new:
                break
            tree.tell(new, signal.SIGSTOP)
            self._pids += new
        self._guard = _Guard(self._pids)
        # Who is told to stop goes on until the kernel next gets to him.
        until = time.monotonic() + SETTLED
        while not all(map(_stands, self._pids)) and time.monotonic() < until:
            time.sleep(0.001)

    def take_signal(self, number: int, *, passed_on: bool) -> None:  # noqa: ARG002 - any signal
        """Let the program go on: it has got a signal, and must be able to hear it."""
        self.let_go()

    def let_go(self) -> None:
        """Let it go on."""
        if self._pids:
            tree.tell(self._pids, signal.SIGCONT)
            self._stop_holding()

    def _stop_holding(self) -> None:
        self._pids = []
        if self._guard is not None:
            self._guard.finish()
            self._guard = None

    def end(self) -> None:
        """See `Witness`."""
        self.let_go()

    def collect(self, ended: Ended, inbox: Inbox, keeper: Keeper) -> None:  # noqa: ARG002
        """See `Witness`."""
        self.tell_missed(ended)

    def tell_missed(self, ended: Ended) -> None:
        """Tell if it was not held where it had most: the kernel keeps a mark of that."""
        if ended.peak_bytes > max(self._held, 1) * MORE:
            seen = max((total for _, total in ended.curve), default=0) * MORE > ended.peak_bytes
            when = ended.peak_between
            self._tell(Missed(ended.peak_bytes, when, seen, self._held, self.at))


def _stands(pid: int) -> bool:
    return tree.is_stopped(pid) or tree.is_zombie(pid)


class _Guard:
    """Lets the program go on if we are killed: nobody else knows that it stands still."""

    def __init__(self, pids: list[int]) -> None:
        reading, self._writing = os.pipe2(os.O_CLOEXEC)
        self.pid = os.fork()
        if not self.pid:
            _watch(reading, pids)
        os.close(reading)
        tree.HELPERS.add(self.pid)

    def finish(self) -> None:
        os.write(self._writing, b".")
        os.close(self._writing)
        os.waitpid(self.pid, 0)
        tree.HELPERS.discard(self.pid)


def _watch(reading: int, pids: list[int]) -> None:
    try:
        for number in DEAF:
            signal.signal(number, signal.SIG_IGN)
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        os.closerange(3, reading)
        os.closerange(reading + 1, os.sysconf("SC_OPEN_MAX"))
        if not os.read(reading, 1):
            tree.tell(pids, signal.SIGCONT)
    finally:
        os._exit(0)
