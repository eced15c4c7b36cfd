"""Python source: statements and branches, then arguments and elements, then expressions, names.

Statements are whole lines, with the comments in front of them. Inside a statement, whatever stands
between commas in brackets can go, and an expression can be replaced by one that it is made of. What
would be no Python is never tried.
"""

from __future__ import annotations

import ast
import builtins
import io
import itertools
import keyword
import string
import textwrap
import tokenize
import warnings
from typing import TYPE_CHECKING

from zeroin.axes.payload.kinds import flags
from zeroin.axes.payload.numbers import simpler_numbers
from zeroin.axes.payload.spans import Span, tree
from zeroin.axes.payload.tree import Format

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zeroin.axes.payload.kinds import Ranges, Round
    from zeroin.axes.payload.node import Node
    from zeroin.axes.payload.tree import Tree

MOST_OTHERS = 6
OPEN, CLOSE = "([{", ")]}"
SKIPPED = (tokenize.COMMENT, tokenize.NL)


def is_python(text: str) -> bool:
    """Whether it can be compiled."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "payload", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def read_python(text: str) -> Node:
    """The module's statements."""
    if not is_python(text):
        return tree(text, ())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = ast.parse(text)
    source = _Source(text)
    spans = list(source.block(module.body, 0))
    if spans:
        spans[0].bare = ""
    return tree(text, [*spans, *source.lists(), *source.expressions(module)])


