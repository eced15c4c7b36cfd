"""Put constants where the compiler put names: what a hook looks at is in its code alone.

Hooks are written with names that can't be written in Python (`@z17`, `.z`). Looked up anywhere,
they would be seen by everybody, and be gone before the program's last destructors run.

A point's flag is a constant of the code that is exchanged in place: nothing is quicker to test.
"""

from __future__ import annotations

import builtins
import sys
from _operator import is_

from . import codes, jumps
from .jumps import EXTENDED, LOAD_CONST, NOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

PREFIX = "@z"
STEP = "@zi"
LOCAL = ".z"  # any flag, in a function; which one, the use of STEP that follows tells
LOAD_NAME, LOAD_GLOBAL, LOAD_FAST, LOAD_FAST_CHECK, PUSH_NULL = (
    (101, 116, 124, 127, 2) if sys.version_info < (3, 13) else (92, 91, 85, 87, 34)
)
_HAS_CACHES = sys.version_info >= (3, 11)
_NULL_LAST = sys.version_info >= (3, 13)
# Newer interpreters turn what is tested into a bool first, unless it is compared with None.
DOWN = None if sys.version_info >= (3, 13) else False
# Instructions that name a variable by its number; the last pack two such numbers into one byte.
PAIRS: frozenset[int] = frozenset()
if sys.version_info < (3, 11):
    BY_NUMBER = frozenset((124, 125, 126))
elif sys.version_info < (3, 12):
    BY_NUMBER = frozenset((124, 125, 126, 135, 136, 137, 138, 139, 148))
elif sys.version_info < (3, 13):
    BY_NUMBER = frozenset((124, 125, 126, 127, 135, 136, 137, 138, 139, 143, 176))
else:
    BY_NUMBER = frozenset((64, 65, 84, 85, 86, 87, 89, 94, 109, 110))
    PAIRS = frozenset((88, 111, 112))
_LOADS = (LOAD_FAST, LOAD_FAST_CHECK)
_NAMED = (LOAD_NAME, LOAD_GLOBAL)
MOST = 65535  # constants that two bytes can number
ROOM = 180  # constants of a function beyond which one byte may not number them all

constants: dict[str, Any] = {}  # what the hooks call
_places: list[list[int]] = []  # a point's number → where in memory its flags are
_is_up: list[bool] = []
_kept: list[CodeType] = []
_named: set[int] = set()  # points whose flags stand in `builtins`


def new_flags(count: int) -> list[int]:
    """Numbers of new points; their flags are up."""
    first = len(_places)
    _places.extend([] for _ in range(count))
    _is_up.extend([True] * count)
    return list(range(first, first + count))


def every() -> range:
    """The numbers of all points."""
    return range(len(_places))


def put(number: int, up: bool) -> None:
    """Put a point's flag up or down."""
    if _is_up[number] != up:
        _is_up[number] = up
        value = id(True if up else DOWN).to_bytes(codes.WORD, "little")
        for address in _places[number]:
            codes.write(address, value)
        jumps.put(number, up)
        if number in _named:
            setattr(builtins, f"{PREFIX}{number}", True if up else DOWN)


def local(name: str) -> str:
    """The name of a variable that stands for one of ours in a function: shorter to load."""
    return LOCAL + name[len(PREFIX) :]


def plant(code: CodeType, *, live: bool = True) -> CodeType:
    """Replace our names by what they stand for, here and in all code inside.

    Only live code is kept for good, so only its flags may be written to.
    """
    consts = [plant(c, live=live) if isinstance(c, type(code)) else c for c in code.co_consts]
    params = code.co_argcount + code.co_kwonlyargcount  # our lambdas have it there
    varnames = code.co_varnames[:params]
    varnames += tuple(name for name in code.co_varnames[params:] if not is_ours(name))
    names, data = code.co_names, code.co_code
    flags: dict[int, int] = {}
    loads: list[tuple[int, int]] = []
    if len(varnames) < code.co_nlocals or any(name.startswith(PREFIX) for name in names):
        planter = _Planter(code, consts)
        planter.work()
        # Whoever asks which names the code uses passes over this one.
        names = tuple(
            "None" if name.startswith(PREFIX) and name not in planter.stay else name
            for name in names
        )
        _named.update(int(name[2:]) for name in planter.stay if name[2:].isdigit())
        data, flags, loads = bytes(planter.data), planter.flags, planter.loads
    elif all(map(is_, consts, code.co_consts)):
        return code
    planted = code.replace(
        co_code=data,
        co_consts=tuple(consts),
        co_names=names,
        co_varnames=varnames,
        co_nlocals=len(varnames),
    )
    if live:
        _kept.append(planted)  # its flags are written to as long as the program runs
        start = id(planted.co_consts) + tuple.__basicsize__
        for number, index in flags.items():
            _places[number].append(start + index * codes.WORD)
        if loads:
            jumps.note(planted, data, loads)
            for number, _ in loads:
                if not _is_up[number]:
                    jumps.put(number, up=False)
    return planted


