"""Which line opens what: noted in memory that the driver can read, for `zeroin files`.

Nothing is sent and no call is made: a call would be traced itself. Python tells an audit hook of
each file, folder, socket and command before it asks the kernel; from 3.12 on, it also tells of
each OSError at the place where it comes up, whoever catches it.
"""

from __future__ import annotations

import os
import sys
from itertools import count
from struct import Struct

from . import owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SLOTS, SIZE = 8192, 512  # the last so many; a page is taken when it is first written
HEAD = Struct("<BxxxIIiqHHH")  # kind, thread, line, errno, time, then how long the texts are
TRIED, RAISED = 1, 2
PATHS = frozenset(
    (
        *("open", "os.listdir", "os.scandir", "os.mkdir", "os.remove", "os.rename", "os.rmdir"),
        *("os.chmod", "os.chown", "os.chdir", "os.truncate", "os.link", "os.symlink", "os.utime"),
        *("os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "sqlite3.connect"),
        *("ctypes.dlopen", "os.getxattr", "os.setxattr", "os.listxattr", "os.mkfifo", "os.mknod"),
    )
)
SOCKETS = frozenset(("socket.connect", "socket.bind", "socket.getaddrinfo"))
TOOL = 4  # of the six that `sys.monitoring` has; 0 to 2 and 5 have their users

_numbers = count()
_memory: Any = None


def install(folder: str) -> None:
    """Begin."""
    from _thread import get_native_id
    from time import time_ns

    _begin(folder)
    os.register_at_fork(after_in_child=lambda: _begin(folder))

    def note(kind: int, frame: Any, error: int, path: Any) -> None:
        while frame is not None and not owner.is_users(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return
        code = frame.f_code
        texts = (code.co_filename[-180:], code.co_name[:60], _text(path)[-200:])
        parts = [text.encode("utf-8", "surrogateescape")[-220:] for text in texts]
        head = HEAD.pack(
            kind, get_native_id(), frame.f_lineno or 0, error, time_ns(), *map(len, parts)
        )
        data = head + b"".join(parts)
        at = next(_numbers) % SLOTS * SIZE
        _memory[at : at + len(data[:SIZE])] = data[:SIZE]

    def heard(event: str, args: Any) -> None:
        if event in PATHS or event in SOCKETS:
            try:
                path = "" if event in SOCKETS else args[0]
                note(TRIED, sys._getframe(1), 0, path)
            except Exception:
                return

    sys.addaudithook(heard)
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None and monitoring.get_tool(TOOL) is None:

        def raised(_code: Any, _offset: int, exc: BaseException) -> None:
            if isinstance(exc, OSError):
                try:
                    note(RAISED, sys._getframe(1), exc.errno or 0, exc.filename or "")
                except Exception:
                    return

        monitoring.use_tool_id(TOOL, "zeroin")
        monitoring.register_callback(TOOL, monitoring.events.RAISE, raised)
        monitoring.set_events(TOOL, monitoring.events.RAISE)


def _begin(folder: str) -> None:
    """A file of this process's own: a fork would write into its parent's."""
    global _memory, _numbers  # noqa: PLW0603 - one of each a process
    import mmap

    name = f"{folder}/lines-{os.getpid()}-{os.urandom(4).hex()}"
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(fd, SLOTS * SIZE)
        _memory = mmap.mmap(fd, SLOTS * SIZE)
        _numbers = count()
    finally:
        os.close(fd)


def _text(path: Any) -> str:
    if isinstance(path, str):
        return path
    if isinstance(path, bytes):
        return path.decode("utf-8", "surrogateescape")
    fspath = getattr(type(path), "__fspath__", None)
    return _text(fspath(path)) if fspath is not None else ""
