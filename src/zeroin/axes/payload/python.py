"""Python source: statements and branches, then arguments and elements, then expressions, names.

Statements are whole lines, with the comments in front of them. Inside a statement, whatever stands
between commas in brackets can go, and an expression can be replaced by one that it is made of. What
would be no Python is never tried.
"""

from __future__ import annotations

import ast
import textwrap
import tokenize
import warnings

from zeroin.axes.payload import python_across
from zeroin.axes.payload.numbers import simpler_numbers
from zeroin.axes.payload.source import Source, tokens_of
from zeroin.axes.payload.spans import Span, tree
from zeroin.axes.payload.tree import Format

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zeroin.axes.payload.node import Node

MOST_OTHERS = 6
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
    source = _Statements(text)
    spans = list(source.block(module.body, 0))
    if spans:
        spans[0].bare = ""
    lists = [*source.lists(), *source.bare_lists(module)]
    return tree(text, [*spans, *lists, *source.expressions(module)])


class _Statements(Source):
    """A text, and what can be left out of it."""

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
        for start, end, pieces in self.brackets():
            if pieces:
                yield Span(start, end, is_list=True, bare="")
                yield from (Span(a, b, goes=True) for a, b in pieces)

    def bare_lists(self, module: ast.Module) -> Iterator[Span]:
        """What stands between commas without brackets: imported names, tuples, what is deleted."""
        for node in ast.walk(module):
            pieces = [self.place(one) for one in _listed(node)]
            if len(pieces) < 2 or self._is_bracketed(pieces[0][0], pieces[-1][1]):
                continue
            yield Span(pieces[0][0], pieces[-1][1], is_list=True)
            yield from (Span(a, b, goes=True) for a, b in pieces)

    def _is_bracketed(self, start: int, end: int) -> bool:
        """Then the comma, or the bracket, behind the last one is told by it."""
        return (
            self.text[:start].rstrip()[-1:] == "(" and self.text[end:].lstrip(" \t\n,")[:1] == ")"
        )

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


def _listed(node: ast.AST) -> Sequence[ast.alias] | Sequence[ast.expr]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return node.names
    if isinstance(node, ast.Tuple):
        return node.elts
    return node.targets if isinstance(node, ast.Delete) else ()


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


# --- comments -------------------------------------------------------------------------------------


def _compact(text: str) -> str:
    """Without comments and empty lines, each level one space deep."""
    out, depth, line, at = [], 0, "", (1, 0)
    for token in tokens_of(text):
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


def _count_statements(text: str) -> int:
    """Count all of them, also those inside of others; none in what can't be compiled."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return sum(isinstance(one, ast.stmt) for one in ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0


PYTHON = Format(
    "Python",
    "statement",
    is_python,
    _compact,
    tally=_count_statements,
    fresh=True,
    last=python_across.rounds,
)
