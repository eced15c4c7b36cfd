"""How a line reaches the user: dim text in a terminal, a small display of its own in Jupyter."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHOWING = ("write_output_prompt", "write_format_data", "finish_displayhook")
KEPT = 100_000  # characters of what a cell printed
_STYLES = {"dim": "opacity:.6;font-size:85%", "warning": "color:#b35900;font-size:90%"}
_CODES = {"dim": "2", "warning": "33"}


def is_terminal(shell: Any) -> bool:
    """Whether somebody types line by line; else there is a kernel, and a notebook of cells."""
    return getattr(shell, "kernel", None) is None


def show(shell: Any, text: str, kind: str) -> None:
    """Say one line."""
    if is_terminal(shell):
        stream = sys.stdout
        text = _fitting(text, getattr(stream, "encoding", None) or "utf-8")
        colour = getattr(stream, "isatty", lambda: False)()
        stream.write(f"\x1b[{_CODES[kind]}m{text}\x1b[0m\n" if colour else f"{text}\n")
        return
    import html

    from IPython.display import display

    page = f'<div style="{_STYLES[kind]}">{html.escape(text)}</div>'
    display({"text/plain": text, "text/html": page}, raw=True)


def _fitting(text: str, encoding: str) -> str:
    for fine, plain in (("⚠", "!"), ("·", "-"), ("−", "-"), ("…", "...")):
        try:
            text.encode(encoding)
            return text
        except (UnicodeError, LookupError):
            text = text.replace(fine, plain)
    return text


def more_to_come(shell: Any) -> bool:
    """Whether further cells wait already, as after "run all": what they do is not known yet."""
    kernel = getattr(shell, "kernel", None)
    try:
        queue = getattr(kernel, "msg_queue", None)  # ipykernel 6
        if queue is not None and queue.qsize():
            return True
        return _has_begun_another() or _has_message(_requests(kernel))
    except Exception:  # another release of ipykernel
        return False


def _has_begun_another() -> bool:
    """Whether there is a task of another request (ipykernel 7) beside the one of this cell."""
    import asyncio

    names = [getattr(one.get_coro(), "__qualname__", "") for one in asyncio.all_tasks()]
    return names.count("_async_in_context.<locals>.run_in_context") > 1


def _requests(kernel: Any) -> Any:
    """The stream on which this thread gets its requests."""
    manager = getattr(getattr(kernel, "shell_channel_thread", None), "manager", None)
    if manager is not None:
        return manager._shell_channel_to_main.to_stream
    return getattr(kernel, "shell_stream", None)


def _has_message(stream: Any) -> bool:
    """Asking a socket for its events takes the notice of them away: the stream is told again."""
    again = getattr(stream, "_update_handler", None)
    if again is None:
        return False
    waits = bool(stream.socket.events & 1)
    again(stream._state)
    return waits


class Tee:
    """Stands in for `sys.stdout` while a cell runs, and remembers what it wrote first.

    In a terminal the result of a cell is written there as well, which the cell has not printed.
    """

    def __init__(self, shell: Any) -> None:
        self._hook = shell.displayhook if is_terminal(shell) else None
        self._before = {name: vars(self._hook).get(name) for name in SHOWING if self._hook}
        for name in self._before:
            setattr(self._hook, name, self._unheard(getattr(self._hook, name)))
        self._real = sys.stdout
        self._parts: list[str] = []
        self._left = KEPT
        stand_in: Any = self
        sys.stdout = stand_in

    def write(self, text: str) -> Any:
        """Write and remember."""
        if self._left > 0 and type(text) is str:
            self._parts.append(text[: self._left])
            self._left -= len(text)
        return self._real.write(text)

    def _unheard(self, function: Any) -> Any:
        def show(*args: Any, **named: Any) -> Any:
            left, self._left = self._left, 0
            try:
                return function(*args, **named)
            finally:
                self._left = left

        return show

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __iter__(self) -> Any:
        return iter(self._real)

    def stop(self) -> str:
        """Step aside, unless the cell has put something of its own there."""
        for name, function in self._before.items():
            if function is None:
                vars(self._hook).pop(name, None)
            else:
                setattr(self._hook, name, function)
        if sys.stdout is self:
            sys.stdout = self._real
        return "".join(self._parts)
