"""What can't be said in Python about frames and code objects, said in memory.

Four small things, each of which finds out first whether this interpreter lays out its objects
as expected, by looking for values it knows, and is not available otherwise:

- `hide`: frames of a code object vanish from tracebacks and stacks. The interpreter passes over
  a frame that has not reached its first traceable instruction; that number is moved out of reach.
- `move_lines`: a code object that is running gets the line numbers of the file as it is now.
- `on_stack`: the live iterators of the `for` loops a frame is in, which no attribute shows.
- `empty`: a frame lets go of what it holds.

Memory is read and written through /proc/self/mem, so `ctypes` need not enter the program.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, FrameType
    from typing import Any

WORD = 8
HEADER = 16  # every object: its reference count, its type
BACK = 24  # where frames of older interpreters keep who called them
REACH = 256  # bytes of a code object that are fields, not bytecode

_offsets: dict[str, int | None] = {}
_hidden: dict[int, tuple[CodeType, bytes]] = {}  # what it was before


def hide(code: CodeType) -> bool:
    """Keep frames of this code out of tracebacks and stacks; False where that can't be done."""
    offset = _offset("traceable", _find_traceable)
    if offset is None:
        return False
    if id(code) not in _hidden:
        _hidden[id(code)] = code, read(id(code) + offset, 4)
    write(id(code) + offset, _end_of(code))
    return True


def show(code: CodeType) -> None:
    """Undo `hide`."""
    offset = _offset("traceable", _find_traceable)
    if offset is not None and id(code) in _hidden:
        write(id(code) + offset, _hidden.pop(id(code))[1])


def can_hide() -> bool:
    """Whether `hide` works here (CPython 3.11 and later)."""
    return _offset("traceable", _find_traceable) is not None


def set_back(frame: FrameType, back: FrameType | None) -> None:
    """On interpreters where frames can't be hidden: let one seem to be called by another.

    The one it is really called by goes on as it would: the interpreter finds it by other ways.
    """
    if sys.version_info >= (3, 11):
        return
    before = frame.f_back
    if back is not None:
        _count(back, 1)
    if before is not None:
        _count(before, -1)
    write(id(frame) + BACK, (0 if back is None else id(back)).to_bytes(WORD, "little"))


def cut_off(frame: FrameType, below: FrameType) -> None:
    """Let a frame that C code runs seem to be the outermost one; `below` is the one it is run by.

    Those who write down all stacks after a crash don't pass over hidden frames. Up to 3.12 the
    interpreter itself does not follow this link; after that, `below` must return at once.
    """
    if sys.version_info < (3, 11):
        set_back(frame, None)
        return
    offset = _offset("previous", _find_previous)
    if offset is None:
        return
    at = _inner(frame) + offset
    for _ in range(2):  # newer interpreters have one of their own in between
        if _pointers(at, 1)[0] == _inner(below):
            write(at, bytes(WORD))
            return
        at = _pointers(at, 1)[0] + offset


def get_ready() -> None:
    """Find out now what will be asked for."""
    _offset("first line", _find_first_line)
    _offset("line table", _find_line_table)
    _offset("stack", _find_stack)


def move_lines(code: CodeType, first_line: int, lines: bytes) -> bool:
    """Give a code object other line numbers."""
    first = _offset("first line", _find_first_line)
    table = _offset("line table", _find_line_table)
    if first is None or table is None:
        return False
    _count(lines, 1)
    write(id(code) + table, id(lines).to_bytes(WORD, "little"))
    write(id(code) + first, first_line.to_bytes(4, "little"))
    return True


def on_stack(frame: FrameType, index: int) -> Any:
    """What lies on a frame's stack; there are the iterators of loops first, the outermost lowest.

    The next that is asked for may be what the frame calls just now; nothing above that.
    """
    offset = _offset("stack", _find_stack)
    if offset is None:
        return None
    import _ctypes

    (address,) = _pointers(_stack_of(frame) + offset + index * WORD, 1)
    return _ctypes.PyObj_FromPtr(address) if address else None


def empty(frame: FrameType, variables: dict[str, Any], held: int) -> None:
    """Let go of what a frame holds: plain variables, and the iterators of its loops.

    The caller still holds them all, so nothing ends here.
    """
    offset = _offset("stack", _find_stack)
    if offset is None:
        return
    stack = _stack_of(frame) + offset
    for index in range(held):
        thing = on_stack(frame, index)
        stand_in = object()
        _count(stand_in, 1)
        write(stack + index * WORD, id(stand_in).to_bytes(WORD, "little"))
        _let_go(thing)
    first = stack - _size_of(frame.f_code) * WORD
    for index, name in enumerate(frame.f_code.co_varnames):
        if name in variables and _pointers(first + index * WORD, 1) == [id(variables[name])]:
            write(first + index * WORD, bytes(WORD))
            _let_go(variables[name])


