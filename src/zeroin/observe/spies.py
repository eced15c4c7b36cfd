"""py-spy as processes: started, read and ended, one for each process that is looked at.

Nothing is loaded for this: if a number is all that is asked for, they are at work while the rest of
us is still being loaded (`begin`).
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 10.0
AT_ONCE = 32  # looks; each is a process
EARLY = os.cpu_count() or 1  # looks: with more of them we would only be loaded later
KILL = 9
USUAL = ("--nonblocking",)
PLAIN = {"--json", "--all"}  # words of a command line that ask for nothing else

_begun: dict[int, Spy] = {}  # by the process that each looks at


class Spy:
    """One at work."""

    def __init__(self, py_spy: str, of: int, options: Sequence[str]) -> None:
        """Not by `subprocess`: with several of them that costs as much as the rest of us."""
        self.of = of  # the process it looks at
        # Processor time of its threads, to tell afterwards which of them went on meanwhile;
        # one that is held still (without USUAL) has had some for that alone.
        self.before = busy(of) if USUAL[0] in options else {}
        self.out, out_end = os.pipe2(os.O_CLOEXEC)
        self.err, err_end = os.pipe2(os.O_CLOEXEC)
        try:
            self._pid = os.posix_spawn(
                py_spy,
                ["py-spy", "dump", "--json", *options, "--pid", str(of)],
                {**os.environ, "RUST_BACKTRACE": "0"},
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_DUP2, out_end, 1),
                    (os.POSIX_SPAWN_DUP2, err_end, 2),
                ],
                setsigmask=[],
            )
        finally:
            os.close(out_end)
            os.close(err_end)
        self._until = time.monotonic() + SECONDS

    def read(self, fd: int) -> bytes | None:
        """All that comes; None if that takes too long."""
        import select

        poll = select.poll()
        poll.register(fd, select.POLLIN)
        data = bytearray()
        while poll.poll(max(0.0, self._until - time.monotonic()) * 1000):
            part = os.read(fd, 1 << 16)
            if not part:
                return bytes(data)
            data += part
        return None

    def finish(self) -> None:
        """It has nothing more to say: end it if it has not ended."""
        try:
            os.kill(self._pid, KILL)
        except ProcessLookupError:
            pass
        os.close(self.out)
        os.close(self.err)
        try:
            os.waitpid(self._pid, 0)
        except ChildProcessError:  # somebody here waits for all children
            pass


def spy(py_spy: str, of: int, options: Sequence[str]) -> Spy:
    """One that looks at that process; it may be at work already."""
    if of in _begun and tuple(options) == USUAL:
        return _begun.pop(of)
    return Spy(py_spy, of, options)


def only_number(words: Sequence[str]) -> int | None:
    """The process, if a number is all that was asked for."""
    numbers = [word for word in words if word.isascii() and word.isdecimal()]
    if len(numbers) != 1 or {*words} - {*numbers} - PLAIN:
        return None
    return int(numbers[0])


def begin(words: Sequence[str]) -> None:
    """Start what `stacks 1234` will need, before it is known what else that is."""
    number, py_spy = only_number(words), find_py_spy()
    if number is None or py_spy is None:
        return
    waiting = [number]
    for pid in waiting:
        if len(_begun) < EARLY and pid not in _begun and is_python(pid):
            _begun[pid] = Spy(py_spy, pid, USUAL)
        waiting += children(pid)


def drop() -> None:
    """Those that nobody asked for, after all."""
    while _begun:
        _begun.popitem()[1].finish()


def find_py_spy() -> str | None:
    """py-spy lies beside our own interpreter, or on the PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "py-spy")
    if os.access(beside, os.X_OK):
        return beside
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "py-spy")
        if folder and os.access(path, os.X_OK):
            return path
    return None


def children(pid: int) -> list[int]:
    """Of all threads of a process: any of them may have forked."""
    found: list[int] = []
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/children", "rb") as file:
                found += map(int, file.read().split())
    except OSError:
        pass  # it has ended, or the kernel is an old one
    return found


def busy(pid: int) -> dict[int, int]:
    """Nanoseconds of processor time that each thread of a process has had."""
    try:
        tids = list(map(int, os.listdir(f"/proc/{pid}/task")))
    except OSError:
        return {}
    return {tid: busy_of(pid, tid) for tid in tids}


def busy_of(pid: int, tid: int) -> int:
    """Of one thread; 0 once it has ended."""
    try:
        file = os.open(f"/proc/{pid}/task/{tid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return int(os.read(file, 64).split()[0])
    except (OSError, IndexError):
        return 0
    finally:
        os.close(file)


def is_python(pid: int) -> bool:
    """By its program, or what it has loaded: the name may be anything (a renamed main)."""
    try:
        program = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        if program.startswith(("python", "pypy")):
            return True  # without its maps, which the kernel takes a while to write
        with open(f"/proc/{pid}/maps", "rb") as file:
            maps = file.read()
    except PermissionError:
        return _is_called_python(pid)
    except OSError:
        return False
    return b"python" in maps or b"pypy" in maps


def _is_called_python(pid: int) -> bool:
    """Another user's: only its name is ours to see."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return b"py" in file.read().partition(b"\0")[0].rpartition(b"/")[2]
    except OSError:
        return False
