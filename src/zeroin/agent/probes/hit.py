"""What happens when a probe is reached.

Nothing of it may change what the program does: what an expression raises is told once and goes
no further, and a probe that is reached while one is at work in the same thread does nothing.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident

from .. import hooks, owner
from ..warm.source import codes, constants
from . import actions, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, Callable

    from .asked import Probe

_CODE = type(say.say.__code__)
_STDLIB = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
NOT_MET = "it counts as not met"
_busy: set[int] = set()  # threads in which a probe is at work
_passing: set[int] = set()  # those in which one is at work behind its condition


def on_line(probe: Probe, name: str) -> Callable[[], None]:
    """Make what stands as a statement before a line of the function of that name."""

    def hit() -> None:
        at = At(sys._getframe(1), name, None)
        if _meets(probe, at):
            _act(probe, at)
        if probe.spent:
            _disarm(at.frame.f_code, hit, probe)

    return hit


def on_met(probe: Probe, name: str) -> Callable[[], None]:
    """Make what stands behind a condition that is written into the code."""

    def hit() -> None:
        at = At(sys._getframe(1), name, None)
        if get_ident() not in _busy and not probe.spent and _is_turn(probe):
            _passing.add(get_ident())  # what comes out of it is the program's to see
            _act(probe, at)
            _passing.discard(get_ident())

    return hit


def counting(probe: Probe, name: str) -> Callable[[], None]:
    """Make what counts before a condition: the first time is told, the others only counted."""

    def count() -> None:
        at = At(sys._getframe(1), name, None)
        _count(probe, at)
        _disarm(at.frame.f_code, count, probe)

    return count


def condition_raised(probe: Probe, name: str) -> Callable[[], bool]:
    """Make what is asked when a condition has raised: whether the program is to see that."""

    def is_the_programs() -> bool:
        error = sys.exc_info()[1]
        if get_ident() in _passing or isinstance(error, KeyboardInterrupt) or error is None:
            _passing.discard(get_ident())
            return True
        at = At(sys._getframe(1), name, None)
        raised(probe, at, f"if={probe.texts['if']}", error, NOT_MET)
        return False

    return is_the_programs


def on_part(probe: Probe, name: str) -> Callable[..., None]:
    """Make what stands inside an expression; it is given the variables, and those from around."""

    def hit(given: Any = None, around: Any = None) -> None:
        at = At(sys._getframe(1), name, {**_held(around), **(given or {})})
        if _meets(probe, at):
            _act(probe, at)

    return hit


def on_return(probe: Probe, name: str) -> Callable[[Any], Any]:
    """Make what a function hands its result through."""

    def hit(result: Any) -> Any:
        at = At(sys._getframe(1), name, {"result": result})
        if _meets(probe, at):
            _act(probe, at)
        return result

    return hit


class At:
    """Where a probe was reached: a frame, the function's name, and variables that are not in it."""

    __slots__ = ("frame", "given", "name")

    def __init__(self, frame: FrameType, name: str, given: Any) -> None:
        self.frame = frame
        self.name = name
        self.given = given

    @property
    def place(self) -> str:
        """`train.py:41 forward`."""
        return say.place(self.frame, self.name)


def _held(around: Any) -> dict[str, Any]:
    """What the variables are that a function has from outside, without calling it."""
    found = {}
    for name, cell in zip(around.__code__.co_freevars, around.__closure__ or ()) if around else ():
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not set yet
            continue
    return found


def _meets(probe: Probe, at: At) -> bool:
    """Count, and see whether something is to be done this time."""
    frame = at.frame
    if get_ident() in _busy or (probe.may_be_ours and _is_ours(frame)):
        return False
    if probe.owner is not None and not _is_for(probe.owner, frame):
        return False
    _count(probe, at)
    if probe.spent:
        return False
    if probe.condition is None:
        return _is_turn(probe)
    _busy.add(get_ident())
    try:
        if not evaluate(probe.condition, at):
            return False
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raised(probe, at, f"if={probe.texts['if']}", error, NOT_MET)
        return False
    finally:
        _busy.discard(get_ident())
    return _is_turn(probe)


