"""Compiled modules that would be taken for what a source says now, and may not be.

The interpreter compares a `.pyc` with its source by size and by whole seconds. Two saves within a
second, of the same length, look the same to it; older releases of pytest check theirs so, too.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEAD = 16  # bytes: magic, flags, time, size
SOON = 10 * 10**9  # nanoseconds from a save, in which one of the text before may be written still


def forget(paths: Iterable[str], prefix: str = "") -> None:
    """These were saved: what was compiled from them is of the text before."""
    for path in paths:
        for compiled, _ in _taken_for(path, prefix):
            _remove(compiled)


def forget_doubtful(paths: Iterable[str], prefix: str = "") -> None:
    """Of any time: those that were written before, or right after, their source was last saved."""
    for path in paths:
        for compiled, saved in _taken_for(path, prefix):
            if _written(compiled) < saved + SOON:
                _remove(compiled)


def _taken_for(path: str, prefix: str) -> Iterator[tuple[str, int]]:
    """Those that would be loaded instead of this source, and when it was saved.

    Of all interpreters, and what pytest makes of its test files.
    """
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    cache = os.path.join(prefix, folder.lstrip("/")) if prefix else f"{folder}/__pycache__"
    if suffix != ".py":
        return
    try:
        source = os.stat(path)
        names = os.listdir(cache)
    except OSError:
        return
    numbers = [0, int(source.st_mtime), source.st_size]  # 0: the other two decide
    head = b"".join((n & 0xFFFFFFFF).to_bytes(4, "little") for n in numbers)
    for found in names:
        if found.startswith(f"{stem}.") and found.endswith(".pyc"):
            compiled = os.path.join(cache, found)
            if _head(compiled)[4:] == head:
                yield compiled, source.st_mtime_ns


def _written(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _head(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(HEAD)
    except OSError:
        return b""


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:  # in a folder that can't be written to
        return
