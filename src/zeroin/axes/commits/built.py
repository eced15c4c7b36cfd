"""Which files of a commit its build reads: if these are the same, so is what is built.

Compilers read anything but Python, so every such file counts, but for texts. A Python file counts
if a file that says how to build names it or imports it, or one that counts by that does. What is
taken for read and is not costs a build; the other way round an answer would be wrong.
"""

from __future__ import annotations

import hashlib
import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TEXTS = re.compile(r"(?:^|/)\.|\.(?:md|rst|ya?ml|ipynb)$")
_TELLS_HOW = re.compile(
    r"(?:^|/)(?:setup\.py|setup\.cfg|pyproject\.toml|MANIFEST\.in|meson\.build|CMakeLists\.txt"
    r"|Makefile|[^/]*\.cmake)$"
)
_ALL_OF_THEM = re.compile(r"mypycify|\*\.py\b")  # Python is what is compiled
_FILE = re.compile(r"[\w.-]+\.py\b")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+)?import\b[ \t(]*([\w., \t]*)", re.MULTILINE
)
_ATTRIBUTE = re.compile(r"\battr\s*[=:]\s*[\"']?([\w.]+)")  # a version that is looked up
_SOURCES = re.compile(r"\.(?:c|cc|cpp|cxx|cu|h|hh|hpp|pyx|pxd|pxi|rs|f|f90|f95)$", re.IGNORECASE)


def state(tree: str, files: Mapping[str, str]) -> str:
    """A name for all that a build of the tree reads; `files` are its paths, and their contents'."""
    read = {path for path in files if not path.endswith(".py") and not _TEXTS.search(path)}
    read |= _python(tree, files)
    told = hashlib.sha256()
    for path in sorted(read):
        told.update(f"{path}\0{files[path]}\0".encode(errors="surrogateescape"))
    return told.hexdigest()[:16]


def is_source(path: str) -> bool:
    """Whether it is compiled, by its name."""
    return _SOURCES.search(path) is not None


def _python(tree: str, files: Mapping[str, str]) -> set[str]:
    """The Python files that count."""
    modules = [path for path in files if path.endswith(".py")]
    by_name: dict[str, list[str]] = {}
    for path in modules:
        by_name.setdefault(os.path.basename(path), []).append(path)
    left = [path for path in files if _TELLS_HOW.search(path)]
    found = {path for path in left if path.endswith(".py")}
    while left:
        path = left.pop()
        text = text_of(os.path.join(tree, path))
        if _TELLS_HOW.search(path) and _ALL_OF_THEM.search(text):
            return set(modules)
        named = [one for name in _FILE.findall(text) for one in by_name.get(name, ())]
        imported = [one for name in _imported(text, path) for one in _paths(name) if one in files]
        new = {*named, *imported} - found
        found |= new
        left += new
    return found


def _imported(text: str, path: str) -> Iterator[str]:
    """What it imports, as paths without an ending; a name may be a module, or not."""
    if not path.endswith(".py"):
        yield from (name.replace(".", "/") for name in _ATTRIBUTE.findall(text))
        return
    for source, names in _IMPORT.findall(text):
        below = source.lstrip(".").replace(".", "/")
        if source.startswith("."):
            folder = os.path.dirname(path)
            for _ in range(len(source) - len(source.lstrip(".")) - 1):
                folder = os.path.dirname(folder)
            below = os.path.join(folder, below).rstrip("/")
        yield below
        for name in re.findall(r"[\w.]+", names):
            yield os.path.join(below, name.replace(".", "/"))


def _paths(name: str) -> Iterator[str]:
    """Files that are read if this is imported: its packages as well."""
    while name:
        for root in ("", "src/"):
            yield f"{root}{name}.py"
            yield f"{root}{name}/__init__.py"
        name = os.path.dirname(name)


def text_of(path: str) -> str:
    """What a file says; "" if it can't be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
