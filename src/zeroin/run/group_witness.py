"""Whether a signal was sent to us alone, or to our whole process group, the command in it.

The kernel does not say. So a process of ours in the same group does nothing and takes no signal:
what waits for it there was sent to all of the group, and the command has had it already.
"""

from __future__ import annotations

import os
import signal

from zeroin.run import tree

PROGRAM = "/bin/cat"  # waits for the end of its input, which comes however we end
NONE = -1


class GroupWitness:
    """Close it in any case. Where none can be started, no signal counts as sent to the group."""

    def __init__(self) -> None:
        self._pid = self._writing = NONE
        self._early: set[int] = set()  # heard by the last one, and not taken by us yet
        self._begin()

    def has_heard(self, number: int) -> bool:
        """Tell whether that signal went to the group since the last time it was asked for."""
        was_early = number in self._early
        self._early.discard(number)
        if self._pid == NONE or not _has_bit(_read_pending(self._pid), number):
            return was_early
        # What waits there can't be taken back. The next one is there before this one goes, so that
        # every signal to the group is heard by one of them.
        old = (self._pid, self._writing)
        self._pid = self._writing = NONE
        self._begin()
        waiting = _read_pending(old[0])
        self._early |= {one for one in signal.sigpending() if _has_bit(waiting, one)}
        _end(*old)
        return True

    def _begin(self) -> None:
        try:
            reading, self._writing = os.pipe2(os.O_CLOEXEC)
        except OSError:
            return
        try:
            self._pid = os.posix_spawn(
                PROGRAM,
                ["cat"],
                {},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, reading, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_RDWR, 0),
                ],
                setsigmask=signal.valid_signals(),
            )
            tree.HELPERS.add(self._pid)
        except OSError:
            os.close(self._writing)
            self._writing = NONE
        finally:
            os.close(reading)

    def close(self) -> None:
        """End it."""
        if self._pid != NONE:
            _end(self._pid, self._writing)
            self._pid = self._writing = NONE


def _end(pid: int, writing: int) -> None:
    os.close(writing)
    try:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):  # somebody else waited for it
        pass
    tree.HELPERS.discard(pid)


def _has_bit(mask: int, number: int) -> bool:
    return bool(mask >> (number - 1) & 1)


def _read_pending(pid: int) -> int:
    """Signals that wait for a process, a bit each."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            lines = [line for line in file if line.startswith(b"ShdPnd:")]
        return int(lines[0].split()[1], 16)
    except (OSError, IndexError, ValueError):
        return 0
