"""Seeing that a payload, or which files of it, are opened by whatever code: the kernel tells."""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

OPENED = 0x20  # IN_OPEN
A_FOLDER = 0x40000000  # IN_ISDIR
EVENT = struct.Struct("iIII")  # which one is watched, what happened, _, how long the name is
NOT_BLOCKING = os.O_NONBLOCK | os.O_CLOEXEC


class Opens:
    """Watches files; `seen` once one of them was opened, since that was last forgotten."""

    def __init__(self, paths: Sequence[str]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(NOT_BLOCKING)
        self.seen = False
        for path in paths:
            libc.inotify_add_watch(self.fd, os.fsencode(path), OPENED)

    def read(self) -> None:
        """Something was opened."""
        try:
            while os.read(self.fd, 1 << 16):
                self.seen = True
        except BlockingIOError:
            pass

    def forget(self) -> None:
        """What was opened so far was ours to open."""
        self.read()
        self.seen = False


class Used:
    """Watches whole folders, for the names of the files that are opened in them."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders
        self._watched: dict[int, str] = {}
        self.names: set[str] = set()  # from above the folders on; none if some were missed

    def __enter__(self) -> Self:
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd = libc.inotify_init1(NOT_BLOCKING)
        for top in self._folders if self._fd >= 0 else ():
            for folder, _, _ in os.walk(top):
                number = libc.inotify_add_watch(self._fd, os.fsencode(folder), OPENED)
                self._watched[number] = os.path.relpath(folder, os.path.dirname(top))
        return self

    def __exit__(self, *_: object) -> None:
        if self._fd < 0:
            return
        try:
            while self._read(os.read(self._fd, 1 << 16)):
                pass
            self.names.clear()
        except BlockingIOError:
            pass  # that was all
        finally:
            os.close(self._fd)

    def _read(self, told: bytes) -> bool:
        """Whether none was lost so far: what was lost belongs to no folder."""
        at = 0
        while at < len(told):
            number, what, _, length = EVENT.unpack_from(told, at)
            name = os.fsdecode(told[at + EVENT.size :][:length].rstrip(b"\0"))
            at += EVENT.size + length
            if number not in self._watched or number < 0:
                return False
            if not what & A_FOLDER:
                self.names.add(os.path.join(self._watched[number], name))
        return True
