"""Answers one question on stdout, in the user's interpreter: what is NAME here?

Run as `python -c START ORDER`, so that the path is the one of `python` in this folder. What the
imports of the user's modules print is kept away. Nothing of the standard library is imported
once the path is back: a file of the user's may have its name.
"""

from __future__ import annotations

import builtins
import json
import os
import sys

from .. import bytecode
from . import locate, objects, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_NAMES = 5000  # that are told where a name is not found


def main(order: dict[str, Any], started: frozenset[str], aside: list[str]) -> None:
    """Answer, and end at once: what the imports started must not hold us up."""
    out = os.dup(1)
    _quiet()
    _forget(started, aside)
    try:
        answer = _answer(order, started)
    except BaseException as error:  # a module may raise anything when it is imported
        answer = {"error": _told(error)}
    answer["python"] = _interpreter(aside)
    data = json.dumps(answer).encode()
    with os.fdopen(out, "wb") as file:
        file.write(b"\n" + data + b"\n")
    os._exit(0)


def _quiet() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    sys.dont_write_bytecode = True


def _forget(started: frozenset[str], path: list[str]) -> None:
    """Put the path back; what we loaded ourselves must not hide the user's modules."""
    sys.path[:] = path
    for name in [one for one in sys.modules if one not in started]:
        top = name.split(".")[0]
        if top in started or top == "_zeroin_agent":
            continue
        spec = locate.find(top)
        ours = getattr(sys.modules.get(top), "__spec__", None)
        if spec is not None and ours is not None and spec.origin != ours.origin:
            del sys.modules[name]


def _interpreter(path: list[str]) -> dict[str, Any]:
    return {
        "executable": sys.executable,
        "version": ".".join(map(str, sys.version_info[:3])),
        "prefix": sys.prefix,
        "base": sys.base_prefix,
        "stdlib": os.path.dirname(os.path.abspath(os.__file__)),
        "path": [locate.absolute(one) for one in path if isinstance(one, str)],
        "here": bool(path) and path[0] == "",
    }


def _answer(order: dict[str, Any], started: frozenset[str]) -> dict[str, Any]:
    if "files" in order:
        return {"candidates": [_candidate(name, started) for name in order["files"]]}
    name, _, inside = order["name"].partition(":")
    spec, rest = locate.dotted(name, started)
    if spec is None and name.split(".", maxsplit=1)[0] in vars(builtins):
        spec, rest = locate.dotted(f"builtins.{name}", started)
    if spec is None:
        return {"missing": name.split(".")[0], "near": _top_names(), "left": _left_over(name)}
    words = [*rest, *(inside.split(".") if inside else [])]
    found: dict[str, Any] = {
        "located": _located(spec),
        "words": words,
        "import": None,
        "object": None,
        "home": None,
    }
    if not words or (inside and rest):
        if words:
            found.update(missing=rest[0], holder=spec.name, near=_submodules(spec))
        return found
    _look_inside(found, spec, words)
    return found


def _candidate(name: str, started: frozenset[str]) -> dict[str, Any]:
    spec, rest = locate.dotted(name, started)
    return {"name": name, "located": _located(spec) if spec is not None and not rest else None}


def _located(spec: Any) -> dict[str, Any]:
    found = locate.facts(spec)
    file = found["file"]
    found["stale"] = bytecode.stale(file) if file else None
    found["beside"] = locate.beside(file) if file else []
    found["elsewhere"] = [
        {"entry": entry, **other}
        for entry, other in locate.everywhere(spec.name)
        if (other["file"] or other["kind"] == "namespace") and other["file"] != file
    ]
    return found


def _look_inside(found: dict[str, Any], spec: Any, words: list[str]) -> None:
    """Import it, and follow the names; what goes wrong is told, with what the source says."""
    try:
        module = __import__(spec.name, fromlist=["*"])
        found["object"] = objects.follow(sys.modules.get(spec.name, module), words)
        found["home"] = _home(found["object"], found["located"])
    except objects.NoSuchNameError as error:
        near = [*error.names, *_submodules(spec)]
        found.update(missing=error.name, holder=error.holder, near=near[:MOST_NAMES])
    except BaseException as error:
        found["import"] = _told(error)
    if found["object"] is None and found["located"]["file"].endswith(".py"):
        written = places.defined(found["located"]["file"], ".".join(words))
        found["written"] = written[-1].lineno if written else 0


def _home(thing: dict[str, Any], named: dict[str, Any]) -> dict[str, Any] | None:
    """The module in whose file an object was written, if that is another than the named one."""
    if not thing["file"] or thing["file"] == named["file"]:
        return None
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and locate.file_of(spec) == thing["file"]:
            return _located(spec)
    return None


def _told(error: BaseException) -> dict[str, Any]:
    """An error of an import: its last line, and the last file that is not of the machinery."""
    file, line = "", 0
    step = error.__traceback__
    while step is not None:
        name = step.tb_frame.f_code.co_filename
        if not name.startswith(("<", _HERE)):
            file, line = name, step.tb_lineno
        step = step.tb_next
    if isinstance(error, SyntaxError) and error.filename:
        file, line = error.filename, error.lineno or 0
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error).strip()
    except BaseException:  # a stranger's `__str__`
        text = ""
    name = type(error).__name__
    return {"text": f"{name}: {text}" if text else name, "type": name, "file": file, "line": line}


_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


def _top_names() -> list[str]:
    """What can be imported, for names that are nearly right."""
    names = {*_listed(sys.path), *sys.builtin_module_names}
    return sorted(names | set(getattr(sys, "stdlib_module_names", ())))[:MOST_NAMES]


def _submodules(spec: Any) -> list[str]:
    return _listed(list(spec.submodule_search_locations or []))


def _listed(folders: list[str]) -> list[str]:
    """The modules of some folders. Without `pkgutil`: it imports more when it is asked."""
    found = []
    for folder in folders:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            stem, _, end = name.partition(".")
            is_module = end in ("py", "pyc") or end.endswith("so")
            if stem.isidentifier() and (is_module or os.path.isdir(os.path.join(folder, name))):
                found.append(stem)
    return [one for one in found if one not in ("__init__", "__pycache__")]


def _left_over(name: str) -> str:
    for entry in sys.path:
        found = bytecode.left_over(entry or ".", name.split(".", maxsplit=1)[0])
        if found:
            return locate.absolute(found)
    return ""
