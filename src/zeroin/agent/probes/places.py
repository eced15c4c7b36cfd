"""Where in a file a probe stands: the statement of a line, or a function by its name.

A line inside a statement belongs to that statement. A line of a comprehension or a lambda that
begins below its statement, or whose own variables the probe asks for, belongs to its body, and is
reached with each element. `else`, `except`, `finally` and `case` lines belong to what they lead to.
"""

from __future__ import annotations

import _ast as ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)
BLOCKS = ("body", "orelse", "finalbody")
LEADS = ("else", "except", "finally", "case", "elif")


class Spot:
    """Where to stand: before a statement of a block, or before an expression of a node."""

    def __init__(self, block: list[Any], index: int, around: tuple[Any, ...]) -> None:
        self.block = block
        self.index = index
        self.around = around  # the definitions that it is in, the outermost first
        self.scope: Any = None  # the comprehension or lambda whose body it is
        self.given: list[str] = []  # variables of that scope to be handed over

    @property
    def statement(self) -> Any:
        """The statement that comes next."""
        return self.block[self.index]

    @property
    def function(self) -> Any:
        """The function that it is in; None at the top level of a module or a class."""
        last = self.around[-1] if self.around else None
        return last if isinstance(last, FUNCTIONS) else None

    @property
    def qualname(self) -> str:
        """`Class.method`; the names of all that it is in."""
        return ".".join(one.name for one in self.around)


def at_line(tree: Any, text: list[str], line: int, names: Iterable[str] = ()) -> Spot | None:
    """Find what a line belongs to; `names` are those that the probe asks for."""
    spot = _find(tree.body, text, line, ())
    if spot is None or is_text(spot.statement):
        return None
    statement = spot.statement
    for scope in _scopes_on(statement, line):
        own = _variables(scope)
        asked = [name for name in own if name in names]
        is_below = any(
            part.lineno > first_line(statement) and part.lineno <= line <= part.end_lineno
            for part in _parts(scope)
        )
        if is_below or (asked and not own & _bound(spot, tree)):
            spot.scope, spot.given = scope, asked
    return spot


def lines_near(tree: Any, line: int, most: int = 2) -> list[int]:
    """Give the nearest lines with code, before and after."""
    every = sorted({first_line(one) for one in _statements(tree) if not is_text(one)})
    before = [one for one in every if one < line][-most:]
    return before + [one for one in every if one > line][:most]


