"""How deep the program thinks it is: frames of ours must not count against its limit."""

from __future__ import annotations

import sys

from ..source import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

NEAR = 100
REACH = 512  # bytes of a thread's state that are looked at
_UP = sys.version_info < (3, 11)  # older interpreters count up, newer ones what remains

_found: dict[str, int | None] = {}


def too_deep() -> int:
    """How far above the first level a module's code would stand that the caller runs.

    Only where all frames below are known: the interpreter has called the outermost of them.
    """
    here = level()
    frames = 0
    frame: Any = sys._getframe(1)
    while frame is not None:
        frames, frame = frames + 1, frame.f_back
    space: dict[str, Any] = {"level": level, "seen": []}
    sys.call_tracing(exec, (compile("seen.append(level())", "<zeroin>", "exec"), space))
    there = space["seen"][0]
    if here is None or there is None:
        return 0
    looking = here - 1 - frames  # what it takes to look
    return there - looking - 1  # type: ignore[no-any-return]


def between(make: Callable[[Callable[[], None]], Callable[[], Any]]) -> int:
    """How much deeper code stands that calls what it is given, when it is called as made here."""
    seen: list[int | None] = []

    def note() -> None:
        seen.append(level())

    run = make(note)
    run()
    note()
    there, here = seen
    return 0 if there is None or here is None else there - here


def is_near_the_limit() -> bool:
    """Whether there is no room for what runs before and after a fork."""
    here = level()
    return here is not None and sys.getrecursionlimit() - here < NEAR


def level() -> int | None:
    """How deep the caller's callee stands."""
    at = _offset()
    if at is None:
        return None
    value = int.from_bytes(codes.read(_state() + at, 4), "little", signed=True)
    return value if _UP else sys.getrecursionlimit() - value


def count_off(levels: int) -> None:
    """Don't count so many of the levels there are now."""
    at = _offset()
    if at is None or not levels:
        return
    address = _state() + at
    value = int.from_bytes(codes.read(address, 4), "little", signed=True)
    value += -levels if _UP else levels
    codes.write(address, value.to_bytes(4, "little", signed=True))


def _offset() -> int | None:
    if "offset" not in _found:
        try:
            _found["offset"] = _find()
        except (OSError, ImportError, AttributeError, ValueError):
            _found["offset"] = None
    return _found["offset"]


def _find() -> int | None:
    """Look for the number that changes by one with each call."""

    def deeper(levels: int) -> bytes:
        return deeper(levels - 1) if levels else codes.read(_state(), REACH)

    first, second, third = deeper(0), deeper(3), deeper(7)
    steps = (3, 7) if _UP else (-3, -7)
    for at in range(16, REACH, 4):
        a, b, c = (
            int.from_bytes(d[at : at + 4], "little", signed=True) for d in (first, second, third)
        )
        if (b - a, c - a) == steps and 0 < (a if _UP else sys.getrecursionlimit() - a) < 500:
            return at
    return None


def _state() -> int:
    """Where the interpreter keeps what it knows of this thread."""
    state: int | None = codes.function_of("PyThreadState_Get", "P")()
    if state is None:
        raise ValueError
    return state