def _let_go(thing: Any) -> None:
    """A reference that was overwritten, not dropped, must still be counted."""
    function_of("Py_DecRef", None, "O")(thing)


_functions: dict[str, Any] = {}


def function_of(name: str, result: str | None, *arguments: str) -> Any:
    """A function of the interpreter itself, with the types that it takes and returns."""
    if name not in _functions:
        import _ctypes

        loaded: Any = _ctypes
        types = {
            kind: type("_Simple", (loaded._SimpleCData,), {"_type_": kind})
            for kind in (result, *arguments)
            if kind is not None
        }
        space = {
            "_flags_": loaded.FUNCFLAG_CDECL | loaded.FUNCFLAG_PYTHONAPI,
            "_restype_": None if result is None else types[result],
            "_argtypes_": tuple(types[kind] for kind in arguments),
        }
        made = type("_Function", (loaded.CFuncPtr,), space)
        _functions[name] = made(loaded.dlsym(loaded.dlopen(None, 2), name))
    return _functions[name]


def _count(thing: object, more: int) -> None:
    """A reference that is written, not made, must still be counted."""
    count = int.from_bytes(read(id(thing), 4), "little")
    write(id(thing), (count + more).to_bytes(4, "little"))


def line_table(code: CodeType) -> bytes:
    """Which line each instruction is of."""
    return code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab


# --- memory ---------------------------------------------------------------------------------


def read(address: int, size: int) -> bytes:
    """Bytes of this process."""
    return os.pread(_memory(), size, address)


def write(address: int, data: bytes) -> None:
    """Change bytes of this process."""
    os.pwrite(_memory(), data, address)


_opened: list[int] = [0, -1]  # by which process, and the descriptor
HIGH = 1002  # above what programs use


def _memory() -> int:
    """The descriptor of our own memory; a forked process must open its own, at the same place."""
    pid = os.getpid()
    if _opened[0] != pid:
        import fcntl

        low = os.open("/proc/self/mem", os.O_RDWR | os.O_CLOEXEC)
        if _opened[1] < 0:
            try:
                _opened[1] = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, HIGH)
            except OSError:  # a low limit of open files
                _opened[1] = os.dup(low)
        else:
            os.dup2(low, _opened[1], inheritable=False)
        os.close(low)
        _opened[0] = pid
    return _opened[1]


def descriptor() -> int:
    """The descriptor that is kept open."""
    return _memory()


def hold(thing: object) -> None:
    """Count many more references to a thing: some will be dropped that were never counted."""
    count = int.from_bytes(read(id(thing), 4), "little")
    if count < 1 << 28:
        write(id(thing), (count + (1 << 26)).to_bytes(4, "little"))


def _pointers(address: int, count: int) -> list[int]:
    data = read(address, count * WORD)
    return [int.from_bytes(data[i : i + WORD], "little") for i in range(0, len(data), WORD)]


# --- finding out where things are --------------------------------------------------------------


def _offset(name: str, find: Any) -> int | None:
    if name not in _offsets:
        try:
            _offsets[name] = find()
        except (OSError, ImportError, AttributeError):
            _offsets[name] = None
    return _offsets[name]


def _places(data: bytes, value: int, size: int) -> set[int]:
    """Where in an object's fields a value stands."""
    wanted = value.to_bytes(size, "little")
    return {at for at in range(HEADER, len(data), size) if data[at : at + size] == wanted}


def _find_traceable() -> int | None:
    """A function whose arguments all live in cells makes that many before it can be traced."""
    if sys.version_info < (3, 11) or sys.implementation.name != "cpython":
        return None
    common: set[int] | None = None
    for count in (37, 53, 71):
        names = ",".join(f"v{i}" for i in range(count))
        code = _compiled(f"def f({names}): return lambda: ({names})")
        found = _places(read(id(code), REACH), count, 4)
        common = found if common is None else common & found
    if not common:
        return None
    offset = max(
        common
    )  # the other places are counts of arguments and variables, which stand before
    return offset if _hides(offset) else None


def _hides(offset: int) -> bool:
    """Try it: a hidden function's caller must look like the caller of what it calls."""
    space: dict[str, Any] = {"look": sys._getframe}
    exec("def inner(): return look(1)\ndef middle(): return inner()\n", space)  # noqa: S102
    exec("def outer(): return middle()", space)  # noqa: S102
    middle = space["middle"].__code__
    write(id(middle) + offset, _end_of(middle))
    return space["outer"]().f_code is space["outer"].__code__


