"""What failed as far as Python programs tell themselves, where nothing can be traced."""

from __future__ import annotations

import errno
import os
import re

from zeroin.observe.calls.reason import reason
from zeroin.observe.calls.report import Failure, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zeroin.observe.calls.places import Noted

_ERRNO = re.compile(r"\[Errno (\d+)\]")
_PATH = re.compile(r": (['\"])(.*)\1$")


def told(
    noted: Sequence[Noted], crashes: Sequence[dict[str, Any]], output: str, cwd: str
) -> list[Failure]:
    """From OSErrors where Python tells of them; and what was to be opened and is not there now."""
    end = max((one.time for one in noted), default=0.0)
    found: dict[tuple[str, str], Failure] = {}
    raised = {os.path.join(cwd, one.path) for one in noted if one.raised and one.path}
    for one in noted:
        path = os.path.normpath(os.path.join(cwd, one.path)) if one.path else ""
        error = one.error
        if not one.raised:
            gone = path and os.path.isabs(path) and not os.path.lexists(path)
            error = "ENOENT" if gone and path not in raised else ""
        if error:
            about = (path, one.place, one.pid, end - one.time)
            _add(found, error, "open" if one.raised else "try, and it is not there now", *about)
    for crash in crashes:
        last = crash["chain"][-1]
        number = _ERRNO.search(last["message"])
        if number:
            named = _PATH.search(last["message"])
            where = os.path.normpath(os.path.join(cwd, named[2])) if named else ""
            frames = [f for f in last["frames"] if f["owner"] == "user"] or last["frames"]
            place = f"{frames[-1]['file']}:{frames[-1]['line']} in {frames[-1]['name']}"
            name = errno.errorcode.get(int(number[1]), "")
            _add(found, name, "open", where, place, crash["pid"], 0.0)
    rows = [f._replace(mentioned=_mentioned(f.path, output)) for f in found.values()]
    return sorted(rows, key=lambda f: (not f.mentioned, f.before_end))


def _mentioned(path: str, output: str) -> bool:
    name = os.path.basename(path)
    return len(name) > 2 and name in output


def _add(
    found: dict[tuple[str, str], Failure],
    error: str,
    operation: str,
    path: str,
    place: str,
    pid: int,
    before_end: float,
) -> None:
    before = found.get((path, error))
    count = before.times + 1 if before else 1
    why = reason(path, error, operation)
    words = words_of(error)
    found[path, error] = Failure(
        path, operation, "", error, words, why, "python", pid, place, count, before_end, False
    )
