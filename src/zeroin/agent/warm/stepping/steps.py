"""What the hooks call while the program runs: what was reached when, and is a snapshot due?

Each point has a flag, which is up until the point is first reached, and stays up as long as
reaching it again takes a while: then its hook looks at the clock. Points that are reached in a
rush get their flags taken down, and cost next to nothing; the driver's signal, which comes only
while the program is busy, puts them up again.
"""

from __future__ import annotations

import _thread
import sys
import time

from ..source import codes, plant, tails, weave
from . import depth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, FrameType
    from typing import Any, Callable

    from ..source import texts

RUSH = 100  # points in this time
MOMENT = 0.004
LOOK_AGAIN = 44  # a real-time signal from the driver

files: dict[str, texts.File] = {}
filenames: set[str] = set()  # as their code names them
reached: dict[int, int] = {}  # a point's number → when it was first reached
leaving: dict[int, Leave] = {}  # points of code that is out of date
stops: dict[int, Callable[[], None]] = {}  # points at which something else is to be done first
on_load: list[Callable[[str, str, bytes, list[int]], None]] = []  # hear of each file of the user's
left: dict[int, int] = {}  # frames that could not be hidden → their code
_state: dict[str, Any] = {
    "clock": 0,  # grows with each new point and each snapshot
    "main": 0,
    "next": 0.0,  # when a snapshot is due
    "since": 0.0,
    "snapshot": None,
    "here": -1,
    "taken": 0,
    "handed": 0,
    "profile": None,
    "levels": None,
    "stopped": False,
}
_bottom: list[Any] = []  # code whose frame shall be the outermost, and the frame that runs it
_lately: list[int] = []  # points reached since a moment ago
_down: set[int] = set()  # points whose flags were taken down because of a rush
inside: list[int] = []  # hooks that are at work: what they look at, nobody else does
_handed: dict[tuple[int, Any], Any] = {}
_tail: dict[int, Any] = {}  # thread → the point it is about to leave at
_leaves: set[int] = set()  # those points
_missed: dict[int, None] = {}  # points whose hooks had no room to be called


class Leave:
    """A point of old code, and the file whose new text is to take over."""

    def __init__(self, file: texts.File, layer: texts.Layer, number: int) -> None:
        self.file = file
        self.layer = layer
        self.number = number  # in the layer's text
        self.becomes: int | None = None  # the point of the next text at the same place
        self.codes: list[CodeType] = []

    def show(self) -> None:
        """Let the frames of the old code be seen."""
        for code in self.codes:
            codes.show(code)


class _Leaves(Exception):  # noqa: N818 - nothing is wrong
    """A function's old code is left at this point."""


class Done(SystemExit):
    """The rest of a module has run under its new text: the old code has nothing left to do."""


def owner_of(code: CodeType) -> tuple[texts.File, tuple[Any, ...]] | None:
    """Whose code it is: a file and a unit's key in its current text."""
    for file in files.values():
        for key, every in file.running.items():
            if any(one is code for one in every):
                return file, key
        for one, _, key in file.stale:  # made by code of an old text; its first point leads on
            if one is code and key in file.running:
                return file, key
    return None


def install(snapshot: Callable[[], None] | None) -> None:
    """Make the hooks' names known. `snapshot` is asked when one is due."""
    plant.constants.update(
        {plant.STEP: _Hook(), weave.TAIL: _Tail(), tails.HAND: _hand, tails.SINK: _Sink()}
    )
    plant.constants[tails.ONCE] = Once
    plant.constants.update(
        {weave.LEFT: (_Leaves, RecursionError), weave.LEAVES: _leaves, weave.MISSED: _missed}
    )
    _state["main"] = _thread.get_ident()
    _state["snapshot"] = snapshot
    for value in (True, plant.DOWN):
        codes.hold(value)
    for function in (_Hook.__matmul__, _run_rest):
        codes.hide(function.__code__)


def profile_by(profile: Any) -> None:
    """Let every hook tell when it is called: no flag is taken down any more."""
    _state["profile"] = profile


def profile() -> Any:
    """What was asked to measure; None if nobody was."""
    return _state["profile"]


def ask(snapshot: Callable[[], None] | None) -> None:
    """From now on this one is asked."""
    _state["snapshot"] = snapshot


def clock() -> int:
    """Grows with each point that is reached for the first time, and each snapshot."""
    now: int = _state["clock"]
    return now


def here() -> int:
    """The point where the last snapshot was taken."""
    number: int = _state["here"]
    return number


def last_snapshot() -> int:
    """When the last snapshot was taken."""
    when: int = _state["taken"]
    return when


