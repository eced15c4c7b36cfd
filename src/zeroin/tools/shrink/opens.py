"""Seeing that a payload is opened, by whatever code: the kernel tells."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

OPENED = 0x20  # IN_OPEN
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
