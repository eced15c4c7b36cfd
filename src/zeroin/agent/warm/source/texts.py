"""The user's source files as they run: each text of them whose code is in use.

After an edit, a function that goes on unchanged keeps its old code, and one that has changed
gets new code: several texts of one file are then alive at once. All but the last are kept only
so that their line numbers can follow the file.
"""

from __future__ import annotations

import _ast

from . import jumps, nodes, plant, points, scopes, weave

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any, Callable

    Make = Callable[["Text", list[int], bool], CodeType]


KEPT = 4  # texts that were looked at


class Text:
    """A source text, parsed."""

    def __init__(self, source: bytes, filename: str) -> None:
        self.source = source
        self.filename = filename
        self.tree = nodes.parse(source, filename)
        self.scopes = scopes.Scopes(source, filename)
        self.lines = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self.units = points.survey(self.tree, self.lines)
        self.scopes.bind(unit.node for unit in self.units if not unit.is_module)
        for point in self.points():
            at = point.statement
            point.begins_line = not self.lines[at.lineno - 1][: at.col_offset].strip()
        self.by_key = {unit.key: unit for unit in self.units}
        self.of = {id(unit.node): unit for unit in self.units}

    def points(self) -> Iterator[points.Point]:
        """All points, in the order of their numbers."""
        every = [point for unit in self.units for point in unit.points]
        return iter(sorted(every, key=lambda point: point.number))


_known: dict[tuple[bytes, str], Text] = {}


def known(source: bytes, filename: str) -> Text:
    """A text to look at, and not to change: the same one for the same source."""
    key = source, filename
    if key not in _known:
        while len(_known) >= KEPT:
            del _known[next(iter(_known))]
        _known[key] = Text(source, filename)
    return _known[key]


class Layer:
    """Code in use that was made from one text."""

    def __init__(
        self,
        text: Text,
        numbers: list[int],
        code: CodeType,
        make: Make,
        *,
        functions_only: bool = False,
    ) -> None:
        self.source = text.source
        self.numbers = numbers  # a point's number in its text → its number in the program
        self.code = code
        self.make = make  # how the code is made from the text; again, when lines have moved
        made = {(one.co_name, one.co_firstlineno): one for one in all_within(code)}
        self.codes: dict[tuple[Any, ...], CodeType] = {}  # a unit's key → its code
        for unit in text.units:
            if unit.is_module:
                found = code if code.co_name == "<module>" and not functions_only else None
            else:
                found = made.get((unit.node.name, points.first_line(unit.node)))
            if found is not None:
                self.codes[unit.key] = found

    def follow(self, text: Text) -> list[tuple[CodeType, CodeType]] | None:
        """Pair our code with the same code at other lines; None if it is not the same."""
        moved = list(pairs(self.code, self.make(text, self.numbers, False)))
        same = all(jumps.without(old) == new.co_code for old, new in moved)
        return moved if same else None


class File:
    """One source file of the user's that was loaded."""

    def __init__(self, path: str, filename: str, first: Layer, loaded: int) -> None:
        self.path = path
        self.filename = filename
        self.loaded = loaded  # when: before any of it has run
        self.current = first  # the text as it was last read
        self.layers = [first]  # all whose code may still run
        # A unit's key in the current text → the code that runs it: the whole, then tails of it.
        self.running = {key: [code] for key, code in first.codes.items()}
        self.stale: list[tuple[CodeType, Layer, tuple[Any, ...]]] = []
        self.ready: Text | None = None  # the current one, read ahead of the next edit

    def text(self) -> Text:
        """The current text, to be changed by whoever asks."""
        text, self.ready = self.ready, None
        return text or Text(self.current.source, self.filename)


def module_code(text: Text, numbers: list[int], live: bool = True) -> CodeType:
    """Compile a whole text with hooks; the text can't be used for anything else after."""
    weave.put_hooks(text, lambda point: numbers[point.number])
    names = [weave.flag(numbers[point.number]) for point in text.units[0].points]
    _make_global(text.tree, [*names, plant.STEP, *weave.names])
    code: CodeType = compile(text.tree, text.filename, "exec", dont_inherit=True)
    return plant.plant(code, live=live)


def part_code(
    text: Text, numbers: list[int], keys: set[tuple[Any, ...]], live: bool = True
) -> CodeType:
    """Compile only the statements that hold these functions; the text can't be used after."""
    tops = {id(unit.top) for unit in text.units if unit.key in keys}
    inside = [unit for unit in text.units if id(unit.top) in tops and not unit.is_module]
    weave.put_hooks(text, lambda point: numbers[point.number], inside)
    body = [one for one in text.tree.body if id(one) in tops or _is_future(one)]
    tree = _ast.Module(body, [])
    code: CodeType = compile(tree, text.filename, "exec", dont_inherit=True)
    return plant.plant(code, live=live)


def _is_future(statement: Any) -> bool:
    return isinstance(statement, _ast.ImportFrom) and statement.module == "__future__"


def _make_global(tree: Any, names: list[str]) -> None:
    """A module's own look-ups have no room for a constant's number; those of globals have."""
    place = 0
    for index, statement in enumerate(tree.body):
        if _is_future(statement):
            place = index + 1
    if tree.body and points.is_docstring(tree.body[0]):
        place = max(place, 1)
    if tree.body:
        tree.body.insert(place, nodes.at(_ast.Global(names), tree.body[0]))


def pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Two code objects of the same make, and all within them."""
    yield old, new
    for one, other in zip(within(old), within(new)):
        yield from pairs(one, other)


def within(code: CodeType) -> list[Any]:
    """The code objects directly inside one."""
    return [const for const in code.co_consts if isinstance(const, type(code))]


def all_within(code: CodeType) -> Iterator[Any]:
    """The code object and all inside it."""
    yield code
    for inner in within(code):
        yield from all_within(inner)
