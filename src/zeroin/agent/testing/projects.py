"""Which modules are the checkout's own: by its build files, and by how its folders are laid out.

A *project* is a folder with a pyproject.toml, setup.cfg or setup.py; a checkout may hold several.
What a project *owns* are its topmost regular packages and modules, with their dotted names: in a
namespace package `acme/data/`, the checkout owns `acme.data` and not `acme`.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Owned(NamedTuple):
    """A package or module of the checkout: `path` is its folder, or its file without .py."""

    name: str
    path: str
    project: str


FILES = ("pyproject.toml", "setup.cfg", "setup.py")
DEPTH = 3  # folders below the root in which projects are looked for
MOST = 200  # folders of projects, and packages of one
PASSED_BY = frozenset(("node_modules", "site-packages", "build", "dist", "__pycache__"))
# Folders beside a package that are no part of what is installed.
NOT_INSTALLED = frozenset(
    (
        *("test", "tests", "testing", "doc", "docs", "example", "examples", "bench", "benchmark"),
        *("benchmarks", "script", "scripts", "tool", "tools", "ci", "notebooks", "tasks"),
    )
)


def owned(root: str) -> list[Owned]:
    """All that the checkout owns."""
    found: list[Owned] = []
    for folder in list(_projects(root, DEPTH))[:MOST] or [root]:
        for name, path in _of_project(folder):
            one = Owned(name, path, folder)
            if one not in found:
                found.append(one)
    return found


def import_folder(path: str, module: str) -> str:
    """The folder that has to be on the path for this file to be this module."""
    folder = os.path.dirname(path)
    levels = module.count(".") + (os.path.basename(path) == "__init__.py")
    for _ in range(levels):
        folder = os.path.dirname(folder)
    return folder


def _projects(folder: str, depth: int) -> Iterator[str]:
    names = _list(folder)
    if any(name in names for name in FILES):
        yield folder
    if not depth:
        return
    for name in names:
        path = os.path.join(folder, name)
        if _is_searched(path, name):
            yield from _projects(path, depth - 1)


def _is_searched(path: str, name: str) -> bool:
    return (
        name[:1] != "."
        and name not in PASSED_BY
        and os.path.isdir(path)
        and not os.path.islink(path)
        and not os.path.exists(os.path.join(path, "pyvenv.cfg"))
    )


def _of_project(folder: str) -> Iterator[tuple[str, str]]:
    """Declared folders of sources, else `src/`, else the packages that lie in the project."""
    settings = _Settings(folder)
    sources = [os.path.join(folder, one) for one in settings.sources]
    src = os.path.join(folder, "src")
    if not sources and os.path.isdir(src) and not os.path.exists(os.path.join(src, "__init__.py")):
        sources = [src]
    named = [os.path.join(folder, one) for one in settings.packages]
    if named:
        yield from ((os.path.basename(path), path) for path in named if os.path.isdir(path))
    if any(os.path.realpath(one) != os.path.realpath(folder) for one in sources):
        for one in sources:
            yield from _in_sources(one, "")
    elif not named:
        yield from _flat(folder, settings.name)


def _in_sources(folder: str, prefix: str, depth: int = 3) -> Iterator[tuple[str, str]]:
    """All packages and modules; a folder without __init__.py is a namespace and looked into."""
    for name in _list(folder)[:MOST]:
        path = os.path.join(folder, name)
        stem, dot, ext = name.rpartition(".")
        if dot and ext == "py" and stem.isidentifier():
            yield prefix + stem, path[:-3]
        elif name.isidentifier() and os.path.isdir(path) and name not in PASSED_BY:
            if os.path.exists(os.path.join(path, "__init__.py")):
                yield prefix + name, path
            elif depth:
                yield from _in_sources(path, f"{prefix}{name}.", depth - 1)


def _flat(folder: str, project: str) -> Iterator[tuple[str, str]]:
    """The package named like the project; where there is none, all that could be installed."""
    name = re.sub(r"[-.]+", "_", project).lower()
    packages = [
        (one, os.path.join(folder, one))
        for one in _list(folder)
        if one.isidentifier() and os.path.exists(os.path.join(folder, one, "__init__.py"))
    ]
    for one, path in packages:
        if one.lower() == name:
            yield one, path
            return
    if name and os.path.isfile(os.path.join(folder, name + ".py")):
        yield name, os.path.join(folder, name)
        return
    namespace = os.path.join(folder, *project.split("."))  # acme.data in acme/data/
    if project.count(".") and os.path.exists(os.path.join(namespace, "__init__.py")):
        yield project, namespace
        return
    yield from (pair for pair in packages if pair[0].lower() not in NOT_INSTALLED)


class _Settings:
    """What the build files of a project say about its sources."""

    def __init__(self, folder: str) -> None:
        self.name = ""
        self.sources: list[str] = []  # folders that hold packages
        self.packages: list[str] = []  # folders that are packages
        data = _toml(os.path.join(folder, "pyproject.toml"))
        if data:
            self._read_pyproject(data)
        self._read_setup_cfg(os.path.join(folder, "setup.cfg"))

    def _read_pyproject(self, data: dict[str, Any]) -> None:
        tool = data.get("tool", {})
        poetry, setuptools = tool.get("poetry", {}), tool.get("setuptools", {})
        self.name = data.get("project", {}).get("name") or poetry.get("name") or ""
        find = setuptools.get("packages", {})
        if isinstance(find, dict):
            self.sources += find.get("find", {}).get("where", [])
        self.sources += [where for name, where in _items(setuptools.get("package-dir")) if not name]
        for one in poetry.get("packages", ()):
            if isinstance(one, dict) and "/" not in one.get("include", "*").strip("/"):
                self.packages.append(os.path.join(one.get("from", ""), one["include"].strip("/")))
        wheel = tool.get("hatch", {}).get("build", {}).get("targets", {}).get("wheel", {})
        self.packages += [str(one) for one in wheel.get("packages", ())]
        self.sources += [tool.get("maturin", {}).get("python-source") or ""]
        self.sources = [one for one in self.sources if isinstance(one, str) and one]

    def _read_setup_cfg(self, path: str) -> None:
        if not os.path.exists(path):
            return
        import configparser

        found = configparser.ConfigParser(interpolation=None)
        try:
            found.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeError, OSError):
            return
        self.name = self.name or found.get("metadata", "name", fallback="")
        where = found.get("options.packages.find", "where", fallback="")
        self.sources += where.split()
        for line in found.get("options", "package_dir", fallback="").splitlines():
            name, equals, folder = line.partition("=")
            if equals and not name.strip():
                self.sources.append(folder.strip())


def _items(value: Any) -> list[tuple[Any, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _toml(path: str) -> dict[str, Any]:
    """Read by the standard library, or by what pytest brings along before 3.11."""
    for reader in ("tomllib", "tomli"):
        try:
            parser = __import__(reader)
        except ImportError:
            continue
        try:
            with open(path, "rb") as file:
                return dict(parser.load(file))
        except (OSError, ValueError):
            return {}
    return {}


def _list(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
