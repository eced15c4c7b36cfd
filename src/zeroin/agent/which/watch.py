"""Tell when the program gets to a place: a call is put there, in memory, before the file is run.

The order has the place: `files` that may hold it, with `name` ("Cart.total") or `line`
in them; neither means the `module` itself. With `stop` the driver ends the program once it is told.

A module without a source, or one that was loaded before the program began, is reached by an
`import` of it.
"""

from __future__ import annotations

import _ast
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

WAIT = 30.0  # seconds for the driver to end us
MOST = 200  # frames
FUNCTIONS = (_ast.FunctionDef, _ast.AsyncFunctionDef)
_place: dict[str, Any] = {}
_times: dict[tuple[int, str, int], Any] = {}  # by process, file, line: counters safe for threads
_told: set[int] = set()
_imports: list[Any] = []  # the function that `import` calls, where we stand in its place
_loaded: dict[str, None] = {}  # files, by what path they were compiled
_AGENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def install(place: Mapping[str, Any]) -> None:
    """Called at the start of each process."""
    from .. import rewrite

    _place.update(place)
    files = frozenset(_place["files"])
    _place["before"] = _place["module"] in sys.modules
    is_module = not _place.get("name") and not _place.get("line")
    if is_module and (_place["before"] or not any(one.endswith(".py") for one in files)):
        _watch_imports()
    rewrite.add(files.__contains__, _change)


def _watch_imports() -> None:
    import builtins

    _imports.append(builtins.__import__)
    builtins.__import__ = _import


def _import(name: str, *args: Any, **kwargs: Any) -> Any:
    found = _imports[0](name, *args, **kwargs)
    module = sys.modules.get(_place["module"])
    frame = sys._getframe().f_back  # None: the interpreter's own
    if module is None or frame is None or frame.f_code.co_filename.startswith(_AGENT):
        return found
    if _is_among(module, name, args, kwargs) and not _is_ours(frame):
        _tell(frame, _file_of(module), 0)
    return found


def _is_among(module: Any, name: str, args: Any, kwargs: Any) -> bool:
    """Whether an import statement names a module: itself, one below it, or one out of it."""
    given = dict(zip(("globals", "locals", "fromlist", "level"), args), **kwargs)
    if given.get("level"):
        package = (given.get("globals") or {}).get("__package__") or ""
        base = package.rsplit(".", given["level"] - 1)[0]
        name = f"{base}.{name}" if name else base
    words = name.split(".")
    names = [".".join(words[:count]) for count in range(1, len(words) + 1)]
    names += [f"{name}.{one}" for one in given.get("fromlist") or ()]
    return any(sys.modules.get(one) is module for one in names)


def _file_of(module: Any) -> str:
    from . import locate

    spec = getattr(module, "__spec__", None)
    return locate.file_of(spec) if spec is not None else ""


def _change(path: str, _source: bytes, tree: Any) -> Any:
    """Put calls at the place; None where this copy of the file has no such place."""
    _loaded[path] = None
    bodies = list(_bodies(tree))
    for body, at in bodies:
        _insert(body, at)
    return tree if bodies else None


def _bodies(tree: Any) -> list[tuple[list[Any], int]]:
    """Lists of statements, and before which of them a call goes."""
    if _place.get("line"):
        found = _at_line(tree, _place["line"])
        return [found] if found else []
    if not _place.get("name"):
        return [(tree.body, _first(tree.body))]
    from . import places

    return [body for node in places.written_in(tree, _place["name"]) for body in _of(node)]


def _of(node: Any) -> list[tuple[list[Any], int]]:
    """A class is reached by a call of one of its methods."""
    from . import places

    is_class = isinstance(node, _ast.ClassDef)
    methods = places.inside(node, FUNCTIONS) if is_class else []
    return [(one.body, _first(one.body)) for one in methods or [node]]


