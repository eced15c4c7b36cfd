"""Which modules were looked for, and which names were there in the folders to look in.

A new file can shadow a module that was imported from elsewhere, or be the one that an
`except ImportError` did without; a file that is gone was perhaps imported. What a module
contains is looked after where files are opened.
"""

from __future__ import annotations

import os
import posix
import sys

from . import events, signatures, uses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SOURCES = (".py", ".so", ".pyc")
_INSTALLED = ("/site-packages", "/dist-packages")

_names: dict[str, int] = {}  # each module that was looked for, and when at first
_folders: dict[str, tuple[str, frozenset[str]]] = {}  # folder: what its modules' names begin with
_packages: set[str] = set()
_path: list[Any] = []
_sites: dict[str, tuple[int, frozenset[str]] | None] = {}


def install() -> None:
    """Note the packages that are installed now."""
    for entry in sys.path:
        if str(entry).endswith(_INSTALLED):
            _sites[entry] = _site(entry)
    home = getattr(sys.modules.get("site"), "USER_SITE", None)
    if isinstance(home, str) and getattr(sys.modules["site"], "ENABLE_USER_SITE", False):
        _sites.setdefault(home, _site(home))
    sys.meta_path.insert(0, Finder)


def imported(args: tuple[Any, ...]) -> None:
    """`import`: a module is being looked for, or loaded from a library of the user's."""
    name, file, path = args[0], args[1], args[2]
    if file:
        full = events.resolve(file)
        if full is not None:
            uses.read(full)
    elif name not in _names:
        looked_for(name, path)


class Finder:
    """Finds nothing: `importlib.import_module` and `from package import module` raise no event."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:  # noqa: ARG004
        """Take notes."""
        try:
            if name not in _names:
                looked_for(name, sys.path)
            if path is not None:
                _see_package(name.rpartition(".")[0], path)
        except Exception:  # a path may be anything
            pass


def looked_for(name: str, path: Any) -> None:
    """Note a name; and, at their first sight, what modules the folders to look in have."""
    if name.startswith(events.AGENT) or len(_names) >= uses.MOST:
        return
    _names[name] = uses.now()
    if path is not None and path != _path:
        _path[:] = path
        for entry in path:
            _see("", entry)
    parent = name.rpartition(".")[0]
    package = sys.modules.get(parent) if parent else None
    if package is not None:  # else it is about to be imported itself
        _see_package(parent, getattr(package, "__path__", ()))


def _see_package(name: str, path: Any) -> None:
    if name not in _packages:
        _packages.add(name)
        for entry in path:
            _see(name + ".", entry)


def _see(prefix: str, entry: Any) -> None:
    if not isinstance(entry, str) or entry.endswith(_INSTALLED):
        return
    full = events.resolve(entry or ".")
    if full is None or full in _folders or full + "/" in events.ignored:
        return
    if signatures.kind(signatures.state(full)) == signatures.FILE:  # a zip
        uses.read(full)
        return
    _folders[full] = prefix, _modules(full)


def _modules(folder: str) -> frozenset[str]:
    try:
        found = posix.listdir(folder)
    except OSError:
        found = []
    return frozenset([n for n in found if n.endswith(_SOURCES) or "." not in n])


def _site(folder: str) -> tuple[int, frozenset[str]] | None:
    found = signatures.state(folder)
    if found is None:
        return None
    try:
        return found.st_mtime_ns, frozenset(posix.listdir(folder))
    except OSError:
        return None


def candidates() -> list[str]:
    """Files and folders of the user's that would be imported, were they there."""
    found = []
    for folder, (prefix, _) in _folders.items():
        for name in list(_names):
            stem = name[len(prefix) :]
            if name.startswith(prefix) and "." not in stem:
                found += [f"{folder}/{stem}.py", f"{folder}/{stem}", f"{folder}/{stem}/__init__.py"]
    return found


def changed(show: Any) -> list[tuple[int, str]]:
    """What is new, or gone, of that which was looked for."""
    found: list[tuple[int, str]] = []
    for folder, before in _sites.items():
        if _differs(folder, before):
            found.append((0, f"packages were installed or removed in {show(folder)}"))
    for folder, (prefix, were) in _folders.items():
        are = _modules(folder)
        for name in are ^ were:
            stem = name.partition(".")[0]
            module = prefix[:-1] if prefix and stem == "__init__" else prefix + stem
            at = _names.get(module)
            if at is not None and module not in sys.builtin_module_names:
                reason = _reason(folder, name, module, name in are, show)
                if reason:
                    found.append((at, reason))
    return found


def _differs(folder: str, before: tuple[int, frozenset[str]] | None) -> bool:
    after = _site(folder)
    if before is None or after is None:
        return before is not after
    if before[0] == after[0]:
        return False
    odd = before[1] ^ after[1]
    return odd != {"__pycache__"}  # the same names at another time: installed again


def _reason(folder: str, name: str, module: str, new: bool, show: Any) -> str:
    path = f"{folder}/{name}"
    loaded = sys.modules.get(module)
    file = getattr(loaded, "__file__", None)
    if name.endswith(_SOURCES):
        shown = show(path)
    elif new:  # a folder, as a rule
        regular = any(signatures.state(f"{path}/__init__{end}") for end in _SOURCES)
        if not regular and file is not None:
            return ""  # it would only be taken if there were no such module
        shown = show(path) + "/"
    elif file is not None and not os.path.abspath(file).startswith(path + "/"):
        return ""
    else:
        shown = show(path) + "/"
    if not new:
        return f"{shown} is gone and had been looked for by import"
    if file is not None:
        return f"{shown} is new and would be imported instead of {show(os.path.abspath(file))}"
    return f"{shown} is new and had been looked for by import"
