"""The content of files: copied with its holes, and compared."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os

FICLONE = 0x40049409
_BLOCK = 1 << 20


def copy_content(source: int, target: int, size: int) -> None:
    """Copy a file's content: shared where the file system can, hole by hole otherwise."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(target, FICLONE, source)
        return
    os.ftruncate(target, size)
    end = 0
    while end < size:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
            end = os.lseek(source, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole up to the end
                return
            start, end = end, size
        _copy_range(source, target, start, end)


def _copy_range(source: int, target: int, start: int, end: int) -> None:
    while start < end:
        done = _copy_some(source, target, start, end - start)
        if not done:
            return
        start += done


def _copy_some(source: int, target: int, start: int, count: int) -> int:
    try:
        return os.copy_file_range(source, target, count, start, start)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
            raise
    return os.pwrite(target, os.pread(source, min(_BLOCK, count), start), start)


def is_same_content(fd: int, copy: str) -> bool:
    """Compare an open file with a saved copy."""
    with open(copy, "rb", buffering=0) as saved:
        while True:
            block = os.read(fd, _BLOCK)
            if block != saved.read(_BLOCK):
                return False
            if not block:
                return True
