"""What each statement of a cell takes and gives: names of the session, by reading the code.

A cell is cut into its top-level *statements*. Each one *uses* names that it does not bind
itself, *gives* names (assignments, imports, definitions, `df["x"] = …`), and *accumulates*
those it changes anew each time it is run (`x += 1`, `names.append(…)`). The body of a function
runs later: what it needs is kept with its name, and counts where the name is used.

Method calls that are not known to change their object count as reading it. That misses some
changes; a warning for each `model.summary()` would be worse.
"""

from __future__ import annotations

import ast
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 200_000  # characters of a cell that is still read
GROWING = frozenset(
    ("append", "extend", "insert", "pop", "popleft", "appendleft", "extendleft", "remove")
)
CHANGING = frozenset(
    ("add", "update", "setdefault", "discard", "clear", "sort", "reverse", "popitem")
)
OPAQUE_CALLS = frozenset(("exec", "eval", "globals", "locals", "vars", "get_ipython"))
_CELL_MAGIC = re.compile(r"^\s*%%(time|capture|prun|timeit)\b[^\n]*\n")
_LINE_MAGIC = re.compile(r"^(\s*)%(?:time|prun)\s+(?!-)", re.MULTILINE)


class Statement:
    """One top-level statement."""

    __slots__ = ("accumulates", "changes", "deferred", "gives", "last", "opaque", "text", "uses")

    def __init__(self, node: ast.AST) -> None:
        self.text = ""  # what is run: without line numbers, comments and docstrings
        self.last = getattr(node, "end_lineno", 0) or 0
        self.uses: set[str] = set()
        self.gives: dict[str, str] = {}  # name → what tells it from another: its own part
        self.accumulates: set[str] = set()
        self.changes: set[str] = set()  # names that stay bound to the object that is changed
        self.deferred: dict[str, set[str]] = {}  # function → names that its body needs
        self.opaque = False  # what it gives has to be looked up in the session


