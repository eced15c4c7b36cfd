"""A process now: what it waits for, what it holds, what it may have."""

from __future__ import annotations

import os

from zeroin.common import secrets
from zeroin.named import NamedTuple

STATES = {
    "R": "runs",
    "S": "sleeps",
    "D": "waits for the kernel, and can't be interrupted",
    "T": "is stopped",
    "t": "is stopped by a debugger",
    "Z": "has ended, and its parent has not asked how",
    "X": "is just ending",
    "I": "idles",
}
# Calls that a process waits in, by the number that each kind of processor has for them.
CALLS_X86 = {
    0: "read", 1: "write", 7: "poll", 17: "pread64", 18: "pwrite64", 20: "writev", 23: "select",
    34: "pause", 35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom",
    47: "recvmsg", 61: "wait4", 72: "fcntl", 73: "flock", 74: "fsync", 128: "rt_sigtimedwait",
    202: "futex", 230: "clock_nanosleep", 232: "epoll_wait", 247: "waitid", 257: "openat",
    262: "newfstatat", 270: "pselect6", 271: "ppoll", 281: "epoll_pwait", 288: "accept4",
    441: "epoll_pwait2",
}  # fmt: skip
CALLS_ARM = {
    22: "epoll_pwait", 25: "fcntl", 32: "flock", 56: "openat", 63: "read", 64: "write",
    66: "writev", 67: "pread64", 72: "pselect6", 73: "ppoll", 82: "fsync", 95: "waitid",
    98: "futex", 101: "nanosleep", 115: "clock_nanosleep", 202: "accept", 203: "connect",
    206: "sendto", 207: "recvfrom", 212: "recvmsg", 242: "accept4", 260: "wait4",
    441: "epoll_pwait2",
}  # fmt: skip
_MEANINGS = {
    "futex": "a lock or another thread",
    "wait4": "a child",
    "waitid": "a child",
    "nanosleep": "time to pass",
    "clock_nanosleep": "time to pass",
    "flock": "the lock of",
    "pause": "a signal",
}
CALLS = CALLS_ARM if os.uname().machine == "aarch64" else CALLS_X86
_WITH_FILE = frozenset(
    (
        *("read", "write", "pread64", "pwrite64", "writev", "connect", "accept", "accept4"),
        *("sendto", "recvfrom", "recvmsg", "fcntl", "flock", "fsync"),
    )
)


class Look(NamedTuple):
    """What /proc tells; what it keeps from us is empty and stands in `hidden`."""

    pid: int
    user: int
    command: list[str]
    state: str
    state_words: str
    parent: int
    threads: int
    memory: int
    peak: int
    waits_for: str
    deleted: list[str]  # programs and libraries that were replaced since it started
    files: int
    limits: dict[str, list[int]]
    status: int | None  # as wait(2) has it, of one that has ended
    age: float
    hidden: list[str]


def look(pid: int) -> Look | None:
    """Look once; None if there is no such process."""
    hidden: list[str] = []
    status = _fields(pid)
    stat = _text(pid, "stat", hidden).rpartition(")")[2].split()
    if not stat:
        return None
    state = stat[0]
    ended = int(stat[49]) if state == "Z" and len(stat) > 49 else None
    words = [word for word in _text(pid, "cmdline", hidden).split("\0") if word]
    command = secrets.mask_words(words)
    return Look(
        pid,
        os.stat(f"/proc/{pid}").st_uid,
        command or [status.get("Name", "?")],
        state,
        STATES.get(state, state),
        int(stat[1]),
        int(stat[17]),
        _kb(status.get("VmRSS", "")),
        _kb(status.get("VmHWM", "")),
        _waits_for(pid, hidden) if state in "SD" else "",
        _deleted(pid, hidden) if state != "Z" else [],
        _count(pid, hidden) if state != "Z" else 0,
        _limits(pid, hidden),
        ended,
        _uptime() - int(stat[19]) / os.sysconf("SC_CLK_TCK"),
        sorted(set(hidden)),
    )


def _waits_for(pid: int, hidden: list[str]) -> str:
    text = _text(pid, "syscall", hidden).split()
    if not text or not text[0].isdigit():
        return _text(pid, "wchan", []).strip("0\n")
    name = CALLS.get(int(text[0]), f"system call {text[0]}")
    what = _MEANINGS.get(name, "")
    if name in _WITH_FILE and len(text) > 1:
        what = f"{what} {_link(pid, f'fd/{int(text[1], 16)}')}".strip()
    return f"{name}: {what}" if what else name


def _deleted(pid: int, hidden: list[str]) -> list[str]:
    """Mapped files that were removed or replaced: a new build, an upgrade below its feet."""
    found: dict[str, None] = {}
    for line in _text(pid, "maps", hidden).splitlines():
        words = line.split(None, 5)
        if len(words) == 6 and words[5].endswith(" (deleted)") and "x" in words[1]:
            found[words[5].removesuffix(" (deleted)")] = None
    exe = _link(pid, "exe")
    if exe.endswith(" (deleted)"):
        found[exe.removesuffix(" (deleted)")] = None
    ours = ("/memfd:", "/dev/zero", "/SYSV", "/dev/shm/", "/[aio]")  # noqa: S108
    return [path for path in found if not path.startswith(ours)]


def _limits(pid: int, hidden: list[str]) -> dict[str, list[int]]:
    names = {
        "Max cpu time": "cpu time",
        "Max file size": "file size",
        "Max data size": "data",
        "Max stack size": "stack",
        "Max core file size": "core size",
        "Max processes": "processes",
        "Max open files": "open files",
        "Max address space": "address space",
    }
    found = {}
    for line in _text(pid, "limits", hidden).splitlines():
        name = names.get(line[:26].strip())
        if name:
            words = line[26:].split()
            found[name] = [-1 if word == "unlimited" else int(word) for word in words[:2]]
    return found


def _count(pid: int, hidden: list[str]) -> int:
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        hidden.append("fd")
        return 0


def _fields(pid: int) -> dict[str, str]:
    lines = _text(pid, "status", []).splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _kb(text: str) -> int:
    return int(text.partition(" ")[0]) * 1024 if text else 0


def _text(pid: int, name: str, hidden: list[str]) -> str:
    try:
        with open(f"/proc/{pid}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except PermissionError:
        hidden.append(name)
    except OSError:
        pass
    return ""


def _link(pid: int, name: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/{name}")
    except OSError:
        return ""


def _uptime() -> float:
    import time

    return time.clock_gettime(time.CLOCK_BOOTTIME)
