"""Running strangers' `__repr__` where it can do no harm: in a forked child.

A *repr* may raise anything, never return, take all memory, print, write to a database
connection or end the process. The child has no descriptors but its pipe, may grow by 20 MB,
and is killed when its time is up. It sends each text as soon as it is made; where it dies
or hangs, the next child goes on after the object that did it.
"""

from __future__ import annotations

# `signal` itself would load `enum`; its C half has no stubs.
import _signal  # type: ignore[import-not-found]
import os
import time

from . import forking, isolation, objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LENGTH = 1000  # characters kept of one repr
GROWTH = 20 << 20  # bytes that a child may take besides what it inherits
HUGE = 4 << 30  # resident bytes from which no child is started
PER_SECOND = 10 << 30  # resident bytes that are forked and freed in a second, if pages are small
AT_LEAST = 0.005  # seconds an object gets, however many want a turn
GRACE = 0.02  # after it, a child that could not interrupt itself is killed

# What a message is about, a byte before its text: the child is cut off, or what became of a repr.
READY, TEXT, RAISED, LATE, LARGE, SKIPPED = b"ytrlms"


def run(values: list[Any], seconds: float) -> list[str | None]:
    """Give the repr of each, or what came instead of it; None for those not tried."""
    asking = _Asking(values, seconds)
    if isolation.works() and isolation.resident() < min(HUGE, seconds * PER_SECOND):
        try:
            while not asking.is_over():
                asking.start_a_child()
        except (OSError, RuntimeError):
            pass  # no process or descriptor to be had, Python is shutting down, or see `forking`
    return asking.texts + [None] * asking.left()


class _Asking:
    """How far the asking has come, in the parent as in the child."""

    def __init__(self, values: list[Any], seconds: float) -> None:
        self.values = values
        self.texts: list[str | None] = []  # of the first so many values
        self.end = time.monotonic() + seconds
        self.cost = 0.0  # seconds that a fork takes; its child takes as long to vanish
        # Ids of classes that took too long once: their other objects would starve those after.
        self.late: set[int] = set()

    def is_over(self) -> bool:
        """Whether all were asked, or another child would not pay."""
        return not self.left() or time.monotonic() + 2 * self.cost >= self.end

    def left(self) -> int:
        return len(self.values) - len(self.texts)

    def turn(self) -> float:
        """Give the seconds for the next object: an even share of what is left."""
        return max(AT_LEAST, (self.end - self.cost - time.monotonic()) / self.left())

    def start_a_child(self) -> None:
        """Have one child speak of objects until it can't go on."""
        parent, start = os.getpid(), time.monotonic()
        with_texts, for_child = os.pipe()
        try:
            pid = forking.fork()
            self.cost = time.monotonic() - start
            if pid == 0:
                _be_the_child(self, for_child)
            os.close(for_child)
            for_child = -1
            try:
                self.listen(_Mail(with_texts))
            finally:
                _end(pid)
        finally:
            if os.getpid() != parent:
                os._exit(0)  # a signal came between: the child must never go on as the program
            os.close(with_texts)
            if for_child >= 0:
                os.close(for_child)

    def listen(self, mail: _Mail) -> None:
        """Take down what the child says of each object."""
        if mail.next(max(0.0, self.end - time.monotonic()) + GRACE)[0] != READY:
            raise OSError("the child could not cut itself off")
        while self.left() and mail.comes:
            self.note(*mail.next(self.turn() + GRACE))

    def note(self, what: int, text: str) -> None:
        """Take down what became of the next object."""
        value = self.values[len(self.texts)]
        if what == LATE:
            self.late.add(id(type(value)))
        self.texts.append(_shown(value, what, text))


class _Mail:
    """Messages from a pipe: four bytes of length, one that says what it is, text."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe
        self.poll = isolation.select.poll()
        self.poll.register(pipe, isolation.select.POLLIN)
        self.data = b""
        self.comes = True  # until the sender was late once, or has ended

    def next(self, seconds: float) -> tuple[int, str]:
        """Give the next message, or what its absence means."""
        while len(self.data) < 4 or len(self.data) < self.size():
            # Time is told by poll, not by a clock: tests freeze clocks.
            if not self.poll.poll(1000 * seconds):
                self.comes = False
                return LATE, ""
            piece = os.read(self.pipe, 65536)
            if not piece:
                self.comes = False
                return RAISED, ""
            self.data += piece
        size = self.size()
        message, self.data = self.data[4:size], self.data[size:]
        return message[0], message[1:].decode("utf-8", "replace")

    def size(self) -> int:
        return 4 + int.from_bytes(self.data[:4], "big")


def _send(pipe: int, what: int, text: str = "") -> None:
    data = bytes([what]) + text.encode("utf-8", "backslashreplace")
    os.write(pipe, len(data).to_bytes(4, "big") + data)


def _shown(value: Any, what: int, text: str) -> str | None:
    if what == SKIPPED:
        return None
    if what == TEXT:
        return text.replace(f"{id(value):x}", "…")
    if what == RAISED:
        instead = f"its repr raised {text}" if text else "its repr ended the process"
    else:
        instead = "its repr took too long" if what == LATE else "repr too large"
    return f"<{objects.name_of(type(value))} object: {instead}>"


def _end(pid: int) -> None:
    """Kill the child, with what it has started, and take it off the process table."""
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, 9)
        except OSError:
            pass  # it has ended, or is not yet the head of a group
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass  # the user ignores SIGCHLD, or waits for any child in another thread


# --- in the child -----------------------------------------------------------------------


class _TooLong(BaseException):
    """The turn of an object is over."""


_turns: list[Any] = []  # the object whose turn it is


def _ring(*_: Any) -> None:
    if _turns:  # or the object was done a moment ago
        raise _TooLong


def _be_the_child(asking: _Asking, pipe: int) -> None:
    try:
        pipe = isolation.cut_off(pipe, GROWTH, _ring)
        _send(pipe, READY)
        while asking.left():
            value = asking.values[len(asking.texts)]
            is_late = id(type(value)) in asking.late
            what, text = (SKIPPED, "") if is_late else _repr(value, asking.turn())
            asking.note(what, text)
            _send(pipe, what, text)
    finally:
        os._exit(0)


def _repr(value: Any, seconds: float) -> tuple[int, str]:
    _turns.append(value)
    try:
        _signal.setitimer(_signal.ITIMER_REAL, seconds)
        text = repr(value)
        _turns.clear()
        return TEXT, str.__getitem__(text, slice(LENGTH))
    except BaseException as error:
        _turns.clear()
        if type(error) is _TooLong:
            return LATE, ""
        if objects.is_one(objects.classes_of(error), MemoryError):
            return LARGE, ""
        return RAISED, objects.name_of(type(error))
