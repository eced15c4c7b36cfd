"""Which edits belong together: what stands in one function, what defines a name and what uses it.

Edits that can't stand alone would only be tried in vain, so groups of them are tried first.
"""

from __future__ import annotations

import ast
import re

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zeroin.axes.changes.code import Code, Edit, File

NEAR = 1  # lines between
_WORD = re.compile(rb"[A-Za-z_]\w{2,}")
_DEFINED = re.compile(
    rb"^[ \t]*(?:(?:async[ ]+)?def|class)[ ]+(\w+)|^[ \t]*(?:self\.)?(\w+)[ ]*(?::[^=\n]+)?=[^=]"
    rb"|\b(?:import|as)[ ]+(\w+)|^[ \t]*from[ ]+[\w.]+[ ]+import[ ]+(.+)",
    re.MULTILINE,
)


class Place(NamedTuple):
    """A line that the failure went through."""

    path: str
    line: int
    name: str  # of the function


def levels(code: Code, places: Sequence[Place], others: int) -> list[list[list[int]]]:
    """What is likely against the rest; files; what belongs together; blocks of lines.

    Behind the edits there are `others`, changes of other kinds.
    """
    numbers = range(len(code.edits))
    rest = [len(code.edits) + one for one in range(others)]
    found = []
    likely = _likely(code, places)
    if likely and len(likely) < len(code.edits):
        found.append([likely, [*(one for one in numbers if one not in likely), *rest]])
    if len(rest) > 1 and code.edits:
        found.append([list(numbers), rest])
    found.append(_by(code.edits[one].path for one in numbers))
    found.append(_together(code))
    found.append(_by((code.edits[one].path, code.edits[one].block) for one in numbers))
    return found


def _by(keys: Iterable[object]) -> list[list[int]]:
    found: dict[object, list[int]] = {}
    for number, key in enumerate(keys):
        found.setdefault(key, []).append(number)
    return list(found.values())


def _likely(code: Code, places: Sequence[Place]) -> list[int]:
    """Edits in functions that the failure went through; else in files that it did."""
    in_function, in_file = [], []
    files = {place.path for place in places}
    spans = {path: _functions(code.new.get(path)) for path in files}
    for number, edit in enumerate(code.edits):
        if edit.path not in files:
            continue
        in_file.append(number)
        for start, stop in spans[edit.path]:
            here = start <= edit.new_start + 1 <= stop
            if here and any(
                start <= place.line <= stop for place in places if place.path == edit.path
            ):
                in_function.append(number)
                break
    return in_function or in_file


def _functions(file: File | None) -> list[tuple[int, int]]:
    """First and last lines of functions."""
    try:
        tree = ast.parse(file.content if file is not None else b"")
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [
        (min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno or 0)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _together(code: Code) -> list[list[int]]:
    """Joined by a function, by being near, or by a name that came or went."""
    joined = list(range(len(code.edits)))

    def root(one: int) -> int:
        while joined[one] != one:
            joined[one] = joined[joined[one]]
            one = joined[one]
        return one

    spans: dict[str, list[tuple[int, int]]] = {}
    for number, edit in enumerate(code.edits):
        before = code.edits[number - 1] if number else None
        if before is not None and before.path == edit.path:
            here = spans.setdefault(edit.path, _functions(code.new.get(edit.path)))
            same = any(
                start <= before.new_start + 1 and edit.new_start + 1 <= stop for start, stop in here
            )
            if same or edit.start - before.stop <= NEAR:
                joined[root(number)] = root(number - 1)
    for one, other in _by_names(code):
        joined[root(one)] = root(other)
    return _by(root(number) for number in range(len(code.edits)))


def _by_names(code: Code) -> Iterable[tuple[int, int]]:
    """Pairs of which one defines what the other uses, where only one version has the name."""
    words: list[tuple[set[bytes], set[bytes]]] = []
    came: dict[bytes, list[int]] = {}
    went: dict[bytes, list[int]] = {}
    for number, edit in enumerate(code.edits):
        old, new = _sides(code, edit)
        gone, made = set(_WORD.findall(old)), set(_WORD.findall(new))
        words.append((gone - made, made - gone))
        before, after = _defined(old, edit), _defined(new, edit)
        for name in after - before:
            came.setdefault(name, []).append(number)
        for name in before - after:
            went.setdefault(name, []).append(number)
    for number, (gone, made) in enumerate(words):
        for names, where in ((made, came), (gone, went)):
            for name in names & where.keys():
                yield from ((number, other) for other in where[name] if other != number)


def _sides(code: Code, edit: Edit) -> tuple[bytes, bytes]:
    if edit.whole or edit.mode:
        old, new = code.old.get(edit.path), code.new.get(edit.path)
        return old.content if old else b"", new.content if new else b""
    from zeroin.axes.changes.code import lines

    rows = lines(code.old[edit.path].content)
    return b"".join(rows[edit.start : edit.stop]), b"".join(edit.new)


def _defined(text: bytes, edit: Edit) -> set[bytes]:
    """Names that a text gives a meaning; a whole file is a module as well."""
    found: set[bytes] = set()
    for names in _DEFINED.findall(text):
        for one in names:
            found |= set(_WORD.findall(one))
    if edit.whole and text and edit.path.endswith(".py"):
        found |= set(_WORD.findall(edit.path.rpartition("/")[2][:-3].encode()))
    return found


def function_at(content: bytes, line: int) -> str:
    """The innermost function around a line, with its class; "" at the top."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    names = [
        (node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return ".".join(name for _, name in sorted(names))
