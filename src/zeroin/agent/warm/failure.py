"""The end by an uncaught exception, kept alive for a debugger.

A copy of the program stays behind as it was when its traceback had been printed. It waits, holding
nothing that others wait for, until the user asks for a debugger or the loop goes on.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import line


def hold(exc: BaseException) -> None:
    """Leave a copy behind that can be looked at. Never raises; the program ends as it would."""
    resume: Any = sys.modules.get(__name__.rpartition(".")[0] + ".resume")
    if resume is None or resume.folder() is None or exc.__traceback__ is None:
        return
    if isinstance(exc, (SystemExit, KeyboardInterrupt)):
        return
    try:
        _hold(resume, exc)
    except RuntimeError:  # the interpreter is ending, and refuses to fork
        return
    except Exception as error:
        resume.complain(error)


def _hold(resume: Any, exc: BaseException) -> None:
    from . import line
    from .fork import carry, gate

    at = _place(exc)
    if resume.is_shut(gate.check(), at):
        return
    mine = line.Line.to(resume.folder())
    if mine is None:
        return
    gate.our_descriptors.add(mine.sock.fileno())
    state = carry.capture()
    kept = False
    try:
        if resume.is_shut(state.reason, at):
            return
        mine.send({"kind": "failed", "pid": 0})  # to be waited for: a process is on its way
        # One fork only, where a snapshot takes two: the program ends, so it waits for no child.
        kept = not resume.fork()
    finally:
        if not kept:
            mine.close()
            carry.settle(state)
    try:
        if kept:
            carry.freeze(state)
            mine.send({"kind": "failed", "pid": os.getpid()})
            _wait(mine, state, exc)
    except BaseException as error:
        resume.complain(error)
    finally:
        if kept:
            os._exit(0)


def _place(exc: BaseException) -> str:
    """The innermost line of the user's own, as `train.py:88`."""
    from .. import owner

    found = "?"
    trace = exc.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if owner.is_users(filename):
            found = f"{os.path.basename(filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


# --- in the copy ------------------------------------------------------------------------------


def _wait(mine: line.Line, state: Any, exc: BaseException) -> None:
    """A copy of this copy is what the user looks at, and changes: it can be had again."""
    while True:
        order, descriptors = mine.receive()
        if order is None or order.get("kind") != "debug" or len(descriptors) < 3:
            return
        child = os.fork()
        if not child:
            try:
                _debug(mine, state, exc, descriptors[:3])
            finally:
                os._exit(0)
        for given in descriptors:
            os.close(given)
        os.waitpid(child, 0)
        mine.send({"kind": "debugged"})


def _debug(mine: line.Line, state: Any, exc: BaseException, descriptors: list[int]) -> None:
    for fd, given in enumerate(descriptors):
        os.dup2(given, fd)
    _take_terminal()
    _hear(mine, state)
    _make_streams()
    from .. import debugger

    debugger.post_mortem(exc)
    streams: list[Any] = [getattr(sys, name, None) for name in ("stdout", "stderr")]
    for stream in streams:
        stream.flush()


def _take_terminal() -> None:
    """Come into its foreground: the terminal's signals are held back here still."""
    try:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpgrp())
    except OSError:  # no terminal, or another session's
        pass


def _hear(mine: line.Line, state: Any) -> None:
    """Take signals as a debugger does, and end with the loop, whatever the user is doing."""
    import _signal  # type: ignore[import-not-found,unused-ignore]
    import fcntl

    from .fork import carry

    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    for number in (_signal.SIGTSTP, _signal.SIGTTOU):  # no shell knows of us to continue us
        _signal.signal(number, _signal.SIG_IGN)
    for number in (_signal.SIGHUP, _signal.SIGTERM, _signal.SIGQUIT, _signal.SIGPIPE):
        _signal.signal(number, _signal.SIG_DFL)
    fd = mine.sock.fileno()
    fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(fd, fcntl.F_SETSIG, int(_signal.SIGHUP))
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_ASYNC)
    carry.hear_signals(state)


def _make_streams() -> None:
    """The program's own may be closed, redirected, or full of what was never written."""
    for fd, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        encoding = getattr(getattr(sys, f"__{name}__"), "encoding", None) or "utf-8"
        errors = "backslashreplace" if fd else "replace"
        stream = open(  # noqa: SIM115 - it is used until the end
            fd, mode, encoding=encoding, errors=errors, closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