def is_ours(name: str) -> bool:
    """Whether a variable stands for one of our names."""
    return name.startswith(LOCAL)


def _numbers_without_ours(code: CodeType) -> list[int | None]:
    """The number of a variable → its number when ours are gone."""
    params = code.co_argcount + code.co_kwonlyargcount
    anew: list[int | None] = []
    count = 0
    for index, name in enumerate(code.co_varnames):
        gone = index >= params and is_ours(name)
        anew.append(None if gone else count)
        count += not gone
    if sys.version_info >= (3, 11):  # cells have the numbers that follow
        more = len(code.co_cellvars) + len(code.co_freevars)
        anew += range(count, count + more)
    return anew


class _Planter:
    def __init__(self, code: CodeType, consts: list[Any]) -> None:
        self.names = code.co_names
        self.locals = code.co_varnames
        self.anew = _numbers_without_ours(code)
        self.consts = consts
        self.where: dict[str, int] = {}
        self.flags: dict[int, int] = {}  # a point's number → which constant its flag is
        self.loads: list[tuple[int, int]] = []  # a point's number, and where its flag is loaded
        self.data = bytearray(code.co_code)
        self.open: tuple[int, int] | None = None  # a flag whose number is not known yet
        self.asks = False  # the next constant is that number
        self.stay: set[str] = set()  # names that could not be replaced

    def work(self) -> None:
        data, at, start, argument = self.data, 0, 0, 0
        while at < len(data):
            operation = data[at]
            argument = argument << 8 | data[at + 1]
            at += 2
            if operation == EXTENDED:
                continue
            if operation in BY_NUMBER:
                if operation in _LOADS and argument < len(self.locals):
                    self._load(start, at, self.locals[argument])
                if data[at - 2] in BY_NUMBER:  # it still is what it was
                    self._number_anew(at - 2, self._new(argument))
            elif operation in PAIRS:
                data[at - 1] = self._new(argument >> 4) << 4 | self._new(argument & 15)
            elif operation == LOAD_CONST and self.asks:
                self.asks = False
                self._tell(self.consts[argument])
            elif operation in _NAMED:
                wide = operation == LOAD_GLOBAL and _HAS_CACHES
                name = self.names[argument >> 1 if wide else argument]
                if name.startswith(PREFIX):
                    end = self._end(at) if wide else at
                    self._put(start, end, self._index(name), name, wide and bool(argument & 1))
                    if name[len(PREFIX) :].isdigit():
                        self.loads.append((int(name[len(PREFIX) :]), start))
                    self.asks = name == STEP
                    at = end
            start, argument = at, 0

    def _load(self, start: int, end: int, name: str) -> None:
        if name == LOCAL:
            self.open = start, end
            self.data[end - 2] = NOP  # for now
        elif is_ours(name):
            name = PREFIX + name[len(LOCAL) :]
            self._put(start, end, self._index(name), LOCAL, null=False)
            self.asks = name == STEP

    def _new(self, number: int) -> int:
        """The number of a variable in code that does without ours."""
        if number >= len(self.anew):  # on older interpreters, cells are numbered by themselves
            return number
        anew = self.anew[number]
        if anew is None:
            raise NoRoomError(LOCAL)  # melted into another instruction
        return anew

    def _number_anew(self, at: int, number: int) -> None:
        self.data[at + 1] = number & 255
        if number > 255 or self.data[at - 2] == EXTENDED:
            self.data[at - 1] = number >> 8

    def _tell(self, number: int) -> None:
        if self.open is not None:
            self._put(*self.open, self._flag(number), LOCAL, null=False)
            self.loads.append((number, self.open[0]))
            self.open = None
        elif number not in self.flags:
            raise NoRoomError(LOCAL)  # melted into another instruction

    def _end(self, at: int) -> int:
        while at < len(self.data) and self.data[at] == 0:  # inline caches
            at += 2
        return at

    def _put(self, start: int, end: int, index: int, name: str, null: bool) -> None:
        load = [LOAD_CONST, index & 255]
        if index > 255:
            load = [EXTENDED, index >> 8, *load]
        if null:
            load = [*load, PUSH_NULL, 0] if _NULL_LAST else [PUSH_NULL, 0, *load]
        room = end - start
        if len(load) > room or index > MOST:
            if name == LOCAL:
                raise NoRoomError(name)
            # Older interpreters leave no room behind a name: this one has to stay.
            setattr(builtins, name, self.consts[index])
            self.stay.add(name)
            return
        self.data[start:end] = bytes([*load, *([NOP, 0] * ((room - len(load)) // 2))])

    def _index(self, name: str) -> int:
        number = name[len(PREFIX) :]
        if number.isdigit():
            return self._flag(int(number))
        if name not in self.where:
            self.where[name] = len(self.consts)
            self.consts.append(constants[name])
        return self.where[name]

    def _flag(self, number: int) -> int:
        if number not in self.flags:
            self.flags[number] = len(self.consts)
            self.consts.append(True if _is_up[number] else DOWN)
        return self.flags[number]


class NoRoomError(ValueError):
    """A constant's number does not fit: this text can't be stepped."""
