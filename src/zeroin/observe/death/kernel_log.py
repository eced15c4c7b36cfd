"""What the kernel's log says about some processes: kills for memory, faults, traps."""

from __future__ import annotations

import os
import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

RECORD = 8192  # bytes; the kernel gives one record a read, and no longer ones
SLACK = 2.0  # seconds that two clocks may differ


def about(pids: Iterable[int], since: float = 0.0, path: str = "/dev/kmsg") -> list[str] | None:
    """The lines that name one of the processes, since a time; None if the log can't be read."""
    numbers = "|".join(map(str, pids))
    if not numbers:
        return []
    named = re.compile(rf"(?:[Pp]rocess |pid[= ]|\[)(?:{numbers})\b")
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    found = []
    try:
        for record in _records(path):
            head, _, text = record.partition(";")
            line = text.partition("\n")[0]
            parts = head.split(",")
            stamp = booted + int(parts[2]) / 1e6 if len(parts) > 2 and parts[2].isdigit() else 0.0
            if stamp >= since - SLACK and named.search(line):
                found.append(line)
    except OSError:  # most systems keep it for root
        return None
    return found


def _records(path: str) -> Iterable[str]:
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        while True:
            try:
                data = os.read(fd, RECORD)
            except BlockingIOError:
                return
            except BrokenPipeError:  # overwritten while we read: the next one is whole
                continue
            if not data:
                return
            yield data.decode("utf-8", "replace")
    finally:
        os.close(fd)
