"""Who answers for calls that ask first: which fail, which wait, and how much may be written.

A process of its own, so that the driver's work and the command's calls don't wait for one another.
It ends when nobody is left who could ask.
"""

from __future__ import annotations

import _socket
import errno
import heapq
import mmap
import os
import select
import signal
import struct
import time
from fnmatch import fnmatchcase

from zeroin.emulate import notify
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.calls import Called

COUNTS = struct.Struct("<QQ")  # calls that a rule was about, and those that it did something to
HANDED = struct.Struct("<QQ")  # whose listener it is, and its number there
SIZE = 4096
DEAF = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGTERM)
WAIT = 0.002  # seconds between two looks for the listener, where it can't be sent
VECTORS = frozenset(("writev", "pwritev", "pwritev2"))


class Rule(NamedTuple):
    """What happens to some calls."""

    calls: tuple[Called, ...]
    error: int = 0
    delay: float = 0.0
    path: str = ""  # a pattern; "" for all
    first: int = 1  # the first call that it happens to
    last: int = 0  # the last one; 0 for all from then on
    budget: int = -1  # bytes that may be written before it happens

    def numbers(self) -> list[int]:
        """The calls that have to ask."""
        return [call.number for call in self.calls]

    def is_about(self, path: str) -> bool:
        """Whether a file is meant: by its whole path, or a name alone."""
        if not self.path:
            return True
        name = path if "/" in self.path else os.path.basename(path)
        return bool(path) and fnmatchcase(name, self.path)


class Supervisor:
    """The driver's end of it, and of what it counts."""

    def __init__(self, rules: Sequence[Rule], execve: int) -> None:
        self.rules = rules
        self._numbers = sorted({execve, *(n for rule in rules for n in rule.numbers())})
        self._counts = mmap.mmap(-1, SIZE)
        self._ours, self._theirs = _socket.socketpair()
        self._can_send = not {"sendmsg"} & {c.name for rule in rules for c in rule.calls}
        self.pid = os.fork()
        if not self.pid:
            self._serve(execve)
        self._ours.close()

    def enter(self) -> None:
        """In the command's process, right before the command: from now on its calls ask."""
        listener = notify.install(self._numbers)
        if self._can_send:
            passed = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", listener))]
            self._theirs.sendmsg([b"."], passed)
        else:  # sending would have to ask already
            HANDED.pack_into(self._counts, SIZE - HANDED.size, os.getpid(), listener)
        os.set_inheritable(listener, False)

    def counts(self) -> list[tuple[int, int]]:
        """For each rule how many calls it was about, and how many it did something to."""
        return [COUNTS.unpack_from(self._counts, at * COUNTS.size) for at in range(len(self.rules))]

    def close(self) -> None:
        """End it."""
        self._theirs.close()
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0

    # --- in its process -------------------------------------------------------------------------

    def _serve(self, execve: int) -> None:
        try:
            for number in DEAF:
                signal.signal(number, signal.SIG_IGN)
            signal.set_wakeup_fd(-1)
            os.setsid()
            self._theirs.close()
            _close_all_but(self._ours.fileno())
            listener = self._listener()
            if listener >= 0:
                _Desk(listener, self.rules, self._counts, execve).answer()
        finally:
            os._exit(0)

    def _listener(self) -> int:
        """As it is sent, or as it is written down; -1 if there won't be one."""
        self._ours.settimeout(None if self._can_send else WAIT)
        while True:
            try:
                _, passed, _, _ = self._ours.recvmsg(1, _socket.CMSG_SPACE(4))
            except TimeoutError:
                pid, fd = HANDED.unpack_from(self._counts, SIZE - HANDED.size)
                if pid:
                    return notify.take_over(pid, fd)
                continue
            return struct.unpack("i", passed[0][2])[0] if passed else -1


class _Desk:
    """Where the calls come in."""

    def __init__(
        self, listener: int, rules: Sequence[Rule], counts: mmap.mmap, execve: int
    ) -> None:
        self.listener = listener
        self.rules = rules
        self.counts = counts
        self.by_number: dict[int, list[tuple[int, Rule, Called]]] = {}
        for at, rule in enumerate(rules):
            for call in rule.calls:
                self.by_number.setdefault(call.number, []).append((at, rule, call))
        self.execve = execve
        self.armed = False  # what the command's process does before it is the command is ours
        self.spent = dict.fromkeys(range(len(rules)), 0)
        self.waiting: list[tuple[float, int]] = []  # when, and who may go on

    def answer(self) -> None:
        """Until nobody is left who could ask."""
        poll = select.poll()
        poll.register(self.listener, select.POLLIN)
        while True:
            now = time.monotonic()
            while self.waiting and self.waiting[0][0] <= now:
                notify.reply(self.listener, heapq.heappop(self.waiting)[1])
            wait = max(0.0, self.waiting[0][0] - now) * 1000 if self.waiting else None
            for _, event in poll.poll(wait):
                if event & select.POLLHUP:
                    return
                self._one()

    def _one(self) -> None:
        found = notify.receive(self.listener)
        if found is None:
            return
        name, pid, number, args = found
        if not self.armed:
            self.armed = number == self.execve
            notify.reply(self.listener, name)
            return
        error, delay = 0, 0.0
        for at, rule, call in self.by_number.get(number, ()):
            if rule.path:
                path = notify.path_of(pid, call.where, args)
                if not rule.is_about(path) or not notify.is_valid(self.listener, name):
                    continue
            if self._hits(at, rule, call, pid, args):
                error, delay = error or rule.error, max(delay, rule.delay)
        if delay:
            heapq.heappush(self.waiting, (time.monotonic() + delay, name))
        else:
            notify.reply(self.listener, name, error)

    def _hits(self, at: int, rule: Rule, call: Called, pid: int, args: tuple[int, ...]) -> bool:
        seen, hit = COUNTS.unpack_from(self.counts, at * COUNTS.size)
        seen += 1
        if rule.budget >= 0:
            length = _length(call.name, pid, args)
            does = self.spent[at] + length > rule.budget
            self.spent[at] += 0 if does else length
            seen = self.spent[at]
        else:
            does = seen >= rule.first and (not rule.last or seen <= rule.last)
        COUNTS.pack_into(self.counts, at * COUNTS.size, seen, hit + does)
        return does


def _length(name: str, pid: int, args: tuple[int, ...]) -> int:
    """Bytes that a call would write."""
    if name in VECTORS:
        try:
            data = notify.memory(pid, args[1], 16 * min(args[2], 1024))
        except OSError:
            return 0
        return sum(length for _, length in struct.iter_unpack("<QQ", data))
    return args[{"fallocate": 3, "sendfile": 3, "copy_file_range": 4}.get(name, 2)]


def _close_all_but(kept: int) -> None:
    """Others must see the end of what the driver holds when the driver ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def is_error(name: str) -> int:
    """The number of `ENOSPC`; 0 if there is no such error."""
    return int(getattr(errno, name, 0)) if name.startswith("E") else 0
