"""A command under strace: as our own child, with its calls on a log that nobody else sees.

strace runs beside the command (-D), so that pid, status, signals and Ctrl-C are the command's
own. Its log has no name in any folder: nothing is left, whatever is killed. Only from inside a user
namespace our descriptors can't be named; there it is a file in a folder that others tidy up.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import signal
import threading
import time

from zeroin.observe.calls import History, Reader
from zeroin.run.spawn import cant_start, find
from zeroin.run.tree import is_zombie

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A question mark before what not every processor's kernel has.
CALLS = (
    "%file,socket,connect,bind,getsockopt,write,pwrite64,writev,pwritev,?pwritev2,ftruncate,"
    "fallocate,fsync,fdatasync,clone,?clone3,?fork,?vfork"
)
EVERY = 0.1  # seconds between two looks at the log
PATIENCE = 5.0  # for strace's last lines
PIECE = 1 << 20
FIRST_LINE = 256  # bytes of a script that the kernel looks at
PUNCH_HOLE, KEEP_SIZE = 0x02, 0x01


def can_trace() -> bool:
    """Whether there is a strace."""
    return shutil.which("strace") is not None


class Trace:
    """The log, and who reads it while it is written."""

    def __init__(self, program: str, cwd: str, folder: str = "") -> None:
        self.history = History(program, cwd)
        if folder:
            self._log = os.path.join(folder, "calls")
            self._fd = os.open(self._log, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        else:
            self._fd = os.memfd_create("calls", os.MFD_CLOEXEC)
            self._log = f"/proc/{os.getpid()}/fd/{self._fd}"
        self._reader = Reader()
        self._at = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def around(
        self, command: Sequence[str], cwd: str, env: Mapping[str, str], *, asked: bool = False
    ) -> list[str]:
        """The words that run the command traced.

        `asked`: another filter asks somebody else about its calls, and strace's own would not hear
        of those.
        """
        # Ctrl-C and Ctrl-Z are for the command: without strace its calls would fail.
        options = ["-D", "-f", "-I", "never_tstp", *self._options()]
        options += [] if asked else ["--seccomp-bpf"]
        return [_strace(), *options, "--", *startable(command, cwd, env)]

    def of(self, pid: int) -> list[str]:
        """The words that trace a process that runs already, and all it starts."""
        return [_strace(), "-f", *self._options(), "-p", str(pid)]

    def _options(self) -> list[str]:
        return ["-y", "-q", "-ttt", "-s", "80", "-e", f"trace={CALLS}", "-o", self._log]

    def lags(self) -> bool:
        """Whether strace is all that is left, and about to end: it holds the command's stderr."""
        known = [pid for pid in list(self.history.processes) if pid not in self.history.gone]
        return all(is_zombie(pid) for pid in known)

    def begin(self) -> None:
        """Read along: what has been read takes no memory.

        Signals are for the main thread, which has blocked those that it waits for itself.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self._thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _follow(self) -> None:
        while not self._done.wait(EVERY):
            self._read()

    def _read(self) -> None:
        while piece := os.pread(self._fd, PIECE, self._at):
            for record in self._reader.feed(piece):
                self.history.take(record)
            self._at += len(piece)
            _forget(self._fd, self._at)

    def close(self) -> None:
        """Nothing was started."""
        self._done.set()
        if self._thread.ident is not None:
            self._thread.join()
        os.close(self._fd)

    def end(self, pid: int, survivors: int = 0, patience: float = PATIENCE) -> History:
        """All that was written up to the end of `pid`: strace is a moment behind it."""
        self._done.set()
        if self._thread.ident is not None:
            self._thread.join()
        until = time.monotonic() + patience
        self._read()
        while pid not in self.history.gone and time.monotonic() < until:
            time.sleep(0.002)
            self._read()
        if survivors:
            _keep_short(self._fd, self.history)
        os.close(self._fd)
        return self.history


def _forget(fd: int, until: int) -> None:
    """Give back the memory of what has been read."""
    page = os.sysconf("SC_PAGE_SIZE")
    length = ctypes.c_long(until // page * page)
    if length.value:
        ctypes.CDLL(None).fallocate(fd, PUNCH_HOLE | KEEP_SIZE, ctypes.c_long(0), length)


def _keep_short(fd: int, history: History) -> None:
    """What goes on in the background is traced on: without strace its calls would fail.

    So a process stays that empties the log for as long as there is something to trace.
    """
    alive = [pid for pid in history.processes if pid not in history.gone]
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        os.closerange(3, fd)
        os.closerange(fd + 1, os.sysconf("SC_OPEN_MAX"))
        while any(os.path.exists(f"/proc/{pid}") for pid in alive):
            time.sleep(1.0)
            _forget(fd, os.fstat(fd).st_size)
    finally:
        os._exit(0)


def startable(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> list[str]:
    """The command, or the error that starting it would give: strace has words of its own."""
    program = find(command[0], cwd, env)
    if os.path.isdir(program) or not os.access(program, os.X_OK):
        raise cant_start(command[0], program, OSError(errno.EACCES, ""))
    try:
        with open(program, "rb") as file:
            first = file.readline(FIRST_LINE)
    except PermissionError:  # to be run, not to be read
        return list(command)
    if first[:2] == b"#!":
        words = os.fsdecode(first[2:]).split()
        if words and not os.path.exists(os.path.join(cwd, words[0])):
            raise cant_start(command[0], program, OSError(errno.ENOENT, ""))
    elif first[:4] != b"\x7fELF":  # what every shell does with such a script
        return ["/bin/sh", program, *command[1:]]
    return list(command)


def _strace() -> str:
    return shutil.which("strace") or "strace"
