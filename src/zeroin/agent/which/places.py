"""The file and line in which a class or a function was written.

Functions carry theirs; for classes the source is read, since only newer Pythons note the line.
This is loaded in the program, before it begins: of the standard library only what is there anyway.
"""

from __future__ import annotations

import _ast
import sys

from ..probes.places import children, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFINITIONS = (_ast.ClassDef, _ast.FunctionDef, _ast.AsyncFunctionDef)
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
    """Of its `class`, or of the call that made it; ("", 0) for one that no source file holds."""
    file = source_of(sys.modules.get(getattr(kind, "__module__", "")))
    for one in dict.fromkeys([file, *(unfrozen(code.co_filename) for code in _codes_of(kind))]):
        written = [node for node in defined(one, kind.__qualname__) if _is_class(node)]
        found = _that_ran(kind, written) if written else None
        if found is not None and not _is_compiled(kind, found):
            return one, found.lineno
    line = assigned(file, kind.__qualname__) if _is_heap_type(kind) else 0
    return (file, line) if line else ("", 0)


def _is_class(node: Any) -> bool:
    return isinstance(node, _ast.ClassDef)


def _is_heap_type(kind: type) -> bool:
    return bool(kind.__flags__ & 1 << 9)


def _that_ran(kind: type, written: list[Any]) -> Any:
    """Of several in one file, as in both branches of an `if`, the one that holds its methods."""
    noted = vars(kind).get("__firstlineno__")  # from Python 3.13 on
    lines = [noted] if noted else [code.co_firstlineno for code in _codes_of(kind)]
    ran = [one for one in written if any(holds(one, line) for line in lines)]
    return (ran or written)[-1]


def _is_compiled(kind: type, written: Any) -> bool:
    """Whether a class in C took the place of the one in the source, as for `OrderedDict`."""
    if not _is_heap_type(kind):
        return True
    methods = [one.name for one in inside(written) if not isinstance(one, _ast.ClassDef)]
    return bool(methods) and all(
        type(vars(kind).get(name)).__name__ in ("method_descriptor", "wrapper_descriptor")
        for name in methods
    )


def _codes_of(kind: type) -> list[Any]:
    """Of the methods that were written in it, whichever module it gives itself out for."""
    before = kind.__qualname__ + "."
    held = [getattr(one, "fget", None) or one for one in list(vars(kind).values())]
    functions = [getattr(one, "__func__", one) for one in held]
    return [
        one.__code__
        for one in functions
        if getattr(one, "__qualname__", "").startswith(before) and hasattr(one, "__code__")
    ]


def of_name(holder: Any, name: str) -> tuple[str, int]:
    """Where a class or a module binds a name that is no definition; without a line if unknown."""
    if not isinstance(holder, type):
        file = source_of(holder)
        return (file, assigned(file, name)) if file else ("", 0)
    file, line = of_class(holder)
    return (file, assigned(file, f"{holder.__qualname__}.{name}") or line) if file else ("", 0)


def source_of(module: Any) -> str:
    """The Python file of a module, or ""."""
    try:
        file = object.__getattribute__(module, "__dict__").get("__file__")
    except Exception:  # any object may stand in sys.modules
        return ""
    return file if type(file) is str and file.endswith(".py") else ""


def defined(file: str, name: str) -> list[Any]:
    """Every definition of a dotted name in a file, from the top."""
    return written_in(tree(file), name) if file else []


def written_in(node: Any, name: str) -> list[Any]:
    """Likewise, in a tree: several are the branches of an `if`, or a property and its setter."""
    found = [node]
    for word in name.split("."):
        if word != "<locals>":
            found = [one for outer in found for one in inside(outer) if one.name == word]
    return found


def holds(node: Any, line: int) -> bool:
    """Whether a line is one of a definition, or of its decorators."""
    first, last = extent(node)
    return first <= line <= last


def extent(node: Any) -> tuple[int, int]:
    """The first and the last line of a definition, its decorators included."""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return int(first), int(node.end_lineno or node.lineno)


def assigned(file: str, name: str) -> int:
    """The line of the last assignment to a dotted name; 0 if there is none."""
    outer, _, last = name.rpartition(".")
    lines = [
        one.lineno
        for body in (defined(file, outer) if outer else [tree(file)])
        for one in inside(body, (_ast.Assign, _ast.AnnAssign))
        for target in getattr(one, "targets", None) or [one.target]
        if isinstance(target, _ast.Name) and target.id == last
    ]
    return lines[-1] if lines else 0


def tree(file: str) -> Any:
    """The syntax tree of a file; an empty one where it can't be read."""
    if file not in _trees:
        try:
            with open(file, "rb") as source:
                _trees[file] = _parsed(source.read(), file)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            _trees[file] = _ast.Module([], [])
    return _trees[file]


def _parsed(source: bytes, file: str) -> Any:
    return compile(source, file, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)


def inside(node: Any, kinds: Any = DEFINITIONS) -> list[Any]:
    """Statements of a body, also those below `if`, `try`, `with` and the like."""
    found: list[Any] = []
    waiting = list(children(node))
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, kinds):
            found.append(one)
        elif isinstance(one, DEFINITIONS):
            continue
        elif isinstance(one, (_ast.stmt, _ast.ExceptHandler)) or type(one).__name__ == "match_case":
            waiting[:0] = list(children(one))
    return found


def _starting_at(file: str, line: int, name: str) -> Any:
    for node in walk(tree(file)):
        if isinstance(node, DEFINITIONS) and node.name == name:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if line in (first, node.lineno):
                return node
    return None
