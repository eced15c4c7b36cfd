"""Small things to do with files: read, write at once, copy with the time, clear away."""

from __future__ import annotations

import contextlib
import os
import time

_GRACE = 7_200.0  # seconds: younger objects may belong to a snapshot under way
_STALE = 3_600.0  # seconds after which a private index has no owner any more


def length(path: str) -> int:
    """Give a file's size, -1 if there is none."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return -1


def identity(info: os.stat_result) -> str:
    """Tell a file from what is written in its place later."""
    return f"{info.st_ino}:{info.st_mtime_ns}"


def copy(source: str, target: str) -> str:
    """Copy an index with its time, by which git knows the files too young to trust."""
    with open(source, "rb") as reader, open(target, "wb") as writer:
        info = os.fstat(reader.fileno())
        writer.write(reader.read())
    os.utime(target, ns=(info.st_atime_ns, info.st_mtime_ns))
    return identity(info)


def text(path: str) -> str:
    """Read a file whole; bytes that aren't UTF-8 become surrogates."""
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def holds(path: str, text: str) -> bool:
    """Whether a file, and no link to one, has just this in it."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(os.open(path, flags), "rb") as file:
            return file.read(len(text) + 1) == text.encode()
    except OSError:
        return False


def write(folder: str, name: str, text: str) -> None:
    """Write a file at once: whoever looks sees the old one or the new one."""
    passing = os.path.join(folder, f"work.{os.getpid()}.{os.urandom(4).hex()}")
    with open(passing, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(passing, os.path.join(folder, name))


def unlink(path: str) -> None:
    """Delete a file, unless it is gone already."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def drop_stale(folder: str) -> None:
    """Clear away what snapshots that were killed have left."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.startswith(("work.", "sharedindex.")):
            with contextlib.suppress(OSError):
                if os.lstat(path).st_ctime < time.time() - _STALE:
                    os.unlink(path)


def sweep(objects: str, kept: str) -> None:
    """Delete objects and packs older than the grace period, but for the pack that was just made.

    Git makes an object or pack young again when it meets it on writing the same content.
    """
    oldest = time.time() - _GRACE
    for base, _, names in os.walk(objects):
        for name in sorted(names):
            path = os.path.join(base, name)
            stem, dot, _ = path.rpartition(".")
            with contextlib.suppress(FileNotFoundError):
                if name.startswith(kept) or os.lstat(path).st_mtime > oldest:
                    continue
                if dot and os.lstat(stem + ".pack").st_mtime > oldest:
                    continue
            unlink(path)