def take() -> int:
    """A snapshot is taken now."""
    _state["taken"] = tick()
    when: int = _state["taken"]
    return when


def tick() -> int:
    """Take the clock one on; returns what it was."""
    now: int = _state["clock"]
    _state["clock"] = now + 1
    return now


def mark(number: int, when: int | None = None) -> None:
    """Note that a point was reached."""
    if number not in reached:
        reached[number] = tick() if when is None else when
    if _state["snapshot"] is None and _state["profile"] is None:
        plant.put(number, up=False)


def leave_at(number: int, leave: Leave) -> None:
    """From now on a point of old code leads to the new."""
    leaving[number] = leave
    plant.put(number, up=True)


def look_at_the_clock(*_: Any) -> None:
    """The driver's signal: the program is busy, and hooks may have been switched off."""
    for number in list(_down):  # the signal may come while this is at work
        plant.put(number, up=True)
        _down.discard(number)


def is_stopped() -> bool:
    """Whether there are no more steps: then no more files are stepped either."""
    return bool(_state["stopped"])


def stop() -> None:
    """No more steps: what has not run yet counts as if it had."""
    now = tick()
    _state["stopped"] = True
    _state["snapshot"] = _state["profile"] = None
    for number in plant.every():
        if number not in leaving:
            reached.setdefault(number, now)
            plant.put(number, up=False)


def end() -> None:
    """The program ends: what still runs is run as it is."""
    for number in plant.every():
        plant.put(number, up=False)


def make_due() -> None:
    """A snapshot is wanted before the next statement, whatever the clock says."""
    if _thread.get_ident() == _state["main"]:
        _state["next"] = 0.0
        look_at_the_clock()


def pass_by() -> None:
    """No snapshot here, and nobody looks here again until the driver's next signal."""
    if _state["here"] >= 0:
        take_down([_state["here"]])


def is_wanted() -> bool:
    """Whether the program itself has asked for a snapshot here."""
    return bool(_state["next"] == 0.0)


def wait(seconds: float) -> None:
    """No snapshot for a while."""
    _state["next"] = time.monotonic() + seconds


def takes_snapshots() -> bool:
    """Whether anybody wants them."""
    return _state["snapshot"] is not None


def pause(always: bool) -> None:
    """A place between two things that are not statements: take a snapshot if one is due."""
    snapshot = _state["snapshot"]
    due = always or time.monotonic() >= _state["next"]
    if due and snapshot is not None and _thread.get_ident() == _state["main"]:
        _state["here"] = -1
        snapshot()


class _Hook:
    __slots__ = ()

    def __matmul__(self, number: int) -> None:
        """A hook. Raises if a function has to be left here; a module is left in here."""
        inside.append(number)
        try:
            if number in leaving:
                leaving[number].show()  # an earlier frame of the same code may have been left
            rest = _step(number, sys._getframe(1))
        finally:
            inside.pop()
        if rest is not None:
            _run_rest(*rest)
            raise Done
        if number in _leaves:
            raise _Leaves


def _step(number: int, frame: FrameType) -> tuple[CodeType, dict[str, Any], int] | None:
    """What is to be run in the place of a module's old code; None if the code goes on."""
    if _missed:  # reached since the last hook: nothing else that is timed has happened
        for one in list(_missed):
            mark(one)
            _missed.pop(one, None)
    profile = _state["profile"]
    if profile is not None:
        profile.leave()
    if _bottom and _bottom[0] is frame.f_code:
        codes.cut_off(frame, _bottom[1])
        _bottom.clear()
    if left:
        _pass_over(frame)
    if number in stops:
        _state["here"] = number
        stops.pop(number)()
    if number not in leaving and _thread.get_ident() == _state["main"]:
        now = time.monotonic()
        if now >= _state["next"]:
            snapshot = _state["snapshot"]
            if snapshot is not None:
                _state["here"] = number
                snapshot()
        elif profile is None:
            _see_rush(number, now)
    leave = leaving.get(number)
    if leave is None:
        mark(number)
        if profile is not None:
            profile.enter(number, id(frame))
        return None
    rest = _plan(leave, frame)
    if rest is None:
        _pass_by_in_new_code(leave)
        return None
    if profile is not None:
        profile.enter_rest(leave, id(frame))
    if not rest[0]:
        _tail[_thread.get_ident()] = number, leave
        _leaves.add(number)
        return None
    return rest[1], frame.f_globals, _levels()


def _pass_by_in_new_code(leave: Leave | None) -> None:
    """Old code goes on where it is the same as the new: what it reaches counts for that as well."""
    while leave is not None and leave.becomes is not None:
        mark(leave.becomes)
        leave = leaving.get(leave.becomes)


