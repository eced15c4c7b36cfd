"""May this process be forked now, so that the child can go on as if nothing had happened?

Asked before each snapshot, so it must be quick; and it must not be wrong: what isn't known to
survive forbids the fork. It looks at the process as the kernel sees it, and at modules that
are loaded already; it loads none.
"""

from __future__ import annotations

import os
import sys

from . import descriptors, memory, proc, threads

our_children: set[int] = set()  # processes of zeroin's own, which the program doesn't know
our_descriptors = descriptors.ours  # likewise; begin() takes in those open at the start


def check() -> str | None:
    """Say in a few words why this process can't be forked now; None if it can."""
    try:
        return (
            threads.reason()
            or _pools()
            or _unstarted()
            or _children()
            or _timers()
            or descriptors.reason()
            or memory.reason()
        )
    except Exception as error:  # what can't be looked at can't be trusted
        return f"the process could not be looked at ({type(error).__name__})"


def _pools() -> str | None:
    """Pools that end the process when they find themselves in a child."""
    numba = sys.modules.get("numba.np.ufunc.parallel")
    if getattr(numba, "_is_initialized", False):
        return "numba's threads have been started"
    return None


def _unstarted() -> str | None:
    """CPython 3.13 and later take a thread that was made before a fork for one that has ended."""
    threading = sys.modules.get("threading")
    if sys.version_info >= (3, 13) and threading is not None:
        for thread in list(getattr(threading, "_dangling", ())):
            if not thread._started.is_set():
                return "a thread was made and has not begun"
    return None


def _children() -> str | None:
    try:  # costs least, and is there on every kernel
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    found = False
    for tid in proc.names("/proc/self/task"):
        for word in proc.read(f"/proc/self/task/{tid}/children").split():
            found = True
            if int(word) not in our_children:
                return _child(int(word))
    return None if found and our_children else "a child process is running"


def _child(pid: int) -> str:
    name, _, rest = proc.read(f"/proc/{pid}/stat").partition(b"(")[2].rpartition(b")")
    what = f"a child process (pid {pid}, {name.decode(errors='replace') or '?'})"
    ended = rest.split()[:1] == [b"Z"]
    return f"{what} has ended and was not waited for" if ended else f"{what} is running"


def _timers() -> str | None:
    import _signal  # type: ignore[import-not-found,unused-ignore]

    if _signal.getitimer(_signal.ITIMER_REAL)[0]:
        return "an alarm is set"
    if _signal.getitimer(_signal.ITIMER_VIRTUAL)[0] or _signal.getitimer(_signal.ITIMER_PROF)[0]:
        return "a timer is set"
    return "a timer is set" if proc.read("/proc/self/timers") else None
