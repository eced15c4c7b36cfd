"""Taking snapshots of the running program.

A snapshot is a child process that stops where it was forked; `runner` is what it does from then
on.
"""

from __future__ import annotations

import os
import sys
import time

from .. import asked
from . import line
from .fork import carry, gate
from .source import codes, positions
from .stepping import depth, steps
from .used import inputs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEAST = 0.05  # seconds between two snapshots
FORKS = 20  # or this many times what the last fork took
REFUSED = 1.0
NEVER = 1e9


class Taken:
    """A snapshot of this lineage."""

    def __init__(self, number: int, position: int) -> None:
        self.number = number
        self.position = position  # on the clock of the steps


class _Program:
    """This process, as the driver knows it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.pid = os.getpid()
        self.started = time.monotonic()
        self.taken: list[Taken] = []
        self.first = 0  # the number of its first snapshot
        self.last_fork = 0.0
        self.gate: str | None = None
        self.used = 0
        self.has_told = False  # all that it used
        self.woke = -1  # when it was told to go on, on the clock of the steps


_program: Any = None
named = ""  # what a snapshot is taken before, where that is no line of the user's


def begin(folder: str) -> None:
    """The program starts."""
    global _program  # noqa: PLW0603 - one program a process
    _program = _Program(folder)
    inputs.ignore(folder)
    inputs.ignore(asked.find_folder())
    gate.our_descriptors.add(codes.descriptor())
    carry.begin()
    import _signal  # type: ignore[import-not-found]

    _signal.signal(steps.LOOK_AGAIN, steps.look_at_the_clock)
    _signal.siginterrupt(steps.LOOK_AGAIN, False)


def program() -> Any:
    """What the driver knows of this process."""
    return _program


def folder() -> str | None:
    """Where the driver listens, in the program itself; None in its children."""
    return _program.folder if _program is not None and _program.pid == os.getpid() else None


def at_end() -> None:
    """The program ends: say what it depended on."""
    import _signal

    # From now on the interpreter would let it kill us. None may come while that is set: Python
    # would complain of one that it has seen and that is to be ignored since.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, {steps.LOOK_AGAIN})
    _signal.signal(steps.LOOK_AGAIN, _signal.SIG_IGN)
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, {steps.LOOK_AGAIN})
    if _program is not None and _program.pid:
        if not _program.has_told:
            tell_all_used()
        _tell_profile()


def _tell_profile() -> None:
    measured = steps.profile()
    if measured is not None and folder() is not None:
        from . import profile

        try:
            rows = profile.rows(measured)
        except Exception as error:
            complain(error)
            return
        line.say(_program.folder, {"kind": "profile", "rows": rows})


def tell_all_used() -> None:
    """What comes after this is of no interest."""
    _program.has_told = True
    _tell_used(always=True)


def _tell_used(always: bool = False) -> None:
    paths = inputs.paths()
    if always or len(paths) != _program.used:
        _program.used = len(paths)
        files = [*steps.files, *(p for p in paths if p not in steps.files)]
        told = {"kind": "used", "pid": os.getpid(), "files": files, "all": always}
        line.say(_program.folder, told)


# --- taking one ---------------------------------------------------------------------------------


def snapshot() -> None:
    """One is due: take it, unless this process can't be forked now."""
    try:
        _snapshot()
    except RecursionError:  # the program is about to run into its own limit
        steps.wait(LEAST)
    except RuntimeError:  # the interpreter is ending, and refuses to fork
        steps.wait(NEVER)
    except Exception as error:
        complain(error)
        steps.wait(REFUSED)