def read(source: str, transform: Any = None) -> list[Statement] | None:
    """The statements of a cell; None if it can't be read."""
    if len(source) > LONGEST:
        return None
    source = _LINE_MAGIC.sub(r"\1", _CELL_MAGIC.sub("", source, count=1))
    try:
        tree = ast.parse(transform(source) if transform else source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    return [_read(node) for node in tree.body]


def _read(node: ast.stmt) -> Statement:
    found = Statement(node)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        _imports(node, found)
        found.text = ast.dump(node)
        return found
    _Reader(found).visit(node)
    found.text = _without_docstrings(node)
    for name in found.gives:
        found.gives[name] = found.text
    return found


def _without_docstrings(node: ast.stmt) -> str:
    for one in ast.walk(node):
        if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            first = one.body[0] if one.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                del one.body[0]
    return ast.dump(node)


def _imports(node: ast.Import | ast.ImportFrom, found: Statement) -> None:
    """Each name by itself: one more import beside it changes nothing about the others."""
    module = getattr(node, "module", None) or ""
    for alias in node.names:
        if alias.name == "*":
            found.opaque = True
            continue
        name = alias.asname or alias.name.partition(".")[0]
        found.gives[name] = f"import {module} {alias.name if alias.asname or module else name}"


class _Reader(ast.NodeVisitor):
    """Walks through one statement in the order in which it runs."""

    def __init__(self, found: Statement) -> None:
        self.found = found
        self.bound: set[str] = set()  # by this statement, so far
        self.local: list[set[str]] = []  # of comprehensions around

    # --- names ----------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        if any(node.id in names for names in self.local):
            return
        if isinstance(node.ctx, ast.Load):
            if node.id not in self.bound:
                self.found.uses.add(node.id)
        elif isinstance(node.ctx, ast.Store):
            self._give(node.id)
        else:
            self.found.uses.add(node.id)
            self.found.gives[node.id] = ""

    def _give(self, name: str) -> None:
        self.bound.add(name)
        self.found.gives[name] = ""

    def _change(self, node: ast.expr, again: bool) -> None:
        """`df["x"] = …`, `self.x += …`: the object behind the first name changes."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            node = node.value
        if isinstance(node, ast.Name) and not any(node.id in names for names in self.local):
            if node.id not in self.bound:
                self.found.uses.add(node.id)
            self.found.gives[node.id] = ""
            if node.id not in self.bound:
                self.found.changes.add(node.id)
                if again:
                    self.found.accumulates.add(node.id)

    # --- assignments ----------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._target(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._target(node.target, node.value)

    def _target(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            self.visit(target.value)
            if isinstance(target, ast.Subscript):
                self.visit(target.slice)
            self._change(target, again=False)
            return
        if isinstance(target, ast.Name) and _adds_to_itself(value, target.id):
            self.found.accumulates.add(target.id)
        if isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                self._target(one, ast.Constant(None))
            return
        self.visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Name):
            name = node.target.id
            if name not in self.bound:
                self.found.uses.add(name)
                self.found.accumulates.add(name)
            self._give(name)
        else:
            self._change(node.target, again=True)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._give(node.target.id)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._target(node.target, ast.Constant(None))
        for one in [*node.body, *node.orelse]:
            self.visit(one)

    visit_AsyncFor = visit_For  # noqa: N815 - ast's names

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is not None:
            self.visit(node.type)
        if node.name:
            self.bound.add(node.name)  # and gone after it
        for one in node.body:
            self.visit(one)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._give(alias.asname or alias.name.partition(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.found.opaque = True
            else:
                self._give(alias.asname or alias.name)

    def generic_visit(self, node: ast.AST) -> None:
        name = getattr(node, "name", None)  # the captures of `match`
        if type(node).__name__ in ("MatchAs", "MatchStar") and type(name) is str:
            self._give(name)
        rest = getattr(node, "rest", None)
        if type(node).__name__ == "MatchMapping" and type(rest) is str:
            self._give(rest)
        super().generic_visit(node)

    # --- calls ----------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in OPAQUE_CALLS:
            self.found.opaque = True
        if not isinstance(function, ast.Attribute):
            return
        if function.attr in GROWING and isinstance(function.value, ast.Name):
            self._change(function, again=True)
        elif function.attr in CHANGING or _is_in_place(node):
            self._change(function, again=False)

    # --- what has a scope of its own --------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for one in [*node.decorator_list, *node.args.defaults]:
            self.visit(one)
        for default in node.args.kw_defaults:
            if default is not None:
                self.visit(default)
        self._give(node.name)
        self.found.deferred[node.name] = free_names(node) - {node.name}

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - ast's names

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for one in [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]:
            self.visit(one)
        self._give(node.name)
        self.found.deferred[node.name] = free_names(node) - {node.name}

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.found.uses |= free_names(node) - self.bound - set().union(*self.local or [set()])

    def _comprehension(self, node: Any) -> None:
        inner: set[str] = set()
        self.local.append(inner)
        for one in node.generators:
            self.visit(one.iter)
            inner.update(n.id for n in ast.walk(one.target) if isinstance(n, ast.Name))
            for test in one.ifs:
                self.visit(test)
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                self.visit(getattr(node, field))
        self.local.pop()

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)


def free_names(node: ast.AST) -> set[str]:
    """The names that a function or class needs from outside, by Python's own tables."""
    import symtable

    text = ast.unparse(ast.Expr(node) if isinstance(node, ast.Lambda) else node)
    found: set[str] = set()

    def collect(table: Any) -> None:
        for symbol in table.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                found.add(symbol.get_name())
        for child in table.get_children():
            collect(child)

    try:
        for child in symtable.symtable(text, "<cell>", "exec").get_children():
            collect(child)
    except (SyntaxError, ValueError, RecursionError):
        return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return found


def _adds_to_itself(value: ast.expr, name: str) -> bool:
    """`x = x + 1`; but not `x = x.strip()`, which is the same the second time."""
    if not isinstance(value, ast.BinOp) or not isinstance(
        value.op, (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.FloorDiv)
    ):
        return False
    sides = (value.left, value.right)
    return any(
        (isinstance(side, ast.Name) and side.id == name) or _adds_to_itself(side, name)
        for side in sides
    )


def _is_in_place(node: ast.Call) -> bool:
    """`df.drop(…, inplace=True)`."""
    return any(
        one.arg == "inplace" and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in node.keywords
    )
