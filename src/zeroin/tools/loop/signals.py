"""Signals as something to read, so that none of them interrupts us in the middle of anything.

A run takes them itself while it goes on (see `run/execute.py`); these are for the time between.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Collects those that end us or move us between foreground and background."""

    def __init__(self) -> None:
        self.taken: list[int] = []
        self._reading, self._writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._wakeup = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        kept = [n for n in ENDING if signal.getsignal(n) is not signal.SIG_IGN]  # as under nohup
        self._before = {n: signal.signal(n, self._take) for n in (*kept, signal.SIGCONT)}
        os.register_at_fork(after_in_child=self._let_die)

    def _take(self, number: int, _: FrameType | None) -> None:
        self.taken.append(number)

    def _let_die(self) -> None:
        """A copy of us that only passes output on has nothing to put in order."""
        for number in self._before:
            signal.signal(number, signal.SIG_DFL)

    def fileno(self) -> int:
        """What to poll."""
        return self._reading

    def read(self) -> None:
        """Be woken; what came is in `taken`."""
        try:
            while os.read(self._reading, 512):
                pass
        except BlockingIOError:
            pass

    def mind_stops(self, *, mind: bool) -> None:
        """While the terminal has our modes, Ctrl-Z has to wait until they are put back."""
        signal.signal(signal.SIGTSTP, self._take if mind else signal.SIG_DFL)

    def stop(self) -> None:
        """Be stopped as if nobody had minded; returns when we go on."""
        self.mind_stops(mind=False)
        os.kill(os.getpid(), signal.SIGTSTP)

    def close(self) -> None:
        """As it was."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
        self.mind_stops(mind=False)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._reading)
        os.close(self._writing)
