"""Give way to everything else; and take it back.

A plain user may make a process nicer, but never less nice again, and what has been in the
background becomes the program the user waits for. So the CPU's lowest class is used only where it
can be undone (as root, or where the machine's limits allow it); elsewhere it is the class for
batches, which may be left at will. The disk's idle class can always be left.
"""

from __future__ import annotations

import os
import resource

CAP_SYS_NICE = 23
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
IDLE = 3 << 13  # IOPRIO_CLASS_IDLE
NONE = 0
NICEST = 19
OOM_LIKELY = "900"


def lower(pid: int) -> None:
    """Of a process that has just been started: its threads and children inherit it."""
    try:
        if can_undo():
            os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, pid, NICEST)
        else:
            os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))
    except OSError:  # a container may forbid it
        pass
    _set_io(pid, IDLE)
    _set_oom(pid, OOM_LIKELY)


def restore(pids: list[int]) -> None:
    """As ours is, in all threads."""
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    policy, likely = os.sched_getscheduler(0), _oom(os.getpid())
    for pid in pids:
        _set_oom(pid, likely)
        for thread in _threads(pid):
            try:
                if os.getpriority(os.PRIO_PROCESS, thread) != nice:
                    os.setpriority(os.PRIO_PROCESS, thread, nice)
                os.sched_setscheduler(thread, policy, os.sched_getparam(0))
            except OSError:
                pass
            _set_io(thread, NONE)


def can_undo() -> bool:
    """Whether a nice process can be made less nice again."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NICE)
    if soft == resource.RLIM_INFINITY or soft >= 20 - os.getpriority(os.PRIO_PROCESS, 0):
        return True
    try:
        with open("/proc/self/status", "rb") as file:
            effective = file.read().partition(b"\nCapEff:\t")[2][:16]
    except OSError:
        return False
    return bool(int(effective or b"0", 16) >> CAP_SYS_NICE & 1)


def _threads(pid: int) -> list[int]:
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _set_io(thread: int, value: int) -> None:
    number = IOPRIO_SET.get(os.uname().machine)
    if number is None:
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).syscall(number, 1, thread, value)


def _oom(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/oom_score_adj") as file:
            return file.read().strip()
    except OSError:
        return "0"


def _set_oom(pid: int, value: str) -> None:
    try:
        with open(f"/proc/{pid}/oom_score_adj", "w") as file:
            file.write(value)
    except OSError:
        pass
