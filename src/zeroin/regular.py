"""Reading small files that somebody else may have put there: never waits, never reads a flood."""

from __future__ import annotations

import errno
import os
import stat


def read_regular(path: str, most: int, flags: int = 0) -> bytes:
    """The first `most` bytes of a regular file; OSError for a pipe, a device or a folder.

    Opening a named pipe waits for whoever opens its other end, unless it is asked not to.
    `flags` are further ones to open it with.
    """
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | flags)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        parts = []
        while most > 0 and (part := os.read(opened, min(most, 1 << 20))):
            parts.append(part)
            most -= len(part)
        return b"".join(parts)
    finally:
        os.close(opened)
