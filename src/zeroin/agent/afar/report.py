"""What is written down for the driver: the tasks of a process, and where each of them waits."""

from __future__ import annotations

import json
import os
import sys

from .memory import LostError
from .tasks import Tasks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .tasks import Waiting

LOOKS = 10  # at a program that goes on meanwhile
MOST = 10_000  # tasks


def main(pid: int) -> None:
    """Write `{"tasks": …}`, or `{"why": …}` where they can't be read."""
    told: dict[str, Any]
    try:
        tasks = by_python(pid) if sys.version_info >= (3, 14) else settled(pid)
        told = {"tasks": tasks[:MOST]}
    except LostError as error:
        told = {"why": str(error)}
    except OSError as error:
        told = {"why": (error.strerror or str(error)).lower()}
    os.write(1, json.dumps(told).encode())
    os._exit(0)  # asyncio would complain of the tasks that were made to be looked at


def settled(pid: int) -> list[Waiting]:
    """The tasks as they are at one moment, if there is one: at rest, or the same twice."""
    tasks = Tasks(pid)
    best: list[Waiting] = []
    before = lost = None
    for _ in range(LOOKS):
        had = _busy(pid)
        try:
            found = sorted(tasks.waiting())
        except LostError as error:
            lost = error
            continue
        lost = tasks.missed
        if lost is None and (found == before or _busy(pid) == had):
            return found
        before = found
        best = found if len(found) >= len(best) else best  # what is torn has fewer
    if lost is not None and not best:
        raise lost
    return best


def _busy(pid: int) -> list[bytes]:
    """The processor time of each of its threads."""
    found = []
    for name in sorted(os.listdir(f"/proc/{pid}/task")):
        try:
            with open(f"/proc/{pid}/task/{name}/schedstat", "rb") as file:
                found.append(file.read())
        except OSError:  # it has ended
            continue
    return found


def by_python(pid: int) -> list[Waiting]:
    """3.14 keeps its tasks elsewhere, and can tell them itself."""
    try:
        # Newer than the Python that the types are checked for.
        from _remote_debugging import RemoteUnwinder  # type: ignore[import-not-found]
    except ImportError:
        raise LostError("its Python was built without the module that reads them") from None
    error: Exception = LostError("its tasks go on all the time")
    for _ in range(LOOKS):
        try:
            seen = RemoteUnwinder(pid).get_all_awaited_by()
            break
        except RuntimeError as found:  # it went on meanwhile
            error = found
    else:
        raise LostError(str(error))
    return sorted(
        (task.task_name, [_frame(one) for coro in task.coroutine_stack for one in coro.call_stack])
        for thread in seen
        for task in thread.awaited_by
    )


def _frame(frame: Any) -> tuple[str, int, str]:
    line = frame.lineno if hasattr(frame, "lineno") else frame.location[0]
    return frame.filename, line or 0, frame.funcname
