"""Folders of ours that go with us."""

from __future__ import annotations

import os
import shutil
import tempfile


def own_folder(prefix: str) -> str:
    """One of our own; and those go whose owners were killed."""
    base = tempfile.gettempdir()
    for name in os.listdir(base):
        pid = name.removeprefix(prefix).partition("-")[0]
        if name.startswith(prefix) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            shutil.rmtree(os.path.join(base, name), ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-")
