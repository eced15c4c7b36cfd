"""Signals as things that have happened, to be looked at between two samples."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Self

HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH, signal.SIGTSTP)
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Hears them while it is entered; `fileno` can be polled."""

    def __init__(self) -> None:
        self.came: set[int] = set()
        self._before: dict[int, object] = {}
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._wakeup = -1

    def __enter__(self) -> Self:
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in HEARD:
            before = signal.getsignal(number)
            if before is signal.SIG_IGN and number in (signal.SIGHUP, signal.SIGTSTP):
                continue  # nohup
            self._before[number] = before
            signal.signal(number, self._hear)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._read)
        os.close(self._write)

    def fileno(self) -> int:
        """What to poll."""
        return self._read

    def take(self) -> set[int]:
        """Those that came since the last time."""
        try:
            os.read(self._read, 1 << 10)
        except BlockingIOError:
            pass
        came, self.came = self.came, set()
        return came

    def stop_here(self) -> None:
        """Stop as Ctrl-Z would stop a program that hears nothing; on again with `fg`."""
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._hear)

    def _hear(self, number: int, _: FrameType | None) -> None:
        self.came.add(number)


def die_of(number: int) -> None:
    """End by a signal, so that whoever waits for us knows."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
