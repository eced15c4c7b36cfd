"""An environment that is put together from packages which lie elsewhere, in milliseconds.

Nothing is installed: folders are linked, and only where two packages share one is a folder made.
So compiled bytecode stays with the packages, and a start takes no longer than in a plain
environment. The `.dist-info` folders are real ones, since uv does not follow links to them.
"""

from __future__ import annotations

import os
import re
import shutil
import stat

from zeroin.named import NamedTuple
from zeroin.run.dists import INFO, installed_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from zeroin.run.dists import Dist
    from zeroin.run.interpreter import Python

_CACHE = "__pycache__"
_LONGEST = 120  # bytes of a script's first line; the kernel reads no more
_OUTSIDE = re.compile(r"^(?:\.\./)+bin/([^/]+)$")


class Part(NamedTuple):
    """Packages in a folder: all of them, all but some, or only one."""

    folder: str
    without: frozenset[str] = frozenset()  # names
    only: str = ""
    is_own: bool = False  # with a `bin` of its own in it, as `--target` makes it


class Composed(NamedTuple):
    """Where it is."""

    folder: str
    site: str

    @property
    def bin(self) -> str:
        """Where its commands are."""
        return os.path.join(self.folder, "bin")

    @property
    def python(self) -> str:
        """Its interpreter."""
        return os.path.join(self.bin, "python")

    def variables(self, env: Mapping[str, str]) -> dict[str, str | None]:
        """What makes it the active one."""
        path = os.pathsep.join(filter(None, (self.bin, env.get("PATH", ""))))
        return {"PATH": path, "VIRTUAL_ENV": self.folder, "PYTHONHOME": None}

    def led(self, word: str, cwd: str, programs: Collection[str]) -> str:
        """A word of the command; if it is below these folders, that program of this one."""
        if os.sep not in word:
            return word
        folder, name = os.path.split(os.path.normpath(os.path.join(cwd, word)))
        here = os.path.join(self.bin, name)
        return here if folder in programs and os.path.exists(here) else word


def compose(folder: str, python: Python, parts: Sequence[Part]) -> Composed:
    """Make it, in the place of what was there."""
    shutil.rmtree(folder, ignore_errors=True)
    made = Composed(folder, os.path.join(folder, "lib", python.name, "site-packages"))
    os.makedirs(made.site)
    os.makedirs(made.bin)
    for name in ("python", "python3", python.name):
        os.symlink(python.base, os.path.join(made.bin, name))
    with open(os.path.join(folder, "pyvenv.cfg"), "w", encoding="utf-8") as file:
        home = os.path.dirname(python.base)
        file.write(
            f"home = {home}\ninclude-system-site-packages = false\nversion = {python.version}\n"
        )
    for part in parts:
        _put(part, made)
    return made


def keep_bytecode(made: Composed, below: str) -> None:
    """That of single modules lies beside them: put it where these really are, below a folder."""
    cache = os.path.join(made.site, _CACHE)
    for name in os.listdir(cache) if os.path.isdir(cache) else ():
        source = os.path.join(made.site, f"{_stem(name)}.py")
        compiled = os.path.join(cache, name)
        if not os.path.islink(source) or os.path.islink(compiled) or not name.endswith(".pyc"):
            continue
        target = os.path.join(os.path.dirname(os.readlink(source)), _CACHE)
        if not target.startswith(os.path.join(below, "")):
            continue
        try:
            os.makedirs(target, exist_ok=True)
            own = os.path.join(target, f".{name}-{os.getpid()}")
            shutil.copyfile(compiled, own)
            os.replace(own, os.path.join(target, name))
        except OSError:
            return  # it is compiled again the next time


# --- linking ------------------------------------------------------------------------------------


def _put(part: Part, made: Composed) -> None:
    if part.is_own:
        _merge(part.folder, made.site, _tree(("bin", "share", "etc", ".lock")))
        _scripts_in(os.path.join(part.folder, "bin"), made)
        for name in ("share", "etc"):
            if os.path.isdir(os.path.join(part.folder, name)):
                os.makedirs(os.path.join(made.folder, name), exist_ok=True)
                _merge(os.path.join(part.folder, name), os.path.join(made.folder, name), {})
    else:
        here = installed_once(part.folder)
        if part.only:
            _put_one(part, here, made)
        else:
            _put_all(part, here, made)
    _link_bytecode(part.folder, made)


def _put_all(part: Part, here: Mapping[str, Dist], made: Composed) -> None:
    gone = [here[name] for name in part.without if name in here]
    paths = [path for one in gone for path in one.files() if not path.startswith("..")]
    _merge(part.folder, made.site, _tree([*paths, *(one.info for one in gone)]))
    for name, one in here.items():
        if name not in part.without:
            _scripts_of(one, made)


