"""A file that is too large to be held: blocks of lines, left where they are until few are left."""

from __future__ import annotations

import array
import dataclasses
import os
from typing import TYPE_CHECKING

from zeroin.axes.payload.kinds import chosen, size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zeroin.axes.payload.kinds import Payload, Ranges, Round

SMALL = 16 << 20  # bytes that are held and looked into
PIECE = 1 << 20
MOST_BLOCKS = 1 << 18


@dataclasses.dataclass(frozen=True, eq=False)
class File:
    """The file, and where its blocks begin; all but the last end with a line."""

    path: str
    head: int  # bytes at its start that always stay
    starts: array.array[int]
    inside: Callable[[bytes], Payload]  # what the rest is, once it is small

    def block(self, number: int) -> tuple[int, int]:
        """Where it is."""
        return self.starts[number], self.starts[number + 1]


@dataclasses.dataclass(frozen=True)
class Huge:
    """Some of its blocks."""

    file: File
    kept: Ranges

    noun = "block"

    @property
    def parts(self) -> int:
        """How many blocks."""
        return size(self.kept)

    @property
    def size(self) -> int:
        """How many bytes."""
        return self.file.head + sum(end - start for start, end in self._places())

    def is_valid(self) -> bool:
        """Nobody has looked."""
        return True

    def pieces(self) -> Iterator[bytes]:
        """What the file would hold."""
        with open(self.file.path, "rb", buffering=0) as file:
            for start, end in ((0, self.file.head), *self._places()):
                file.seek(start)
                at = start
                while at < end and (piece := file.read(min(PIECE, end - at))):
                    yield piece
                    at += len(piece)

    def identity(self) -> Iterator[bytes]:
        """Which blocks."""
        yield repr((self.file.path, self.size, self.kept)).encode()

    def rounds(self) -> Iterator[Round[Payload]]:
        """Blocks; then it is small, or there is nothing more to do."""
        yield Blocks(self)

    def _places(self) -> list[tuple[int, int]]:
        starts = self.file.starts
        return [(starts[first], starts[behind]) for first, behind in self.kept]


class Blocks:
    """Blocks of lines that can be left out."""

    def __init__(self, huge: Huge) -> None:
        self._huge = huge
        self.count = huge.parts

    def keep(self, parts: Ranges) -> Payload:
        """Only these; held and looked into if they are few enough."""
        less = Huge(self._huge.file, chosen(self._huge.kept, parts))
        if less.size > SMALL:
            return less
        return self._huge.file.inside(b"".join(less.pieces()))


def open_huge(path: str, head: int, inside: Callable[[bytes], Payload]) -> Huge:
    """Read it once, for where its lines are."""
    length = os.stat(path).st_size
    wide = max(PIECE // 256, -(-length // MOST_BLOCKS))  # bytes of a block, at least
    starts = array.array("q", [head])
    with open(path, "rb", buffering=0) as file:
        at = head
        while at + wide < length:
            at = _line_end(file.fileno(), at + wide, length)
            starts.append(at)
    if starts[-1] < length:
        starts.append(length)
    return Huge(File(path, head, starts, inside), ((0, len(starts) - 1),))


def _line_end(fd: int, at: int, length: int) -> int:
    """Behind the next end of a line; where a line is very long, in the middle of it."""
    piece = os.pread(fd, PIECE, at)
    found = piece.find(b"\n")
    return min(length, at + (found + 1 if found >= 0 else len(piece)))