def _snapshot() -> None:
    from . import runner  # all that it needs is loaded before the fork

    program = _program
    if folder() is None:  # a child that the program has forked
        steps.wait(NEVER)
        return
    if depth.is_near_the_limit():
        steps.pass_by()  # the next level would be nearer still
        return
    at = point()
    if _is_where_it_woke():
        steps.wait(LEAST)
        return
    if is_shut(gate.check(), at):
        steps.wait(REFUSED / 4)
        return
    begun = time.monotonic()
    _tell_used()
    mine = line.Line.to(program.folder)
    if mine is None:  # nobody there
        steps.wait(NEVER)
        return
    gate.our_descriptors.add(mine.sock.fileno())
    state = carry.capture()
    resumed = False
    try:
        if is_shut(state.reason, at):
            steps.wait(REFUSED)
            return
        number = program.taken[-1].number + 1 if program.taken else program.first
        seconds = begun - program.started
        asked = {"kind": "snapshot", "id": number, "pid": os.getpid(), "at": at}
        more = {"seconds": seconds, "rss": _resident(), "fork": program.last_fork}
        answer = mine.ask({**asked, **more})
        if answer is None or answer.get("kind") != "granted":
            steps.wait(REFUSED)
            return
        mark = inputs.mark()
        taken = Taken(number, steps.take())
        program.taken.append(taken)
        forked = time.monotonic()
        resumed = fork_away()
        if resumed:
            runner.frozen(mine, runner.Origin(state, taken, mark, seconds))
            return
        program.last_fork = time.monotonic() - forked
    finally:
        if not resumed:
            mine.close()
            carry.settle(state)
    every = answer.get("every")
    took = time.monotonic() - begun if number else 0.0  # the first loads what it needs
    steps.wait(max(LEAST, FORKS * took) if every is None else every)


def _is_where_it_woke() -> bool:
    """Whether nothing has run since: another snapshot of the same place would be of no use.

    Code that takes over begins at the place where the old one stood, perhaps much later: then each
    edit would add one, inside of all those before. In a loop it passes one chance by.
    """
    woke, _program.woke = _program.woke, -1
    return woke == steps.clock() and not named and not steps.is_wanted()


def is_shut(reason: str | None, at: str) -> bool:
    """Tell the driver once why there are no snapshots from here on, and when there are again."""
    if reason != _program.gate:
        _program.gate = reason
        line.say(_program.folder, {"kind": "gate", "pid": os.getpid(), "at": at, "reason": reason})
    return reason is not None


def fork_away() -> bool:
    """Fork a process that is not a child of the program: nobody here shall wait for it.

    True in the new process; its parent is the driver. A handler that the program has for the
    end of children must not hear of the one in between.
    """
    import _signal

    quiet = _signal.getsignal(_signal.SIGCHLD) in (_signal.SIG_DFL, _signal.SIG_IGN, None)
    blocked = set() if quiet else _signal.pthread_sigmask(_signal.SIG_BLOCK, {_signal.SIGCHLD})
    between = fork()
    if between:
        try:
            os.waitpid(between, 0)
        except ChildProcessError:  # the kernel reaps for programs that ignore SIGCHLD
            pass
        if not quiet:
            _signal.sigtimedwait({_signal.SIGCHLD}, 0)
    elif os.fork():
        os._exit(0)
    if not quiet:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, blocked)
    return not between


def fork() -> int:
    """Fork, without the warning that other threads exist: the gate knows them."""
    import _warnings

    quiet = ("ignore", None, DeprecationWarning, None, 0)
    _warnings.filters.insert(0, quiet)
    try:
        return os.fork()
    finally:
        _warnings.filters.remove(quiet)


def _here(frame: Any) -> str:
    number = frame.f_lineno
    number -= positions.AWAY if number > positions.AWAY else 0  # a statement that is gone
    return f"{os.path.basename(frame.f_code.co_filename)}:{number}"


def _resident() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * 4096


# --- for all of them ---------------------------------------------------------------------------


def point() -> str:
    """Where the program is, in the user's words."""
    if named:
        return named
    frame: Any = sys._getframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("_zeroin_agent"):
        frame = frame.f_back
    return _here(frame) if frame is not None else "?"


def retreat(why: str) -> None:
    """A resumed program finds that it can't go on: the driver ends it and goes further back."""
    line.say(_program.folder, {"kind": "retreat", "to": None, "reason": why})
    while True:
        time.sleep(3600)


def complain(error: BaseException) -> None:
    """Our own mistakes must be found: tell the driver."""
    import traceback

    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    line.say(_program.folder, {"kind": "mistake", "text": text})