def _put_one(part: Part, here: Mapping[str, Dist], made: Composed) -> None:
    one = here[part.only]
    files = [path for path in one.files() if not path.startswith(("../", "/"))]
    shared = {
        _top(path) for name, other in here.items() if name != one.name for path in other.files()
    }
    for top in {_top(path) for path in files} | {one.info}:
        if top not in shared:
            _link(os.path.join(part.folder, top), os.path.join(made.site, top))
            continue
        for path in files:
            if path.startswith(f"{top}/") and _CACHE not in path:
                _unfold_above(made.site, path)
                _link(os.path.join(part.folder, path), os.path.join(made.site, path))
    _scripts_of(one, made)


def _top(path: str) -> str:
    return path.partition("/")[0]


def _tree(paths: Iterable[str]) -> dict[str, Any]:
    """Paths as folders in folders; what is wholly meant is empty."""
    root: dict[str, Any] = {}
    for path in paths:
        at = root
        for name in path.split("/"):
            at = at.setdefault(name, {})
    return root


def _merge(source: str, target: str, gone: Mapping[str, Any]) -> None:
    """Link what is in a folder, without what is gone; a folder of which nothing is left is none."""
    for name in os.listdir(source):
        if name in gone:
            if gone[name] and os.path.isdir(os.path.join(source, name)):
                _merge(os.path.join(source, name), os.path.join(target, name), gone[name])
        elif name != _CACHE:
            if os.path.islink(target):
                _unfold(target)
            os.makedirs(target, exist_ok=True)
            _link(os.path.join(source, name), os.path.join(target, name))


def _link(source: str, target: str) -> None:
    """A folder that is there already takes in what is new; of two files the first one stays."""
    is_folder = os.path.isdir(source)
    if not os.path.lexists(target):
        if is_folder and target.endswith(INFO):
            _merge(source, target, {})
        elif os.path.exists(source):
            os.symlink(source, target)
    elif is_folder and os.path.isdir(target):
        _unfold(target)
        _merge(source, target, {})


def _unfold(target: str) -> None:
    """Where a link to a folder is, make a folder of links."""
    if os.path.islink(target):
        before = os.readlink(target)
        os.unlink(target)
        os.mkdir(target)
        _merge(before, target, {})


def _unfold_above(site: str, path: str) -> None:
    at = site
    for name in path.split("/")[:-1]:
        at = os.path.join(at, name)
        if os.path.islink(at):
            _unfold(at)
        elif not os.path.isdir(at):
            os.mkdir(at)


def _link_bytecode(folder: str, made: Composed) -> None:
    """That of single modules, if they are taken from this folder."""
    cache = os.path.join(folder, _CACHE)
    for name in os.listdir(cache) if os.path.isdir(cache) else ():
        module = f"{_stem(name)}.py"
        source = os.path.join(made.site, module)
        if os.path.islink(source) and os.readlink(source) == os.path.join(folder, module):
            os.makedirs(os.path.join(made.site, _CACHE), exist_ok=True)
            _link(os.path.join(cache, name), os.path.join(made.site, _CACHE, name))


def _stem(name: str) -> str:
    return name.partition(".")[0]


# --- commands -----------------------------------------------------------------------------------


def _scripts_of(one: Dist, made: Composed) -> None:
    for path in one.files():
        if path.startswith("../") and _OUTSIDE.match(path):
            _script(os.path.normpath(os.path.join(one.site, path)), made)


def _scripts_in(folder: str, made: Composed) -> None:
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            _script(os.path.join(folder, name), made)


def _script(source: str, made: Composed) -> None:
    """One that starts with Python starts with ours."""
    target = os.path.join(made.bin, os.path.basename(source))
    if os.path.lexists(target) or not os.path.isfile(source):
        return
    with open(source, "rb") as file:
        text = file.read()
    body = _behind_python(text)
    if body is None:
        os.symlink(source, target)
        return
    with open(target, "wb") as file:
        file.write(_starting(made.python) + body)
        os.fchmod(file.fileno(), stat.S_IMODE(os.stat(source).st_mode) | stat.S_IXUSR)


def _behind_python(text: bytes) -> bytes | None:
    """What follows the line, or the three, that start Python; None if there is no such line."""
    first, _, rest = text.partition(b"\n")
    if first.startswith(b"#!/bin/sh") and rest.startswith(b"'''exec' "):
        return rest.partition(b"\n' '''\n")[2]
    return rest if first.startswith(b"#!") and b"python" in first else None


def _starting(python: str) -> bytes:
    line = f"#!{python}\n".encode(errors="surrogateescape")
    if len(line) <= _LONGEST and " " not in python:
        return line
    return f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n".encode(
        errors="surrogateescape"
    )
