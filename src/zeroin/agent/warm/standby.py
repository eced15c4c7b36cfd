"""Run ahead of the user, where no snapshot can be: up to the place of the next edit, and wait.

A standby is a fresh process of the same command, which the driver starts in the background. It
takes no snapshots; it stops before the expected place is first reached, and waits for `go`. A
`go` that comes earlier is heard at the next step. Then it judges as a fork of a snapshot does,
and becomes the program where it stands; or says why not, and waits for its end. Its output goes
on to where it always went: the driver listens there.

Threads of the program's own run on while it waits, as they would in a cold run that is slow at
this place. So the new code is looked at twice: had none of what it changes run, before it was
brought in and after?

It ends with the driver: its line is looked at while it steps, and the driver has a guard beside it
for a statement that takes long (see `run/warm/guard.py`).
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from . import line, resume, runner
from .fork import gate, proc
from .source import edits, nodes, points, texts
from .stepping import steps
from .used import inputs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

LOOK = 0.02  # seconds between two looks at the line
NEAR = 0.8  # of the time to the failure: from there on, the begin of its function is late enough
PEEK = 0x2 | 0x40  # MSG_PEEK | MSG_DONTWAIT
KILL = 9


class _Standby:
    def __init__(self, place: str, own: line.Line) -> None:
        path, number, seconds = place.rsplit(":", 2)
        self.path = path
        self.number = int(number)
        self.seconds = float(seconds)  # what the last run needed to get there
        self.line = own
        self.pid = os.getpid()
        self.main = _thread.get_ident()
        self.started = time.monotonic()
        self.spent = 0.0  # once it waits
        self.mark: Any = None

    def elapsed(self) -> float:
        return time.monotonic() - self.started


_standby: _Standby | None = None


def begin(folder: str, place: str) -> None:
    """The program starts, ahead of the user."""
    global _standby  # noqa: PLW0603 - one a process
    own = line.Line.to(folder)
    if own is None:
        os._exit(0)
    _standby = _Standby(place, own)
    gate.our_descriptors.add(own.sock.fileno())
    resume._program.pid = 0  # of no use to others until it is the program
    own.send({"kind": "standby", "pid": os.getpid()})
    steps.install(_look)
    steps.on_load.append(_loaded)
    os.register_at_fork(after_in_child=_forget)


def waits() -> bool:
    """Whether this process is a standby still."""
    return _standby is not None


def _forget() -> None:
    """In a child of the program: it is nobody's standby."""
    global _standby  # noqa: PLW0603 - one a process
    if _standby is not None:
        _standby.line.close()
        _standby = None
        steps.ask(None)
        steps.stops.clear()


# --- where to wait ------------------------------------------------------------------------------


def _loaded(path: str, filename: str, source: bytes, numbers: list[int]) -> None:
    """A file of the user's is about to run: is the place in it?"""
    me = _standby
    if me is None or path != me.path:
        return
    text = texts.Text(source, filename)
    unit = _unit_at(text, me.number)
    segment = _segment_at(unit, me.number)
    if segment is not None:
        steps.stops[numbers[segment]] = _park
        if not unit.is_module and unit.points[0].number != segment:
            steps.stops[numbers[unit.points[0].number]] = _park_if_late


def _unit_at(text: texts.Text, line_: int) -> points.Unit:
    """The innermost function around a line, or the module."""
    around = [
        unit
        for unit in text.units
        if unit.points
        and not unit.is_module
        and points.first_line(unit.node) <= line_ <= unit.node.end_lineno
    ]
    # Its own head is run by the one around it.
    inside = [unit for unit in around if unit.node.body[0].lineno <= line_]
    return max(inside, key=lambda unit: unit.node.lineno) if inside else text.units[0]


def _segment_at(unit: points.Unit, line_: int) -> int | None:
    """The point before the statement at a line, or before the next one."""
    if not unit.points:
        return None
    at: Any = None
    after: Any = None
    left: list[Any] = [unit.node]
    while left:
        node = left.pop()
        if id(node) in unit.segment:
            begin = points.first_line(node)
            if begin <= line_ <= node.end_lineno and (at is None or begin >= at.lineno):
                at = node
            elif begin > line_ and (after is None or begin < after.lineno):
                after = node
        left.extend(nodes.children(node))
    found = at if at is not None else after
    segment = unit.segment[id(found)] if found is not None else None
    return unit.points[0].number if segment is None else segment


# --- waiting ------------------------------------------------------------------------------------


