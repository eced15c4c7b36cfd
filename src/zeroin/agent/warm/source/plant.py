"""Put constants where the compiler put names: what a hook looks at is in its code alone.

Hooks are written with names that can't be written in Python (`@z17`, `.z`). Looked up anywhere,
they would be seen by everybody, and be gone before the program's last destructors run.

A point's flag is a constant of the code that is exchanged in place: nothing is quicker to test.
"""

from __future__ import annotations

import builtins
import sys

from . import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

PREFIX = "@z"
STEP = "@zi"
LOCAL = ".z"  # any flag, in a function; which one, the use of STEP that follows tells
LOAD_NAME, LOAD_GLOBAL, LOAD_FAST, LOAD_FAST_CHECK, LOAD_CONST, EXTENDED, PUSH_NULL, NOP = (
    (101, 116, 124, 127, 100, 144, 2, 9)
    if sys.version_info < (3, 13)
    else (92, 91, 85, 87, 83, 71, 34, 30)
)
_HAS_CACHES = sys.version_info >= (3, 11)
_NULL_LAST = sys.version_info >= (3, 13)
# Newer interpreters turn what is tested into a bool first, unless it is compared with None.
DOWN = None if sys.version_info >= (3, 13) else False
# Instructions that name a variable by its number; the last pack two such numbers into one byte.
BY_NUMBER: tuple[int, ...]
PAIRS: tuple[int, ...] = ()
if sys.version_info < (3, 11):
    BY_NUMBER = (124, 125, 126)
elif sys.version_info < (3, 12):
    BY_NUMBER = (124, 125, 126, 135, 136, 137, 138, 139, 148)
elif sys.version_info < (3, 13):
    BY_NUMBER = (124, 125, 126, 127, 135, 136, 137, 138, 139, 143, 176)
else:
    BY_NUMBER, PAIRS = (64, 65, 84, 85, 86, 87, 89, 94, 109, 110), (88, 111, 112)
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
    planter = _Planter(code, consts)
    planter.work()
    # Whoever asks which names the code uses passes over this one.
    names = tuple(
        "None" if name.startswith(PREFIX) and name not in planter.stay else name
        for name in code.co_names
    )
    _named.update(int(name[2:]) for name in planter.stay if name[2:].isdigit())
    planted = code.replace(
        co_code=bytes(planter.data),
        co_consts=tuple(consts),
        co_names=names,
        co_varnames=tuple(planter.left),
        co_nlocals=len(planter.left),
    )
    if live:
        _kept.append(planted)  # its flags are written to as long as the program runs
        start = id(planted.co_consts) + tuple.__basicsize__
        for number, index in planter.flags.items():
            _places[number].append(start + index * codes.WORD)
    return planted


def is_ours(name: str) -> bool:
    """Whether a variable stands for one of our names."""
    return name.startswith(LOCAL)


class _Planter:
    def __init__(self, code: CodeType, consts: list[Any]) -> None:
        self.names = code.co_names
        self.locals = code.co_varnames
        params = code.co_argcount + code.co_kwonlyargcount
        # Our lambdas have it as an argument.
        self.left = [n for i, n in enumerate(self.locals) if i < params or not is_ours(n)]
        self.consts = consts
        self.where: dict[str, int] = {}
        self.flags: dict[int, int] = {}  # a point's number → which constant its flag is
        self.data = bytearray(code.co_code)
        self.open: tuple[int, int] | None = None  # a flag whose number is not known yet
        self.asks = False  # the next constant is that number
        self.stay: set[str] = set()  # names that could not be replaced

    def work(self) -> None:
        at = start = argument = 0
        while at < len(self.data):
            operation = self.data[at]
            argument = argument << 8 | self.data[at + 1]
            at += 2
            if operation == EXTENDED:
                continue
            if operation in (LOAD_FAST, LOAD_FAST_CHECK) and argument < len(self.locals):
                self._load(start, at, self.locals[argument])
            elif operation == LOAD_CONST and self.asks:
                self.asks = False
                self._tell(self.consts[argument])
            elif operation in (LOAD_NAME, LOAD_GLOBAL):
                wide = operation == LOAD_GLOBAL and _HAS_CACHES
                name = self.names[argument >> 1 if wide else argument]
                if name.startswith(PREFIX):
                    end = self._end(at) if wide else at
                    self._put(start, end, self._index(name), name, wide and bool(argument & 1))
                    self.asks = name == STEP
                    at = end
            start, argument = at, 0
        if len(self.left) < len(self.locals):
            self._number_anew()

    def _load(self, start: int, end: int, name: str) -> None:
        if name == LOCAL:
            self.open = start, end
        elif is_ours(name):
            name = PREFIX + name[len(LOCAL) :]
            self._put(start, end, self._index(name), LOCAL, null=False)
            self.asks = name == STEP

    def _number_anew(self) -> None:
        """No instruction names our variables any more: the code does without them."""
        at = argument = 0
        for at in range(0, len(self.data), 2):
            operation = self.data[at]
            argument = argument << 8 | self.data[at + 1]
            if operation in BY_NUMBER:
                self.data[at + 1] = self._new_number(argument) & 255
                if argument > 255:
                    self.data[at - 1] = self._new_number(argument) >> 8
            elif operation in PAIRS:
                pair = self._new_number(argument >> 4), self._new_number(argument & 15)
                self.data[at + 1] = pair[0] << 4 | pair[1]
            if operation != EXTENDED:
                argument = 0

    def _new_number(self, number: int) -> int:
        if number >= MOST or (number < len(self.locals) and is_ours(self.locals[number])):
            raise NoRoomError(LOCAL)
        return number - sum(map(is_ours, self.locals[:number]))

    def _tell(self, number: int) -> None:
        if self.open is not None:
            self._put(*self.open, self._flag(number), LOCAL, null=False)
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
