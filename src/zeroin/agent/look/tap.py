"""`zeroin run --log`: all records of a program that never asked for it, in the attempt's file.

The program may set logging up as it likes, before or after, and as often as it likes: the
file hangs at `Logger.handle`, which every record passes, and not among the handlers. What the
program prints, and does not print, stays as it is.
"""

from __future__ import annotations

import logging
import os

from . import logs, out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def install(level: str, path: str) -> None:
    """Take every record from this level on."""
    try:
        floor = logs.level_of(level)
    except ValueError:  # the command has refused that; somebody else's variable
        floor = logging.INFO
    try:
        fd = out.open_file(path, 0o600) if path else -1
    except OSError:
        fd = -1
    plain_handle, plain_enabled = logging.Logger.handle, logging.Logger.isEnabledFor

    def is_enabled(self: Any, number: int) -> bool:
        return number >= floor or plain_enabled(self, number)

    def handle(self: Any, record: Any) -> None:
        # What another process has sent here is in the file by its own doing.
        if fd >= 0 and record.levelno >= floor and record.process in (None, os.getpid()):
            _keep(fd, record)
        if plain_enabled(self, record.levelno):
            plain_handle(self, record)

    for ours, name in ((is_enabled, "isEnabledFor"), (handle, "handle")):
        ours.__name__, ours.__qualname__ = name, f"Logger.{name}"
        setattr(logging.Logger, name, ours)


def _keep(fd: int, record: Any) -> None:
    try:
        out.append(fd, (logs.full(record) + "\n").encode("utf-8", "backslashreplace"))
    except Exception:
        return