def _count(probe: Probe, at: At) -> None:
    if probe.reached.add() == 1:
        file = say.file_of(at.frame)
        probe.tell("reached", file=file, line=at.frame.f_lineno, function=at.name)


def _is_turn(probe: Probe) -> bool:
    number = probe.acted.value() + 1
    if probe.every > 1:
        number = probe.turns.step()
        if (number - 1) % probe.every:
            return False
        number = (number - 1) // probe.every + 1
    if probe.times and number > probe.times:
        return False
    if probe.acted.add() >= probe.times > 0:
        probe.spent = True
    return True


def _act(probe: Probe, at: At) -> None:
    _busy.add(get_ident())
    try:
        for action in actions.of(probe):
            action(probe, at)
    except BaseException as error:
        if _is_the_programs(error):
            hooks.trim = _trim
            raise
    finally:
        _busy.discard(get_ident())


def _is_the_programs(error: BaseException) -> bool:
    """Whether it comes from a signal, or the debugger, and not from a mistake of ours."""
    if not isinstance(error, Exception) or type(error).__name__ == "BdbQuit":
        return True
    trace = error.__traceback__
    while trace is not None:
        if owner.is_users(trace.tb_frame.f_code.co_filename):  # a handler of the program's own
            return True
        trace = trace.tb_next
    return False


def _trim(_value: Any, trace: Any) -> Any:
    """The program was interrupted while a probe slept: its traceback ends where the probe is."""
    one = trace
    while one is not None and one.tb_next is not None:
        name = one.tb_next.tb_frame.f_globals.get("__name__", "")
        if str(name).startswith(__name__.rpartition(".")[0]):
            one.tb_next = None
        one = one.tb_next
    return trace


def evaluate(code: CodeType, at: At) -> Any:
    """The value of an expression, where the program stands."""
    frame = at.frame
    names = dict(at.given) if at.given else {}
    space = frame.f_globals
    if frame.f_code.co_flags & 0x2 or frame.f_locals is not space:  # a function, a class's body
        names = {**codes.variables(frame), **names}
    if any(type(one) is _CODE for one in code.co_consts):
        # What is inside of a lambda or a comprehension looks among the globals only.
        return eval(code, {**space, **names})  # noqa: S307 - the user's own
    return eval(code, space, names)  # noqa: S307


def raised(probe: Probe, at: At, text: str, error: BaseException, rest: str) -> None:
    """Tell what an expression raised, the first time."""
    probe.raised.add()
    if text in probe.told:
        return
    probe.told.add(text)
    words = type(error).__name__
    try:
        words += f": {str(error)[:200]}"
    except BaseException:  # its message can't be made
        pass
    probe.tell("raised", text=text, error=words)
    if not probe.quiet:
        say.say(at.place, f"{text} ✗ {words} ({rest}; told once)")


def _is_for(owner: type, frame: FrameType) -> bool:
    """A method that other classes share: is it called for that one?"""
    code = frame.f_code
    if not code.co_argcount:
        return True
    first = frame.f_locals.get(code.co_varnames[0])
    return isinstance(first, owner) or (isinstance(first, type) and issubclass(first, owner))


def _is_ours(frame: Any) -> bool:
    """Whether it is our own code that has called a function of the standard library."""
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("_zeroin_agent"):
            return True
        if not frame.f_code.co_filename.startswith((_STDLIB, "<frozen")):
            return False
        frame = frame.f_back
    return False


def is_stdlib(path: str) -> bool:
    """Whether our own code might call what is in that file."""
    return path.startswith(_STDLIB)


def _disarm(code: CodeType, hit: Any, probe: Probe) -> None:
    """All is done that was asked for: from now on the code only counts, in C."""
    constants.exchange(code, hit, probe.reached.step)
