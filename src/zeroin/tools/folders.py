"""Folders of ours that go with us."""

from __future__ import annotations

import os
import shutil
import tempfile

MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own in there, as private as any


def own_folder(prefix: str, base: str = "") -> str:
    """One of our own; and those go whose owners were killed."""
    base = base or tempfile.gettempdir()
    for name in os.listdir(base):
        pid = name.removeprefix(prefix).partition("-")[0]
        if name.startswith(prefix) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            shutil.rmtree(os.path.join(base, name), ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=base)


def quick_base() -> str:
    """For many small things that come and go: in memory, if programs can be started there."""
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return tempfile.gettempdir()
    return tempfile.gettempdir() if os.statvfs(MEMORY).f_flag & os.ST_NOEXEC else MEMORY
