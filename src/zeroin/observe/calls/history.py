"""Follows the records of a trace: who is who, what failed, what was opened and written."""

from __future__ import annotations

import os
import re
from collections import deque

from zeroin.named import NamedTuple
from zeroin.observe.calls import about as meaning
from zeroin.observe.calls.parse import Call, Exit, Signal, unquoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST = 20_000  # different failures that are kept; of more, the last
LAST = 12  # calls before the end
_FORKS = frozenset(("clone", "clone3", "fork", "vfork"))
_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')
_SOCKET_ERROR = re.compile(r"\[(E[A-Z0-9]+)\]")
# "Not yet", "once more" and the like: no failures.
_NO_ERROR = frozenset(
    (
        *("EINPROGRESS", "EAGAIN", "EALREADY", "EINTR", "EISCONN"),
        *("ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "ERESTART_RESTARTBLOCK"),
    )
)


class Process:
    """A process, as far as its calls tell."""

    def __init__(self, pid: int, program: str, cwd: str) -> None:
        self.pid = pid
        self.program = program  # "python train.py"
        self.cwd = cwd
        self.ended = ""  # "exit 1", "SIGSEGV"; "" for well or not yet
        self.found: dict[str, float] = {}  # names that were found, and when


class Tried(NamedTuple):
    """What was tried in vain, as one key: the same again only counts."""

    thread: int
    name: str
    path: str
    operation: str
    error: str
    program: str


class Done(NamedTuple):
    """What was done to a file, as one key."""

    path: str
    operation: str


class Times:
    """How often something was done, and when last."""

    def __init__(self) -> None:
        self.count = 0
        self.last = 0.0


class History:
    """Everything that matters of a trace, in bounded memory."""

    def __init__(self, program: str, cwd: str) -> None:
        self.program = program
        self.cwd = cwd
        self.processes: dict[int, Process] = {}  # by thread
        self.gone: set[int] = set()  # threads that have ended
        self.failed: dict[Tried, Times] = {}
        self.opened: dict[Done, Times] = {}
        self.written: dict[Done, Times] = {}
        self.forked: dict[int, int] = {}  # a child, and the thread that started it
        self.last: deque[Call | Signal | Exit] = deque(maxlen=LAST)
        self.lost = 0
        self._connecting: dict[str, str] = {}  # a socket, and where it is being connected to

    def take(self, record: Call | Signal | Exit) -> None:
        """Note one record."""
        self.last.append(record)
        if isinstance(record, Call):
            self._call(record)
        elif isinstance(record, Exit):
            self.gone.add(record.pid)
            process = self.process(record.pid)
            if process.pid == record.pid:
                process.ended = record.signal or (f"exit {record.code}" if record.code else "")

    def process(self, thread: int) -> Process:
        """Whose thread it is. A child may speak before its parent has told of it."""
        found = self.processes.get(thread)
        if found is None:
            found = self.processes[thread] = Process(thread, self.program, self.cwd)
        return found

    def _call(self, call: Call) -> None:
        process = self.process(call.pid)
        if call.name in _FORKS:
            self._fork(call, process)
        elif call.name == "getsockopt":
            self._connected(call, process)
        elif call.error:
            self._fail(call, process)
        else:
            self._succeed(call, process)

    def _fork(self, call: Call, parent: Process) -> None:
        if not call.result.isdigit():
            return
        thread = int(call.result)
        if any("CLONE_THREAD" in arg for arg in call.args):
            self.processes[thread] = parent
            return
        self.forked[thread] = call.pid
        if thread not in self.processes:
            self.processes[thread] = Process(thread, parent.program, parent.cwd)

    def _connected(self, call: Call, process: Process) -> None:
        """How a connection that was not waited for came out."""
        error = _SOCKET_ERROR.search(" ".join(call.args[2:]))
        address = self._connecting.pop(meaning.descriptor(call), "")
        if error and address and "SO_ERROR" in call.args:
            self._note(call, process, address, "connect to", error[1])

    def _fail(self, call: Call, process: Process) -> None:
        what = meaning.about(call, process.cwd)
        if call.error == "EINPROGRESS" and call.name == "connect":
            self._connecting[meaning.descriptor(call)] = what.address
        if call.error in _NO_ERROR:
            return
        path = what.address or (what.paths[-1] if what.paths else meaning.descriptor(call))
        if call.name.startswith(("rename", "link")) and len(what.paths) > 1:
            path = what.paths[0]
        self._note(call, process, path, what.operation, call.error)

    def _note(self, call: Call, process: Process, path: str, operation: str, error: str) -> None:
        key = Tried(call.pid, call.name, path, operation, error, process.program)
        times = self.failed.pop(key, None) or Times()
        times.count += 1
        times.last = call.time
        self.failed[key] = times  # at the end: the order is that of the last time
        if len(self.failed) > MOST:
            del self.failed[next(iter(self.failed))]
            self.lost += 1

    def _succeed(self, call: Call, process: Process) -> None:
        what = meaning.about(call, process.cwd)
        for path in what.paths:
            process.found[stem(path)] = call.time
        if call.name in meaning.EXECUTES:
            process.program = _program(call, what.paths)
        elif call.name == "chdir" and what.paths:
            process.cwd = what.paths[0]
        elif call.name in meaning.OPENS and what.paths:
            _count(self.opened, Done(what.paths[0], what.operation), call.time)
        if what.writes and what.paths and call.name not in meaning.WRITES:
            _count(self.written, Done(what.paths[-1], what.operation), call.time)


def _count(kept: dict[Done, Times], done: Done, time: float) -> None:
    times = kept.pop(done, None) or Times()
    times.count += 1
    times.last = time
    kept[done] = times


def _program(call: Call, paths: list[str]) -> str:
    """`python train.py`."""
    argv = [unquoted(word) for word in _WORD.findall(call.args[1] if len(call.args) > 1 else "")]
    if not argv:
        return os.path.basename(paths[0]) if paths else "?"
    return program(argv)


def program(argv: Sequence[str]) -> str:
    """The name and the first words."""
    rest = [word for word in argv[1:] if word]
    return " ".join([os.path.basename(argv[0]) or argv[0], *rest[:2]])[:80]


def stem(path: str) -> str:
    """What a search looks for in several places: `libz.so.1`, `numpy` of numpy.abi3.so."""
    name = os.path.basename(path)
    if name.startswith("__init__."):
        return os.path.basename(os.path.dirname(path))
    head, dot, rest = name.partition(".")
    ends = ("py", "pyc", "pyi", "so") if not head.startswith("lib") else ()
    return head if dot and rest.rpartition(".")[2] in ends else name