class _Source:
    """A text, and the places of its syntax tree as places in the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = list(io.StringIO(text, newline=""))
        self.starts = list(itertools.accumulate(map(len, self.lines), initial=0))

    def offset(self, line: int, column: int, *, is_bytes: bool = True) -> int:
        """Of a place that is counted in lines from 1, and in bytes of UTF-8 or characters."""
        own = self.lines[line - 1] if line <= len(self.lines) else ""
        if is_bytes and not own.isascii():
            column = len(own.encode()[:column].decode(errors="ignore"))
        return self.starts[min(line, len(self.starts)) - 1] + column

    def place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where it begins and ends."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self.offset(node.lineno, node.col_offset), self.offset(end_line, end_column)

    # --- statements ---------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt], start: int) -> Iterator[Span]:
        """Statements on lines of their own: the block, then each of them with all that is in it."""
        ends = [self._line_end(statement) for statement in body]
        firsts = [self._first(statement) for statement in body]
        if not body or None in ends or not all(map(self._begins_line, firsts)):
            return
        indent = self.text[self._line_start(firsts[0]) : firsts[0]]
        yield Span(start, ends[-1] or 0, bare=f"{indent}pass\n")
        at = start
        for statement, end in zip(body, ends, strict=True):
            stop = end or 0
            others = self._bodies(statement, at) + self._value(statement, at, stop)
            yield Span(at, stop, goes=True, others=others)
            yield from self._decorators(statement)
            yield from self._sections(statement)
            at = stop

    def _first(self, statement: ast.stmt) -> int:
        """Where it begins, with its decorators."""
        decorators = getattr(statement, "decorator_list", ())
        if decorators:
            return self.text.rindex("@", 0, self.place(decorators[0])[0])
        return self.place(statement)[0]

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _begins_line(self, at: int) -> bool:
        return not self.text[self._line_start(at) : at].strip()

    def _line_end(self, statement: ast.stmt) -> int | None:
        """Behind its last line; None if another statement follows on it."""
        last = statement.end_lineno or statement.lineno
        rest = self.text[self.place(statement)[1] : self.starts[last]].strip()
        return self.starts[last] if not rest or rest.startswith("#") else None

    def _decorators(self, statement: ast.stmt) -> Iterator[Span]:
        for one in getattr(statement, "decorator_list", ()):
            at = self.text.rindex("@", 0, self.place(one)[0])
            last = one.end_lineno or one.lineno
            yield Span(self._line_start(at), self.starts[last], goes=True)

    def _sections(self, statement: ast.stmt) -> Iterator[Span]:
        """The blocks of a statement: `else` and its like go as a whole, with their first line."""
        at = 0
        for number, body in enumerate(_bodies_of(statement)):
            start = self._line_start(self._first(body[0]))
            spans = list(self.block(body, start))
            if not spans:
                return
            if number:
                yield Span(at, spans[0].end, goes=True)
            yield from spans
            at = spans[0].end

    def _bodies(self, statement: ast.stmt, start: int) -> tuple[str, ...]:
        """Instead of a statement that has blocks: one of them."""
        first = self._first(statement)
        indent = self.text[self._line_start(first) : first]
        lead = self.text[start : self._line_start(first)]
        found = []
        for body in _bodies_of(statement):
            end = self._line_end(body[-1])
            begin = self._line_start(self._first(body[0]))
            if end is not None and begin > first:
                found.append(lead + _indented(self.text[begin:end], indent))
        return tuple(found)

    def _value(self, statement: ast.stmt, start: int, stop: int) -> tuple[str, ...]:
        """Instead of an assignment: only what is assigned."""
        if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            return ()
        if statement.value is None:
            return ()
        own, value = self.place(statement), self.place(statement.value)
        return (f"{self.text[start : own[0]]}{self.text[slice(*value)]}{self.text[own[1] : stop]}",)

    # --- inside of them -----------------------------------------------------------------------

    def lists(self) -> Iterator[Span]:
        """What stands in brackets, and between the commas there."""
        opened: list[list[int]] = []  # behind the bracket, then behind each comma
        for token in tokenize.generate_tokens(io.StringIO(self.text, newline="").readline):
            if token.type != tokenize.OP:
                continue
            start = self.offset(*token.start, is_bytes=False)
            end = self.offset(*token.end, is_bytes=False)
            if token.string in OPEN:
                opened.append([end])
            elif token.string == "," and opened:
                opened[-1].append(end)
            elif token.string in CLOSE and opened:
                yield from self._list(opened.pop(), start)

    def _list(self, behind: list[int], end: int) -> Iterator[Span]:
        stops = [*(at - 1 for at in behind[1:]), end]
        pieces = [self._trimmed(a, b) for a, b in zip(behind, stops, strict=True)]
        pieces = [(a, b) for a, b in pieces if a < b]
        if pieces:
            yield Span(behind[0], end, is_list=True, bare="")
            yield from (Span(a, b, goes=True) for a, b in pieces)

    def _trimmed(self, start: int, end: int) -> tuple[int, int]:
        own = self.text[start:end]
        return start + len(own) - len(own.lstrip()), start + len(own.rstrip())

    def expressions(self, module: ast.Module) -> Iterator[Span]:
        """Each can be what it is made of, or less."""
        for node in ast.walk(module):
            if isinstance(node, ast.expr) and not isinstance(node, (ast.Name, ast.Starred)):
                start, end = self.place(node)
                others = tuple(self._others(node, self.text[start:end]))
                if others:
                    yield Span(start, end, others=others)

    def _others(self, node: ast.expr, text: str) -> list[str]:
        if isinstance(node, ast.Constant):
            return _constants(node.value, text)
        inner = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.expr)]
        inner += [one.value for one in getattr(node, "keywords", ())]
        found = [self.text[slice(*self.place(one))] for one in inner]
        found = sorted({one for one in found if len(one) < len(text)}, key=len)
        return [*(["0"] if len(text) > 1 else []), *found[:MOST_OTHERS]]


def _constants(value: object, text: str) -> list[str]:
    if isinstance(value, (str, bytes)):
        mark = "b" if isinstance(value, bytes) else ""
        kept = value if isinstance(value, str) else value.decode("latin-1")
        ideas = [f"{mark}''", *(mark + repr(one) for one in (kept[:1], kept[: len(kept) // 2]))]
        return [one for one in dict.fromkeys(ideas) if len(one) < len(text)]
    return simpler_numbers(text)


def _bodies_of(statement: ast.stmt) -> list[Sequence[ast.stmt]]:
    """The blocks of a statement, in the order of the text."""
    found = [getattr(statement, "body", ())]
    found += [one.body for one in getattr(statement, "handlers", ())]
    found += [one.body for one in getattr(statement, "cases", ())]
    found += [getattr(statement, name, ()) for name in ("orelse", "finalbody")]
    return [body for body in found if isinstance(body, list) and body]


def _indented(text: str, indent: str) -> str:
    return textwrap.indent(textwrap.dedent(text), indent)


# --- names, comments ----------------------------------------------------------------------------


class Names:
    """Names of one's own that could be shorter, wherever they stand."""

    def __init__(self, tree: Tree) -> None:
        self._text = tree.root.text
        self._names = _long_names(self._text)
        self._tree = tree
        self.count = len(self._names)

    def keep(self, parts: Ranges) -> Tree:
        """With shorter ones in the place of the others."""
        used = {token.string for token in _tokens(self._text) if token.type == tokenize.NAME}
        free = (name for name in _short_names() if name not in used)
        kept = flags(parts, self.count)
        new = {name: next(free) for name, stays in zip(self._names, kept, strict=True) if not stays}
        return self._tree.of(self._tree.reread(_renamed(self._text, new)))


