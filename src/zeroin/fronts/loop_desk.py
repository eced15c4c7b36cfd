"""Orders to the loop: keys on a terminal, words where there is none."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios

from zeroin.tools.loop.report import Order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = {
    "\n": Order.RUN,
    "\r": Order.RUN,
    "c": Order.COLD,
    "v": Order.VERIFY,
    "d": Order.DEBUG,
    "?": Order.HELP,
    "h": Order.HELP,
    "q": Order.QUIT,
    "\x04": Order.QUIT,  # Ctrl-D
}
WORDS = (Order.RUN, Order.COLD, Order.VERIFY, Order.QUIT)
ESCAPE = "\x1b"


class Keys:
    """Single keys, while no program runs. The terminal is as it was whenever one does.

    What was typed while a program ran was meant for that program: it is shown, and obeyed by
    nobody. What is typed after a key stays where it is, for the program that the key starts.
    """

    def __init__(self, fd: int, note: Callable[[str], None]) -> None:
        self._fd = fd
        self._note = note
        self._plain = termios.tcgetattr(fd)
        self._is_open = False

    def open(self, *, after_run: bool) -> None:
        """One key at a time, unseen; unless we are in the background, where it is not ours."""
        if self._is_open or os.tcgetpgrp(self._fd) != os.getpgrp():
            return
        self._is_open = True
        modes = [*self._plain[:6], list(self._plain[6])]
        modes[3] = modes[3] & ~(termios.ICANON | termios.ECHO)
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        termios.tcsetattr(self._fd, termios.TCSANOW, modes)
        ahead = self._waiting()
        if after_run and ahead:
            text = os.read(self._fd, ahead).decode("utf-8", "replace")
            self._note(f"typed while it ran, and read by nobody: {text!r}")

    def close(self) -> None:
        """Give it back; what waits to be read stays."""
        if self._is_open:
            self._is_open = False
            termios.tcsetattr(self._fd, termios.TCSANOW, self._plain)

    def fileno(self) -> int:
        """What to poll; nothing while the terminal is not ours."""
        return self._fd if self._is_open else -1

    def terminal(self) -> tuple[int, int, int] | None:
        """For whoever speaks with the user meanwhile, wherever our output goes."""
        out, err = (fd if os.isatty(fd) else self._fd for fd in (1, 2))
        return self._fd, out, err

    def read(self) -> list[Order]:
        """One key."""
        if not self._is_open:
            return []
        try:
            key = os.read(self._fd, 1).decode("latin-1")
        except OSError:  # the terminal has gone
            key = ""
        if not key:
            return [Order.QUIT]
        if key == ESCAPE:
            self._skip_sequence()
        order = KEYS.get(key)
        return [order] if order is not None else []

    def _skip_sequence(self) -> None:
        """An arrow and the like are one key of several characters: ESC [ … letter, ESC O letter."""
        kind = os.read(self._fd, 1) if self._waiting() else b""
        if kind == b"O" and self._waiting():
            os.read(self._fd, 1)
        while kind == b"[" and self._waiting():
            if 0x40 <= os.read(self._fd, 1)[0] <= 0x7E:
                return

    def _waiting(self) -> int:
        answer = fcntl.ioctl(self._fd, termios.FIONREAD, b"\0" * 4)
        return int(struct.unpack("i", answer)[0])


class Words:
    """A word a line. The end of them is the end of the loop."""

    def __init__(self, fd: int, note: Callable[[str], None]) -> None:
        self._fd = fd
        self._note = note
        self._rest = b""
        self._ended = False
        self._pollable = _is_pollable(fd)

    def open(self, *, after_run: bool) -> None:
        """Nothing to prepare."""

    def close(self) -> None:
        """Nothing to put back."""

    def fileno(self) -> int:
        """What to poll; a file has no need for it."""
        return self._fd if self._pollable and not self._ended else -1

    def terminal(self) -> tuple[int, int, int] | None:
        """There is none."""
        return None

    def read(self) -> list[Order]:
        """All words that are there."""
        if self._ended:
            return []
        data = os.read(self._fd, 1 << 16)
        while data and not self._pollable:
            self._rest += data
            data = os.read(self._fd, 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._ended = not data
        if self._ended:
            lines.append(self._rest)
        found = [order for line in lines if (order := self._order(line)) is not None]
        return [*found, Order.QUIT] if self._ended else found

    def _order(self, line: bytes) -> Order | None:
        word = line.decode("utf-8", "replace").strip()
        for order in WORDS:
            if word == order.value:
                return order
        if word:
            names = ", ".join(order.value for order in WORDS)
            self._note(f"there is no word {word!r}: {names}")
        return None


def _is_pollable(fd: int) -> bool:
    """Pipes and sockets are; a file, and /dev/null, can always be read."""
    with select.epoll() as poll:
        try:
            poll.register(fd, select.EPOLLIN)
        except PermissionError:
            return False
    return True
