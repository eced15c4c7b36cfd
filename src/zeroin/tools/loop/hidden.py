"""A place for output that nobody is to see, of the same kind as where it is seen.

A program may print otherwise on a terminal, so a run that is only compared gets one, too.
"""

from __future__ import annotations

import fcntl
import os
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from zeroin.run.aside import Aside


class Hidden:
    """Use as a context manager; `targets` is what stands for stdout and stderr."""

    def __init__(self, targets: tuple[int, int], aside: Aside) -> None:
        self._aside = aside
        self._open: list[int] = []
        self._masters: list[int] = []
        both = all(map(os.isatty, targets))
        first = self._like(targets[0])
        self.targets = (first, first if both else self._like(targets[1]))

    def _like(self, fd: int) -> int:
        if not os.isatty(fd):
            self._open.append(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC))
            return self._open[-1]
        master, slave = os.openpty()
        termios.tcsetattr(slave, termios.TCSANOW, termios.tcgetattr(fd))
        size = fcntl.ioctl(fd, termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        os.set_blocking(master, False)
        self._aside.add(master, lambda: _swallow(master))
        self._masters.append(master)
        self._open += [slave, master]
        return slave

    def __enter__(self) -> tuple[int, int]:
        return self.targets

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        for master in self._masters:
            self._aside.remove(master)
        for fd in self._open:
            os.close(fd)


def _swallow(fd: int) -> None:
    try:
        while os.read(fd, 1 << 16):
            pass
    except OSError:  # nothing there now, or nobody at the other end
        pass
