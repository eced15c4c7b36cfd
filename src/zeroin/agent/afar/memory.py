"""Memory of a process: what lies where, word by word."""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = 8


class LostError(Exception):
    """Something is not where or what it has to be."""


class Memory:
    """What a process has in its memory now."""

    def __init__(self, pid: int | str) -> None:
        self.pid = pid
        self._file = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        """No more is read."""
        os.close(self._file)

    def some(self, address: int, size: int) -> bytes:
        """So many bytes, or fewer where the mapping ends before."""
        if not 0 < address < 1 << 63:
            raise LostError(f"no address: {address:#x}")
        try:
            return os.pread(self._file, size, address)
        except OSError as error:
            raise LostError(f"{address:#x}: {error.strerror}") from None

    def read(self, address: int, size: int) -> bytes:
        """Exactly so many bytes."""
        found = self.some(address, size)
        if len(found) != size:
            raise LostError(f"{address:#x} has fewer than {size} bytes")
        return found

    def word(self, address: int) -> int:
        """A pointer or a size."""
        return int.from_bytes(self.read(address, WORD), "little")

    def int32(self, address: int) -> int:
        """A C int."""
        return int.from_bytes(self.read(address, 4), "little", signed=True)

    def text(self, address: int, most: int = 256) -> bytes:
        """A C string."""
        return self.some(address, most).partition(b"\0")[0]

    def mappings(self) -> Iterator[tuple[int, int, str, tuple[str, str], str]]:
        """Start, end, permissions, device with inode, and file of each mapping."""
        with open(f"/proc/{self.pid}/maps", errors="surrogateescape") as file:
            for line in file:
                span, flags, _, device, inode, *path = line.split(None, 5)
                start, _, end = span.partition("-")
                name = path[0].rstrip("\n") if path else ""
                yield int(start, 16), int(end, 16), flags, (device, inode), name


def words(blob: bytes) -> tuple[int, ...]:
    """All words of a piece of memory."""
    count = len(blob) // WORD
    return struct.unpack(f"<{count}Q", blob[: count * WORD])


def places(blob: bytes, wanted: int) -> list[int]:
    """Where a word has this value."""
    return [WORD * number for number, word in enumerate(words(blob)) if word == wanted]
