"""The file and line in which a class or a function was written.

Functions carry theirs; for classes the source is read, since only newer Pythons note the line.
"""

from __future__ import annotations

import ast
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_trees: dict[str, Any] = {}


def of_function(function: Any) -> tuple[str, int]:
    """Of its `def`, not of its first decorator."""
    code = function.__code__
    file, line = unfrozen(code.co_filename), code.co_firstlineno
    node = _starting_at(file, line, code.co_name)
    return file, node.lineno if node is not None else line


def unfrozen(name: str) -> str:
    """The source of code that is frozen into the interpreter, where it is known."""
    if not name.startswith("<frozen "):
        return name
    return source_of(sys.modules.get(name[len("<frozen ") : -1])) or name


def of_class(kind: type) -> tuple[str, int]:
    """Of its `class`; ("", 0) for one that no source file holds."""
    module = sys.modules.get(getattr(kind, "__module__", ""))
    for file in dict.fromkeys([source_of(module), *_files_of_methods(kind)]):
        found = defined(file, kind.__qualname__) if file else None
        if found is not None and not _is_compiled(kind, found):
            return file, found.lineno
    return "", 0


def _is_compiled(kind: type, written: Any) -> bool:
    """Whether a class in C took the place of the one in the source, as for `OrderedDict`."""
    if not kind.__flags__ & 1 << 9:  # a static type
        return True
    methods = [one.name for one in _inside(written) if not isinstance(one, ast.ClassDef)]
    return bool(methods) and all(
        type(vars(kind).get(name)).__name__ in ("method_descriptor", "wrapper_descriptor")
        for name in methods
    )


def _files_of_methods(kind: type) -> list[str]:
    """Where a class may have been written that gives itself out for one of another module."""
    before = kind.__qualname__ + "."
    codes = [
        getattr(getattr(one, "fget", one), "__code__", None)
        for one in list(vars(kind).values())
        if getattr(getattr(one, "fget", one), "__qualname__", "").startswith(before)
    ]
    return [code.co_filename for code in codes if code is not None]


def source_of(module: Any) -> str:
    """The Python file of a module, or ""."""
    try:
        file = object.__getattribute__(module, "__dict__").get("__file__")
    except Exception:  # any object may stand in sys.modules
        return ""
    return file if type(file) is str and file.endswith(".py") else ""


def defined(file: str, name: str) -> Any:
    """The last definition of a dotted name in a file; None if it is not written there."""
    return written_in(tree(file), name)


def written_in(node: Any, name: str) -> Any:
    """Likewise, in a tree."""
    for word in name.split("."):
        if word == "<locals>":
            continue
        found = [one for one in _inside(node) if getattr(one, "name", None) == word]
        if not found:
            return None
        node = found[-1]
    return node


def tree(file: str) -> Any:
    """The syntax tree of a file; an empty one where it can't be read."""
    if file not in _trees:
        try:
            with open(file, "rb") as source:
                _trees[file] = ast.parse(source.read())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            _trees[file] = ast.Module([], [])
    return _trees[file]


def _inside(node: Any) -> list[Any]:
    """Definitions in a body, also those below `if`, `try`, `with` and the like."""
    found: list[Any] = []
    waiting = list(ast.iter_child_nodes(node))
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, DEFINITIONS):
            found.append(one)
        elif isinstance(one, (ast.stmt, ast.ExceptHandler)) or type(one).__name__ == "match_case":
            waiting[:0] = list(ast.iter_child_nodes(one))
    return found


def _starting_at(file: str, line: int, name: str) -> Any:
    for node in ast.walk(tree(file)):
        if isinstance(node, DEFINITIONS) and node.name == name:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if line in (first, node.lineno):
                return node
    return None
