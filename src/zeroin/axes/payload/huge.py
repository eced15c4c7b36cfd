"""Text too large to be looked into: blocks of lines, left where they are until few are left.

It may be a file, or what was packed in one.
"""

from __future__ import annotations

import array
import dataclasses
import hashlib
import os

from zeroin.axes.payload.kinds import chosen, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zeroin.axes.payload.kinds import Payload, Ranges, Round

SMALL = 16 << 20  # bytes that are held and looked into
PIECE = 1 << 20
NEAR = 1 << 12  # bytes in which a line mostly ends
MOST_BLOCKS = 1 << 18


@dataclasses.dataclass(frozen=True, eq=False)
class Text:
    """The text, and where its blocks begin; all but the last end with a line."""

    name: str
    read: Callable[[int, int], bytes]  # from a place to another
    head: int  # bytes at its start that always stay
    starts: array.array[int]
    inside: Callable[[bytes], Payload]  # what the rest is, once it is small

    def block(self, number: int) -> tuple[int, int]:
        """Where it is."""
        return self.starts[number], self.starts[number + 1]


@dataclasses.dataclass(frozen=True)
class Huge:
    """Some of its blocks."""

    text: Text
    kept: Ranges

    noun = "block"

    @property
    def parts(self) -> int:
        """How many blocks."""
        return size(self.kept)

    @property
    def size(self) -> int:
        """How many bytes."""
        return self.text.head + sum(end - start for start, end in self._places())

    def is_valid(self) -> bool:
        """Nobody has looked."""
        return True

    def pieces(self) -> Iterator[bytes]:
        """What the file would hold."""
        for start, end in ((0, self.text.head), *self._places()):
            at = start
            while at < end and (piece := self.text.read(at, min(at + PIECE, end))):
                yield piece
                at += len(piece)

    def identity(self) -> Iterator[bytes]:
        """Which blocks."""
        yield repr((self.text.name, self.size, self.kept)).encode()

    def rounds(self) -> Iterator[Round[Payload]]:
        """Blocks; then it is small, or there is nothing more to do."""
        yield Blocks(self)

    def _places(self) -> list[tuple[int, int]]:
        starts = self.text.starts
        return [(starts[first], starts[behind]) for first, behind in self.kept]


class Blocks:
    """Blocks of lines that can be left out."""

    def __init__(self, huge: Huge) -> None:
        self._huge = huge
        self.count = huge.parts

    def keep(self, parts: Ranges) -> Payload:
        """Only these; held and looked into if they are few enough."""
        less = Huge(self._huge.text, chosen(self._huge.kept, parts))
        if less.size > SMALL:
            return less
        return self._huge.text.inside(b"".join(less.pieces()))


def in_file(path: str, head: int, inside: Callable[[bytes], Payload]) -> Huge:
    """Of a file, which stays where it is."""

    def read(start: int, end: int) -> bytes:
        with open(path, "rb", buffering=0) as file:
            return os.pread(file.fileno(), end - start, start)

    with open(path, "rb", buffering=0) as file:
        fd, length = file.fileno(), os.stat(path).st_size
        starts = _starts(lambda start, end: os.pread(fd, end - start, start), length, head)
    return Huge(Text(path, read, head, starts, inside), ((0, len(starts) - 1),))


def in_memory(content: bytes, head: int, inside: Callable[[bytes], Payload]) -> Huge:
    """Of what is held anyway."""

    def read(start: int, end: int) -> bytes:
        return content[start:end]

    name = hashlib.sha256(content).hexdigest()
    starts = _starts(read, len(content), head)
    return Huge(Text(name, read, head, starts, inside), ((0, len(starts) - 1),))


def _starts(read: Callable[[int, int], bytes], length: int, head: int) -> array.array[int]:
    """Look through it once, for where its lines are."""
    wide = max(PIECE // 256, -(-length // MOST_BLOCKS))  # bytes of a block, at least
    starts = array.array("q", [head])
    at = head
    while at + wide < length:
        at = _line_end(read, at + wide, length)
        starts.append(at)
    if starts[-1] < length:
        starts.append(length)
    return starts


def _line_end(read: Callable[[int, int], bytes], at: int, length: int) -> int:
    """Behind the next end of a line; where a line is very long, in the middle of it."""
    for wide in (NEAR, PIECE):
        piece = read(at, at + wide)
        found = piece.find(b"\n")
        if found >= 0:
            return min(length, at + found + 1)
    return min(length, at + len(piece))
