"""All processes of the machine, looked at several times a second for next to nothing.

Of what a look at a file in /proc costs, two thirds are for opening it. So the file that is
read each time stays open: the command line of those nobody asked for (it changes when one
becomes another program), the counters of those somebody did. An open one belongs to its
process for ever: when another gets the same number, it says that its own has gone. The counters
take the kernel a while to put together; of a process with one thread, which did not run since,
they are as they were, and whether it ran is told by another file at a third of that.
"""

from __future__ import annotations

import os
import resource
import time

from zeroin.common import secrets
from zeroin.named import NamedTuple

PAGE = os.sysconf("SC_PAGE_SIZE")
HERTZ = os.sysconf("SC_CLK_TCK")
KERNEL = 2  # the parent of all of the kernel's own threads
SPARE = 128  # descriptors that are left for everything else
LONGEST = 1 << 16  # bytes of a command line
STATES = {
    "R": "running",
    "S": "sleeping",
    "D": "disk wait",
    "T": "stopped",
    "t": "traced",
    "Z": "zombie",
    "X": "dead",
    "I": "idle",
    "W": "waking",
    "P": "parked",
}


class Stat(NamedTuple):
    """The counters of one process."""

    state: str  # a letter of STATES
    parent: int
    faults: int  # pages it had to be given
    ticks: int  # of processor time
    threads: int
    start: int  # ticks after boot: with the number, the identity
    rss: int  # bytes


def parse_stat(data: bytes) -> tuple[str, Stat]:
    """The name and the counters; a name may hold blanks and brackets."""
    head, _, rest = data.rpartition(b")")
    f = rest.split(None, 22)
    stat = Stat(
        f[0].decode("ascii"),
        int(f[1]),
        int(f[7]) + int(f[9]),
        int(f[11]) + int(f[12]),
        int(f[17]),
        int(f[19]),
        int(f[21]) * PAGE,
    )
    return head.partition(b"(")[2].decode("utf-8", "replace"), stat


