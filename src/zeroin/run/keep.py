"""Keeping a command's output: all of a small one, the first and last part of a huge one.

On disk, never in memory, and bounded. An attempt's folder holds segments: `0` is the
beginning, `a` and `b` take turns at holding the end, each emptied when it is its turn again.
Beside each lies `<segment>.times`: a line `offset milliseconds stream` wherever time or
stream changed, so that each line of output has its time stamp.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HEAD = 2 << 20
TAIL = 6 << 20
RECENT = 64 << 10  # of each stream, in memory: what an explanation is made from
STEP = 10  # milliseconds: how fine the time stamps are
MASKED = b"<secret>"


class Keeper:
    """Writes the segments of one attempt. A full disk ends the keeping, not the command."""

    def __init__(
        self, folder: str, secrets: Iterable[str] = (), *, head: int = HEAD, tail: int = TAIL
    ) -> None:
        self.folder = folder
        self.error: OSError | None = None
        self.total = 0
        self._limits = (head, max(1, tail // 2))
        self._maskers: dict[str, _Masker] = {}
        self._secrets = [s.encode("utf-8", "surrogateescape") for s in secrets]
        self._recent: dict[str, list[bytes]] = {}
        self._recent_size: dict[str, int] = {}
        self._segment = ""
        self._room = 0
        self._last = (-STEP, "")
        self._data = self._times = -1
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self._open("0")
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

    def close(self, milliseconds: int) -> None:
        """Write what was held back."""
        for stream, masker in self._maskers.items():
            self._keep(stream, masker.flush(), milliseconds)
        self._close()

    def recent(self, stream: str) -> str:
        """The end of one stream."""
        return b"".join(self._recent.get(stream, ()))[-RECENT:].decode("utf-8", "replace")

    def _keep(self, stream: str, data: bytes, milliseconds: int) -> None:
        if not data:
            return
        self._remember(stream, data)
        self.total += len(data)
        if self.error is not None:
            return
        try:
            self._stamp(stream, milliseconds)
            view = memoryview(data)
            while len(view) > self._room:
                _write(self._data, view[: self._room])
                view = view[self._room :]
                self._open("b" if self._segment == "a" else "a")
                self._stamp(stream, milliseconds)
            _write(self._data, view)
            self._room -= len(view)
        except OSError as error:
            self.error = error
            self._close()

    def _remember(self, stream: str, data: bytes) -> None:
        parts = self._recent.setdefault(stream, [])
        parts.append(data[-RECENT:])
        size = self._recent_size.get(stream, 0) + len(parts[-1])
        if size > 4 * RECENT:
            parts[:] = [b"".join(parts)[-RECENT:]]
            size = RECENT
        self._recent_size[stream] = size

    def _stamp(self, stream: str, milliseconds: int) -> None:
        if stream == self._last[1] and milliseconds - self._last[0] < STEP:
            return
        self._last = (milliseconds, stream)
        offset = (self._limits[0] if self._segment == "0" else self._limits[1]) - self._room
        os.write(self._times, b"%d %d %s\n" % (offset, milliseconds, stream.encode()))

    def _open(self, segment: str) -> None:
        self._close()
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        base = os.path.join(self.folder, segment)
        self._data = os.open(base, flags, 0o600)
        self._times = os.open(base + ".times", flags, 0o600)
        if segment != "0":
            # Where this piece starts in the whole, so that the gap can be named.
            os.write(self._times, b"+%d\n" % self._position())
        self._segment = segment
        self._room = self._limits[0] if segment == "0" else self._limits[1]
        self._last = (-STEP, "")

    def _position(self) -> int:
        head, piece = self._limits
        self._pieces = getattr(self, "_pieces", -1) + 1
        return head + piece * self._pieces

    def _close(self) -> None:
        for fd in (self._data, self._times):
            if fd >= 0:
                os.close(fd)
        self._data = self._times = -1


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


def _write(fd: int, view: memoryview) -> None:
    while len(view):
        view = view[os.write(fd, view) :]


class Piece(NamedTuple):
    """Some output with the time since the start and the stream it came from."""

    seconds: float
    stream: str
    data: bytes


def pieces(folder: str) -> Iterator[Piece]:
    """What was kept, in order; a gap shows as a piece of the stream "gap"."""
    position = 0
    for start, segment in _segments(folder):
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


def _segments(folder: str) -> list[tuple[int, str]]:
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
