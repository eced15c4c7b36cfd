"""Processes as /proc tells of them, read once for all of them."""

from __future__ import annotations

import os

from zeroin.named import NamedTuple
from zeroin.observe.spies import busy as busy  # noqa: PLC0414
from zeroin.observe.spies import busy_of as busy_of  # noqa: PLC0414
from zeroin.observe.spies import children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TICK = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """One row of the table."""

    pid: int
    parent: int
    state: str  # a letter, as ps(1) has it
    name: str
    started: int  # in ticks since the machine did
    group: int = 0


class Call(NamedTuple):
    """What a thread asks of the kernel, and waits for."""

    name: str
    args: list[int]


def table() -> dict[int, Process]:
    """All processes that there are."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdecimal() and (one := read(int(name))) is not None:
            found[one.pid] = one
    return found


def family(tops: Iterable[int]) -> dict[int, Process]:
    """These processes and all below them: far fewer than all that there are."""
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):  # an old kernel
        return table()
    found: dict[int, Process] = {}
    waiting = list(tops)
    for pid in waiting:
        one = read(pid) if pid not in found else None
        if one is not None:
            found[pid] = one
            waiting += children(pid)
    return found


def read(pid: int) -> Process | None:
    """One of them; None once it is gone."""
    head, _, rest = text(pid, "stat").rpartition(")")
    fields = rest.split()
    if len(fields) < 20:
        return None
    comm = head.partition("(")[2]
    return Process(pid, int(fields[1]), fields[0], comm, int(fields[19]), int(fields[2]))


def of_thread(tid: int) -> int:
    """The process that a thread belongs to: top(1) shows the numbers of threads as well."""
    line = next((x for x in text(tid, "status").splitlines() if x.startswith("Tgid:")), "")
    return int(line.split()[1]) if line else tid


def command(pid: int) -> list[str]:
    """Its words; [] of a zombie, or of the kernel's own."""
    return [word for word in text(pid, "cmdline").split("\0") if word]


def environ(pid: int) -> dict[str, str]:
    """The variables it was started with; {} where they are not ours to see."""
    rows = (row.partition("=") for row in text(pid, "environ").split("\0"))
    return {name: value for name, equals, value in rows if equals}


def owner(pid: int) -> int | None:
    """The user whose process it is."""
    line = next((x for x in text(pid, "status").splitlines() if x.startswith("Uid:")), "")
    words = line.split()
    return int(words[1]) if len(words) > 1 else None


def call(pid: int, tid: int) -> Call | None:
    """The system call that a thread is in; None if it computes, or that is not ours to see."""
    words = text(pid, f"task/{tid}/syscall").split()
    if len(words) < 7 or not words[0].isdecimal():
        return None
    number = int(words[0])
    from zeroin.observe.death.process import CALLS

    return Call(CALLS.get(number, f"system call {number}"), [int(x, 16) for x in words[1:7]])


def thread_state(pid: int, tid: int) -> str:
    """A letter, as ps(1) has it."""
    fields = text(pid, f"task/{tid}/stat").rpartition(")")[2].split()
    return fields[0] if fields else ""


def links(pid: int) -> dict[int, str]:
    """What each of its open files is: a path, `pipe:[4711]`, `socket:[4712]`."""
    found = {}
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return {}
    for name in names:
        try:
            found[int(name)] = os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue
    return found


def writes(pid: int, fd: int) -> bool:
    """Whether an open file is open for writing."""
    flags = text(pid, f"fdinfo/{fd}").partition("flags:")[2].split()
    return bool(flags) and bool(int(flags[0], 8) & 3)


def text(pid: int, name: str) -> str:
    """A file of its; "" where it is gone or not ours to see."""
    try:  # hundreds of these are read: `open` would take twice as long
        file = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        data = b""
        while part := os.read(file, 1 << 16):
            data += part
    except OSError:  # it has ended since
        return ""
    finally:
        os.close(file)
    return data.decode("utf-8", "replace")


def is_zeroin(command: Sequence[str]) -> bool:
    """One of ours."""
    first = {os.path.basename(word) for word in command[:2]}
    return bool(first & {"zeroin", "zin"}) or list(command[1:3]) == ["-m", "zeroin"]
