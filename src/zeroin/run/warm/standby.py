"""A fresh process of the program that runs ahead in the background: the driver's side of it.

For programs that can't be forked any more when they have become worth it. Its output is kept
aside until it is the program, and it writes to the same wires before and after: so do its
children. There is never more than one, and none while another process of the program runs.
"""

from __future__ import annotations

import functools
import os
import select
import time

from zeroin.named import NamedTuple
from zeroin.run import tree, wires
from zeroin.run.agent_order import WarmOrder, hand_order
from zeroin.run.family import CLOCK, wants_the_clock
from zeroin.run.spawn import spawn
from zeroin.run.warm import folders, guard, priority
from zeroin.run.warm.spool import Spool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.aside import Aside
    from zeroin.run.warm.lines import Line
    from zeroin.run.wires import Wire

LONGER = 4  # times what the run itself took, and
AT_LEAST = 10.0  # seconds: one that takes longer has missed its place
GONE = 3.0  # seconds from SIGKILL to the end
# Why there are no snapshots, where a process that simply ran up to there would be of use. Not
# where it would stand in the way of others: locks, databases, shared memory, timers.
FITS = ("a thread", "threads of", "numba's threads", "a child process", "a CUDA context", "a GPU")
FITS_IN = ("socket", "pipe", "eventfd", "io_uring")


class Place(NamedTuple):
    """Where the next edit is expected."""

    path: str
    line: int
    seconds: float  # what the last run needed to get there


class Command(NamedTuple):
    """What is started."""

    words: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    targets: tuple[int, int]  # where its output will appear, once it is the program
    order: AgentOrder  # for its agents


def fits(reason: str) -> bool:
    """Whether this reason for having no snapshots is one for a standby."""
    return reason.startswith(FITS) or any(word in reason for word in FITS_IN)


class Standby:
    """The process; `end` it in any case, unless it has become the program."""

    def __init__(self, command: Command, place: Place, folder: str, aside: Aside) -> None:
        self.place = place
        self.line: Line | None = None
        self.is_parked = False
        self.is_lost = False  # it has ended, or can't be used
        self.at = ""
        self.seconds = 0.0
        self.answer: dict[str, Any] | None = None
        self.spool = Spool()
        self.started = time.monotonic()
        self._aside = aside
        self._targets = command.targets
        self._base = folder
        self._folder = folders.ahead(folder)
        self._make_folder()
        self.wires: list[Wire] = wires.lay(*command.targets)
        inners = {wire.inner for wire in self.wires}
        park = f"{place.path}:{place.line}:{place.seconds:.3f}"
        order = command.order._replace(warm=WarmOrder(folder, park=park))
        env = hand_order(order, self._folder, command.env)
        try:
            self.pid = spawn(
                command.words, command.cwd, env, *wires.inner_ends(self.wires), apart=True
            )
        except BaseException:
            self._let_go_of_wires()
            self._remove_folder()
            raise
        finally:
            for inner in inners:
                os.close(inner)
        priority.lower(self.pid)
        for wire in self.wires:
            os.set_blocking(wire.source, False)
            aside.add(wire.source, functools.partial(self._read, wire))

    # --- its output ---------------------------------------------------------------------------

    def _read(self, wire: Wire) -> bool:
        """Take in what is there; False when that is nothing."""
        try:
            data = os.read(wire.source, wires.CHUNK)
        except BlockingIOError:
            return False
        except OSError:  # how a pseudo-terminal says "end"
            data = b""
        if not data:
            self._aside.remove(wire.source)
            self.wires.remove(wire)
            self._close(wire)
            return False
        if wire.mirror is not None and _doubles_newlines(wire.source):
            data = data.replace(b"\r\n", b"\n")
        if not self.spool.add(wire.stream, data):
            self.is_lost = True
        return True

    def hand_over(self) -> list[Wire]:
        """It is the program: what it wrote is in the spool, the rest comes from these."""
        for wire in list(self.wires):
            while self._read(wire):
                pass
        handed, self.wires = self.wires, []
        for wire in handed:
            self._aside.remove(wire.source)
        return handed

    # --- its life -----------------------------------------------------------------------------

    def elapsed(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self.started

    def is_usable(self) -> bool:
        """Not if it has ended, waits for a terminal that is not its own, or missed its place."""
        if self.is_lost or tree.is_zombie(self.pid) or _state(self.pid) in "TtZX":
            return False
        return self.is_parked or self.elapsed() < self.limit()

    def limit(self) -> float:
        """Seconds after which it has missed its place."""
        return max(AT_LEAST, LONGER * self.place.seconds)

    def nudge(self) -> None:
        """It may be busy, with its hooks switched off."""
        if wants_the_clock(self.pid):
            try:
                os.kill(self.pid, CLOCK)
            except ProcessLookupError:
                pass

    def become(self, agent: str) -> None:
        """It is what the user waits for. Its children tell their ends to the new run, too."""
        priority.restore([self.pid, *tree.descendants(self.pid)])
        try:
            os.symlink(os.path.join(agent, "agent"), os.path.join(self._folder, "agent"))
        except OSError:
            pass

    def end(self) -> None:
        """With all that it has started; it is gone when this returns."""
        fd = -1
        try:
            fd = os.pidfd_open(self.pid)
        except OSError:
            pass
        guard.end(self.pid)
        if fd >= 0:
            select.select([fd], [], [], GONE)
            os.close(fd)
        try:
            os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            pass
        self._let_go_of_wires()
        self.spool.close()
        self._remove_folder()

    def _let_go_of_wires(self) -> None:
        for wire in self.wires:
            self._aside.remove(wire.source)
            self._close(wire)
        self.wires = []

    def _close(self, wire: Wire) -> None:
        """Without a word to the terminal, which it has never touched."""
        os.close(wire.source)
        if wire.target not in self._targets:
            os.close(wire.target)

    # --- where its agent delivers, until there is a run ---------------------------------------

    def _make_folder(self) -> None:
        self._remove_folder()
        os.mkdir(self._folder, 0o700)
        faults = os.path.join(self._folder, "faults")
        os.close(os.open(faults, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))

    def _remove_folder(self) -> None:
        folders.remove_ahead(self._base)


def _doubles_newlines(terminal: int) -> bool:
    """As `Mirror.follow`, but what the program does to its terminal is not carried over yet."""
    import termios

    flags = termios.tcgetattr(terminal)[1]
    return bool(flags & termios.OPOST and flags & termios.ONLCR)


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1].decode()
    except OSError:
        return "X"
