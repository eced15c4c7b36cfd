"""Put a look beside each assignment of a syntax tree.

A look is a call of an object that no name leads to, one for each place. Names are looked at after
they have been bound; what is bound to an attribute or an item is looked at on its way there, since
reading it back could run the program's code. Bodies of classes are left alone: their names may be
looked up in a mapping of anybody's.
"""

from __future__ import annotations

import ast

from ..rewrite import place as place_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody")
# Values that have no shape, or one that can be read in the source.
PLAIN = (ast.Constant, ast.JoinedStr, ast.Lambda)
# Who is given these compiles the instructions of the function, and would meet ours.
COMPILERS = ("numba", "nb", "cuda")
COMPILES = ("njit", "guvectorize", "cfunc", "stencil", "jit_module", "jitclass")


class Place:
    """One target in the source."""

    __slots__ = ("column", "end", "function", "how", "label", "line", "number", "several")

    def __init__(self, number: int, how: str, label: str, function: str) -> None:
        self.number = number
        self.how = how  # assign, argument, self, for, with, case, return, yield, walrus
        self.label = label  # the target's text
        self.function = function
        self.line = self.end = self.column = 0
        self.several = False  # the statement has other targets

    def told(self) -> list[Any]:
        """As the driver reads it."""
        return [
            *(self.how, self.label, self.function, self.line, self.end, self.column),
            self.several,
        ]


class Looks:
    """Changes one tree, and lists the places of its looks.

    `new` makes the look at a place, as an expression; with a name it is a look that gets an object
    and looks at what that keeps under the name. `wants` says which functions are to be looked at.
    """

    def __init__(self, new: Callable[[Place, str], Any], wants: Callable[[str], bool]) -> None:
        self.new, self.wants = new, wants
        self.places: list[Place] = []
        self.functions: list[list[Any]] = []  # name, first line, last line
        self.left: list[list[Any]] = []  # functions that are compiled by others: name, line
        self._function = "<module>"

    def change(self, tree: ast.Module) -> ast.Module:
        """The tree itself, changed."""
        self._compilers = _imported_compilers(tree)
        if self.wants("<module>"):
            tree.body = self._block(tree.body)
        else:
            self._only_definitions(tree.body, "")
        return tree

    # --- statements ---------------------------------------------------------------------------

    def _block(self, body: list[Any]) -> list[Any]:
        out: list[Any] = []
        for node in body:
            out += self._statement(node)
        return out

    def _statement(self, node: Any) -> list[Any]:
        if isinstance(node, FUNCTIONS):
            self._definition(node, self._inner())
            return [node]
        if isinstance(node, ast.ClassDef):
            self._only_definitions(node.body, self._inner() + node.name + ".")
            return [node]
        self._walruses(node)
        after = self._bound(node)
        for name in BLOCKS:
            if isinstance(getattr(node, name, None), list):
                setattr(node, name, self._block(getattr(node, name)))
        for handler in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            handler.body = self._captured(handler) + self._block(handler.body)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.With, ast.AsyncWith)):
            node.body = after + node.body
            return [node]
        return [node, *after]

    def _bound(self, node: Any) -> list[Any]:
        """Look at what a statement binds: the looks that come behind it."""
        if isinstance(node, ast.Assign):
            return self._assigned(node, node.targets)
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return self._assigned(node, [node.target])
        if isinstance(node, ast.AugAssign):
            return self._names(node.target, "assign", node, several=False)
        if isinstance(node, (ast.For, ast.AsyncFor)):
            return self._names(node.target, "for", node, end=node.iter)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            last = node.items[-1]
            end = last.optional_vars or last.context_expr
            given = [one.optional_vars for one in node.items if one.optional_vars is not None]
            several = len(given) > 1 or isinstance(given[0] if given else None, ast.Tuple)
            return [
                look
                for one in given
                for look in self._names(one, "with", node, end=end, several=several)
            ]
        if isinstance(node, ast.Return) and not _is_plain(node.value):
            node.value = self._on_the_way(node.value, "return", "", node)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield):
            inner = node.value
            if not _is_plain(inner.value):
                inner.value = self._on_the_way(inner.value, "yield", "", node)
        return []

    def _assigned(self, node: Any, targets: list[Any]) -> list[Any]:
        if _is_plain(node.value) or _is_empty(node.value):
            return []
        first = next((one for one in targets if isinstance(one, ast.Name)), targets[0])
        if isinstance(first, (ast.Attribute, ast.Subscript)):
            label = _text(first)
            node.value = self._on_the_way(node.value, "assign", label, node)
            return []
        return self._names(first, "assign", node)

    def _names(
        self, target: Any, how: str, node: Any, *, end: Any = None, several: bool | None = None
    ) -> list[Any]:
        """Looks at each name that is bound by a target, however nested."""
        found = list(_bound_names(target))
        many = len(found) > 1 if several is None else several
        out = []
        for one in found:
            if isinstance(one, ast.Name):
                place = self._place(how, one.id, node, end=end, several=many)
                value: Any = ast.Name(one.id, ast.Load())
                out.append(_call(self.new(place, ""), value, one))
            elif isinstance(one.value, ast.Name):
                place = self._place(how, _text(one), node, end=end, several=many)
                value = ast.Name(one.value.id, ast.Load())
                out.append(_call(self.new(place, one.attr), value, one))
        return out

    def _on_the_way(self, value: Any, how: str, label: str, node: Any) -> Any:
        place = self._place(how, label, node)
        return _call(self.new(place, ""), value, value).value

    def _walruses(self, node: Any) -> None:
        """Look at what `:=` binds, in the expressions of a statement."""
        found = [one for one in _expressions(node) if isinstance(one, ast.NamedExpr)]
        for inner in sorted(found, key=lambda one: (one.lineno, one.col_offset)):
            if not _is_plain(inner.value):
                place = self._place("walrus", inner.target.id, inner, several=True)
                inner.value = _call(self.new(place, ""), inner.value, inner.value).value

    def _captured(self, case: Any) -> list[Any]:
        """Looks at what a `case` captures."""
        if not hasattr(case, "pattern"):
            return []
        out = []
        for one in ast.walk(case.pattern):
            if type(one).__name__ in ("MatchAs", "MatchStar") and getattr(one, "name", None):
                name = one.name  # type: ignore[attr-defined]
                end = case.guard or case.pattern
                place = self._place("case", name, case.pattern, end=end, several=True)
                out.append(_call(self.new(place, ""), ast.Name(name, ast.Load()), one))
        return out

    # --- functions ----------------------------------------------------------------------------

    def _inner(self) -> str:
        return "" if self._function == "<module>" else self._function + ".<locals>."

    def _definition(self, node: Any, prefix: str) -> None:
        name, outer = prefix + node.name, self._function
        self._function = name
        is_wanted = self.wants(name)
        if self._is_compiled(node):
            self.left += [[name, node.lineno]] if is_wanted else []
        elif is_wanted:
            self.functions.append([name, node.lineno, node.end_lineno])
            looks = self._arguments(node)
            head = 1 if ast.get_docstring(node, clean=False) is not None else 0
            node.body = node.body[:head] + looks + self._block(node.body[head:])
        else:
            self._only_definitions(node.body, self._inner())
        self._function = outer

    def _arguments(self, node: Any) -> list[Any]:
        args = node.args
        plain = [*args.posonlyargs, *args.args]
        is_method = "." in self._function and plain and plain[0].arg in ("self", "cls", "mcs")
        given = [*(plain[1:] if is_method else plain), args.vararg, *args.kwonlyargs, args.kwarg]
        out = []
        if is_method and plain[0].arg == "self" and node.name != "__init__":
            place = self._place("self", "", plain[0])  # for the names of its sizes
            out.append(_call(self.new(place, ""), ast.Name("self", ast.Load()), plain[0]))
        for one in given:
            if one is not None:
                place = self._place("argument", one.arg, one, several=True)
                out.append(_call(self.new(place, ""), ast.Name(one.arg, ast.Load()), one))
        return out

    def _only_definitions(self, body: list[Any], prefix: str) -> None:
        """Functions that are wanted, in code that is not."""
        outer = self._function
        for node in body:
            if isinstance(node, FUNCTIONS):
                self._definition(node, prefix)
            elif isinstance(node, ast.ClassDef):
                self._only_definitions(node.body, prefix + node.name + ".")
            else:
                for name in BLOCKS:
                    inner = getattr(node, name, None)
                    if isinstance(inner, list):
                        self._only_definitions(inner, prefix)
                for handler in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
                    self._only_definitions(handler.body, prefix)
        self._function = outer

    def _is_compiled(self, node: Any) -> bool:
        for one in node.decorator_list:
            words = _text(one.func if isinstance(one, ast.Call) else one).split(".")
            if words[0] in COMPILERS or words[0] in self._compilers or words[-1] in COMPILES:
                return True
        return False

    def _place(
        self, how: str, label: str, node: Any, *, end: Any = None, several: bool = False
    ) -> Place:
        place = Place(len(self.places), how, label, self._function)
        place.line = node.lineno
        place.end = (end or node).end_lineno
        place.column = node.col_offset
        place.several = several
        self.places.append(place)
        return place


