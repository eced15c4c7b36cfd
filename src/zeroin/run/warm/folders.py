"""The private folder in which agents find the engine."""

from __future__ import annotations

import os


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
    for name in ("agent", "faults", "order", "order.first"):
        try:
            os.unlink(os.path.join(ahead(folder), name))
        except OSError:
            continue
    try:
        os.rmdir(ahead(folder))
    except OSError:
        pass
