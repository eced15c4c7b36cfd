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
from collections import deque

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HEAD = 2 << 20
TAIL = 6 << 20
RECENT = 64 << 10  # of each stream, in memory: what an explanation is made from
STEP = 10  # milliseconds: how fine the time stamps are
WAIT = 500  # milliseconds that output may wait to be written
MASKED = b"<secret>"


class Keeper:
    """Writes the segments of one attempt. A full disk ends the keeping, not the command."""

    def __init__(
        self, folder: str, secrets: Iterable[str] = (), *, head: int = HEAD, tail: int = TAIL
    ) -> None:
        self.error: OSError | None = None
        self.total = 0
        self.folder = folder
        self._segments = _Segments(folder, head, max(1, tail // 2))
        self._head = head
        self._tail = tail
        self._secrets = [s.encode("utf-8", "surrogateescape") for s in secrets]
        self._maskers: dict[str, _Masker] = {}
        self._recent: dict[str, _Recent] = {}
        self._waiting: deque[tuple[int, str, int, bytes]] = deque()  # position, stream, ms, data
        self._waiting_size = 0
        self._written_at = 0
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self._segments.open("0", 0)
        except OSError as error:
            self.error = error

    def feed(self, stream: str, data: bytes, milliseconds: int) -> None:
        """Keep one piece of output."""
        if self._secrets:
            masker = self._maskers.get(stream)
            if masker is None:
                masker = self._maskers[stream] = _Masker(self._secrets)
            data = masker.feed(data)
        self._keep(stream, data, milliseconds)

    def skip(self, stream: str, count: int, milliseconds: int) -> None:
        """Output that passed without being kept."""
        masker = self._maskers.get(stream)
        if masker is not None:
            self._keep(stream, masker.flush(), milliseconds)
        self.total += count

    def tick(self, milliseconds: int) -> None:
        """Write what has waited long enough."""
        if self._waiting and milliseconds - self._written_at >= WAIT:
            self._write_waiting(milliseconds)

    def close(self, milliseconds: int) -> None:
        """Write what was held back."""
        for stream, masker in self._maskers.items():
            self._keep(stream, masker.flush(), milliseconds)
        self._write_waiting(milliseconds)
        self._segments.close()

    def recent(self, stream: str) -> str:
        """The end of one stream."""
        found = self._recent.get(stream)
        return found.text() if found is not None else ""

    def _keep(self, stream: str, data: bytes, milliseconds: int) -> None:
        if not data:
            return
        if stream not in self._recent:
            self._recent[stream] = _Recent()
        self._recent[stream].add(data)
        position, self.total = self.total, self.total + len(data)
        if self.error is not None:
            return
        if position < self._head:
            room = self._head - position
            self._write(position, stream, milliseconds, data[:room])
            position, data = position + room, data[room:]
        if data:
            self._wait(position, stream, milliseconds, data)

    def _wait(self, position: int, stream: str, milliseconds: int, data: bytes) -> None:
        self._waiting.append((position, stream, milliseconds, data))
        self._waiting_size += len(data)
        while self._waiting_size - len(self._waiting[0][3]) >= self._tail:
            self._waiting_size -= len(self._waiting.popleft()[3])
        self.tick(milliseconds)

    def _write_waiting(self, milliseconds: int) -> None:
        self._written_at = milliseconds
        while self._waiting:
            self._write(*self._waiting.popleft())
        self._waiting_size = 0

    def _write(self, position: int, stream: str, milliseconds: int, data: bytes) -> None:
        if self.error is not None:
            return
        try:
            self._segments.write(position, stream, milliseconds, memoryview(data))
        except OSError as error:
            self.error = error
            self._segments.close()


class _Segments:
    """The files: `0` takes the first `head` bytes, `a` and `b` then take `size` bytes in turn."""

    def __init__(self, folder: str, head: int, size: int) -> None:
        self.folder = folder
        self.head = head
        self.size = size
        self.name = ""
        self.start = self.position = 0
        self.last = (-STEP, "")
        self.data = self.times = -1

    def write(self, position: int, stream: str, milliseconds: int, view: memoryview) -> None:
        """Write where the output goes on; a gap, or a full segment, begins the next one."""
        while len(view):
            if position != self.position or self.room <= 0:
                self.open("b" if self.name == "a" else "a", position)
            self._stamp(stream, milliseconds)
            written = os.write(self.data, view[: self.room])
            view = view[written:]
            position += written
            self.position = position

    @property
    def room(self) -> int:
        """How much the segment still takes."""
        size = self.head if self.name == "0" else self.size
        return size - (self.position - self.start)

    def open(self, name: str, position: int) -> None:
        """Begin a segment; what was in it is gone."""
        self.close()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        base = os.path.join(self.folder, name)
        self.data = os.open(base, flags, 0o600)
        self.times = os.open(base + ".times", flags, 0o600)
        os.write(self.times, b"+%d\n" % position)
        self.name = name
        self.start = self.position = position
        self.last = (-STEP, "")

    def close(self) -> None:
        """Let go of the files."""
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
    """The last bytes of a stream, at little cost a piece."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0

    def add(self, data: bytes) -> None:
        self.parts.append(data[-RECENT:])
        self.size += len(self.parts[-1])
        if self.size > 4 * RECENT:
            self.parts[:] = [b"".join(self.parts)[-RECENT:]]
            self.size = RECENT

    def text(self) -> str:
        return b"".join(self.parts)[-RECENT:].decode("utf-8", "replace")


class _Masker:
    """Replaces secrets in a stream of pieces, also where one lies across two pieces."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self.secrets = sorted(secrets, key=len, reverse=True)
        self.held = b""

    def feed(self, data: bytes) -> bytes:
        data = self.held + data
        for secret in self.secrets:
            if secret in data:
                data = data.replace(secret, MASKED)
        keep = max((_overlap(data, secret) for secret in self.secrets), default=0)
        self.held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def flush(self) -> bytes:
        held, self.held = self.held, b""
        return held


def _overlap(data: bytes, secret: bytes) -> int:
    """How many bytes at the end of `data` could be the beginning of the secret."""
    for length in range(min(len(secret) - 1, len(data)), 0, -1):
        if data.endswith(secret[:length]):
            return length
    return 0


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
            with open(os.path.join(folder, segment), "rb") as file:
                data = file.read()
        except OSError:
            continue
        yield from _cut(data, _stamps(folder, segment))
        position = start + len(data)


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
            with open(os.path.join(folder, segment + ".times"), "rb") as file:
                first = file.readline()
        except OSError:
            continue
        found.append((int(first[1:]) if first.startswith(b"+") else 0, segment))
    return sorted(found)


def _stamps(folder: str, segment: str) -> list[tuple[int, int, str]]:
    with open(os.path.join(folder, segment + ".times"), "rb") as file:
        rows = [line.split() for line in file if not line.startswith(b"+")]
    return [(int(r[0]), int(r[1]), r[2].decode()) for r in rows if len(r) == 3]


def _cut(data: bytes, stamps: list[tuple[int, int, str]]) -> Iterator[Piece]:
    for number, (offset, milliseconds, stream) in enumerate(stamps):
        end = stamps[number + 1][0] if number + 1 < len(stamps) else len(data)
        if end > offset:
            yield Piece(milliseconds / 1000, stream, data[offset:end])
