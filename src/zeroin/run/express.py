"""Output faster than anyone reads: passed from pipe to pipe without a copy.

A command that writes hundreds of megabytes a second would wait for us, since reading and
writing copies every byte twice. `splice` hands the pages on instead, and `tee` leaves a second
reference to the last of them in a pipe of our own, from which the end can be read once the
rush is over.
"""

from __future__ import annotations

import array
import ctypes
import errno
import fcntl
import os
import termios
import time

from zeroin.run.wires import PIPE, widen

NONBLOCK = 0x02  # SPLICE_F_NONBLOCK
HALF = PIPE // 2
PAUSE = 0.00005  # seconds: long enough for the command to write some pages
TURN = 0.005  # seconds in one go, before the event loop looks at anything else


class Express:
    """One stream in a rush."""

    def __init__(self, source: int, target: int) -> None:
        self.source = source
        self.target = target
        self.moved = 0  # bytes passed on
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._out, self._in = os.pipe()
        widen(self._in)
        self._null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        self._held = 0  # bytes in our own pipe
        self._ahead = 0  # the last of them, which the target has not taken yet

    def move(self) -> bool | None:
        """Pass on what comes in the next moments; None when the target is full, False at the end.

        To wait for each piece in the event loop would cost more than the piece itself.
        """
        until = time.monotonic() + TURN
        while time.monotonic() < until:
            if not self._ahead:
                seen = self._tee()
                if seen is None:
                    time.sleep(PAUSE)
                    continue
                if not seen:
                    return False
                self._ahead = seen
                self._held += seen
            try:
                count = os.splice(self.source, self.target, self._ahead, flags=NONBLOCK)
            except BlockingIOError:
                return None
            self._ahead -= count
            self.moved += count
        return True

    def _tee(self) -> int | None:
        """How much came, now also in our own pipe; None when nothing could be taken."""
        if self._held > HALF:
            self._forget(self._held - HALF)
        count = self._libc.tee(self.source, self._in, HALF, NONBLOCK)
        if count >= 0:
            return int(count)
        error = ctypes.get_errno()
        if error != errno.EAGAIN:
            raise OSError(error, os.strerror(error))
        if self._held and _waiting(self.source):
            # Ours is full although it holds little: hardly filled pages take as much room.
            self._forget((self._held + 1) // 2)
        return None

    def _forget(self, count: int) -> None:
        """Drop the oldest of what we hold: it is not the end any more."""
        self._held -= os.splice(self._out, self._null, count, flags=NONBLOCK)

    def leave(self) -> tuple[int, bytes]:
        """End the rush: how much was passed on in all, and the last of it."""
        os.close(self._in)
        parts = []
        while part := os.read(self._out, PIPE):
            parts.append(part)
        os.close(self._out)
        os.close(self._null)
        end = b"".join(parts)
        # What was looked at but not passed on is still in the source, and comes again.
        return self.moved, end[: len(end) - self._ahead] if self._ahead else end


def _waiting(pipe: int) -> int:
    """How many bytes can be read."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]
