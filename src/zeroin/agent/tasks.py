"""Where coroutines wait: a program that hangs in asyncio shows only its event loop otherwise."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 200  # tasks
DEEPEST = 1_000  # frames
END = "End of tasks\n"


def write(fd: int) -> None:
    """Write the stacks of all tasks that wait, as faulthandler writes threads.

    Of this thread's event loop, and without the one that runs: the thread's own stack shows it.
    """
    text = ""
    try:
        asyncio = sys.modules["asyncio"]
        waiting = asyncio.all_tasks() - {asyncio.current_task()}
        for task in list(waiting)[:MOST]:
            name = " ".join(task.get_name().split())  # in one line
            text += f"Task {name} (most recent call first):\n"
            text += "".join(
                f'  File "{f}", line {n} in {function}\n' for f, n, function in stack(task)
            )
    except Exception:  # no loop runs here, or one that is not asyncio's
        pass
    os.write(fd, (text + END).encode("utf-8", "backslashreplace"))


def stack(task: Any) -> list[tuple[str, int, str]]:
    """Follow what is awaited, from the task's coroutine to where it waits; innermost first."""
    found: list[tuple[str, int, str]] = []
    waiting = task.get_coro()
    while waiting is not None and len(found) < DEEPEST:
        frame = next(
            (
                getattr(waiting, name)
                for name in ("cr_frame", "gi_frame", "ag_frame")
                if hasattr(waiting, name)
            ),
            None,
        )
        if frame is None:
            break
        found.insert(0, (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        waiting = _driven(
            next(
                (
                    getattr(waiting, name)
                    for name in ("cr_await", "gi_yieldfrom", "ag_await")
                    if hasattr(waiting, name)
                ),
                None,
            )
        )
    return found


def _driven(waiting: Any) -> Any:
    """What is behind an iterator that only passes on, and does not say to what."""
    if type(waiting).__name__ not in ("coroutine_wrapper", "async_generator_asend"):
        return waiting
    import gc

    held = gc.get_referents(waiting)
    return next((one for one in held if hasattr(one, "cr_frame") or hasattr(one, "ag_frame")), None)
