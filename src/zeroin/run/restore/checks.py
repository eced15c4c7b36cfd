"""What is refused as PATH, before anything is touched."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re

from zeroin.run.restore.contents import FICLONE
from zeroin.run.restore.errors import RestoreRefused, reported
from zeroin.run.restore.folders import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_DEPTH = 100


def check(path: str, *, store: str, home: str, max_bytes: int = 20_000_000_000) -> None:
    """Refuse a PATH that is dangerous or impossible to put back, and say what to do instead.

    For the first attempt, before `save`: what a program did to PATH since, `put_back` undoes.
    """
    full = os.path.abspath(path)
    with reported(path, "looked at"):
        _check_place(full, os.path.realpath(store), os.path.realpath(home))
        if not os.path.lexists(full):
            return
        kind = kind_of(os.lstat(full))
        if kind == "link":
            real = os.path.realpath(full)
            raise RestoreRefused(f"{path} is a symbolic link: give what it leads to, {real}")
        if kind == "special":
            raise RestoreRefused(f"{path} is neither a file nor a folder: use --reset CMD for it")
        check_mounts(full)
        size = _check_inside(full)
        if size > max_bytes and not _can_clone(full, store):
            raise RestoreRefused(
                f"{path} takes {size / 1e9:.1f} GB, over {max_bytes / 1e9:.1f} GB, and its file"
                " system can't share copies: restore only the part that the program changes"
            )


def _check_place(full: str, store: str, home: str) -> None:
    parent = os.path.dirname(full)
    if full == parent:
        raise RestoreRefused("/ can't be put back: name the folder that the program changes")
    if os.path.realpath(parent) != parent:
        real = os.path.join(os.path.realpath(parent), os.path.basename(full))
        raise RestoreRefused(f"{full} lies behind a symbolic link: give its real path, {real}")
    if ".git" in full.split(os.sep):
        raise RestoreRefused(f"{full} holds commits: newer ones would be lost, leave it out")
    if _inside(home, full):
        raise RestoreRefused(f"{full} holds your home: name the folder that the program changes")
    if _inside(store, full) or _inside(os.path.dirname(store), full):
        raise RestoreRefused(f"{full} holds the project: name the folder that the program changes")
    if _inside(full, store):
        raise RestoreRefused(f"{full} is zeroin's own store: name what the program changes")


def _check_inside(full: str) -> int:
    """Refuse what inside PATH can't be put back; give the bytes it takes."""
    size = 0
    for path, info in _walk(full, os.lstat(full), 0):
        size += info.st_blocks * 512
        if os.path.basename(path) == ".git":
            raise RestoreRefused(f"{path} holds commits: newer ones would be lost, leave it out")
        if kind_of(info) == "link" and not _inside(os.path.realpath(path), full):
            raise RestoreRefused(
                f"{path} leads out of {full}, to {os.readlink(path)}:"
                " restore a folder without it, or what it leads to"
            )
    return size


def check_mounts(full: str) -> None:
    """Refuse mounts inside: what is in them is outside of PATH. Bind mounts only show here."""
    with contextlib.suppress(FileNotFoundError), open("/proc/self/mountinfo", "rb") as mounts:
        for line in mounts:
            point = os.fsdecode(re.sub(rb"\\(\d{3})", _unescaped, line.split(b" ")[4]))
            if point != full and _inside(point, full):
                raise RestoreRefused(f"something is mounted at {point}: unmount it first")


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _unescaped(code: re.Match[bytes]) -> bytes:
    return bytes([int(code[1], 8)])


def _walk(path: str, info: os.stat_result, depth: int) -> Iterator[tuple[str, os.stat_result]]:
    yield path, info
    if kind_of(info) != "folder":
        return
    if depth > _MAX_DEPTH:
        raise RestoreRefused(f"{path} is more than {_MAX_DEPTH} folders deep: restore a part of it")
    with os.scandir(path) as entries:
        for entry in entries:
            yield from _walk(entry.path, entry.stat(follow_symlinks=False), depth + 1)


def _can_clone(full: str, store: str) -> bool:
    """Try whether the store can share the content of PATH's files."""
    target = os.path.join(store, f"clone.{os.getpid()}")
    for path, info in _walk(full, os.lstat(full), 0):
        if kind_of(info) == "file" and info.st_size:
            try:
                with open(path, "rb") as source, open(target, "wb") as copy:
                    fcntl.ioctl(copy, FICLONE, source.fileno())
            except OSError:
                return False
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(target)
            return True
    return False