def take_down(numbers: Iterable[int]) -> None:
    """Points that are reached in a rush: nobody looks until the driver's next signal."""
    for one in set(numbers).difference(leaving):
        plant.put(one, up=False)
        _down.add(one)


def _see_rush(number: int, now: float) -> None:
    _lately.append(number)
    if len(_lately) >= RUSH:
        if now - _state["since"] < MOMENT:
            take_down(_lately)
        _lately.clear()
        _state["since"] = now


# --- leaving old code ---------------------------------------------------------------------------


def _plan(leave: Leave, frame: FrameType) -> tuple[bool, Any] | None:
    """What is to be done at a point of old code; None if it can't be left here."""
    from . import takeover

    return takeover.plan(leave, frame)


def _run_rest(code: CodeType, space: dict[str, Any], levels: int) -> None:
    depth.count_off(levels)
    both = code, space
    try:
        exec(*both)  # noqa: S102 - called like this it is as deep the tenth time as the first
    finally:
        depth.count_off(-levels)


def _levels() -> int:
    """How much deeper the rest of a module stands than the code that it goes on with."""
    if _state["levels"] is None:
        _state["levels"] = depth.between(_running)
    levels: int = _state["levels"]
    return levels


def _running(note: Callable[[], None]) -> Callable[[], None]:
    code = compile("note()", "<zeroin>", "exec")

    def like_step() -> None:
        _run_rest(code, {"note": note}, 0)

    return like_step


class _Tail:
    __slots__ = ()

    def __matmul__(self, cells: Any) -> Any:
        """The function that takes over from the one whose hook asks."""
        from . import takeover

        inside.append(-1)
        try:
            number, leave = _tail.pop(_thread.get_ident())
            _leaves.discard(number)
            frame = sys._getframe(1)
            shared = dict(zip(cells.__code__.co_freevars, cells.__closure__)) if cells else {}
            return takeover.function(leave, frame, shared)
        finally:
            inside.pop()


def hand_over(things: dict[Any, Any]) -> int:
    """Keep things for a tail; returns the number it asks for them by."""
    _state["handed"] += 1
    number: int = _state["handed"]
    for name, thing in things.items():
        _handed[number, name] = thing
    return number


class Once:
    """What a loop under way iterates over, held by the loop that does the rest of its pass.

    So it ends with that loop, if that is left; otherwise it is handed over when the pass is done.
    """

    def __init__(self, number: int, depth: int) -> None:
        self.live = _hand(number, depth)
        self.place = number, depth
        self.begun = False

    def __iter__(self) -> Once:
        return self

    def __next__(self) -> None:
        if self.begun:
            _handed[self.place] = self.live
            raise StopIteration
        self.begun = True


class _Sink:
    """Takes what a one-pass loop assigns."""

    def __setitem__(self, _: int, __: Any) -> None:
        pass


def bottom(code: CodeType, below: FrameType) -> None:
    """The main script's code is about to be run by a frame that nobody shall see."""
    _bottom[:] = [code, below]


def _pass_over(frame: FrameType) -> None:
    """Let a tail seem to be called by whoever called the function that it goes on with."""
    back: Any = frame.f_back
    while back is not None and _is_ours_or_left(back):
        back = back.f_back
    if back is not frame.f_back:
        codes.set_back(frame, back)


def trim(value: Any, trace: Any) -> Any:
    """Leave frames that were left out of a traceback, and of those it is chained to."""
    seen: set[int] = set()
    chain = [value]
    while chain:
        one = chain.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = _trimmed(one.__traceback__)
        chain += [one.__cause__, one.__context__]
    return _trimmed(trace)


def _trimmed(trace: Any) -> Any:
    while trace is not None and _is_left(trace):
        trace = trace.tb_next
    entry = trace
    while entry is not None and entry.tb_next is not None:
        if _is_left(entry.tb_next):
            entry.tb_next = entry.tb_next.tb_next
        else:
            entry = entry.tb_next
    return trace


def _is_left(entry: Any) -> bool:
    return _is_ours_or_left(entry.tb_frame)


def _is_ours_or_left(frame: Any) -> bool:
    return left.get(id(frame)) == id(frame.f_code) or is_ours(frame)


def is_ours(frame: Any) -> bool:
    """Whether a frame is the agent's."""
    name = frame.f_globals.get("__name__", "")
    return isinstance(name, str) and name.startswith("_zeroin_agent")


def _hand(number: int, name: Any) -> Any:
    if left:
        _pass_over(sys._getframe(1))
    return _handed.pop((number, name))
