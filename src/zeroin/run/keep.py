"""Keeping a command's output: all of a small one, the first and last part of a huge one.

Bounded, and on disk. An attempt's folder holds segments: `0` is the beginning, `a` and `b`
take turns at holding the end, each emptied when it is its turn again. Beside each lies
`<segment>.times`: the line `+position` says where the segment begins in the whole, then a line
`offset milliseconds stream` stands wherever time or stream changed, so that each line of
output has its time stamp.

What comes after the beginning waits in memory for up to half a second, so that of a gigabyte
that rushes through only the end is ever written.
"""

from __future__ import annotations

import os
import time
from collections import deque

from zeroin.common.stream import KnownSecrets, StreamMasker, mask_bytes
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import BinaryIO

HEAD = 2 << 20
TAIL = 6 << 20
RECENT = 64 << 10  # of the beginning and of the end of each stream: what explains an ending
STEP = 10  # milliseconds: how fine the time stamps are
WAIT = 500  # milliseconds that output may wait to be written


class Keeper:
    """Masks output and writes the segments of one attempt.

    What is not kept is not masked either. A full disk ends the keeping, not the command.
    """

    def __init__(
        self, folder: str, secrets: Iterable[str] = (), *, head: int = HEAD, tail: int = TAIL
    ) -> None:
        self.error: OSError | None = None
        self.total = 0
        self.folder = folder
        self._segments = _Segments(folder, head, max(1, tail // 2))
        self._room = head  # bytes of output that are written at once
        self._tail = tail
        self._known = KnownSecrets(secrets)
        self._maskers: dict[str, StreamMasker] = {}
        self._recent: dict[str, _Recent] = {}
        self._waiting: deque[tuple[str, int, bytes]] = deque()  # stream, ms, data
        self._waiting_size = 0
        self._written_at = 0
        self._pause = WAIT
        self._gap = 0  # bytes that were not kept since the last that were
        try:
            self._segments.begin()
        except OSError as error:
            self.error = error

    def feed(self, stream: str, data: bytes, milliseconds: int) -> None:
        """Keep one piece of output."""
        if stream not in self._recent:
            self._recent[stream] = _Recent()
        self._recent[stream].add(data)
        self.total += len(data)
        if self.error is not None:
            return
        if self._room > 0:
            now, data = data[: self._room], data[self._room :]
            self._room -= len(now)
            self._write(stream, milliseconds, now)
        if data:
            self._wait(stream, milliseconds, data)

    def skip(self, stream: str, count: int, milliseconds: int) -> None:
        """Output that passed without being kept."""
        self._write_waiting(milliseconds)
        self._end_line(stream, milliseconds)
        self._gap += count
        self.total += count

    def tick(self, milliseconds: int) -> None:
        """Write what has waited long enough."""
        if self._waiting and milliseconds - self._written_at >= self._pause:
            self._write_waiting(milliseconds)

    def close(self, milliseconds: int) -> None:
        """Write what was held back."""
        self._write_waiting(milliseconds)
        for stream in list(self._maskers):
            self._end_line(stream, milliseconds)
        self._segments.close()

    def recent(self, stream: str) -> str:
        """The end of one stream, without secrets."""
        found = self._recent.get(stream)
        if found is None:
            return ""
        return mask_bytes(found.data(), self._known).decode("utf-8", "replace")

    def beginning(self, stream: str) -> str:
        """The beginning of one stream, without secrets, if `recent` does not hold all of it."""
        found = self._recent.get(stream)
        if found is None:
            return ""
        return mask_bytes(found.beginning(), self._known).decode("utf-8", "replace")

    def learned_secrets(self) -> list[str]:
        """What the output gave away."""
        return [one.decode("utf-8", "surrogateescape") for one in self._known.learned]

    def _wait(self, stream: str, milliseconds: int, data: bytes) -> None:
        self._waiting.append((stream, milliseconds, data))
        self._waiting_size += len(data)
        while self._waiting_size - len(self._waiting[0][2]) >= self._tail:
            dropped, stamp, gone = self._waiting.popleft()
            self._end_line(dropped, stamp)
            self._waiting_size -= len(gone)
            self._gap += len(gone)
        self.tick(milliseconds)

    def _write_waiting(self, milliseconds: int) -> None:
        """Mask and write what waits. In a rush, masking takes a tenth of the time at most."""
        self._written_at = milliseconds
        began = time.process_time()
        while self._waiting:
            self._write(*self._waiting.popleft())
        self._waiting_size = 0
        self._pause = max(WAIT, int(10_000 * (time.process_time() - began)))

    def _write(self, stream: str, milliseconds: int, data: bytes) -> None:
        masker = self._maskers.get(stream)
        if masker is None:
            masker = self._maskers[stream] = StreamMasker(self._known)
        self._put(stream, milliseconds, masker.feed(data))

    def _end_line(self, stream: str, milliseconds: int) -> None:
        """Write what waited for the rest of its line: that will not be kept."""
        masker = self._maskers.get(stream)
        if masker is not None:
            self._put(stream, milliseconds, masker.flush())

    def _put(self, stream: str, milliseconds: int, data: bytes) -> None:
        if not data or self.error is not None:
            return
        try:
            self._segments.write(self._gap, stream, milliseconds, memoryview(data))
        except OSError as error:
            self.error = error
            self._segments.close()
        self._gap = 0


class _Segments:
    """The files: `0` takes the first `head` bytes, `a` and `b` then take `size` bytes in turn."""

    def __init__(self, folder: str, head: int, size: int) -> None:
        self.folder = folder
        self.head = head
        self.size = size
        self.name = ""
        self.start = self.position = 0
        self.last = (-STEP, "")
        self.folder_fd = self.data = self.times = -1

    def begin(self) -> None:
        """Make the folder and the first segment: all that is written lies in that very folder."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        self.folder_fd = os.open(self.folder, flags)
        self.open("0", 0)

    def write(self, gap: int, stream: str, milliseconds: int, view: memoryview) -> None:
        """Write what comes after a gap of some bytes; that, or a full segment, begins the next."""
        while len(view):
            if gap or self.room <= 0:
                self.open("b" if self.name == "a" else "a", self.position + gap)
            gap = 0
            self._stamp(stream, milliseconds)
            written = os.write(self.data, view[: self.room])
            view = view[written:]
            self.position += written

    @property
    def room(self) -> int:
        """How much the segment still takes."""
        size = self.head if self.name == "0" else self.size
        return size - (self.position - self.start)

    def open(self, name: str, position: int) -> None:
        """Begin a segment; what was in it is gone."""
        self._close_segment()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        self.data = os.open(name, flags, 0o600, dir_fd=self.folder_fd)
        self.times = os.open(f"{name}.times", flags, 0o600, dir_fd=self.folder_fd)
        os.write(self.times, b"+%d\n" % position)
        self.name = name
        self.start = self.position = position
        self.last = (-STEP, "")

    def close(self) -> None:
        """Let go of the files and of their folder."""
        self._close_segment()
        if self.folder_fd >= 0:
            os.close(self.folder_fd)
            self.folder_fd = -1

    def _close_segment(self) -> None:
        for fd in (self.data, self.times):
            if fd >= 0:
                os.close(fd)
        self.data = self.times = -1

    def _stamp(self, stream: str, milliseconds: int) -> None:
        if stream == self.last[1] and milliseconds - self.last[0] < STEP:
            return
        self.last = (milliseconds, stream)
        row = b"%d %d %s\n" % (self.position - self.start, milliseconds, stream.encode())
        os.write(self.times, row)


class _Recent:
    """The last bytes of a stream, and the first ones, at little cost a piece."""

    def __init__(self) -> None:
        self.first = b""
        self.total = 0
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, data: bytes) -> None:
        if len(self.first) < RECENT:
            self.first += data[: RECENT - len(self.first)]
        self.total += len(data)
        self.parts.append(data[-RECENT:])
        self.size += len(self.parts[-1])
        if self.size > 4 * RECENT:
            self.parts[:] = [b"".join(self.parts)[-RECENT:]]
            self.size = RECENT

    def data(self) -> bytes:
        return b"".join(self.parts)[-RECENT:]

    def beginning(self) -> bytes:
        return self.first if self.total > RECENT else b""


class Piece(NamedTuple):
    """Some output with the time since the start and the stream it came from."""

    seconds: float
    stream: str
    data: bytes


def pieces(folder: str) -> Iterator[Piece]:
    """What was kept, in order; a gap shows as a piece of the stream "gap"."""
    position = 0
    for start, segment in _kept(folder):
        if start > position:
            yield Piece(0.0, "gap", b"%d" % (start - position))
        try:
            with open_own(os.path.join(folder, segment)) as file:
                data = file.read()
        except OSError:
            continue
        yield from _cut(data, _stamps(folder, segment))
        position = start + len(data)


def open_own(path: str) -> BinaryIO:
    """A file of the record to read, never what a link leads to, and without waiting for a FIFO."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return open(os.open(path, flags), "rb")


def text(folder: str, streams: Sequence[str] = ("out", "err", "tty")) -> bytes:
    """The kept output as one piece, the gap named in a line of its own."""
    parts = []
    for piece in pieces(folder):
        if piece.stream == "gap":
            parts.append(b"\n[... %s bytes not kept ...]\n" % piece.data)
        elif piece.stream in streams:
            parts.append(piece.data)
    return b"".join(parts)


def _kept(folder: str) -> list[tuple[int, str]]:
    found = []
    for segment in ("0", "a", "b"):
        try:
            with open_own(os.path.join(folder, segment + ".times")) as file:
                first = file.readline()
        except OSError:
            continue
        found.append((int(first[1:]) if first.startswith(b"+") else 0, segment))
    return sorted(found)


def _stamps(folder: str, segment: str) -> list[tuple[int, int, str]]:
    with open_own(os.path.join(folder, segment + ".times")) as file:
        rows = [line.split() for line in file if not line.startswith(b"+")]
    return [(int(r[0]), int(r[1]), r[2].decode()) for r in rows if len(r) == 3]


def _cut(data: bytes, stamps: list[tuple[int, int, str]]) -> Iterator[Piece]:
    for number, (offset, milliseconds, stream) in enumerate(stamps):
        end = stamps[number + 1][0] if number + 1 < len(stamps) else len(data)
        if end > offset:
            yield Piece(milliseconds / 1000, stream, data[offset:end])
