"""Measuring: whole processes, in rounds that take turns.

A *case* is a function that does one thing once and returns a `Sample`. `interleave` runs all
cases of a comparison in turn, round after round, each round in another order, so that a busy
minute of the machine hits all of them. What is compared is the minimum: disturbance only adds.

Processes are started with posix_spawn and waited for by descriptor, which costs under a
millisecond and is part of every figure, ours and the compared one's alike.
"""

from __future__ import annotations

import os
import re
import resource
import select
import shutil
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PIECE = 1 << 16


class CommandFailedError(Exception):
    """What was to be measured did not work at all."""


class Sample(NamedTuple):
    """One time: seconds on the clock, seconds of processor, the most bytes it held."""

    wall: float
    cpu: float
    peak: int = 0


class Series:
    """The samples of one case."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []

    @property
    def wall(self) -> float:
        """The least time on the clock."""
        return min(s.wall for s in self.samples)

    @property
    def cpu(self) -> float:
        """The least processor time, of the process and all it waited for."""
        return min(s.cpu for s in self.samples)

    @property
    def median(self) -> float:
        """The usual time on the clock, on this machine as busy as it was."""
        return statistics.median(s.wall for s in self.samples)

    def falls(self, last: int) -> bool:
        """Whether the last samples still brought the minimum down, by more than a fiftieth."""
        before = self.samples[: len(self.samples) - last]
        return bool(before and last) and self.wall < 0.98 * min(s.wall for s in before)

    @property
    def peak(self) -> int:
        """The most memory ever: for memory, luck goes the other way."""
        return max(s.peak for s in self.samples)


def interleave(
    cases: Mapping[str, Callable[[], Sample]], rounds: int, warm_up: int = 1
) -> dict[str, Series]:
    """Run all cases in turn; the first rounds only fill caches and don't count.

    Where a minimum still falls, there are more rounds, up to three times as many.
    """
    series = {name: Series() for name in cases}
    names = list(cases)
    for number in range(warm_up + 3 * rounds):
        done = number - warm_up
        if done >= rounds and not any(one.falls(rounds // 3) for one in series.values()):
            break
        first = number % len(names)
        for name in names[first:] + names[:first]:
            sample = cases[name]()
            if done >= 0:
                series[name].samples.append(sample)
    return series


class Ended(NamedTuple):
    """A process that was waited for."""

    at: float
    cpu: float
    code: int


def spawn(
    words: Sequence[str], env: Mapping[str, str], cwd: str, fds: Mapping[int, int] | None = None
) -> int:
    """Start a command; what `fds` doesn't name of 0, 1 and 2 is /dev/null."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    here = os.open(".", os.O_RDONLY | os.O_CLOEXEC)
    given = {0: null, 1: null, 2: null, **(fds or {})}
    try:
        os.chdir(cwd)
        return os.posix_spawnp(
            words[0],
            list(words),
            env,
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, at) for at, fd in given.items()],
        )
    finally:
        os.fchdir(here)
        os.close(here)
        os.close(null)


def wait(
    pid: int,
    pumps: Mapping[int, Callable[[], object]] | None = None,
    look: Callable[[], object] | None = None,
    every: float = 0.01,
) -> Ended:
    """Wait for a process; meanwhile empty what it fills, and look at it now and then."""
    ended = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    for fd in pumps or {}:
        poll.register(fd, select.POLLIN)
    try:
        while True:
            ready = [fd for fd, _ in poll.poll(every * 1000 if look else None)]
            if ended in ready:
                at = time.perf_counter()
                break
            if look is not None:
                look()
            for fd in ready:
                if pumps and pumps[fd]() is False:
                    poll.unregister(fd)
    finally:
        os.close(ended)
    _, status, usage = os.wait4(pid, 0)
    return Ended(at, usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status))


def command(
    words: Sequence[str],
    env: Mapping[str, str],
    cwd: str,
    before: Callable[[], object] | None = None,
) -> Callable[[], Sample]:
    """Make a case of a command whose output goes nowhere."""

    def once() -> Sample:
        if before is not None:
            before()
        started = time.perf_counter()
        ended = wait(spawn(words, env, cwd))
        return _sample(words, started, ended)

    return once


def on_terminal(words: Sequence[str], env: Mapping[str, str], cwd: str) -> Callable[[], Sample]:
    """Make a case of a command that writes to a terminal, which we read."""

    def once() -> Sample:
        outer, inner = os.openpty()
        try:
            started = time.perf_counter()
            pid = spawn(words, env, cwd, {1: inner, 2: inner})
            ended = wait(pid, {outer: lambda: os.read(outer, PIECE)})
            return _sample(words, started, ended)
        finally:
            os.close(inner)
            os.close(outer)

    return once


def piped(words: Sequence[str], env: Mapping[str, str], cwd: str) -> Callable[[], Sample]:
    """Make a case of `command 2> >(cat > /dev/null) | cat > /dev/null`; the command's memory."""

    def once() -> Sample:
        ends = [os.pipe(), os.pipe()]
        started = time.perf_counter()
        cats = [spawn(["cat"], env, cwd, {0: reading}) for reading, _ in ends]
        pid = spawn(words, env, cwd, {1: ends[0][1], 2: ends[1][1]})
        for end in ends:
            os.close(end[0])
            os.close(end[1])
        peaks = [0]
        ended = wait(pid, look=lambda: peaks.append(high_water(pid)))
        over = [wait(cat) for cat in cats]
        sample = _sample(words, started, ended)
        return Sample(over[-1].at - started, sample.cpu + sum(cat.cpu for cat in over), max(peaks))

    return once


def in_process(
    work: Callable[[], object], before: Callable[[], object] | None = None
) -> Callable[[], Sample]:
    """Make a case of a function; the processor time includes the processes it started."""

    def once() -> Sample:
        if before is not None:
            before()
        spent = _spent()
        started = time.perf_counter()
        work()
        wall = time.perf_counter() - started
        return Sample(wall, _spent() - spent)

    return once


def _spent() -> float:
    """Processor seconds of this process and the children it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def high_water(pid: int) -> int:
    """The most bytes a process had resident so far; `ru_maxrss` keeps the parent's over exec."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def _sample(words: Sequence[str], started: float, ended: Ended) -> Sample:
    if ended.code:
        raise CommandFailedError(f"exit code {ended.code} of: {' '.join(words)[:100]}")
    return Sample(ended.at - started, ended.cpu)


def valgrind(log: str) -> list[str]:
    """The words before a command whose instructions are counted; [] without valgrind."""
    if shutil.which("valgrind") is None:
        return []
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    return [*tool, f"--log-file={log}"]


def counted(log: str) -> int:
    """How many it were."""
    with open(log, encoding="utf-8") as file:
        found = re.search(r"I\s+refs:\s+([\d,]+)", file.read())
    if found is None:
        raise CommandFailedError("valgrind counted nothing")
    return int(found[1].replace(",", ""))
