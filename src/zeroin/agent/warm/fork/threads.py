"""Which threads run beside the main one, and do they survive a fork?

A fork takes only the calling thread along. Some libraries notice and start their pools again,
some can be asked to end theirs first; most do neither. Who isn't known forbids the fork.
"""

from __future__ import annotations

import os
import sys

from . import native, owners, proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# They notice a fork by themselves and go on, each checked by a test. (DuckDB computes on, but
# crashes at the end, when it waits for threads that never were in this process.)
SURVIVE = ("libopenblas", "libscipy_openblas", "libarrow")
# They hang after a fork, unless their threads have ended before it (`carry` sees to that).
OPENMP = ("libgomp", "libomp", "libiomp5")
ENDING = 50  # times to look again: after `join`, a thread still needs a moment to end

_known: dict[int, owners.Thread] = {}


def others() -> list[owners.Thread]:
    """All threads but the calling one, with their owners."""
    tids = proc.names("/proc/self/task")
    if len(tids) == 1:
        _known.clear()
        return []
    import _thread

    me = _thread.get_native_id()
    found = [_look_up(tid) for tid in tids if tid != me]
    threads = [thread for thread in found if thread is not None]
    strangers = [thread for thread in threads if not thread.library]
    if strangers:
        try:
            owners.find(strangers)
        except Exception:  # no access to our own memory: they stay strangers
            pass
    _known.clear()
    _known.update({thread.tid: thread for thread in threads})
    return threads


def reason() -> str | None:
    """Say which thread forbids a fork; None if none does."""
    for _ in range(ENDING):
        why, is_certain = _look()
        if is_certain:
            break
        import time

        time.sleep(0.0001)
    return why


def _look() -> tuple[str | None, bool]:
    """The reason, and whether it is one that stays: a thread that ends has lost its name."""
    threads = others()
    if any(thread.tid == os.getpid() for thread in threads):
        return "this is not the main thread", True
    python = _python_threads() if threads else {}
    for thread in threads:
        name = owners.base(thread.library)
        if name.startswith(SURVIVE):
            continue
        if name.startswith(OPENMP):
            if native.can_pause_openmp(thread.library):
                continue
            return f"threads of {name} are running, and can't be paused", True
        known = python.get(thread.tid)
        if known is not None:
            if _is_harmless(known):
                continue
            return _describe(known), True
        if not thread.library:
            called = proc.read(f"/proc/self/task/{thread.tid}/comm").strip()
            return f"a thread of nobody known ({os.fsdecode(called)}) is running", False
        if name.startswith(("libpython", "python")):
            return "a thread of Python is running", False
        return f"a thread of {name.lstrip('_')} is running", True
    return None, True


def openmp() -> list[str]:
    """Give the paths of the OpenMP libraries that have threads now."""
    paths = {thread.library for thread in others()}
    return sorted(path for path in paths if owners.base(path).startswith(OPENMP))


def _look_up(tid: int) -> owners.Thread | None:
    stat = proc.read(f"/proc/self/task/{tid}/stat")
    if not stat:  # it has ended meanwhile
        return None
    fields = stat.rpartition(b")")[2].split()
    if fields[0] in (b"Z", b"X"):
        return None
    born = fields[19]
    known = _known.get(tid)
    return known if known is not None and known.born == born else owners.Thread(tid, born)


# --- Python's own threads -------------------------------------------------------------------


def _python_threads() -> dict[int, Any]:
    """The threads that `threading` knows, by their number."""
    threading = sys.modules.get("threading")
    active = getattr(threading, "_active", None)
    if not isinstance(active, dict):
        return {}
    return {getattr(one, "_native_id", 0): one for one in list(active.values())}


def monitors() -> list[Any]:
    """Give the watchers that tqdm has for slow bars: they mostly wait, and can be started anew."""
    return [one for one in _python_threads().values() if _is_monitor(one)]


def _is_monitor(thread: Any) -> bool:
    return type(thread).__module__ == "tqdm._monitor"


def _is_harmless(thread: Any) -> bool:
    """Whether it is a watcher of tqdm's that just waits, and so holds no lock."""
    if not _is_monitor(thread):
        return False
    frame = sys._current_frames().get(thread.ident)
    while frame is not None and frame.f_globals.get("__name__") == "threading":
        if frame.f_code.co_name == "wait" and frame.f_back is not None:
            caller = frame.f_back
            if caller.f_globals.get("__name__") == "tqdm._monitor":
                return caller.f_code.co_name == "run"
        frame = frame.f_back
    return False


def _describe(thread: Any) -> str:
    home = type(thread).__module__
    if home == "threading":
        home = getattr(getattr(thread, "_target", None), "__module__", None) or ""
    package = _package(sys.modules.get(home)) if home != "threading" else ""
    if package:
        return f"a thread of {package} is running"
    return f"a thread ({getattr(thread, '_name', None) or '?'}) is running"


def _package(module: Any) -> str:
    """Whose a module is, if not the user's own."""
    from ... import owner

    name = getattr(module, "__name__", "")
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or owner.is_users(file):
        return ""
    if name.startswith("concurrent.futures"):
        return "concurrent.futures"
    return str(name).partition(".")[0]
