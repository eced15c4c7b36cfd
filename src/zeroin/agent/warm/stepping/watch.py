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
_made: dict[str, _Plain] = {}
_FUNCTION = type(nodes.dump)


def looked_at(thing: Any, attribute: Any) -> None:
    """An attribute of some object is about to be read that the interpreter tells of."""
    if attribute != "__code__" or type(thing) is not _FUNCTION or _busy[0] or steps.inside:
        return
    _busy[0] = True
    try:
        code = thing.__code__
        if code.co_filename not in steps.filenames:
            return
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
    made = _made.get(file.path)
    if made is None or made.source is not file.current.source:
        made = _made[file.path] = _Plain(file)
    unit = made.text.by_key.get(key)
    if unit is None:
        return
    function.__code__ = made.codes[unit.node.name, points.first_line(unit.node)]
    numbers = file.current.numbers
    for inner in made.text.units:
        if inner.key[: len(key)] == key:
            for point in inner.points:
                steps.mark(numbers[point.number])


class _Plain:
    """A file without hooks: to make that takes as long as to load it."""

    def __init__(self, file: texts.File) -> None:
        self.source = file.current.source
        self.text = texts.Text(self.source, file.filename)
        code = compile(self.source, file.filename, "exec", dont_inherit=True)
        self.codes = {(one.co_name, one.co_firstlineno): one for one in texts.all_within(code)}
