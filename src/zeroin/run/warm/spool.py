"""All output of the program so far, in the order it came, to be shown again after a resume."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

IN_MEMORY = 1 << 20
MOST = 64 << 20
PIECE = 64 << 10
TOO_MUCH = f"more than {MOST >> 20} MB of output"


class Spool:
    """Grows at the end, is cut when a run goes on from a snapshot."""

    def __init__(self, *, in_memory: int = IN_MEMORY, most: int = MOST) -> None:
        self.size = 0
        self.refusal = ""  # why no more is taken
        self._in_memory = in_memory
        self._most = most
        self._memory = bytearray()
        self._file: IO[bytes] | None = None  # has no name, and then holds all of it
        self._runs: list[tuple[str, int]] = []  # stream, and where in the whole its run ends

    def add(self, stream: str, data: bytes) -> bool:
        """Take a piece; False when it can't, and then nothing more until it is cut."""
        if self.refusal:
            return False
        if self.size + len(data) > self._most:
            self.refusal = TOO_MUCH
            return False
        try:
            self._write(data)
        except OSError as error:
            self.refusal = f"no room for its output: {os.strerror(error.errno or 0).lower()}"
            return False
        self.size += len(data)
        if self._runs and self._runs[-1][0] == stream:
            self._runs.pop()
        self._runs.append((stream, self.size))
        return True

    def _write(self, data: bytes) -> None:
        if self._file is None and self.size + len(data) > self._in_memory:
            import tempfile

            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as we
            _write_at(self._file.fileno(), bytes(self._memory), 0)
            self._memory = bytearray()
        if self._file is None:
            self._memory += data
        else:
            _write_at(self._file.fileno(), data, self.size)

    def cut(self, size: int) -> None:
        """Forget what came after the first `size` bytes."""
        self.size = min(self.size, size)
        self.refusal = ""
        while self._runs and self._runs[-1][1] > self.size:
            stream, _ = self._runs.pop()
            if (self._runs[-1][1] if self._runs else 0) < self.size:
                self._runs.append((stream, self.size))
        if self._file is None:
            del self._memory[self.size :]
        elif self.size:
            os.ftruncate(self._file.fileno(), self.size)
        else:
            self.close()

    def pieces(self) -> Iterator[tuple[str, bytes]]:
        """All of it, in order, each with its stream."""
        start = 0
        for stream, end in list(self._runs):
            while start < end:
                data = self._read(start, min(PIECE, end - start))
                if not data:
                    return
                yield stream, data
                start += len(data)

    def _read(self, start: int, count: int) -> bytes:
        if self._file is None:
            return bytes(self._memory[start : start + count])
        return os.pread(self._file.fileno(), count, start)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._memory = bytearray()
        self._runs = []
        self.size = 0


def _write_at(fd: int, data: bytes, position: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(fd, view, position)
        view, position = view[written:], position + written
