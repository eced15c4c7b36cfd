"""Where the statements of one text are in another: lines follow the file as it is now."""

from __future__ import annotations

import _ast as ast

from . import nodes, points

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .edits import Comparison


AWAY = 1_000_000  # lines


class Places:
    """Where the lines of the old text are in the new one, if each is at one place only."""

    def __init__(self, comparison: Comparison) -> None:
        old, new = comparison.old.tree.body, comparison.new.tree.body
        lines = [points.first_line(one) for one in old]
        moved = [points.first_line(one) for one in new]
        start = 0
        while start < comparison.start and lines[start] == moved[start]:
            start += 1
        self.shift = moved[-1] - lines[-1] if comparison.end else 0
        end = 0
        while end < comparison.end and moved[-1 - end] - lines[-1 - end] == self.shift:
            end += 1
        # Only what lies between these is in the tables.
        self.rest = lines[-end] if end else AWAY
        self.first = lines[start] if start < len(lines) - end else self.rest
        self.is_clear = True
        self._starts: dict[int, int] = {}
        self._ends: dict[tuple[int, int], tuple[int, int]] = {}
        for one, other in comparison.pairs:
            if self.first <= _line(one) < self.rest:
                self._add(one, other)
        self.is_still = not self.shift and all(
            was == now for table in (self._starts, self._ends) for was, now in table.items()
        )

    def _add(self, old: Any, new: Any) -> None:
        """A statement without the blocks in it."""
        if hasattr(old, "lineno"):
            was, now = (old.lineno, old.col_offset), (new.lineno, new.col_offset)
            self.is_clear &= was[1] == now[1]
            self.is_clear &= self._starts.setdefault(was[0], now[0]) == now[0]
            was, now = (old.end_lineno, old.end_col_offset), (new.end_lineno, new.end_col_offset)
            self.is_clear &= self._ends.setdefault(was, now) == now
            if isinstance(old, ast.Attribute):  # a call by name counts from where the name is
                self.is_clear &= self._starts.setdefault(was[0], now[0]) == now[0]
        for field in old._fields:
            one, other = getattr(old, field, None), getattr(new, field, None)
            if isinstance(one, ast.AST):
                self._add(one, other)
            elif isinstance(one, list) and not any(isinstance(x, _HOLDERS) for x in one):
                for x, y in zip(one, other or ()):
                    if isinstance(x, ast.AST):
                        self._add(x, y)

    def start(self, line: int) -> int:
        """Where a line is now on which something begins; what is gone is far away."""
        if line < self.first or line >= AWAY:
            return line
        if line >= self.rest:
            return line + self.shift
        return self._starts.get(line, line + AWAY)

    def stop(self, line: int, column: int) -> tuple[int, int] | None:
        """The same where something ends; None where nothing does that is still there."""
        if line < self.first or line >= AWAY:
            return line, column
        if line >= self.rest:
            return line + self.shift, column
        return self._ends.get((line, column))


def _line(node: Any) -> int:
    """Where it begins; a `case` has no place of its own."""
    line: int = getattr(node, "lineno", 0) or node.pattern.lineno
    return line


def relocate(comparison: Comparison) -> None:
    """Give the statements of the old tree the places they have in the new one.

    Those that are gone get places of their own: on a line with others, they would be melted
    together with them.
    """
    left = [comparison.old.tree]
    while left:
        node = left.pop()
        if hasattr(node, "lineno"):
            node.lineno += AWAY
            node.end_lineno += AWAY
        left.extend(nodes.children(node))
    for old, new in comparison.pairs:
        _relocate(old, new)


def _relocate(old: Any, new: Any) -> None:
    for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
        if hasattr(new, attribute):
            setattr(old, attribute, getattr(new, attribute))
    for field in old._fields:
        one, other = getattr(old, field, None), getattr(new, field, None)
        if isinstance(one, ast.AST):
            _relocate(one, other)
        elif isinstance(one, list) and not any(isinstance(x, _HOLDERS) for x in one):
            for x, y in zip(one, other or ()):
                if isinstance(x, ast.AST):
                    _relocate(x, y)


_HOLDERS = (ast.stmt, ast.ExceptHandler, *((ast.match_case,) if hasattr(ast, "match_case") else ()))
