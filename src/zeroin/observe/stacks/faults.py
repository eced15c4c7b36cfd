"""The agent, asked by a signal: where py-spy may not look, a program under zeroin tells itself."""

from __future__ import annotations

import os
import time

from zeroin.observe.stacks.stack import Frame, Stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

STACKS_SIGNAL = 42  # the agent writes down all stacks when it gets this one,
TASKS_SIGNAL = 43  # and where its coroutines wait at this one
FAULT_FD = 1000  # the descriptor that it writes them to
AGENT_SECONDS = 1.0


def reader_of(pid: int) -> Callable[[], str] | None:
    """Reads what the agent of a process writes; None where there is no agent."""
    try:
        path = os.readlink(f"/proc/{pid}/fd/{FAULT_FD}")
    except OSError:
        return None
    if os.path.basename(path) != "faults" or not os.path.isfile(path):
        return None

    def read() -> str:
        try:
            with open(path, "rb") as file:
                return file.read(1 << 20).decode("utf-8", "replace")
        except OSError:
            return ""

    return read


def stacks(pid: int, faults: Callable[[], str]) -> list[Stack]:
    """All threads of a process, as faulthandler writes them down."""
    return _ask(pid, STACKS_SIGNAL, "Current thread", faults)


def tasks(pid: int, faults: Callable[[], str]) -> list[Stack]:
    """Where each coroutine of its event loop waits."""
    return _ask(pid, TASKS_SIGNAL, "End of tasks", faults)


def _ask(pid: int, number: int, mark: str, faults: Callable[[], str]) -> list[Stack]:
    """Ask the agent by a signal; only a process that handles it survives it."""
    if not handles(pid, number):
        return []
    before = len(faults())
    try:
        os.kill(pid, number)
    except OSError:  # gone, or not ours
        return []
    deadline = time.monotonic() + AGENT_SECONDS
    text = ""
    while time.monotonic() < deadline:
        text = faults()[before:]
        if text.endswith("\n") and mark in text:
            break
        time.sleep(0.005)
    if number == TASKS_SIGNAL:
        return [Stack(pid, name, frames, "asyncio") for name, frames in _threads(text)]
    return [_thread(pid, name, frames) for name, frames in _threads(text)]


def _thread(pid: int, name: str, frames: list[Frame]) -> Stack:
    """The kernel gives a signal for the process to its main thread, which writes itself down."""
    if name.startswith("Current thread"):
        return Stack(pid, "MainThread", frames, "faulthandler", (), pid)
    return Stack(pid, name, frames, "faulthandler")


def _threads(text: str) -> list[tuple[str, list[Frame]]]:
    found: list[tuple[str, list[Frame]]] = []
    for line in text.split("\n"):
        if "(most recent call first)" in line:
            found.append((line.partition(" (most")[0], []))
        elif line.startswith('  File "') and found:
            file, _, rest = line[8:].partition('", line ')
            number, _, name = rest.partition(" in ")
            found[-1][1].insert(0, (file, int(number) if number.isdigit() else 0, name))
    return found


def handles(pid: int, number: int) -> bool:
    """Whether the process has a handler for a signal."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(b"SigCgt:"):
                    return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    except OSError:
        pass
    return False
