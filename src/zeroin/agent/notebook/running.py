"""A cell as its front end runs it: what awaits in the loop that is running, the rest at once."""

from __future__ import annotations

import contextlib
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

RESET = re.compile(r"get_ipython\(\)\.run_line_magic\('zeroin', 'fresh +--reset *'\)\s*")
AWAITED = "await get_ipython()._zeroin_session.run_all()\n"


async def run(shell: Any, source: str, store_history: bool) -> Any:
    """Run one, with all events; the result is IPython's."""
    if not awaits(shell, source):
        with _interruptible():
            return shell.run_cell(source, store_history=store_history)
    result = None
    try:
        result = await shell.run_cell_async(
            source, store_history=store_history, transformed_cell=shell.transform_cell(source)
        )
    finally:
        shell.events.trigger("post_execute")
        shell.events.trigger("post_run_cell", result)
    return result


def awaits(shell: Any, source: str) -> bool:
    """Whether it has to run in the loop that we are in.

    There is none in a terminal, nor for other runners than asyncio's: IPython starts one then.
    """
    import asyncio

    from IPython.core.async_helpers import _asyncio_runner

    try:
        asyncio.get_running_loop()
        code = shell.transform_cell(source)
    except (RuntimeError, SyntaxError):  # no loop; or what can't be read, and is not run either
        return False
    return shell.loop_runner is _asyncio_runner and bool(
        shell.should_run_async(source, transformed_cell=code)
    )


def at_once(coroutine: Any) -> Any:
    """What it returns, where nothing in it has to wait."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("something was awaited outside of a loop")


def awaiting(shell: Any, lines: list[str]) -> list[str]:
    """An input transformer: where a loop is running, `%zeroin fresh --reset` awaits its cells.

    From within a cell that awaits nothing no other one can be awaited.
    """
    if not any(RESET.fullmatch(line) for line in lines) or not awaits(shell, AWAITED):
        return lines
    return [AWAITED if RESET.fullmatch(line) else line for line in lines]


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end it: while a cell awaits, the kernel's handler waits for the next await."""
    import signal

    before = signal.getsignal(signal.SIGINT)
    if not str(getattr(before, "__module__", "")).startswith("ipykernel"):
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
