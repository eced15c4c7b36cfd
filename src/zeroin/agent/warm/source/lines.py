"""The line tables of code objects, rewritten for statements that have moved.

Each interpreter has its own format: pairs of distances up to 3.10, with another meaning in 3.9,
and from 3.11 on entries that hold columns and ends as well.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Callable, Optional

    Line = Optional[int]
    # Units of code, line, end line, column and end column; columns are None where unknown.
    Entry = tuple[int, Line, Line, Line, Line]
    Where = Callable[[int], int]
    Ends = Callable[[int, int], Optional[tuple[int, int]]]

NO_LINE, LONG, NO_COLUMNS, ONE_LINE = 15, 14, 13, 10  # kinds of entries


def moved(code: CodeType, first: int, where: Where, ends: Ends) -> bytes:
    """The table of a code object whose lines are elsewhere now, and which begins at `first`."""
    if sys.version_info >= (3, 11):
        return b"".join(_write(_read(code), first, where, ends))
    if sys.version_info >= (3, 10):
        return _with_lines(code, first, where)
    return _with_distances(code, first, where)


# --- 3.11 and later -----------------------------------------------------------------------------


def _read(code: CodeType) -> Iterator[Entry]:
    data = iter(code.co_linetable)
    line = code.co_firstlineno
    for head in data:
        kind, units = head >> 3 & 15, (head & 7) + 1
        if kind == NO_LINE:
            yield units, None, None, None, None
        elif kind == LONG:
            line += _signed(data)
            end = line + _number(data)
            column = _column(_number(data))
            yield units, line, end, column, _column(_number(data))
        elif kind == NO_COLUMNS:
            line += _signed(data)
            yield units, line, line, None, None
        elif kind >= ONE_LINE:
            line += kind - ONE_LINE
            yield units, line, line, next(data), next(data)
        else:
            more = next(data)
            begin = kind << 3 | more >> 4
            yield units, line, line, begin, begin + (more & 15)


def _column(number: int) -> int | None:
    return number - 1 if number else None


def _number(data: Iterator[int]) -> int:
    value = shift = 0
    while True:
        byte = next(data)
        value |= (byte & 63) << shift
        shift += 6
        if not byte & 64:
            return value


def _signed(data: Iterator[int]) -> int:
    value = _number(data)
    return -(value >> 1) if value & 1 else value >> 1


def _write(entries: Iterator[Entry], first: int, where: Where, ends: Ends) -> Iterator[bytes]:
    before = first
    for units, line, end, column, end_column in entries:
        if line is None or end is None:
            yield bytes([128 | NO_LINE << 3 | units - 1])
            continue
        now = where(line)
        distance, before = now - before, now
        if column is None or end_column is None:
            yield bytes([128 | NO_COLUMNS << 3 | units - 1]) + _as_signed(distance)
            continue
        # The compiler has places of its own as well, which go with the line.
        found = ends(end, end_column)
        if found is None or found[0] < now:
            found = now + end - line, end_column
        last, until = found
        one_line = last == now and column < 128 and until < 128
        if one_line and not distance and column < 80 and 0 <= until - column < 16:
            kind, more = column >> 3, (column & 7) << 4 | until - column
            yield bytes([128 | kind << 3 | units - 1, more])
        elif one_line and 0 <= distance < 3:
            kind = ONE_LINE + distance
            yield bytes([128 | kind << 3 | units - 1, column, until])
        else:
            yield (
                bytes([128 | LONG << 3 | units - 1])
                + _as_signed(distance)
                + _as_number(last - now)
                + _as_number(column + 1)
                + _as_number(until + 1)
            )


def _as_number(value: int) -> bytes:
    data = []
    while value >= 64:
        data.append(64 | value & 63)
        value >>= 6
    return bytes([*data, value])


def _as_signed(value: int) -> bytes:
    return _as_number(-value << 1 | 1 if value < 0 else value << 1)


# --- 3.10 and 3.9 -------------------------------------------------------------------------------


def _with_lines(code: CodeType, first: int, where: Where) -> bytes:
    """3.10: pairs of a length and a distance of lines; -128 is no line at all."""
    data, line, before, out = code.co_linetable, code.co_firstlineno, first, []
    waiting = 0  # of code that has no line, or none of its own yet
    for at in range(0, len(data), 2):
        length, distance = data[at], _small(data[at + 1])
        if distance == -128:
            out += [length, 128]
            continue
        line += distance
        waiting += length
        if not length:  # a part of a long distance
            continue
        step, before = where(line) - before, where(line)
        while not -127 <= step <= 127:
            part = max(-127, min(127, step))
            out += [0, part & 255]
            step -= part
        out += [waiting, step & 255]
        waiting = 0
    return bytes(out)


def _with_distances(code: CodeType, first: int, where: Where) -> bytes:
    """3.9: pairs of a length and of the distance of lines after it; long ones take several."""
    data, line, at = code.co_lnotab, code.co_firstlineno, 0
    starts = {0: line}
    for length, distance in zip(data[::2], data[1::2]):
        at += length
        line += _small(distance)
        if distance:
            starts[at] = line
    out: list[int] = []
    at, line = 0, first
    for start, old in starts.items():
        now = where(old)
        if start or now != line:  # the first instructions need none where the code begins there
            out += _pairs(start - at, now - line)
            at, line = start, now
    return bytes(out)


def _pairs(length: int, distance: int) -> list[int]:
    out: list[int] = []
    while length > 255:
        out += [255, 0]
        length -= 255
    while not -128 <= distance <= 127:
        part = max(-128, min(127, distance))
        out += [length, part & 255]
        length, distance = 0, distance - part
    return [*out, length, distance & 255]


def _small(byte: int) -> int:
    return byte - 256 if byte > 127 else byte
