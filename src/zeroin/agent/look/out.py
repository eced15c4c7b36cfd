"""Where lines of the library go: stderr or a side file, each in one write.

Ranks and processes that share a file or a terminal never mix in the middle of a line, as one
`write` of the kernel is whole. A stderr that is closed, full or slow loses lines; the program
that they are about never notices.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT = 1 << 18  # bytes of lines that one process leaves with its attempt
PATIENCE = 1.0  # seconds that a full pipe is waited for
PIECE = 4096  # bytes up to which the kernel writes to a pipe as one

RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "LOCAL_RANK")
SIZES = {"SLURM_PROCID": "SLURM_NTASKS", "LOCAL_RANK": "LOCAL_WORLD_SIZE"}

_first = os.getpid()  # the process in which this was loaded; those forked from it are told apart
_main = get_ident()


_known: tuple[int, int, str] = (0, 0, "")  # the rank of this process with so many variables


def rank() -> str:
    """Give the number of this process in a distributed job; "" outside of one."""
    global _known  # noqa: PLW0603 - reading variables takes longer than the rest of a line
    pid, count = os.getpid(), len(os.environ)
    if _known[0] != pid or _known[1] != count:
        _known = (pid, count, _find_rank())
    return _known[2]


def _find_rank() -> str:
    for name in RANKS:
        value = os.environ.get(name, "")
        # A job of one task has no ranks to be told apart.
        if value.isdecimal() and os.environ.get(SIZES.get(name, ""), "2") != "1":
            return value
    return ""


def label() -> str:
    """Say who speaks, where it is not the one thread of the one process: `[rank 2] `."""
    names = []
    number = rank()
    if number:
        names.append("rank " + number)
    process = _process_name()
    if process:
        names.append(process)
    thread = "" if get_ident() == _main else _thread_name()
    if thread:
        names.append(thread)
    return f"[{' · '.join(names)}] " if names else ""


def _process_name() -> str:
    multi = sys.modules.get("multiprocessing.process")
    if multi is not None:
        try:
            name = multi.current_process()._config and multi.current_process().name
            if name and name != "MainProcess":
                return str(name)
        except Exception:
            pass
    return f"pid {os.getpid()}" if os.getpid() != _first else ""


def _thread_name() -> str:
    """Name a thread; one that Python did not start has no name, and gets none by asking."""
    threading = sys.modules.get("threading")
    if threading is None:
        return "another thread"
    if get_ident() == threading.main_thread().ident:
        return ""  # we were loaded by another one
    thread = threading._active.get(get_ident())
    return "another thread" if thread is None else str(thread.name)


class Out:
    """One place for lines. Whoever has none given writes to stderr."""

    def __init__(self, variable: str) -> None:
        self.variable = variable  # of the environment, that may name a side file
        self.fd = -1
        self.stream: Any = None  # of the program's, such as sys.stdout
        self.looked = False

    def to(self, path: Any, asked: str) -> None:
        """From now on to this file, at its end, or to this stream; None or "-" for stderr."""
        fd, stream = -1, path if hasattr(path, "write") else None
        if stream is None and path is not None and path != "-":
            try:
                fd = open_file(os.fspath(path))
            except (OSError, ValueError, TypeError) as error:
                reason = getattr(error, "strerror", None) or error
                note = f"zeroin: {asked}: {path}: {reason}: lines go to stderr"
                to_stderr(note, note.encode("utf-8", "backslashreplace") + b"\n")
        if self.fd >= 0:
            os.close(self.fd)
        self.fd, self.stream, self.looked = fd, stream, True

    def write(self, text: str) -> None:
        """Write a line or several, come what may."""
        if not self.looked:
            self.look()
        data = (text + "\n").encode("utf-8", "backslashreplace")
        if self.fd >= 0:
            write_all(self.fd, data)
        elif self.stream is not None:
            to_stream(self.stream, text)
        else:
            to_stderr(text, data)

    def look(self) -> None:
        """See whether the environment names a file."""
        self.looked = True
        path = os.environ.get(self.variable)
        if path:
            self.to(path, self.variable)

    def is_stderr(self) -> bool:
        """Whether lines go there."""
        return self.fd < 0 and self.stream is None

    def paints(self) -> bool:
        """Whether colours are wanted: on a terminal, unless NO_COLOR says no."""
        if not self.is_stderr() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
            return False
        try:
            return bool(sys.stderr.isatty())
        except Exception:  # closed, or something else of the program's
            return False


def open_file(path: str, mode: int = 0o644) -> int:
    """Open a file to append to; `{rank}` and `{pid}` in its name make one for each."""
    path = path.replace("{rank}", rank() or "0").replace("{pid}", str(os.getpid()))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, mode)


def _real_stderr() -> Any:
    return sys.__stderr__


def to_stream(stream: Any, text: str) -> None:
    """Write to a stream of the program's own."""
    try:
        stream.write(text + "\n")
    except Exception:  # closed, full, or in a foreign encoding
        return


