"""A failure kept alive: the process where it happened waits to be looked at by a debugger."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from zeroin.run.warm.engine import Engine
    from zeroin.run.warm.lines import Line

KEYBOARD = (signal.SIGINT, signal.SIGQUIT, signal.SIGTTOU)


class Holder:
    """The failure of the last run. Gone with the next one."""

    def __init__(self, engine: Engine, line: Line) -> None:
        self._engine = engine
        self.line = line
        self.pid = 0  # known once it is frozen
        self.is_busy = False  # with a debugger

    def debug(
        self,
        stdin: int = 0,
        stdout: int = 1,
        stderr: int = 2,
        *,
        over: Callable[[], bool] = bool,
    ) -> bool:
        """Let a debugger have the terminal until it ends, or is `over`; False without one."""
        modes = _modes(stdin)
        # What is typed there is not for us.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, KEYBOARD)
        try:
            if not self.line.send({"kind": "debug"}, (stdin, stdout, stderr)):
                return False
            self.is_busy = True
            self._engine.wait_for_debugger(self, over)
            _take_back(stdin, modes)
            while signal.sigtimedwait(KEYBOARD, 0) is not None:
                pass
            return True
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _modes(terminal: int) -> list[object] | None:
    if not os.isatty(terminal):
        return None
    import termios

    return termios.tcgetattr(terminal)


def _take_back(terminal: int, modes: list[object] | None) -> None:
    """Whoever had it last, and however it left it."""
    if modes is None:
        return
    import termios

    try:
        os.tcsetpgrp(terminal, os.getpgrp())
        termios.tcsetattr(terminal, termios.TCSADRAIN, modes)  # type: ignore[arg-type]
    except (OSError, termios.error):  # not our controlling terminal
        pass
