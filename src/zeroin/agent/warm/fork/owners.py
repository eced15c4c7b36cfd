"""Whose is a thread?

The kernel doesn't say, but the C library keeps a record at the top of each thread's stack, in
which the function stands that the thread was started with: the library that holds this
function is the owner. C++ threads all start in the C++ library; there the object handed to
that function names the owner. The record's shape is learnt from the calling thread's own.
"""

from __future__ import annotations

import os
import sys

from . import proc

SYSTEM = ("libc", "libpthread", "ld")
STARTERS = ("libstdc++", "libc++")  # they start threads for others
RECORD = 0x1000  # bytes in which the C library's record of a thread surely lies
TOP = 0x8000  # bytes at the top of a stack in which the record surely begins


class Thread:
    """One thread beside the calling one."""

    def __init__(self, tid: int, born: bytes) -> None:
        self.tid = tid
        self.born = born  # a number may be given again, a start time with it not
        self.library = ""  # the path of the owner; "" unknown


def base(path: str) -> str:
    """Give the bare name of a library: "libgomp" for ".../libgomp-e985bcbb.so.1.0.0"."""
    name = os.path.basename(path)
    for end in (".", "-"):
        name = name.partition(end)[0]
    return name


class _Shape:
    """What a thread's record looks like here, learnt from the calling thread's own."""

    def __init__(self, memory: int) -> None:
        import _thread

        at = _thread.get_ident()  # the record's address, in glibc and in musl
        record = _peek(memory, at, RECORD)
        self.number = record.find(_four(_thread.get_native_id()))
        self.start = 0  # where the function is that a thread was started with, once known
        # The record has pointers to itself, at the same places in every thread.
        words = [(place, _word(record, place) - at) for place in range(0, RECORD // 2, 8)]
        self.selves = [(place, off) for place, off in words if off == 0] or [
            (place, off) for place, off in words if off == place
        ]
        if self.number < 0 or not self.selves:
            raise LookupError

    def records(
        self, memory: int, start: int, end: int, tids: list[int]
    ) -> list[tuple[int, int, bytes]]:
        """Thread, address and record of those of these threads that are at the top of a stack."""
        length = min(end - start, TOP)
        top = _peek(memory, end - length, length)
        found = []
        for tid in tids:
            place = top.find(_four(tid))
            while place >= 0:
                first = place - self.number
                if first >= 0 and self.is_record(top, first, end - length + first):
                    found.append((tid, end - length + first, top[first : first + RECORD]))
                    break
                place = top.find(_four(tid), place + 1)
        return found

    def is_record(self, top: bytes, first: int, address: int) -> bool:
        """Whether it points to itself where a record does."""
        return all(_word(top, first + place) == address + off for place, off in self.selves)


# Learnt on the way, because a pool that ends and begins anew gets its old stacks again:
_places: set[int] = set()  # where records were
_starts: dict[int, str] = {}  # whose a function is
_shape: list[_Shape] = []


def find(threads: list[Thread]) -> None:
    """Enter the owner of each that can be found."""
    memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        if not _shape:
            _shape.append(_Shape(memory))
        missing = {thread.tid: thread for thread in threads}
        _find_where_others_were(missing, memory)
        if missing:
            _find_on_all_stacks(missing, memory)
    finally:
        os.close(memory)


def _find_where_others_were(missing: dict[int, Thread], memory: int) -> None:
    shape = _shape[0]
    for place in _places:
        record = _peek(memory, place, RECORD)
        number = record[shape.number : shape.number + 4]
        thread = missing.get(int.from_bytes(number, sys.byteorder))
        if thread is None or not shape.is_record(record, 0, place):
            continue
        start = record[shape.start : shape.start + 8]
        thread.library = _starts.get(int.from_bytes(start, sys.byteorder), "")
        if thread.library:
            del missing[thread.tid]


def _find_on_all_stacks(missing: dict[int, Thread], memory: int) -> None:
    shape = _shape[0]
    rows = list(proc.mappings())
    # The stack pointer of a waiting thread leads to its stack at once.
    pointers = [_stack_pointer(tid) for tid in missing]
    stacks = [row for row in rows if any(row[0] <= at < row[1] for at in pointers)]
    anonymous = [row for row in rows if row[2] == b"rw-p" and not row[3]]
    for start, end, _, _ in stacks + anonymous:
        for tid, place, record in shape.records(memory, start, end, list(missing)):
            _places.add(place)
            missing.pop(tid).library = _owner(record, rows, memory)
        if not missing:
            break


def _stack_pointer(tid: int) -> int:
    fields = proc.read(f"/proc/self/task/{tid}/syscall").split()  # "running": it isn't waiting
    return int(fields[-2], 16) if len(fields) > 2 else 0


def _owner(record: bytes, rows: list[tuple[int, int, bytes, str]], memory: int) -> str:
    """Whose function the thread was started with."""
    for place in range(0, len(record) - 15, 8):
        start = _word(record, place)
        library = _library(start, rows, b"x")
        if not library or base(library) in SYSTEM:
            continue
        if not base(library).startswith(STARTERS):
            _shape[0].start = place
            _starts[start] = library
            return library
        # The function's argument follows: an object whose class lies in the owner.
        kind = _word(_peek(memory, _word(record, place + 8), 8), 0)
        return _library(kind, rows, b"")
    return ""


def _library(address: int, rows: list[tuple[int, int, bytes, str]], permission: bytes) -> str:
    low, high = 0, len(rows)
    while low < high:
        middle = (low + high) // 2
        if rows[middle][1] <= address:
            low = middle + 1
        else:
            high = middle
    if low == len(rows):
        return ""
    start, _, permissions, path = rows[low]
    inside = start <= address and permission in permissions and path.startswith("/")
    return path if inside else ""


def _peek(memory: int, address: int, length: int) -> bytes:
    try:
        return os.pread(memory, length, address)
    except (OSError, OverflowError):  # a hole
        return b""


def _word(data: bytes, place: int) -> int:
    return int.from_bytes(data[place : place + 8], sys.byteorder)


def _four(number: int) -> bytes:
    return number.to_bytes(4, sys.byteorder)