def _park_if_late() -> None:
    me = _standby
    if me is not None and me.elapsed() >= NEAR * me.seconds:
        _park()


def _park() -> None:
    """The place is about to be reached for the first time."""
    me = _standby
    if me is None or me.pid != os.getpid():
        return
    try:
        if _thread.get_ident() != me.main:  # another thread can't be made to wait here
            _die()
        steps.stops.clear()
        me.spent = me.elapsed()
        me.mark = inputs.mark()
        parked = {"kind": "parked", "pid": me.pid, "at": resume.point(), "seconds": me.spent}
        me.line.send(parked)
        _hear(me)
    except BaseException as error:
        resume.complain(error)
        _die()


def _look() -> None:
    """In between: has the driver said anything?"""
    me = _standby
    if me is None or me.pid != os.getpid():
        return
    steps.wait(LOOK)
    try:
        me.line.sock.recv(1, PEEK)
    except BlockingIOError:
        return
    except OSError:
        _die()
    try:
        me.spent = me.elapsed()
        me.mark = inputs.mark()
        _hear(me)
    except BaseException as error:
        resume.complain(error)
        _die()


def _hear(me: _Standby) -> None:
    order, _ = me.line.receive()
    if order is None or order.get("kind") != "go":
        _die()
    else:
        _go(me, order)


def _die() -> None:
    """End, with the children: nobody shall run this program to its end."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, KILL)
    os._exit(0)


# --- going on -----------------------------------------------------------------------------------


def _go(me: _Standby, order: dict[str, Any]) -> None:
    global _standby  # noqa: PLW0603 - one a process
    now = steps.tick()
    at = resume.point()
    sound, found = runner.judge(me.mark, strict=bool(order.get("strict")))
    broken = [(position, why) for position, why in found if position <= now]
    broken += [(now, why) for why in _in_other_threads(sound.edits)]
    if broken:
        _go_back(me, min(broken)[1])
    before = [(edit.file, edit.file.current, edit.new.source) for edit in sound.edits]
    if not sound.bring_in():
        _go_back(me, "the new code can't be brought into the program")
    if _has_run_meanwhile(before, now):
        _go_back(me, "what was changed was run by a thread just then")
    _standby = None
    steps.stops.clear()
    _join_driver()
    runner.wake(order["agent"], me.spent)
    resume._program.first = int(order.get("next") or 0)
    steps.ask(resume.snapshot)
    steps.wait(resume.LEAST)
    resume.is_shut(gate.check(), at)
    resume._tell_used()
    me.line.send({"kind": "resumed", "at": at, "seconds": me.spent})
    me.line.close()


def _go_back(me: _Standby, why: str) -> None:
    """The driver ends us, and all that we have started."""
    me.line.send({"kind": "back", "to": None, "reason": str(why)})
    me.line.receive()
    _die()


def _in_other_threads(made: list[Any]) -> list[str]:
    """What another thread is in the midst of can't be changed."""
    found = []
    frames = sys._current_frames()
    frames.pop(_thread.get_ident(), None)
    for edit in made:
        running = {id(code): key for key, every in edit.file.running.items() for code in every}
        running.update({id(code): key for code, _, key in edit.file.stale})
        for top in frames.values():
            frame: Any = top
            while frame is not None:
                if running.get(id(frame.f_code)) in edit.comparison.changed:
                    name = os.path.basename(edit.file.path)
                    found.append(f"{name}:{frame.f_lineno} was changed while a thread was in it")
                frame = frame.f_back
    return found


def _has_run_meanwhile(before: list[Any], now: int) -> bool:
    for file, layer, source in before:
        old, new = (texts.Text(text, file.filename) for text in (layer.source, source))
        again = edits.Comparison(old, new, _reached(layer.numbers), "")
        if any(position > now for position, _ in again.broken):
            return True
    return False


def _reached(numbers: list[int]) -> Callable[[int | None], int | None]:
    return lambda n: None if n is None else steps.reached.get(numbers[n])


def _join_driver() -> None:
    """Be in the driver's process group: Ctrl-C is for the program, and the terminal is its own.

    Children that have become another program stay behind; the kernel won't have it otherwise.
    """
    group = os.getpgid(os.getppid())
    children = [
        int(word)
        for tid in proc.names("/proc/self/task")
        for word in proc.read(f"/proc/self/task/{tid}/children").split()
    ]
    for pid in (0, *children):
        try:
            os.setpgid(pid, group)
        except OSError:
            continue
