"""A frame of old code that was left: all it still does is to return what the new code returns.

Until then it must not be seen, must keep nothing alive that the program has let go, and must not
count against the limit of recursion.
"""

from __future__ import annotations

import sys

from ..source import codes
from . import depth, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable

AT_HOOK = 1 if sys.version_info >= (3, 11) else 2  # references by a call with the frame
FUNCTION = 0x1  # a flag of code whose variables stand in its frame
_known: dict[str, int] = {}  # calls between a frame that was left and the new code


def kept(filename: str, calls: int = 1) -> set[int]:
    """Frames of a file that somebody holds (in a traceback that is kept, say): they stay as old.

    All frames of the stack are held equally often, by the interpreter alone; the one that has
    called the hook also by the hook and what that has called with it.
    """
    stack: list[Any] = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        stack.append(frame)
        frame = frame.f_back
    counts = [sys.getrefcount(frame) for frame in stack]
    usual = min(counts)
    hooked = AT_HOOK * calls
    found = set()
    for frame, count in zip(stack, counts):
        if steps.is_ours(frame):
            continue
        more = count > usual + hooked and frame.f_code.co_filename == filename
        if more and _is_held(frame, stack):
            found.add(id(frame))
        hooked = 0
    return found


def _is_held(frame: Any, stack: list[Any]) -> bool:
    """Whether it is not only that another seems to be called by it; see `set_back`."""
    if codes.can_hide():
        return True
    import gc

    frozen = gc.get_freeze_count()
    gc.unfreeze()  # a snapshot's objects would not be found
    holders = gc.get_referrers(frame)
    if frozen:
        gc.freeze()
    return any(
        one is not stack and not (isinstance(one, type(frame)) and _is_callee(one, frame))
        for one in holders
    )


def _is_callee(one: Any, frame: Any) -> bool:
    return one.f_back is frame or steps.is_ours(one)


def leave(frame: FrameType, held: int, cells: Any = ()) -> None:
    """The new code has all that it needs: empty the frame and hide it."""
    code = frame.f_code
    if code.co_flags & FUNCTION:
        values = frame.f_locals
        own = {n: values[n] for n in code.co_varnames if n in values and n not in cells}
        codes.empty(frame, own, held)
        if isinstance(values, dict):  # older interpreters keep a copy
            values.clear()
    else:
        codes.empty(frame, {}, held)
    if codes.hide(frame.f_code):
        return
    if not steps.left:
        _trim_tracebacks()
    steps.left[id(frame)] = id(frame.f_code)


def _trim_tracebacks() -> None:
    """Where frames can't be hidden, they are left out of what is shown."""
    import traceback

    from ... import hooks

    hooks.trim = steps.trim
    plain = traceback.walk_tb

    def walk_tb(trace: Any) -> Any:
        return plain(steps.trim(None, trace))

    traceback.walk_tb = walk_tb  # type: ignore[assignment]


def rest(
    frame: FrameType, made: Callable[..., Any], args: Any = (), more: Any = None
) -> Callable[[], Any]:
    """What a frame calls when it is left."""
    if "function" not in _known:
        _known["function"] = depth.between(_calling_only)
    return _calling(made, args, more or {}, _known["function"], id(frame))


def _calling_only(note: Callable[[], None]) -> Callable[[], Any]:
    def made() -> None:
        note()

    return _calling(made, (), {}, 0, 0)


def _calling(
    made: Callable[..., Any], args: Any, more: dict[str, Any], levels: int, frame: int
) -> Callable[[], Any]:
    given = list(args)
    given.reverse()

    def run() -> Any:
        depth.count_off(levels)
        try:
            result = _call(made, given, more)
        finally:
            depth.count_off(-levels)
        steps.left.pop(frame, None)  # the next one may lie at the same place
        return result

    codes.hide(run.__code__)
    return run


def _call(made: Callable[..., Any], given: list[Any], more: dict[str, Any]) -> Any:
    """Nothing but the new code shall hold what it is given: some interpreters keep a tuple."""
    take = given.pop
    if more or len(given) > 3:
        return made(*_emptied(given), **more)
    if len(given) == 3:
        return made(take(), take(), take())
    if len(given) == 2:
        return made(take(), take())
    return made(take()) if given else made()


def _emptied(given: list[Any]) -> tuple[Any, ...]:
    every = tuple(reversed(given))
    given.clear()
    return every


codes.hide(_call.__code__)
