"""The Python stacks of running processes: py-spy, and faulthandler where it can't."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SECONDS = 10.0
STACKS_SIGNAL = 42  # the agent writes down all stacks when it gets this one,
TASKS_SIGNAL = 43  # and where its coroutines wait at this one
AGENT_SECONDS = 1.0


class Stack(NamedTuple):
    """One thread of one process, outermost frame first: (file, line, function)."""

    pid: int
    thread: str
    frames: list[tuple[str, int, str]]
    source: str  # "py-spy", "faulthandler" or "asyncio"
    locals: Sequence[dict[str, str]] = ()  # of each frame, where values were asked for


def find_py_spy() -> str | None:
    """py-spy lies beside our own interpreter, or on the PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), "py-spy")
    if os.access(beside, os.X_OK):
        return beside
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "py-spy")
        if folder and os.access(path, os.X_OK):
            return path
    return None


def take(
    pids: Sequence[int], faults: Callable[[], str] | None = None, *, values: bool = False
) -> list[Stack]:
    """The stacks of all Pythons among the processes, all looked at together."""
    py_spy = find_py_spy()
    found: list[Stack] = []
    missed = list(pids)
    if py_spy:
        found = _by_py_spy(py_spy, pids, values=values)
        seen = {stack.pid for stack in found}
        missed = [pid for pid in pids if pid not in seen]
    if faults is not None:
        for pid in missed:
            found += _ask_agent(pid, STACKS_SIGNAL, "Current thread", faults)
        for pid in sorted({stack.pid for stack in found if _runs_asyncio(stack)}):
            found += _ask_agent(pid, TASKS_SIGNAL, "End of tasks", faults)
    return found


def _runs_asyncio(stack: Stack) -> bool:
    """A loop that waits shows nothing of the coroutines that wait in it."""
    return any("asyncio" in file for file, _, _ in stack.frames)


def _by_py_spy(py_spy: str, pids: Sequence[int], *, values: bool) -> list[Stack]:
    """One py-spy a process: its own walk of the children stops at the first that is no Python."""
    import json
    import subprocess
    import time

    options = ["--locals"] if values else []
    looks = [
        (
            pid,
            subprocess.Popen(
                [py_spy, "dump", "--json", "--nonblocking", *options, "--pid", str(pid)],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                stdin=subprocess.DEVNULL,
            ),
        )
        for pid in pids
        if _is_python(pid)
    ]
    deadline = time.monotonic() + SECONDS
    found: list[Stack] = []
    for pid, look in looks:
        try:
            text, _ = look.communicate(timeout=max(0.1, deadline - time.monotonic()))
            threads: list[dict[str, Any]] = json.loads(text)
        except (subprocess.TimeoutExpired, ValueError):
            look.kill()
            look.communicate()
            continue
        if values:  # who computes is who asked for what is looked at
            threads.sort(key=lambda thread: not thread.get("owns_gil"))
        found += [_stack(pid, thread) for thread in threads]
    return found


def _stack(pid: int, thread: dict[str, Any]) -> Stack:
    frames = [
        (f.get("filename") or "", f.get("line") or 0, f.get("name") or "?")
        for f in reversed(thread.get("frames") or ())
    ]
    values = [_values(frame) for frame in reversed(thread.get("frames") or ())]
    shown = values if any(values) else []
    return Stack(pid, thread.get("thread_name") or "", frames, "py-spy", shown)


def _values(frame: dict[str, Any]) -> dict[str, str]:
    """What py-spy could read of a frame's variables without running any of its code."""
    found = frame.get("locals") or ()
    return {one["name"]: one["repr"] for one in found if one.get("repr")}


def _ask_agent(pid: int, number: int, mark: str, faults: Callable[[], str]) -> list[Stack]:
    """Ask the agent by a signal; only a process that handles it survives it."""
    import time

    if not _handles(pid, number):
        return []
    before = len(faults())
    os.kill(pid, number)
    deadline = time.monotonic() + AGENT_SECONDS
    text = ""
    while time.monotonic() < deadline:
        text = faults()[before:]
        if text.endswith("\n") and mark in text:
            break
        time.sleep(0.005)
    source = "faulthandler" if number == STACKS_SIGNAL else "asyncio"
    return [Stack(pid, name, frames, source) for name, frames in _threads(text)]


def _threads(text: str) -> list[tuple[str, list[tuple[str, int, str]]]]:
    found: list[tuple[str, list[tuple[str, int, str]]]] = []
    for line in text.split("\n"):
        if "(most recent call first)" in line:
            found.append((line.partition(" (most")[0], []))
        elif line.startswith('  File "') and found:
            file, _, rest = line[8:].partition('", line ')
            number, _, name = rest.partition(" in ")
            found[-1][1].insert(0, (file, int(number) if number.isdigit() else 0, name))
    return found


def _handles(pid: int, number: int) -> bool:
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(b"SigCgt:"):
                    return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    except OSError:
        pass
    return False


def _is_python(pid: int) -> bool:
    """By its maps: the name may be anything (a console script, a renamed main)."""
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            maps = file.read()
        return b"python" in maps
    except OSError:
        return False