def to_stderr(text: str, data: bytes) -> None:
    """Write to whatever the program calls stderr: a terminal, a notebook, a test's capture."""
    stream: Any = sys.stderr
    if stream is None:
        return
    try:
        if stream is _real_stderr():
            stream.flush()  # what the program has begun comes first
            write_all(stream.fileno(), data)
        else:
            to_stream(stream, text)
    except Exception:  # closed, or full
        return


def write_all(fd: int, data: bytes) -> None:
    """Write all of it in one piece, or in lines where the kernel would break it anywhere."""
    pieces = data.splitlines(keepends=True) if len(data) > PIECE else [data]
    try:
        for piece in pieces:
            done = os.write(fd, piece)
            while done < len(piece):
                done += os.write(fd, piece[done:])
    except BlockingIOError:
        _write_slowly(fd, piece)
    except OSError:
        return


def append(fd: int, data: bytes) -> None:
    """Write to a file in one piece, however long: what is appended at once stays together."""
    done = os.write(fd, data)
    while done < len(data):  # interrupted, or the disk is nearly full
        done += os.write(fd, data[done:])


def _write_slowly(fd: int, data: bytes) -> None:
    """Wait a little for a reader that is behind: stderr may be set not to block."""
    import select

    try:
        if select.select([], [fd], [], PATIENCE)[1]:
            os.write(fd, data)
    except OSError:
        return


def drivers_folder() -> str:
    """Give where the command that watches this program listens; "" where none does."""
    from .. import asked

    return asked.find_folder()


class Kept:
    """Lines that stay with the attempt, where the program runs under zeroin."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fd: int | None = None
        self.pid = 0
        self.left = KEPT

    def write(self, text: str) -> None:
        """Write a line, if somebody keeps it. After a fork the count begins anew."""
        if self.pid != os.getpid():
            self.pid, self.left = os.getpid(), KEPT
            if self.fd is None:
                self.fd = self.open()
        if self.fd >= 0 and self.left > 0:  # type: ignore[operator]
            data = (text + "\n").encode("utf-8", "backslashreplace")
            self.left -= len(data)
            write_all(self.fd, data)  # type: ignore[arg-type]

    def open(self) -> int:
        """Open the driver's file, if it has one for this."""
        folder = drivers_folder()
        if not folder:
            return -1
        try:
            flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC  # never waits
            return os.open(f"{folder}/{self.name}", flags)
        except OSError:
            return -1


lines = Out("ZEROIN_PEEK_FILE")
kept = Kept("peeks")


def say(text: str, painted: str = "") -> None:
    """Write a line where lines go, and where they are kept."""
    lines.write(painted or text)
    kept.write(text)


def is_on() -> bool:
    """Whether the library is to do anything: `ZEROIN_PEEK=off` is for production."""
    return os.environ.get("ZEROIN_PEEK", "").lower() not in ("off", "0", "no", "false")


# --- torch.compile -----------------------------------------------------------------------------


def not_traced(function: Any) -> Any:
    """Mark a function that the compiler calls as it is, without a warning."""
    function._torchdynamo_disable = True
    return function


_dynamo: Any = None  # the rules of torch's compiler that know of us


@not_traced
def not_compiled() -> None:
    """Have `torch.compile` leave our functions alone: it would take seconds over them."""
    global _dynamo  # noqa: PLW0603 - said once
    rules: Any = sys.modules.get("torch._dynamo.trace_rules")
    if rules is not _dynamo and hasattr(rules, "add"):
        _dynamo = rules
        rules.add(__name__.rpartition(".look")[0])
