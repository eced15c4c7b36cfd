"""Where a module would be loaded from, without loading it.

The finders of this interpreter are asked one after the other, as an import would, but with the
folders of the parent's spec instead of a loaded parent: so not even `pkg/__init__.py` runs.
"""

from __future__ import annotations

import os
import sys
from importlib import machinery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Path = list[str] | None

MOST = 1 << 20  # bytes of an `__init__.py` that are looked through
EXTENSIONS = tuple(machinery.EXTENSION_SUFFIXES)


def find(name: str, path: Path = None) -> Any:
    """The spec of a module, or None; `path` is where its parent has its modules."""
    for finder in sys.meta_path:
        look = getattr(finder, "find_spec", None)
        if look is None:
            continue
        try:
            spec = look(name, path)
        except Exception:  # a stranger's finder
            continue
        if spec is not None:
            return spec
    return None


def dotted(name: str, started: frozenset[str]) -> tuple[Any, list[str]]:
    """The longest module that `name` begins with, and the names behind it.

    `started` are the modules that each start of Python loads: no file comes before those.
    """
    words = name.split(".")
    spec: Any = None
    path: Path = None
    for count in range(1, len(words) + 1):
        full = ".".join(words[:count])
        found = _loaded(full) if full in started else None
        found = found or find(full, path)
        if found is None:
            return spec, words[count - 1 :]
        spec = found
        path = _folders(spec)
        if path is None:
            return spec, words[count:]
    return spec, []


def _loaded(name: str) -> Any:
    return getattr(sys.modules.get(name), "__spec__", None)


def _folders(spec: Any) -> Path:
    """Where its submodules are; None when it is no package."""
    if spec.submodule_search_locations is None:
        return None
    if _moves_its_path(spec.origin):
        try:
            return list(__import__(spec.name, fromlist=["__path__"]).__path__)
        except BaseException:  # whatever its import does; without, the plain folders are as good
            pass
    return list(spec.submodule_search_locations)


def _moves_its_path(file: Any) -> bool:
    """Whether an `__init__.py` speaks of `__path__`: then only loading it tells."""
    if type(file) is not str or not file.endswith(".py"):
        return False
    try:
        with open(file, "rb") as source:
            return b"__path__" in source.read(MOST)
    except OSError:
        return False


def kind_of(spec: Any) -> str:
    """In a word, what kind of module it is."""
    if spec.origin in ("built-in", "frozen") or spec.loader in (
        machinery.BuiltinImporter,
        machinery.FrozenImporter,
    ):
        return "builtin" if spec.loader is machinery.BuiltinImporter else "frozen"
    if spec.origin is None and spec.submodule_search_locations is not None:
        return "namespace"
    if (spec.origin or "").endswith(EXTENSIONS):
        return "extension"
    if spec.submodule_search_locations is not None:
        return "package"
    return "module"


def file_of(spec: Any) -> str:
    """The file that is run, or "". A frozen module's is that of its source, where it is known."""
    origin = spec.origin
    if kind_of(spec) == "frozen":
        origin = getattr(spec.loader_state, "filename", None)
        if origin is None:
            origin = _source_of_frozen(spec)
    return absolute(origin) if type(origin) is str and os.sep in origin else ""


def _source_of_frozen(spec: Any) -> str:
    below = spec.name.replace(".", os.sep)
    for path in (below + ".py", os.path.join(below, "__init__.py")):
        full = os.path.join(os.path.dirname(os.__file__), path)
        if os.path.isfile(full):
            return full
    return ""


def absolute(path: str) -> str:
    """As seen from the working folder."""
    try:
        return os.path.abspath(path)
    except OSError:  # the working folder has been removed
        return path


def facts(spec: Any) -> dict[str, Any]:
    """What there is to say about a module."""
    found = {
        "module": spec.name,
        "kind": kind_of(spec),
        "file": file_of(spec),
        "loader": type(spec.loader).__name__ if spec.loader is not None else "",
        "portions": [],
        "archive": getattr(spec.loader, "archive", "") or "",
    }
    if isinstance(spec.loader, type):
        found["loader"] = spec.loader.__name__
    if found["kind"] == "namespace":
        found["portions"] = [absolute(one) for one in spec.submodule_search_locations]
    return found


def everywhere(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each entry of the path that has such a module, with what is there."""
    words = name.split(".")
    for entry in dict.fromkeys(one for one in sys.path if isinstance(one, str)):
        path: Path = [entry]
        spec: Any = None
        for count in range(1, len(words) + 1):
            spec = _plain(".".join(words[:count]), path) if path else None
            if spec is None:
                break
            path = list(spec.submodule_search_locations or [])
        if spec is not None:
            yield absolute(entry), facts(spec)


def _plain(name: str, path: Path) -> Any:
    try:
        return machinery.PathFinder.find_spec(name, path)
    except Exception:  # an odd file on the path
        return None


def beside(file: str) -> list[str]:
    """Other files of the same module in its folder: a compiled one wins over its source."""
    folder, name = os.path.split(file)
    if name.split(".")[0] == "__init__":
        folder, name = os.path.split(folder)
    stem = name.split(".")[0]
    names = [stem + end for end in (*EXTENSIONS, ".py", ".pyc")]
    names += [os.path.join(stem, "__init__" + end) for end in (*EXTENSIONS, ".py", ".pyc")]
    found = [os.path.join(folder, one) for one in names]
    return [one for one in found if one != file and os.path.isfile(one)]
