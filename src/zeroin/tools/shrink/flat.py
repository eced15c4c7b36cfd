"""`--inline`: a script and its modules as one list of statements, without any import of them.

Whether that is still the same program is not worked out: it is tried.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SCRIPT = "__main__"


def flattened(script: str, modules: Mapping[str, tuple[bool, str]]) -> str:
    """What modules hold stands where they were first imported; as it is, if one is no Python."""
    one = _Flat({SCRIPT: (False, script), **modules})
    try:
        one.add(SCRIPT)
    except SyntaxError:
        return script
    first = dict.fromkeys(map(ast.unparse, one.future))
    return "\n".join([*first, *map(ast.unparse, one.body), ""])


class _Flat:
    """All statements so far."""

    def __init__(self, modules: Mapping[str, tuple[bool, str]]) -> None:
        self.modules = modules
        self.future: list[ast.stmt] = []
        self.body: list[ast.stmt] = []
        self._begun: set[str] = set()

    def add(self, name: str) -> None:
        """A module, behind those that it lies in, and once."""
        if name in self._begun or name not in self.modules:
            return
        self.add(name.rpartition(".")[0])
        self._begun.add(name)
        is_package, text = self.modules[name]
        package = name if is_package else name.rpartition(".")[0]
        plain = _Plain(self, package)
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                self.future.append(statement)
                continue
            left = plain.visit(statement)  # adds what it imports first
            self.body += left if isinstance(left, list) else [left]


class _Plain(ast.NodeTransformer):
    """Statements of one module, with plain names where the module would be asked for them."""

    def __init__(self, flat: _Flat, package: str) -> None:
        self._flat = flat
        self._package = package
        self._bound: dict[str, str] = {}  # names that stand for modules

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        """What is not ours stays."""
        node.names = [one for one in node.names if not self._is_bound(one)]
        return node if node.names else ast.Pass()

    def _is_bound(self, alias: ast.alias) -> bool:
        if alias.name not in self._flat.modules:
            return False
        self._flat.add(alias.name)
        top = alias.name.partition(".")[0]
        self._bound[alias.asname or top] = alias.name if alias.asname else top
        return True

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | list[ast.stmt]:
        """Names are there already; another name for one is bound to it."""
        source = self._source(node)
        if source not in self._flat.modules:
            return node
        self._flat.add(source)
        return list(self._renamed(source, node)) or ast.Pass()

    def _source(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        above = self._package.split(".")
        kept = above[: len(above) - node.level + 1]
        return ".".join([*kept, *([node.module] if node.module else [])])

    def _renamed(self, source: str, node: ast.ImportFrom) -> Iterator[ast.stmt]:
        for one in node.names:
            module = f"{source}.{one.name}"
            if module in self._flat.modules:
                self._flat.add(module)
                self._bound[one.asname or one.name] = module
            elif one.asname not in (None, one.name):
                yield ast.parse(f"{one.asname} = {one.name}").body[0]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """`pkg.core.work` is `work`."""
        if self._module(node.value) and not self._module(node):
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        self.generic_visit(node)
        return node

    def _module(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return self._bound.get(node.id, "")
        if isinstance(node, ast.Attribute) and (outer := self._module(node.value)):
            inner = f"{outer}.{node.attr}"
            return inner if inner in self._flat.modules else ""
        return ""
