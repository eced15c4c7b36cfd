"""Which Python line made a call, from what the agents noted while the program ran."""

from __future__ import annotations

import errno
import os
from bisect import bisect_right
from struct import Struct

from zeroin.named import NamedTuple
from zeroin.regular import read_regular

SLOT = 512
MOST = 1 << 28  # bytes of one process's notes
HEAD = Struct("<BxxxIIiqHHH")
RAISED = 2
NEAR = 3  # notes around a call: one line may try several things
SOON = 0.2  # seconds from a call that failed to the exception it becomes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.observe.calls.history import Tried


class Noted(NamedTuple):
    """One line that was about to open something, or where an OSError came up."""

    time: float
    raised: bool
    error: str
    path: str
    file: str
    line: int
    function: str
    pid: int

    @property
    def place(self) -> str:
        """`train.py:3 in load`, the file relative to nothing."""
        return f"{self.file}:{self.line} in {self.function}"


class Places:
    """All that was noted, by thread."""

    def __init__(self, folder: str) -> None:
        self.threads: dict[int, list[Noted]] = {}
        names = os.listdir(folder) if os.path.isdir(folder) else []
        for name in names:
            if name.startswith("lines-") and name.split("-")[1].isdecimal():
                self._read(os.path.join(folder, name), int(name.split("-")[1]))
        for noted in self.threads.values():
            noted.sort(key=lambda one: one.time)

    def _read(self, path: str, pid: int) -> None:
        try:
            data = read_regular(path, MOST)
        except OSError:  # somebody else put it there
            return
        for begin in range(0, len(data) - HEAD.size + 1, SLOT):
            slot = data[begin : begin + SLOT]
            kind, thread, line, number, time, *lengths = HEAD.unpack_from(slot)
            if not kind:
                break
            texts, at = [], HEAD.size
            for length in lengths:
                texts.append(slot[at : at + length].decode("utf-8", "surrogateescape"))
                at += length
            code, function, about = texts
            error = errno.errorcode.get(number, "")
            self.threads.setdefault(thread, []).append(
                Noted(time / 1e9, kind == RAISED, error, about, code, line, function, pid)
            )

    def of(self, tried: Tried, time: float) -> str:
        """The line that made a call of that thread; "" if it is not known."""
        noted = self.threads.get(tried.thread, [])
        at = bisect_right(noted, time, key=lambda one: one.time)
        for one in noted[at : at + NEAR]:
            if one.raised and one.time - time < SOON and one.error == tried.error:
                return one.place
        for one in reversed(noted[max(0, at - NEAR) : at]):
            if not one.raised and _same(one.path, tried):
                return one.place
        return ""

    def everything(self) -> list[Noted]:
        """Everything, in the order of time."""
        return sorted((one for many in self.threads.values() for one in many), key=lambda o: o.time)


def _same(noted: str, tried: Tried) -> bool:
    """Whether a note is about that call: both name the same file, or both a socket."""
    if tried.name in ("connect", "bind", "getsockopt"):
        return not noted
    name = os.path.basename(noted.rstrip("/"))
    return bool(noted) and (name in (".", "..") or name == os.path.basename(tried.path))