# --- reading trees ----------------------------------------------------------------------------


def _call(look: Any, value: Any, at: Any) -> Any:
    """The call of a look, as a statement; its place in the source is that of what it looks at."""
    return place_nodes(ast.Expr(ast.Call(look, [value], [])), at)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, PLAIN)


def _is_empty(value: Any) -> bool:
    if isinstance(value, (ast.List, ast.Tuple)):
        return not value.elts
    return isinstance(value, ast.Dict) and not value.keys


def _bound_names(target: Any) -> Any:
    if isinstance(target, (ast.Name, ast.Attribute)):
        yield target
    elif isinstance(target, ast.Starred):
        yield from _bound_names(target.value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for one in target.elts:
            yield from _bound_names(one)


def _expressions(node: Any) -> Any:
    """All nodes of a statement but the statements in it, and what is a scope of its own."""
    left = [one for one in ast.iter_child_nodes(node) if _is_expression(one)]
    while left:
        one = left.pop()
        yield one
        left += [inner for inner in ast.iter_child_nodes(one) if _is_expression(inner)]


def _is_expression(node: Any) -> bool:
    kinds = (ast.expr, ast.comprehension, ast.keyword, ast.withitem)
    return isinstance(node, kinds) and not isinstance(node, ast.Lambda)


def _text(node: Any) -> str:
    """Names, attributes and items as they are written; "" for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _text(node.value)
        return f"{base}.{node.attr}" if base else ""
    if isinstance(node, ast.Subscript):
        base = _text(node.value)
        return f"{base}[...]" if base else ""
    return ""


def _imported_compilers(tree: ast.Module) -> set[str]:
    """The names under which a file has what compiles functions."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.name.partition(".")[0] == "numba":
                    found.add(one.asname or "numba")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "numba":
            found.update(one.asname or one.name for one in node.names)
    return found
