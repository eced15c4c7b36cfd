"""py-spy: looks from outside, one a process, all at once."""

from __future__ import annotations

import os
import time

from zeroin.agent.post import loads  # `json` takes as long as all else of ours
from zeroin.named import NamedTuple
from zeroin.observe.spies import AT_ONCE, SECONDS, USUAL, Spy, spy
from zeroin.observe.stacks import proc
from zeroin.observe.stacks.stack import Stack, without_boot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

AGAIN = 2  # tries after one that is of no use: a program may change while it is read
PAUSE = 0.05
LONGEST = 5_000  # frames that no program has, but a torn list of them


class Look(NamedTuple):
    """What one process gave: its stacks, or py-spy's own words."""

    pid: int
    stacks: list[Stack]
    error: str = ""


def look(
    py_spy: str,
    pids: Sequence[int],
    *,
    values: bool = False,
    native: bool = False,
    meanwhile: Callable[[], None] = lambda: None,
) -> dict[int, Look]:
    """One py-spy a process: its own walk of the children stops at the first that is no Python.

    `meanwhile` is called once they run.
    """
    options = ["--native"] if native else [*USUAL]
    options += ["--locals"] if values else []
    found = _all(py_spy, pids, options, meanwhile)
    for _ in range(AGAIN):
        torn = [pid for pid, one in found.items() if not one.stacks and _may_work(one.error)]
        moved = [pid for pid, one in found.items() if _has_moved(one)]
        if not torn and not moved:
            break
        if torn:
            time.sleep(PAUSE)
        again = _all(py_spy, [*torn, *moved], options)
        found |= {
            pid: _settled(one, found[pid])
            for pid, one in again.items()
            if one.stacks or pid in torn
        }
    if native:  # it has to hold the process still, which a stopped one can't be
        missed = [pid for pid, one in found.items() if not one.stacks]
        plain = _all(py_spy, missed, [*USUAL, *options[1:]]) if missed else {}
        found |= {pid: one for pid, one in plain.items() if one.stacks}
    return found


def _may_work(error: str) -> bool:
    """Whether trying again may help: not where we may not look, or there is nothing."""
    return "ermission" not in error and "Check that the process" not in error


def _has_moved(one: Look) -> bool:
    """Whether a thread that waits now still computed when it was looked at."""
    after = proc.busy(one.pid)
    return any(
        stack.has_moved(after.get(stack.tid, 0))
        and proc.thread_state(one.pid, stack.tid) in ("S", "D")
        for stack in one.stacks
    )


def _settled(one: Look, before: Look) -> Look:
    """Who stands where he stood has not gone far: a loop that sleeps, again and again."""
    stood = {stack.tid: stack.frames for stack in before.stacks}
    return one._replace(
        stacks=[
            stack._replace(had=None) if stood.get(stack.tid) == stack.frames else stack
            for stack in one.stacks
        ]
    )


def _all(
    py_spy: str,
    pids: Iterable[int],
    options: list[str],
    meanwhile: Callable[[], None] = lambda: None,
) -> dict[int, Look]:
    waiting = list(pids)
    running: list[Spy] = []
    found: dict[int, Look] = {}
    try:
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                running.append(spy(py_spy, waiting.pop(0), options))
            if not found:
                meanwhile()
            found[running[0].of] = _read(running[0])
            running.pop(0).finish()
    finally:  # Ctrl-C
        for one in running:
            one.finish()
    return found


def _read(one: Spy) -> Look:
    out = one.read(one.out)
    if out is None:
        return Look(one.of, [], f"py-spy gave no answer within {SECONDS:.0f} s")
    try:
        threads: list[dict[str, Any]] = loads(out.decode())
    except (ValueError, StopIteration):
        return Look(one.of, [], _said(one.read(one.err) or b""))
    if any(_is_torn(thread) for thread in threads):
        return Look(one.of, [], "py-spy read while it changed")
    threads.sort(key=lambda thread: not thread.get("owns_gil"))  # who computes comes first
    return Look(one.of, [_stack(one, thread) for thread in threads])


def _said(err: bytes) -> str:
    lines = err.decode("utf-8", "replace").strip().splitlines()
    return lines[0].removeprefix("Error: ") if lines else "py-spy ended without a word"


def _is_torn(thread: dict[str, Any]) -> bool:
    frames = thread.get("frames") or ()
    return len(frames) > LONGEST or any(not f.get("name") for f in frames)


def _stack(one: Spy, thread: dict[str, Any]) -> Stack:
    inner_first = thread.get("frames") or ()
    frames = without_boot(
        [
            (f.get("filename") or "", f.get("line") or 0, f.get("name") or "?")
            for f in reversed(inner_first)
        ]
    )
    values = [_values(frame) for frame in reversed(inner_first)][-len(frames) :]
    tid = thread.get("os_thread_id") or _kernel_number(one.of, thread)
    return Stack(
        one.of,
        thread.get("thread_name") or "",
        frames,
        "py-spy",
        values if any(values) else [],
        tid,
        bool(thread.get("owns_gil")),
        one.before.get(tid),
    )


def _values(frame: dict[str, Any]) -> dict[str, str]:
    """What py-spy could read of a frame's variables without running any of its code."""
    found = frame.get("locals") or ()
    return {one["name"]: one["repr"] for one in found if one.get("repr")}


# Where glibc keeps the kernel's number of a thread, in what Python calls its id.
_OFFSETS = {"x86_64": 720, "aarch64": 208}


def _kernel_number(pid: int, thread: dict[str, Any]) -> int:
    """Up to 3.10 Python doesn't keep it: read where the C library does; 0 if it isn't there."""
    if thread.get("thread_name") == "MainThread":
        return pid
    offset = _OFFSETS.get(os.uname().machine)
    if offset is None or not thread.get("thread_id"):
        return 0
    try:
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            memory.seek(thread["thread_id"] + offset)
            number = int.from_bytes(memory.read(4), "little")
    except (OSError, ValueError, OverflowError):
        return 0
    return number if os.path.exists(f"/proc/{pid}/task/{number}") else 0
