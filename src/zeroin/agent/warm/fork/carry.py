"""What a fork must take along, so that the child goes on as if it had been the program.

`capture` in the program, right before the fork; `settle` in it right after; `freeze` in the
child, which becomes the snapshot; `thaw` in a child of the snapshot, which becomes the program
again. Signals are held back from `capture` on, and let through again by `settle` in the one
and by `thaw` in the other: none reaches a snapshot. What waits in Python's own buffers needs
no care: it is in the child's buffers as well, and a snapshot never writes it.
"""

from __future__ import annotations

import os

from . import descriptors, files, memory, native, owners, pairs, proc, states, threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LIKELY_VICTIM = b"900"  # oom_score_adj of a snapshot: better it than the program

_frozen_at_start = 0  # objects that gc never looks at; some interpreters begin with a few


class State:
    """What is put back; it lives in the memory that the fork copies."""

    def __init__(self) -> None:
        self.reason: str | None = None  # why there should be no fork after all
        self.pid = os.getpid()
        self.group = os.getpgrp()
        self.folder = proc.folder()
        self.signals: set[int] = set()  # those held back before `capture`
        self.wires: list[tuple[int, str, bool]] = []  # descriptor, which, inheritable
        self.files: list[files.Open] = []
        self.written: list[files.Written] = []
        self.pairs: list[pairs.Pair] = []
        self.epolls: list[pairs.Epoll] = []
        self.semaphores: list[memory.Semaphore] = []
        self.modules: dict[str, Any] = {}
        self.stdin: int | None = None  # where the frozen process keeps it
        self.oom = b""
        self.is_gc_frozen = False


def begin() -> None:
    """Remember what the program was started with; call it when our own descriptors are open."""
    import gc

    global _frozen_at_start  # noqa: PLW0603 - a process starts once
    _frozen_at_start = gc.get_freeze_count()
    descriptors.begin()


# --- in the program ---------------------------------------------------------------------------


def capture() -> State:
    """Note what the fork would change; `settle` must follow, whether or not the fork worked."""
    state = State()
    state.signals = _hold_signals()
    try:
        state.reason = _pause_pools()
        state.wires = [(fd, which, os.get_inheritable(fd)) for fd, which in descriptors.wires()]
        state.files, state.written = files.capture()
        ends = descriptors.ends_of_pairs()
        if ends:
            state.pairs, state.epolls = pairs.find(ends)
        state.semaphores = memory.capture()
        state.modules = states.capture()
        state.oom = proc.read("/proc/self/oom_score_adj").strip()
    except pairs.NotOursError as why:
        state.reason = str(why)
    except Exception as error:
        state.reason = f"the process could not be looked at ({type(error).__name__})"
    return state


def settle(state: State) -> None:
    """Let signals through again; a handler that waited runs in here, at the end."""
    import _signal  # type: ignore[import-not-found,unused-ignore]

    _signal.pthread_sigmask(_signal.SIG_SETMASK, state.signals)


def _hold_signals() -> set[int]:
    import _signal  # type: ignore[import-not-found,unused-ignore]

    before: set[int] = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())
    try:
        _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
    except BaseException:  # a handler ran: what it raised is the program's
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
        raise
    return before


def _pause_pools() -> str | None:
    for path in threads.openmp():
        if not native.pause_openmp(path):
            return f"threads of {owners.base(path)} are running, and can't be paused"
    return None


# --- in the snapshot ----------------------------------------------------------------------------


def freeze(state: State) -> None:
    """Become a snapshot: out of the terminal's reach, holding nothing that others wait for."""
    import gc

    try:
        os.setpgid(0, 0)
    except OSError:
        pass
    files.forget_closed(state.files)
    _leave_wires(state)
    files.unlock(state.files)
    _set_oom(LIKELY_VICTIM)
    if gc.get_freeze_count() <= _frozen_at_start:  # else the program does so itself
        gc.freeze()
        state.is_gc_frozen = True


def _leave_wires(state: State) -> None:
    import fcntl

    nowhere = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for fd, which, inheritable in state.wires:
        if which == descriptors.IN and state.stdin is None:
            for lowest in (proc.FIRST_OF_OURS, 3):
                try:
                    state.stdin = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, lowest)
                    break
                except OSError:  # a low limit of open files
                    continue
        os.dup2(nowhere, fd, inheritable)
    os.close(nowhere)


def _set_oom(value: bytes) -> None:
    try:
        fd = os.open("/proc/self/oom_score_adj", os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.write(fd, value)
    except OSError:
        pass
    finally:
        os.close(fd)


# --- in the program again ------------------------------------------------------------------------


def thaw(state: State, out: int, err: int, stdin: int | None = None) -> str | None:
    """Become the program again, on new wires; or say why that can't be.

    The caller closes `out`, `err` and `stdin`. Without a `stdin` it is the one of before.
    """
    try:
        _enter(state.folder)
        why = files.restore(state.files, state.written)
        if why is not None:
            return why
        if not memory.renew(state.semaphores):
            return "a semaphore can't be made anew"
        _take_wires(state, out, err, stdin)
        pairs.renew(state.pairs, state.epolls)
        _rejoin(state)
        states.restore(state.modules, state.pid)
    except Exception as error:
        return f"the process could not be put back ({type(error).__name__}: {error})"
    hear_signals(state)
    return None


def _enter(folder: str) -> None:
    """The working folder may have been made anew since: a cold run would be in the new one."""
    if folder and not os.path.samestat(os.stat("."), os.stat(folder)):
        os.chdir(folder)


def _take_wires(state: State, out: int, err: int, stdin: int | None) -> None:
    given = state.stdin if stdin is None else stdin
    sources = {descriptors.IN: given, descriptors.OUT: out, descriptors.ERR: err}
    for fd, which, inheritable in state.wires:
        source = sources[which]
        if source is not None:
            os.dup2(source, fd, inheritable)
    descriptors.lead_to([(fd, which) for which, fd in sources.items() if fd is not None])
    if state.stdin is not None:
        os.close(state.stdin)
        state.stdin = None


def _rejoin(state: State) -> None:
    import gc

    try:  # the terminal's foreground, if the driver is there still
        os.setpgid(0, state.group)
    except OSError:
        pass
    _set_oom(state.oom)
    if state.is_gc_frozen:
        gc.unfreeze()


def hear_signals(state: State) -> None:
    """Forget what was sent to the snapshot, then hear again what the program heard."""
    import _signal  # type: ignore[import-not-found,unused-ignore]

    held = _signal.valid_signals() - state.signals
    while _signal.sigtimedwait(held, 0) is not None:
        pass
    _signal.pthread_sigmask(_signal.SIG_SETMASK, state.signals)
