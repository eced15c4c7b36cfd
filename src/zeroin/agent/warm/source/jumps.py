"""Pass over a hook whose flag is down by one instruction instead of two.

A hook's test is to load its flag, and to jump if that is falsy. While the flag is down, a jump to
the same place stands where the flag was loaded: in code that runs, which is written in place.
Whoever was between the two goes on by the flag itself.
"""

from __future__ import annotations

import sys

from . import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

if sys.version_info < (3, 13):
    _FORWARD, _PASS_OVER, _CACHES = 110, 114, 0
else:
    _FORWARD, _PASS_OVER, _CACHES = 79, 98, 2  # it is compared with None there
EXTENDED, NOP, LOAD_CONST = (144, 9, 100) if sys.version_info < (3, 13) else (71, 30, 83)
_IS_ABSOLUTE = sys.version_info < (3, 11)
_UNIT = 1 if sys.version_info < (3, 10) else 2  # bytes that jumps are counted in
_SIZE = 2  # bytes of an instruction
_FARTHEST = 255

_places: dict[int, list[tuple[int, bytes, bytes]]] = {}  # a point → where, what, and the jump
_of_code: dict[int, list[tuple[int, bytes, bytes]]] = {}  # the same for a code object's bytes
_by_size: dict[int, list[list[tuple[int, bytes, bytes]]]] = {}


def note(code: CodeType, data: bytes, loads: list[tuple[int, int]]) -> None:
    """Learn where code that was just made, of these bytes, loads which flags."""
    start = _start(code)
    there = codes.read(start, len(data))
    found = []
    for number, at in loads:
        jump, test = _jump(data, at), data[at : at + _SIZE]
        is_short = test[0] == LOAD_CONST  # else its number takes two instructions
        if jump is not None and is_short and there[at : at + _SIZE] == test:
            _places.setdefault(number, []).append((start + at, test, jump))
            found.append((at, test, jump))
    if found:
        _of_code[id(code)] = found
        _by_size.setdefault(len(data), []).append(found)


def put(number: int, up: bool) -> None:
    """Let a point's hook be passed over, or tested again."""
    for address, test, jump in _places.get(number, ()):
        was, now = (jump, test) if up else (test, jump)
        if codes.read(address, _SIZE) == was:  # else a tool has put an instruction there
            codes.write(address, now)


def without(code: CodeType) -> bytes:
    """The instructions of a code object, as they were made."""
    data = bytearray(code.co_code)
    for at, test, jump in _of_code.get(id(code), ()):
        if data[at : at + _SIZE] == jump:
            data[at : at + _SIZE] = test
    return bytes(data)


def copied(data: bytes) -> None:
    """Code is about to be made of these bytes, which may be a copy of ours.

    Nobody would put its tests back, though its flags are those of the original.
    """
    if sys.version_info < (3, 11):
        return  # they are the original's own bytes
    for places in _by_size.get(len(data), ()):
        if all(
            data[at : at + _SIZE] in (test, jump) and _jump(data, at) == jump
            for at, test, jump in places
        ):
            for at, test, _ in places:
                codes.write(id(data) + bytes.__basicsize__ - 1 + at, test)


def _start(code: CodeType) -> int:
    if sys.version_info >= (3, 11):
        return id(code) + type(code).__basicsize__
    return id(code.co_code) + bytes.__basicsize__ - 1


def _jump(data: bytes, at: int) -> bytes | None:
    """What leads from here to where the test leads; None if it is too far, or no such test."""
    test, argument = at + _SIZE, 0
    while data[test] in (NOP, EXTENDED):
        if data[test] == EXTENDED:
            argument = (argument | data[test + 1]) << 8
        test += _SIZE
    if data[test] != _PASS_OVER:
        return None
    argument |= data[test + 1]
    origin = 0 if _IS_ABSOLUTE else test + _SIZE + _CACHES
    distance = (origin + argument * _UNIT - at - _SIZE) // _UNIT
    return bytes((_FORWARD, distance)) if 0 <= distance <= _FARTHEST else None
