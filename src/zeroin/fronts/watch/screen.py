"""The terminal while we paint on it: a second screen, of which only changed lines are written.

Whatever ends us, the terminal is as it was before; only SIGKILL leaves no time for that.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
import termios

from zeroin.fronts.words import make_safe

ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J"  # second screen, no cursor, no wrapping, empty
SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|.)?", re.DOTALL)
LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"


class Screen:
    """Paints on `out`; takes keys from `keys`, unless that is no terminal."""

    def __init__(self, out: int, keys: int, encoding: str) -> None:
        self._out = out
        self._keys = keys if os.isatty(keys) else -1
        self._encoding = encoding
        self._plain = termios.tcgetattr(self._keys) if self._keys >= 0 else None
        self._shown: list[str] | None = None
        self.is_open = False

    def is_ours(self) -> bool:
        """Whether we are in the foreground: else the screen is somebody else's."""
        try:
            return os.tcgetpgrp(self._out) == os.getpgrp()
        except OSError:  # a terminal without job control
            return True

    def open(self) -> bool:
        """Take the screen, unless it is somebody else's."""
        if self.is_open or not self.is_ours():
            return self.is_open
        self.is_open = True
        self._shown = None
        if self._plain is not None:
            modes = [*self._plain[:6], list(self._plain[6])]
            modes[3] &= ~(termios.ICANON | termios.ECHO)
            modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._keys, termios.TCSADRAIN, modes)
        self._write(ENTER)
        return True

    def close(self) -> None:
        """Give it back as it was."""
        if not self.is_open:
            return
        self.is_open = False
        try:
            self._write("\x1b[0m" + LEAVE)
            if self._plain is not None:
                termios.tcsetattr(self._keys, termios.TCSANOW, self._plain)
        except (OSError, termios.error):  # the terminal has gone
            pass

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        try:
            answer = fcntl.ioctl(self._out, termios.TIOCGWINSZ, b"\0" * 8)
            rows, columns = struct.unpack("hhhh", answer)[:2]
        except OSError:
            return 80, 24
        return columns or 80, rows or 24

    def forget(self) -> None:
        """Somebody else has written on it: paint all of it the next time."""
        self._shown = None

    def show(self, lines: list[str]) -> None:
        """Write the lines that differ."""
        if not self.is_open:
            return
        before = self._shown
        parts = ["\x1b[2J"] if before is None else []
        before = before or []
        for number, line in enumerate(lines):
            if number >= len(before) or before[number] != line:
                parts.append(f"\x1b[{number + 1};1H\x1b[2K{make_safe(line)}")
        if len(before) > len(lines):
            parts.append(f"\x1b[{len(lines) + 1};1H\x1b[J")
        self._shown = lines
        if parts:
            self._write("".join(parts))

    def typed(self) -> str | None:
        """The keys since the last time; None when nobody will type any more."""
        try:
            data = os.read(self._keys, 1 << 10)
        except OSError:
            data = b""
        # An arrow and the like are several characters: none of them is a key of ours.
        return SEQUENCE.sub("", data.decode("latin-1")) if data else None

    def fileno(self) -> int:
        """What to poll for keys."""
        return self._keys if self.is_open else -1

    def no_keys(self) -> None:
        """Nobody types any more."""
        self._keys = -1

    def _write(self, text: str) -> None:
        data = text.encode(self._encoding, "replace")
        while data:
            try:
                data = data[os.write(self._out, data) :]
            except BlockingIOError:  # somebody made the terminal non-blocking
                import select

                select.select([], [self._out], [])