def functions(tree: Any) -> dict[str, list[tuple[Any, ...]]]:
    """All functions by name, each with the definitions it is in; a lambda by its variable."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    left: list[tuple[Any, tuple[Any, ...]]] = [(tree, ())]
    while left:
        node, around = left.pop()
        for one in _inside(node):
            path = around
            if isinstance(one, DEFINITIONS):
                path = (*around, one)
                name = ".".join(each.name for each in path)
                if isinstance(one, FUNCTIONS):
                    found.setdefault(name, []).append(path)
            elif isinstance(one, ast.Assign) and isinstance(one.value, ast.Lambda):
                for target in one.targets:
                    if isinstance(target, ast.Name):
                        name = ".".join([*(each.name for each in around), target.id])
                        found.setdefault(name, []).append((*around, one.value))
            left.append((one, path))
    return found


def classes(tree: Any) -> set[str]:
    """Give the names of all classes, those inside of others with theirs before it."""
    found: set[str] = set()
    left: list[tuple[Any, str]] = [(tree, "")]
    while left:
        node, before = left.pop()
        for one in _inside(node):
            name = f"{before}{one.name}" if isinstance(one, DEFINITIONS) else ""
            if isinstance(one, ast.ClassDef):
                found.add(name)
            left.append((one, f"{name}." if name else before))
    return found


def names_in(expression: str) -> set[str]:
    """Give the names that an expression asks for."""
    tree = compile(expression, "<at>", "eval", ast.PyCF_ONLY_AST, dont_inherit=True)
    return {one.id for one in walk(tree) if isinstance(one, ast.Name)}


# --- statements -------------------------------------------------------------------------------


def first_line(statement: Any) -> int:
    """Where it begins, decorators included."""
    decorators = getattr(statement, "decorator_list", ())
    line: int = min([statement.lineno, *(one.lineno for one in decorators)])
    return line


def _find(block: list[Any], text: list[str], line: int, around: tuple[Any, ...]) -> Spot | None:
    for index, statement in enumerate(block):
        if not first_line(statement) <= line <= statement.end_lineno:
            continue
        inner = list(blocks(statement))
        if not inner or line <= _end_of_head(statement):
            return Spot(block, index, around)
        within = (*around, statement) if isinstance(statement, DEFINITIONS) else around
        for one in inner:
            found = _find(one, text, line, within)
            if found is not None:
                return found
        return _between(block, index, inner, text, line, around)
    return None


def _between(
    block: list[Any],
    index: int,
    inner: list[list[Any]],
    text: list[str],
    line: int,
    around: tuple[Any, ...],
) -> Spot | None:
    """A line of a compound statement that no statement in it covers."""
    words = text[line - 1].strip() if line <= len(text) else ""
    if not words or words.startswith("#"):
        return None
    statement = block[index]
    within = (*around, statement) if isinstance(statement, DEFINITIONS) else around
    if words.startswith(LEADS):
        following = [one for one in inner if first_line(one[0]) >= line]
        return (
            Spot(min(following, key=lambda b: first_line(b[0])), 0, within) if following else None
        )
    if line < first_line(inner[0][0]):  # the last bracket of a long head
        return Spot(block, index, around)
    return None


def blocks(node: Any) -> Iterator[list[Any]]:
    """The lists of statements right inside of a statement."""
    for field in BLOCKS:
        block = getattr(node, field, None)
        if isinstance(block, list) and block:
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _end_of_head(statement: Any) -> int:
    """The last line of what stands before the first block."""
    held = {id(one) for block in blocks(statement) for one in block}
    parts = (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ()))
    held.update(map(id, parts))
    end: int = statement.lineno
    left = [one for one in children(statement) if id(one) not in held]
    while left:
        node = left.pop()
        end = max(end, getattr(node, "end_lineno", None) or 0)
        left.extend(children(node))
    return end


def _statements(tree: Any) -> Iterator[Any]:
    return (one for one in walk(tree) if isinstance(one, ast.stmt))


def is_text(statement: Any) -> bool:
    """A docstring, or a comment written as one: nothing is executed there."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _inside(node: Any) -> Iterator[Any]:
    for block in blocks(node):
        yield from block


# --- scopes inside of a statement ---------------------------------------------------------------


def _scopes_on(statement: Any, line: int) -> Iterator[Any]:
    """Comprehensions and lambdas of a statement that a line lies in, the outermost first."""
    held = {id(one) for block in blocks(statement) for one in block}
    left = [one for one in children(statement) if id(one) not in held]
    while left:
        node = left.pop(0)
        is_scope = isinstance(node, (*COMPREHENSIONS, ast.Lambda))
        if is_scope and node.lineno <= line <= node.end_lineno:
            yield node
        if not isinstance(node, ast.stmt):
            left.extend(children(node))


def _parts(scope: Any) -> list[Any]:
    """The expressions that are evaluated with each element."""
    if isinstance(scope, ast.Lambda):
        return [scope.body]
    first = scope.key if isinstance(scope, ast.DictComp) else scope.elt
    return [first, *(test for one in scope.generators for test in one.ifs)]


def _variables(scope: Any) -> set[str]:
    if isinstance(scope, ast.Lambda):
        return {one.arg for one in walk(scope.args) if isinstance(one, ast.arg)}
    return {
        one.id
        for generator in scope.generators
        for one in walk(generator.target)
        if isinstance(one, ast.Name)
    }


def _bound(spot: Spot, tree: Any) -> set[str]:
    """The names that are set in the function, or at the top level, that a statement is in."""
    owner = spot.around[-1] if spot.around else tree
    found: set[str] = set()
    if isinstance(owner, FUNCTIONS):
        found.update(one.arg for one in walk(owner.args) if isinstance(one, ast.arg))
    left = list(_inside(owner))
    while left:
        node = left.pop()
        if isinstance(node, DEFINITIONS):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if not isinstance(node, SCOPES):
            left.extend(children(node))
    return found


# --- trees ------------------------------------------------------------------------------------


def children(node: Any) -> Iterator[Any]:
    """The nodes right below one."""
    for field in node._fields:
        value = getattr(node, field, None)
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, ast.AST):
                yield one


def walk(node: Any) -> Iterator[Any]:
    """A node and all below it."""
    left = [node]
    while left:
        one = left.pop()
        yield one
        left.extend(children(one))