def _end_of(code: CodeType) -> bytes:
    """The last instruction: no frame calls anything from there, and no tool goes beyond it."""
    return (len(code.co_code) // 2 - 1).to_bytes(4, "little")


def _find_first_line() -> int | None:
    return _common(
        _places(read(id(code), REACH), code.co_firstlineno, 4)
        for code in (
            _compiled("def f(): pass").replace(co_firstlineno=line)
            for line in (123456, 98765, 54321)
        )
    )


def _find_line_table() -> int | None:
    return _common(
        _places(read(id(code), REACH), id(line_table(code)), WORD)
        for code in (_compiled(f"def f():\n  a = {n}\n  return a") for n in (1, 2, 3))
    )


def _common(samples: Iterable[set[int]]) -> int | None:
    """The one place that all samples have: beyond an object, anything may stand by chance."""
    found = list(samples)
    common = set.intersection(*found)
    return common.pop() if len(common) == 1 else None


def _compiled(source: str) -> CodeType:
    space: dict[str, Any] = {}
    exec(source, space)  # noqa: S102
    code: CodeType = space["f"].__code__
    return code


def _inner(frame: FrameType) -> int:
    """Where newer interpreters keep what a frame really is."""
    return _pointers(id(frame) + 3 * WORD, 1)[0]


def _find_previous() -> int | None:
    """A frame that Python code has called links to its caller's."""

    def look(*_: object) -> set[int]:
        words = _pointers(_inner(sys._getframe()), 10)
        above = _inner(sys._getframe(1))
        return {at * WORD for at, word in enumerate(words) if word == above}

    def between(*_: object) -> set[int]:
        return look(1, 2)

    return _common([look(), between()])


def variables(frame: FrameType) -> dict[str, Any]:
    """A frame's variables. Older interpreters keep the dictionary they give, and all that is in it.

    Unless the program has asked for it itself, the frame is as before after this.
    """
    offset = _offset("variables", _find_variables)
    place = None if offset is None else _base_of(frame) + offset
    were_kept = place is not None and _pointers(place, 1)[0] != 0
    values = frame.f_locals
    found = dict(values)
    if place is not None and not were_kept:
        write(place, bytes(WORD))
        _let_go(values)
    return found


def _find_variables() -> int | None:
    if sys.version_info >= (3, 13):
        return None  # there is no such dictionary

    def look(*_: object) -> set[int]:
        base = _base_of(sys._getframe())  # kept in a variable, the frame would hold itself
        kept = id(sys._getframe().f_locals)
        words = _pointers(base, 12)
        return {at * WORD for at, word in enumerate(words) if word == kept}

    return _common([look(), look(1, 2)])


def _base_of(frame: FrameType) -> int:
    return _inner(frame) if sys.version_info >= (3, 11) else id(frame)


def _stack_of(frame: FrameType) -> int:
    """Where the frame's variables begin; its stack follows them."""
    return _base_of(frame) + _size_of(frame.f_code) * WORD


def _size_of(code: CodeType) -> int:
    """How many variables a frame has room for."""
    count = code.co_nlocals + len(code.co_cellvars) + len(code.co_freevars)
    if sys.version_info >= (3, 11):
        count -= len(set(code.co_cellvars) & set(code.co_varnames))
    return count


def _find_stack() -> int | None:
    """Look for two known iterators in frames of different shapes."""
    import _ctypes  # noqa: F401  # without it an address is of no use

    common: set[int] | None = None
    for more in ((), ("a",), ("a", "b", "c")):
        # The variables x and y hold the same two: how far they are from the stack varies.
        names = ", ".join(("x", "y", *more))
        source = f"def f({names}):\n  for i in x:\n    for j in y:\n      see()\n"
        source += f"      return lambda: (i, {names})"
        both = iter([1]), iter([2])
        found: set[int] = set()
        space: dict[str, Any] = {"see": lambda both=both, found=found: _note(both, found)}
        exec(source, space)  # noqa: S102
        space["f"](*both, *more)
        common = found if common is None else common & found
    return common.pop() if common and len(common) == 1 else None


def _note(both: tuple[Any, Any], found: set[int]) -> None:
    words = _pointers(_stack_of(sys._getframe(2)), 64)
    pair = [id(one) for one in both]
    found.update(at * WORD for at in range(63) if words[at : at + 2] == pair)
