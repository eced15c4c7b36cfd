"""A thread in the program that tells where all the others stand, with the shapes of their values.

Only inside the program can it be told what a tensor is; from outside it is an address. The
thread is started once a program has set up torch.distributed, which has threads of its own by
then, and only there: a thread hinders forks. It costs nothing until somebody connects to the
socket in the run's folder, which only this user can enter and which vanishes with the run.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

FRAMES = 100  # of one thread, the innermost
LOCALS = 20  # of one frame
WITH_LOCALS = 5  # frames of the user's own in each thread
SECONDS = 0.15  # for all summaries

_started: set[int] = set()


def on_distributed(module: Any) -> None:
    """Begin once a group has been set up: what is called last then, so no traceback has us."""
    plain = module._update_default_pg

    def update_default_pg(pg: Any) -> None:
        plain(pg)
        if pg is not None:
            start()

    module._update_default_pg = update_default_pg


def start() -> None:
    """Start the thread of this process, once."""
    pid = os.getpid()
    from . import asked

    folder = asked.find_folder()
    if pid in _started or not folder:
        return
    _started.add(pid)
    import _socket
    import _thread
    import atexit

    path = f"{folder}/ask-{pid}"
    try:
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        line.bind(path)
        line.listen(4)
    except OSError:  # the driver has ended
        return
    atexit.register(_remove, path, pid)
    _thread.start_new_thread(_serve, (line,))


def _remove(path: str, pid: int) -> None:
    if os.getpid() == pid:
        try:
            os.unlink(path)
        except OSError:
            pass


def _serve(line: Any) -> None:
    """Answer whoever connects; never ends, and never raises into the program's stderr."""
    import _socket
    import _thread

    while True:
        try:
            fd, _ = line._accept()
            client = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, fd)
            try:
                client.settimeout(2.0)
                client.sendall(_told(_thread.get_ident()))
            finally:
                client.close()
        except Exception:  # a client that left, a program that ends: the next one may get more
            if sys is None or line.fileno() < 0:
                return


def _told(me: int) -> bytes:
    """All threads but ours: their frames, and their values in one line each."""
    from . import post

    names = _names()
    wanted: list[tuple[dict[str, str], str, Any]] = []
    threads = [
        {
            "thread": names.get(ident, ("", 0))[0],
            "tid": names.get(ident, ("", 0))[1],
            "frames": _frames(frame, wanted),
        }
        for ident, frame in sys._current_frames().items()
        if ident != me
    ]
    for (found, name, _), text in zip(wanted, _summaries(wanted)):
        found[name] = text
    return post.dumps({"threads": threads}).encode("ascii")


def _names() -> dict[int, tuple[str, int]]:
    """By Python's number: the name and the kernel's number. Asks no lock: the holder may hang."""
    threading = sys.modules.get("threading")
    if threading is None:
        return {}
    known = dict(threading._active)
    return {
        ident: (str(one._name), getattr(one, "_native_id", 0) or 0) for ident, one in known.items()
    }


def _frames(frame: FrameType | None, wanted: list[Any]) -> list[list[Any]]:
    from . import crash, owner

    found: list[list[Any]] = []
    users = 0
    while frame is not None and len(found) < FRAMES:
        code = frame.f_code
        values: dict[str, str] = {}
        if owner.is_users(code.co_filename) and users < WITH_LOCALS:
            users += 1
            _want(frame, values, wanted, crash)
        name = getattr(code, "co_qualname", code.co_name)
        file = code.co_filename
        if not file.startswith("<"):
            file = os.path.abspath(file)
        found.insert(0, [file, frame.f_lineno, name, values])
        frame = frame.f_back
    return found


def _want(frame: FrameType, values: dict[str, str], wanted: list[Any], crash: Any) -> None:
    try:
        names = dict(frame.f_locals)
    except Exception:  # a class body may have any mapping as its namespace
        return
    at_top = frame.f_code.co_name == "<module>"
    for name, value in names.items():
        if len(values) == LOCALS:
            return
        if type(name) is str and not crash._is_noise(name, value, at_top):
            values[name] = ""
            wanted.append((values, name, value))


def _summaries(wanted: list[Any]) -> list[str]:
    """Without asking any object for its own repr: that would fork a program with threads."""
    from .common import secrets
    from .summary.call import Call, View

    call = Call(SECONDS, secrets.of_environment(os.environ))
    views = [View(value, name) for _, name, value in wanted]
    for view in views:
        call.learn(view.name, view.value)
    for view in views:
        call.look(view)
    call.answers = {}
    return [call.finish(view) for view in views]
