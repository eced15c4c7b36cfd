"""What a process has at this moment: memory in use, resident memory, descriptors, threads, ...

*In use* is what was asked of malloc and not given back, by the allocator's own account; resident
memory also holds what was given back and kept for later. The driver sets PYTHONMALLOC=malloc, so
that Python's small objects are in that account as well.
"""

from __future__ import annotations

import os
import sys

from ..memory import in_use, resident

KEYS = ("in_use", "rss", "fds", "threads", "children", "gpu")


def sample() -> list[int]:
    """In the order of `KEYS`; -1 for what can't be told."""
    used = in_use()
    rss = resident() or -1
    return [-1 if used is None else used, rss, _count("fd"), _count("task"), _children(), _gpu()]


def _count(name: str) -> int:
    try:
        return len(os.listdir("/proc/self/" + name)) - (name == "fd")  # listing opens one
    except OSError:
        return -1


def _children() -> int:
    found = children()
    return -1 if found is None else len(found)


def children() -> list[int] | None:
    """Numbers of the child processes, also of those that ended and were not waited for."""
    pid = os.getpid()
    try:
        with open(f"/proc/self/task/{pid}/children", "rb") as file:
            return [int(one) for one in file.read().split()]
    except OSError:
        return None


def command_of(pid: int) -> str:
    """What a child process runs; one that has ended has only its name left."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode("utf-8", "replace").split("\0")
        if words[0]:
            from ..common import secrets

            return " ".join(secrets.mask_words(words)).strip()
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return f"{file.read().strip()}, which has ended and was not waited for"
    except OSError:  # it is gone
        return ""


def _gpu() -> int:
    """What torch has allocated on all devices; nothing is begun that was not."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    try:
        if cuda is None or not cuda.is_initialized():
            return 0
        return sum(cuda.memory_allocated(one) for one in range(cuda.device_count()))
    except Exception:
        return -1


def descriptors() -> dict[str, str]:
    """Open files by number: a path, a socket, a pipe."""
    found = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            found[number] = os.readlink("/proc/self/fd/" + number)
        except OSError:  # the one of this listing
            continue
    if any(one.startswith("socket:") for one in found.values()):
        known = _sockets()
        found = {number: known.get(one, one) for number, one in found.items()}
    return found


def _sockets() -> dict[str, str]:
    """Connections by their number, `socket:[4711]`: "tcp to 127.0.0.1:5432", "unix /run/x"."""
    found = {}
    for name in ("tcp", "udp"):
        for row in _rows(name):
            host, _, port = row[2].partition(":")
            address = ".".join(str(one) for one in bytes.fromhex(host)[::-1])
            to = f" to {address}:{int(port, 16)}" if int(port, 16) else ""
            found[f"socket:[{row[9]}]"] = name + to
    for row in _rows("unix"):
        found[f"socket:[{row[6]}]"] = " ".join(["unix", *row[7:8]])
    return found


def _rows(name: str) -> list[list[str]]:
    try:
        with open(f"/proc/self/net/{name}", encoding="utf-8", errors="replace") as file:
            return [line.split() for line in file.readlines()[1:]]
    except OSError:
        return []
