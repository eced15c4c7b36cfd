"""Is the program that speaks what was started, or does something else stand in between?

A shell goes on when a Python of its own has ended, and may have started others before: what such
a Python leaves is not the outcome, so it can't be gone on with alone. `uv run` only waits.
"""

from __future__ import annotations

import os

WAITING = ("uv",)  # these end as what they have started does, and do nothing else


def between(pid: int, started: int) -> tuple[str, str]:
    """Names of processes from what was started down to the program: in the way, and harmless."""
    harmless = ""
    while pid != started:
        pid = _parent(pid)
        if os.path.basename(_link(f"/proc/{pid}/exe")) not in WAITING:
            return _name(pid), harmless
        harmless = _name(pid)
    return "", harmless


def as_it_ends(status: int) -> int:
    """What the status of a program is, told by one that waited for it."""
    if not os.WIFSIGNALED(status):
        return status
    return (128 + os.WTERMSIG(status)) << 8


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return "another program"