_ATOMS = (ast.Constant, ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict)


class Values:
    """Names that are bound once and used once: what they are bound to could stand there."""

    def __init__(self, tree: Tree) -> None:
        self._names = list(_used_once(tree.root.text))
        self._tree = tree
        self.count = len(self._names)

    def keep(self, parts: Ranges) -> Tree:
        """With the values in the place of the other names."""
        text = self._tree.root.text
        for name, stays in zip(self._names, flags(parts, self.count), strict=True):
            found = _used_once(text).get(name)
            if not stays and found is not None:
                text = _with_value(text, *found)
        return self._tree.of(self._tree.reread(text))


def _used_once(text: str) -> dict[str, tuple[ast.Assign, ast.Name]]:
    """Each with what binds it, and where it is used."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    names: dict[str, list[ast.Name]] = {}
    bound: dict[str, ast.Assign] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Name):
            names.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name):
                bound[target.id] = node
    found = {}
    for name, one in bound.items():
        used = [node for node in names[name] if isinstance(node.ctx, ast.Load)]
        if len(used) == 1 and len(names[name]) == 2:
            found[name] = one, used[0]
    return found


def _with_value(text: str, bound: ast.Assign, used: ast.Name) -> str:
    """Without the one, and with its value in the place of the other."""
    source = _Source(text)
    value = text[slice(*source.place(bound.value))]
    place = source.place(used)
    is_apart = text[: place[0]].rstrip()[-1:] in "(," and text[place[1] :].lstrip()[:1] in "),"
    if isinstance(bound.value, ast.Tuple) or not (is_apart or isinstance(bound.value, _ATOMS)):
        value = f"({value})"
    changes = [(*source.place(bound), "pass"), (*place, value)]
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _across(tree: Tree) -> Iterator[Round[Tree]]:
    yield Values(tree)
    yield Names(tree)


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    try:
        return list(tokenize.generate_tokens(io.StringIO(text, newline="").readline))
    except (tokenize.TokenError, SyntaxError):
        return []


def _long_names(text: str) -> list[str]:
    """Those that are bound here, so that nobody else would look for them by name."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found: dict[str, None] = {}
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        elif isinstance(node, ast.arg):
            found[node.arg] = None
    return [
        name
        for name in found
        if len(name) > 1 and not name.startswith("__") and not hasattr(builtins, name)
    ]


def _short_names() -> Iterator[str]:
    for length in itertools.count(1):
        for letters in itertools.product(string.ascii_lowercase, repeat=length):
            if not keyword.iskeyword(name := "".join(letters)):
                yield name


def _renamed(text: str, names: dict[str, str]) -> str:
    source, out, at = _Source(text), [], 0
    for token in _tokens(text):
        if token.type == tokenize.NAME and token.string in names:
            start = source.offset(*token.start, is_bytes=False)
            out += [text[at:start], names[token.string]]
            at = start + len(token.string)
    return "".join(out) + text[at:]


def _compact(text: str) -> str:
    """Without comments and empty lines, each level one space deep."""
    out, depth, line, at = [], 0, "", (1, 0)
    for token in _tokens(text):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.NEWLINE:
            out.append(f"{' ' * depth}{line}\n")
            line = ""
        elif token.type not in (*SKIPPED, tokenize.ENDMARKER):
            gap = token.start != at and line and token.start[0] == at[0]
            line += (" " if gap else "") + token.string
        at = token.end
    short = "".join(out)
    return short if len(short) < len(text) and _same(short, text) else text


def _same(one: str, other: str) -> bool:
    try:
        return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))
    except (SyntaxError, ValueError, RecursionError):
        return False


PYTHON = Format("Python", "statement", is_python, _compact, fresh=True, last=_across)