class Process:
    """One process, as long as it lives."""

    __slots__ = (
        "_fds",
        "_last",
        "_ran",
        "command",
        "name",
        "parent",
        "path",
        "pid",
        "raw",
        "renamed",
        "start",
        "table",
        "uid",
    )

    def __init__(self, table: Table, pid: int) -> None:
        """Raise OSError when it has gone already, or may not be looked at."""
        self.table = table
        self.pid = pid
        self.path = f"{table.root}/{pid}"
        self.uid = os.stat(self.path).st_uid
        self.raw: bytes | None = None
        self._fds: dict[str, int] = {}
        self._last: tuple[bytes, Stat | None] = b"", None
        self._ran = b""  # how long it has run, and how often
        self.name, stat = parse_stat(table.read(f"{self.path}/stat"))
        self.parent = stat.parent
        self.start = stat.start
        self.command = self.name
        self.renamed = False  # found out by the way, to be told in the next round
        try:
            self.changed()
        except BaseException:  # it ended just now: nobody else will close what is open
            self.close()
            raise

    def changed(self) -> bool:
        """Whether it has become another program, or has been given another title."""
        raw = self._again("cmdline")
        if raw == self.raw or (not raw and self.raw is not None):  # a dying one has none
            return False
        if self.raw is not None:
            self.name = parse_stat(self.table.read(f"{self.path}/stat"))[0]
        self.raw = raw
        words = raw.rstrip(b"\0").decode("utf-8", "replace").split("\0")
        command = " ".join(secrets.mask_words(words)).strip()
        self.command = command or f"[{self.name}]"  # the kernel's own have no command line
        return True

    def stat(self) -> Stat | None:
        """Its counters; None when it has ended. The very same ones if it did nothing since."""
        try:
            if self._stands_still():
                return self._last[1]
            data = self._again("stat")
            if data == self._last[0]:
                return self._last[1]
            name, stat = parse_stat(data)
        except (OSError, IndexError, ValueError):
            return None
        if stat.start != self.start:
            return None
        self._last = data, stat
        # It became another program, and has another command line; or had none yet, being about to.
        if name != self.name or (not self.raw and KERNEL not in (self.pid, self.parent)):
            try:
                self.renamed = self.changed() or self.renamed
            except OSError:
                return None
        return stat

    def _stands_still(self) -> bool:
        """Whether it has not run since its counters were read."""
        stat = self._last[1]
        if stat is None or stat.threads != 1 or self.table.kept >= self.table.most:
            return False
        try:
            before, self._ran = self._ran, self._again("schedstat")
        except FileNotFoundError:  # a kernel without it
            return False
        # A kernel that does not count says that none has ever run.
        return self._ran == before and not before.startswith(b"0 ")

    def program(self) -> str | None:
        """The file that it runs; None where we may not know."""
        try:
            return os.readlink(f"{self.path}/exe")
        except OSError:
            return None

    @property
    def age(self) -> float:
        """Seconds since it began."""
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - self.start / HERTZ)

    def close(self) -> None:
        """Let go of it."""
        for fd in self._fds.values():
            os.close(fd)
            self.table.kept -= 1
        self._fds = {}

    def follow(self) -> None:
        """Only its counters are read each time from now on."""
        for other in [name for name in self._fds if name not in ("stat", "schedstat")]:
            os.close(self._fds.pop(other))
            self.table.kept -= 1

    def _again(self, name: str) -> bytes:
        fd = self._fds.get(name)
        if fd is not None:
            return os.pread(fd, LONGEST, 0)
        if self.table.kept >= self.table.most:
            return self.table.read(f"{self.path}/{name}")
        self._fds[name] = fd = os.open(f"{self.path}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        self.table.kept += 1
        return os.pread(fd, LONGEST, 0)


class Table:
    """All processes that we may see."""

    def __init__(self, root: str = "/proc", *, raise_limit: bool = True) -> None:
        self.root = root
        self.processes: dict[int, Process] = {}
        self.kept = 0
        self.most = _descriptors(raise_limit=raise_limit) - SPARE
        self._names: list[str] = []
        self._pids: set[int] = set()

    def read(self, path: str) -> bytes:
        """A small file, whole."""
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(fd, LONGEST)
        finally:
            os.close(fd)

    def refresh(self, followed: set[int]) -> tuple[list[Process], list[Process]]:
        """Those that are new or have become another program, and those that have gone.

        Whoever follows one reads its counters, and learns of a change by them.
        """
        news: list[Process] = []
        known = self.processes
        names = os.listdir(self.root)
        if names != self._names:
            self._names = names
            self._pids = {int(name) for name in names if name.isdigit()}
        pids = self._pids
        gone = [known.pop(pid) for pid in known.keys() - pids]
        for pid, process in list(known.items()):
            if pid in followed:
                if process.renamed:
                    process.renamed = False
                    news.append(process)
                continue
            try:
                if process.changed():
                    news.append(process)
            except (OSError, IndexError, ValueError):  # gone, and the number is somebody else's
                gone.append(known.pop(pid))
        for pid in pids - known.keys():
            try:
                known[pid] = process = Process(self, pid)
            except (OSError, IndexError, ValueError):
                continue
            news.append(process)
        for process in gone:
            process.close()
        return news, gone

    def drop(self, process: Process) -> None:
        """It has ended: look at the number afresh next time."""
        if self.processes.get(process.pid) is process:
            del self.processes[process.pid]
        process.close()

    def close(self) -> None:
        """Let go of all."""
        for process in self.processes.values():
            process.close()
        self.processes = {}


def above(pid: int, root: str = "/proc") -> frozenset[int]:
    """Whoever started a process, and who started that one, up to the first of all."""
    found: list[int] = []
    while pid:
        try:
            with open(f"{root}/{pid}/stat", "rb") as file:
                pid = parse_stat(file.read())[1].parent
        except OSError:  # hidden from us
            break
        found.append(pid)
    return frozenset(found)


def _descriptors(*, raise_limit: bool) -> int:
    """How many files we may have open; a command that we start must not inherit more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if raise_limit and soft < hard:
        wanted = hard if hard != resource.RLIM_INFINITY else 1 << 16
        wanted = max(soft, min(wanted, 1 << 16))
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            return soft
        return wanted
    return soft
