"""Code that is looked at: whoever reads a function's code shall find the plain one.

Compilers of Python code, picklers and disassemblers read `function.__code__`, and the interpreter
says so in an audit event, before the answer is given. The function then goes on with its plain
code, without steps; all of it counts as having run.
"""

from __future__ import annotations

from ... import owner
from ..source import nodes, points, texts
from . import plainly, sightings, steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# These of the standard library care for the instructions; others for names and lines alone.
READERS = ("dis", "marshal", "opcode", "copyreg", "pickle")
_busy = [False]
_given: set[int] = set()
_plain: dict[tuple[str, tuple[Any, ...]], Any] = {}  # file and unit → its code without hooks
_FUNCTION = type(nodes.dump)


def looked_at(thing: Any, attribute: Any) -> None:
    """An attribute of some object is about to be read that the interpreter tells of."""
    if attribute != "__code__" or type(thing) is not _FUNCTION or _busy[0] or steps.inside:
        return
    _busy[0] = True
    try:
        code = thing.__code__
        found = steps.owner_of(code)
        if found is not None:
            sightings.read_code(thing)
        if found is not None and id(code) not in _given and _cares(code):
            _go_plain(thing, *found)
    except Exception:  # then they see what there is
        pass
    finally:
        _busy[0] = False


def _cares(code: Any) -> bool:
    """Whether the reader wants the instructions, and no frame runs them: it would be another's."""
    if id(code) in plainly.in_use([code]):
        _given.add(id(code))  # it has been seen: from now on it is the function's code
        return False
    reader = sightings.reader()
    if reader is None:
        return False
    if owner.of(reader.f_code.co_filename) != "stdlib":
        return True
    return reader.f_globals.get("__name__", "") in READERS


def _go_plain(function: Any, file: texts.File, key: tuple[Any, ...]) -> None:
    text = texts.Text(file.current.source, file.filename)
    unit = text.by_key.get(key)
    if unit is None:
        return
    name = file.path, key
    if name not in _plain:
        plain = compile(file.current.source, file.filename, "exec", dont_inherit=True)
        line = points.first_line(unit.node)
        for code in texts.all_within(plain):
            if code.co_name == unit.node.name and code.co_firstlineno == line:
                _plain[name] = code
    function.__code__ = _plain[name]
    numbers = file.current.numbers
    for inner in text.units:
        if inner.key[: len(key)] == key:
            for point in inner.points:
                steps.mark(numbers[point.number])
