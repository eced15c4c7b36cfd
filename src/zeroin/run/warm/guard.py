"""Ends what runs in the background when the driver is gone, however it went.

A copy of the driver that does nothing but wait: for the end of a pipe which only the driver
holds. The program itself can't be told to die with us without a trace: that would have to be
undone when it is no background process any more.
"""

from __future__ import annotations

import os
import signal

from zeroin.run import tree

DEAF = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGTERM)


class Guard:
    """One process, for one other at a time."""

    def __init__(self) -> None:
        reading, self._writing = os.pipe2(os.O_CLOEXEC)
        self.pid = os.fork()
        if not self.pid:
            _wait(reading)
        os.close(reading)

    def watch(self, pid: int) -> None:
        """From now on this one, a leader of a process group; 0 for none."""
        try:
            os.write(self._writing, b"%d %d\n" % (pid, _born(pid)))
        except OSError:  # somebody killed it
            pass

    def close(self) -> None:
        """It ends, and harms nobody."""
        self.watch(0)
        os.close(self._writing)


def _wait(reading: int) -> None:
    """In the copy."""
    try:
        for number in DEAF:
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        os.setpgid(0, 0)
        _close_all_but(reading)
        said = b""
        while part := os.read(reading, 512):
            said = (said + part)[-512:]
        pid, born = map(int, said.split(b"\n")[-2].split()) if b"\n" in said else (0, 0)
        if pid and _born(pid) in (0, born):  # else it is another's number by now
            end(pid)
    finally:
        os._exit(0)


def end(pid: int) -> None:
    """Kill it, its process group, and all below it."""
    below = tree.descendants(pid)
    for send, target in ((os.killpg, pid), *((os.kill, one) for one in (pid, *below))):
        try:
            send(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


def _born(pid: int) -> int:
    """When it was started; 0 when there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError):
        return 0


def _close_all_but(kept: int) -> None:
    """Others must see the end of what the driver holds when the driver ends."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) != kept:
            try:
                os.close(int(name))
            except OSError:  # the one that listed them
                continue
