"""Cutting a forked child off: nothing that it does is seen outside but what it sends.

It can't write to files, to the terminal or to the connections of its parent, can't start
processes, and gets a MemoryError where it would grow. The signals are as in a new process.
"""

from __future__ import annotations

# `signal` itself would load `enum`; its C half has no stubs.
import _signal  # type: ignore[import-not-found]
import faulthandler
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def _in_c(name: str) -> Any:
    """Load a C module of the standard library: the user may have a file resource.py."""
    if name in sys.builtin_module_names:
        return __import__(name)
    import _frozen_importlib as machinery
    import _frozen_importlib_external as files

    folder = os.path.join(os.path.dirname(os.__file__), "lib-dynload")
    spec = files.PathFinder.find_spec(name, [folder])
    if spec is None or spec.loader is None:
        return None
    module = machinery.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


select, resource = _in_c("select"), _in_c("resource")


def works() -> bool:
    """Whether this system can fork, can limit what it has forked, and nobody takes note of it.

    A program that handles the end of its children would be told of ours, or take it off first.
    """
    if not hasattr(os, "fork") or select is None or resource is None:
        return False
    return _signal.getsignal(_signal.SIGCHLD) in (_signal.SIG_DFL, _signal.SIG_IGN)


def resident() -> int:
    """Give the bytes of memory that this process holds; 0 where the system doesn't say."""
    return _statm(1)


def cut_off(pipe: int, growth: int, ring: Callable[..., None]) -> int:
    """Leave this process nothing but a pipe, whose new number is returned.

    It may grow by so many bytes, and `ring` handles its alarm.
    """
    gc.disable()  # a collection would copy every page that holds an object
    sys.settrace(None)
    sys.setprofile(None)
    os.setpgid(0, 0)
    pipe = _close_the_rest(pipe)
    _reset_signals(ring)
    _limit(growth)
    return pipe


def _close_the_rest(pipe: int) -> int:
    """Close all but the pipe: a repr that asks a server would mix up the parent's talk."""
    while pipe <= 2:
        pipe = os.dup(pipe)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    try:
        opened = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        opened = list(range(256))
    for fd in opened:
        if fd > 2 and fd != pipe:
            try:
                os.close(fd)
            except OSError:
                pass
    return pipe


def _reset_signals(ring: Callable[..., None]) -> None:
    faulthandler.disable()  # it may write to a file that others read
    # Python itself ignores these two, so that a write fails instead of killing.
    kept = (_signal.SIGPIPE, _signal.SIGXFSZ)
    for number in _signal.valid_signals():
        if number not in kept:
            try:
                _signal.signal(number, _signal.SIG_DFL)
            except (OSError, ValueError):
                pass  # SIGKILL, SIGSTOP, and those that the C library keeps
    _signal.signal(_signal.SIGALRM, ring)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def _limit(growth: int) -> None:
    size = _statm(0)
    if size:
        _lower(resource.RLIMIT_AS, size + growth)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NPROC, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_CPU, 2)  # should the parent be killed, a busy child ends by itself


def _lower(which: int, limit: int) -> None:
    soft, hard = resource.getrlimit(which)
    if soft == resource.RLIM_INFINITY or soft > limit:
        resource.setrlimit(which, (limit, hard))


def _statm(field: int) -> int:
    """Read the bytes mapped (0) or resident (1); 0 where the system doesn't say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[field]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
