"""The private folder in which agents find the engine."""

from __future__ import annotations

import os

from zeroin.run import inbox


def make() -> str:
    """Beside the inboxes, and as private; what killed engines left there goes."""
    folder = inbox._private_folder()  # noqa: SLF001 - one rule for where such folders are
    sweep(os.path.dirname(folder))
    return folder


def sweep(base: str = "") -> None:
    """Remove what processes left that were killed."""
    base = base or inbox._base()  # noqa: SLF001
    try:
        names = os.listdir(base)
    except FileNotFoundError:  # the last one has tidied up
        return
    for name in names:
        pid = name.partition("-")[0]
        if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            inbox._remove(os.path.join(base, name))  # noqa: SLF001
            remove(os.path.join(base, name))


def remove(folder: str) -> None:
    """With what is left in it, and the base if nobody else is there."""
    remove_ahead(folder)
    try:
        os.unlink(os.path.join(folder, "warm"))
    except OSError:
        pass
    for path in (folder, os.path.dirname(folder)):
        try:
            os.rmdir(path)
        except OSError:
            return


def ahead(folder: str) -> str:
    """Where a program that runs ahead delivers, in an engine's folder."""
    return os.path.join(folder, "ahead")


def remove_ahead(folder: str) -> None:
    """What one left."""
    for name in ("agent", "faults"):
        try:
            os.unlink(os.path.join(ahead(folder), name))
        except OSError:
            continue
    try:
        os.rmdir(ahead(folder))
    except OSError:
        pass
