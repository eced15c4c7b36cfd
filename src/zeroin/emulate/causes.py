"""Which limit an error of a call comes of: the machine as it is outside has nothing to say then."""

from __future__ import annotations

import os

from zeroin.emulate import registry
from zeroin.emulate.covers import SHM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Limit

_BELOW = {"disk": "ENOSPC", "inodes": "ENOSPC", "readonly": "EROFS", "shm": "ENOSPC"}
_ANYWHERE = {"files": "EMFILE", "processes": "EAGAIN", "network": "ENETUNREACH"}


def cause(limits: Sequence[str], cwd: str, path: str, error: str) -> str:
    """`that is --limit disk=out:5M`; "" if it comes of none."""
    for limit in map(registry.parse, limits):
        if _ANYWHERE.get(limit.name) == error or (
            _BELOW.get(limit.name) == error and _is_below(path, limit, cwd)
        ):
            return f"that is --limit {limit.text}"
    return ""


def _is_below(path: str, limit: Limit, cwd: str) -> bool:
    folder = SHM if limit.name == "shm" else os.path.realpath(os.path.join(cwd, limit.target))
    return os.path.join(os.path.realpath(path), "").startswith(os.path.join(folder, ""))