def _first(body: list[Any]) -> int:
    """Behind a docstring and what must stand before all else."""
    for index, one in enumerate(body):
        is_text = isinstance(one, _ast.Expr) and isinstance(one.value, _ast.Constant)
        is_future = isinstance(one, _ast.ImportFrom) and one.module == "__future__"
        if not is_future and not (index == 0 and is_text):
            return index
    return len(body)


def _at_line(tree: Any, line: int) -> tuple[list[Any], int] | None:
    """The innermost statement that holds the line, else the next one after it."""
    best: tuple[int, int, list[Any], int] | None = None
    from ..probes.places import walk

    for node in walk(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if not isinstance(body, list):
                continue
            for index, one in enumerate(body):
                if _first(body) > index:
                    continue
                missed = max(0, one.lineno - line)
                if (one.end_lineno or one.lineno) < line:
                    continue
                size = (one.end_lineno or one.lineno) - one.lineno
                if best is None or (missed, size) < best[:2]:
                    best = (missed, size, body, index)
    if best is None:
        return None
    found = best[2][best[3]]
    is_function = isinstance(found, FUNCTIONS)
    # The line of a `def` stands for the function: that it is called, not that it is made.
    return (found.body, _first(found.body)) if is_function else (best[2], best[3])


def _insert(body: list[Any], at: int) -> None:
    from .. import rewrite

    like = body[min(at, len(body) - 1)] if body else None
    call = _ast.Expr(_ast.Call(rewrite.constant(_reached), [], []))
    body.insert(at, rewrite.place(call, like))


def _reached() -> None:
    """The program got there; what our own code calls does not count."""
    frame: Any = sys._getframe(1)
    if not _is_ours(frame.f_back):
        _tell(frame, _absolute(frame.f_code.co_filename), frame.f_lineno)


def _tell(frame: Any, file: str, line: int) -> None:
    import itertools

    pid = os.getpid()
    next(_times.setdefault((pid, file, line), itertools.count()))
    if pid in _told:
        return
    _told.add(pid)
    from .. import post

    message = {"kind": "reached", "pid": pid, "file": file}
    sent = post.send({**message, "line": line, "stack": _stack(frame)})
    if _place.get("stop") and sent:
        post.wait_to_be_ended(WAIT)  # and all that belongs to the program


def _stack(frame: Any) -> list[dict[str, Any]]:
    """Outermost first; neither ours nor those of the import system."""
    found: list[dict[str, Any]] = []
    while frame is not None and len(found) < MOST:
        code = frame.f_code
        inside = frame.f_globals.get("__name__", "")
        is_import = code.co_filename.startswith("<frozen importlib")
        if not is_import and not inside.startswith("_zeroin_agent"):
            file = _absolute(code.co_filename)
            name = getattr(code, "co_qualname", code.co_name)
            found.append({"file": file, "line": frame.f_lineno, "name": name})
        frame = frame.f_back
    return found[::-1]


def _is_ours(frame: Any) -> bool:
    """Whether the standard library got here on our own behalf."""
    from .. import owner

    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_AGENT) and frame.f_code is not _import.__code__:
            return True
        if owner.of(file) != "stdlib":
            return False
        frame = frame.f_back
    return False


def _absolute(name: str) -> str:
    from . import places

    name = places.unfrozen(name)
    return name if name.startswith("<") else os.path.abspath(name)


def facts() -> dict[str, Any]:
    """How often, and what was loaded, for the message at the end."""
    from ..rewrite import list_refusals

    pid = os.getpid()
    module = sys.modules.get(_place["module"])
    refused = list_refusals()
    untouched = [one for one in _place["files"] if one in refused]  # loaded, and not watched
    lines = [(file, line, next(one)) for (own, file, line), one in _times.items() if own == pid]
    return {
        "reached": sum(times for _, _, times in lines),
        "lines": lines,
        "refused": refused[untouched[0]] if untouched else "",
        "before": _place["before"],
        "loaded": [*([_file_of(module)] if module is not None else []), *_loaded, *untouched],
    }
