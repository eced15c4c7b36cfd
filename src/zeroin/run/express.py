"""Output faster than anyone reads: passed from pipe to pipe without a copy.

A command that writes hundreds of megabytes a second would wait for us, since reading and
writing copies every byte twice. `splice` hands the pages on instead, and `tee` leaves a second
reference to the last of them in a pipe of our own, from which the end can be read once the
rush is over.
"""

from __future__ import annotations

import ctypes
import errno
import os
import time

from zeroin.run.wires import PIPE, widen

NONBLOCK = 0x02  # SPLICE_F_NONBLOCK
PAUSE = 0.0002  # seconds


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
        self._ahead = 0  # bytes already in our own pipe that the target has not taken yet

    def move(self) -> bool | None:
        """Pass on what is there; None when the target is full, False at the end."""
        if not self._ahead:
            self._ahead = self._tee()
            if not self._ahead:
                return False
        try:
            count = os.splice(self.source, self.target, self._ahead, flags=NONBLOCK)
        except BlockingIOError:
            return None
        self._ahead -= count
        self.moved += count
        if count < PIPE // 4:
            # We are quicker than the command: let the pipe fill, rather than come for each page.
            time.sleep(PAUSE)
        return True

    def _tee(self) -> int:
        while True:
            count = self._libc.tee(self.source, self._in, PIPE, NONBLOCK)
            if count >= 0:
                return int(count)
            error = ctypes.get_errno()
            if error != errno.EAGAIN:
                raise OSError(error, os.strerror(error))
            # Ours is full: the older half of it is not the end any more.
            os.splice(self._out, self._null, PIPE // 2, flags=NONBLOCK)

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
