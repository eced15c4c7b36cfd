"""What a checkout provides for import, and whether an installed copy was imported instead."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

# Names at the top of many repositories, which say nothing about whose they are.
COMMON = frozenset(
    ("benchmarks", "conftest", "docs", "examples", "scripts", "setup", "test", "tests", "tools")
)
COMPILED = (".so", ".pyd")
MOST_FILES = 1000  # of a package, that are compared with those of its installed copy
WRITTEN = ("_version", "version")  # modules that an install writes anew


def names_in(folder: str) -> list[str]:
    """The packages and modules that a repository has."""
    found = {*_packages(folder), *_packages(os.path.join(folder, "src"))}
    return sorted(found - COMMON - sys.stdlib_module_names)


def _packages(folder: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        name = entry.name.partition(".")[0]
        if entry.name.endswith((".py", *COMPILED)) and name.isidentifier():
            yield name
        elif entry.name.isidentifier() and os.path.exists(f"{entry.path}/__init__.py"):
            yield entry.name


def describe_stale_copy(messages: Iterable[Mapping[str, Any]], root: str, cwd: str) -> str:
    """Say which package was imported from where it is installed, and not as the checkout has it.

    "" if there is none, or if both are the same.
    """
    installed = {
        name: file
        for message in messages
        for name, file in (message.get("installed") or {}).items()
    }
    for name in names_in(root) if installed else ():
        if name not in installed:
            continue
        folder, code = _code_of(name, root)
        if code and _differs(code, installed[name]):
            return (
                f"{name} was imported from {_short(installed[name], cwd)}, which differs from "
                f"{_short(code, cwd)}: PYTHONPATH={_short(folder, cwd)} runs the checkout"
            )
    return ""


def _code_of(name: str, root: str) -> tuple[str, str]:
    """The folder that has it, and the package or module; "" if it is only compiled there."""
    for folder in (os.path.join(root, "src"), root):
        for path in (os.path.join(folder, name), os.path.join(folder, f"{name}.py")):
            if os.path.exists(os.path.join(path, "__init__.py")) or os.path.isfile(path):
                return folder, path
    return "", ""


def _differs(code: str, installed: str) -> bool:
    """Whether a source of the checkout is another one in the installed copy, or is not there."""
    if os.path.isfile(code):
        return _read(code) != _read(installed)
    there = os.path.dirname(installed)
    for path in _sources(code)[:MOST_FILES]:
        below = os.path.relpath(path, code)
        if _read(path) != _read(os.path.join(there, below)):
            return True
    return False


def _sources(folder: str) -> list[str]:
    """The modules of a package, without tests, which many installs leave out."""
    found = []
    for top, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one not in COMMON and one != "__pycache__")
        names = (name for name in sorted(files) if name.endswith(".py"))
        found += [os.path.join(top, name) for name in names if name[:-3] not in WRITTEN]
    return found


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _short(path: str, cwd: str) -> str:
    """From here, if it lies below."""
    below = os.path.relpath(path, cwd)
    return path if below.startswith("..") else below
