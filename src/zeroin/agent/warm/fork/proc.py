"""What the kernel says of this process, under /proc/self: read whole, never raising."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 1 << 16
FIRST_OF_OURS = 1000  # descriptors of ours lie above those that a program counts on


def read(path: str) -> bytes:
    """Read a file of /proc to its end; b"" if it can't be."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    parts: list[bytes] = []
    try:
        while True:
            part = os.read(fd, CHUNK)  # the kernel gives a page or two at a time
            if not part:
                return b"".join(parts)
            parts.append(part)
    except OSError:
        return b""
    finally:
        os.close(fd)


def names(folder: str) -> list[int]:
    """List the numbers that name a folder's entries."""
    try:
        return [int(name) for name in os.listdir(folder) if name.isdecimal()]
    except OSError:
        return []


def mappings() -> Iterator[tuple[int, int, bytes, str]]:
    """Go through the process's memory: start, end, permissions, path."""
    for line in read("/proc/self/maps").splitlines():
        fields = line.split(None, 5)
        start, _, end = fields[0].partition(b"-")
        path = os.fsdecode(fields[5]) if len(fields) > 5 else ""
        yield int(start, 16), int(end, 16), fields[1], path


def shown(path: str) -> str:
    """Give a path as the user would name it: short where it is below the current folder."""
    path = path.removesuffix(" (deleted)")
    here = folder()
    return path.removeprefix(here + os.sep) if here else path


def folder() -> str:
    """The working folder; "" if it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
