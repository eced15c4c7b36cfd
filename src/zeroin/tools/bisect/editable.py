"""An environment for each state of a project's requirements, with the project itself as editable.

It is made once and kept: commits that require the same share it, since what it holds of the
project is only where that is, and each try sees its commit there. If installing the project builds
something, there is one for each state of what is built (`axes.commits.built`), and what the build
left in the tree is kept with it.
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import json
import os
import re
import shutil
import tomllib

from zeroin.axes.commits import built
from zeroin.errors import UntestableError
from zeroin.named import NamedTuple
from zeroin.run.apart import spawn_apart
from zeroin.run.environment import users
from zeroin.run.package_cache import mark_used

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from zeroin.axes.commits.worktree import Worktree
    from zeroin.cycle import Cycle
    from zeroin.run.apart import View
    from zeroin.run.uv import Uv

LISTS = ("requirements.txt", "*requirements*.txt", "requirements/*.txt")
STATE = ("pyproject.toml", "setup.py", "setup.cfg", "uv.lock", "poetry.lock", *LISTS[1:])
MADE = ".made"
LEFT = ".left"  # by a build, in the tree
COMPILED = (".so", ".pyd")
_CACHED_BY = ("pyproject.toml", "setup.py", "setup.cfg")  # their times: uv builds no second time
_PROJECT = re.compile(r"^\[(project|build-system|tool\.poetry)\]", re.MULTILINE)
_BYPRODUCT = re.compile(r"(?:^|/)(?:[^/]*\.egg-info|__pycache__)/")


class Editable(NamedTuple):
    """How environments are made."""

    uv: Uv
    python: str
    cache: str  # where they are kept
    also: tuple[str, ...] = ()  # further requirements
    builds: bool = True  # what is compiled is a matter of ours

    def _folder(self, tree: str, root: str) -> str:
        """The one for a state of the requirements."""
        state = hashlib.sha256(repr((root, self.python, self.also, self.builds)).encode())
        for pattern in STATE:
            for path in sorted(glob.glob(os.path.join(glob.escape(tree), pattern))):
                with open(path, "rb") as file:
                    state.update(b"\0%s\0" % path[len(tree) :].encode() + file.read())
        return os.path.join(self.cache, state.hexdigest()[:24])

    def made(self, tree: Worktree, view: View, log: str) -> str:
        """A folder with the environment for what the tree is at; what is built is in the tree."""
        first = self._folder(tree.folder, view.root)
        told = self._known(first, tree, view, log)
        if not told["state"]:
            return first
        state = built.state(tree.folder, tree.files())
        folder = first if told["state"] == state else f"{first}-{state}"
        self._known(folder, tree, view, log)
        left = os.path.join(folder, LEFT)
        if os.path.isdir(left):
            shutil.copytree(left, tree.folder, symlinks=True, dirs_exist_ok=True)
        return folder

    def _known(self, folder: str, tree: Worktree, view: View, log: str) -> dict[str, Any]:
        """What is told of an environment; one at a time makes it."""
        os.makedirs(self.cache, exist_ok=True)
        path = os.path.join(folder, MADE)
        with open(f"{folder}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(path):
                shutil.rmtree(folder, ignore_errors=True)
                told = self._made(folder, tree, view, log)
                with open(f"{path}.part", "w", encoding="utf-8") as file:
                    json.dump(told, file)
                os.rename(f"{path}.part", path)
            mark_used(folder)
            with open(path, encoding="utf-8") as file:
                found: dict[str, Any] = json.load(file)
                return found

    def _made(self, folder: str, tree: Worktree, view: View, log: str) -> dict[str, Any]:
        before = tree.others()
        for name in _CACHED_BY:
            path = os.path.join(tree.folder, name)
            if os.path.exists(path):
                os.utime(path, ns=(os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns))
        self._fill(folder, tree.folder, view, log)
        left = sorted(one for one in tree.others() - before if not _BYPRODUCT.search(one))
        if not self.builds or not (left or _has_compiled(folder)):
            return {"state": ""}
        for name in left:
            target = os.path.join(folder, LEFT, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(os.path.join(tree.folder, name), target, follow_symlinks=False)
        return {"state": built.state(tree.folder, tree.files())}

    def _fill(self, folder: str, tree: str, view: View, log: str) -> None:
        wanted = [*_required(tree), *self.also]
        if not wanted:
            raise UntestableError(
                "nothing says what it requires: no pyproject.toml, setup.py or requirements.txt",
                hint="leave --editable out",
            )
        python = os.path.join(folder, "bin", "python")
        install = ("pip", "install", "--quiet", "--python", python)
        self._call(("venv", "--quiet", "--python", self.python, folder), view, log)
        needed = _needed_by_the_loader(tree)
        if needed:
            self._call((*install, *needed), view, log)
            wanted.append("--no-build-isolation")
        self._call((*install, *wanted), view, log)

    def _call(self, words: Iterable[str], view: View, log: str) -> None:
        with open(log, "wb") as file:
            command, env = self.uv.command(*words)
            env["TMPDIR"] = os.path.dirname(log)  # what it leaves there goes with us
            out = file.fileno()
            pid = spawn_apart(command, view.root, env, out, out, view)
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            with open(log, encoding="utf-8", errors="replace") as told:
                lines = [line.strip() for line in told if line.strip()]
            why = lines[-1] if lines else f"exit code {code}"
            raise UntestableError(f"what it requires can't be installed: {why}")


def _required(tree: str) -> list[str]:
    """What uv is to install for a state: the project itself, else what is listed."""
    is_old = any(os.path.exists(os.path.join(tree, name)) for name in ("setup.py", "setup.cfg"))
    if is_old or _PROJECT.search(built.text_of(os.path.join(tree, "pyproject.toml"))):
        return ["--editable", "."]
    for pattern in LISTS:
        found = sorted(glob.glob(os.path.join(glob.escape(tree), pattern)))
        if found:
            return [word for path in found for word in ("-r", os.path.relpath(path, tree))]
    return []


def _needed_by_the_loader(tree: str) -> list[str]:
    """What meson-python needs when the project is imported, too: it looks whether to build."""
    try:
        system = tomllib.loads(built.text_of(os.path.join(tree, "pyproject.toml"))).get(
            "build-system", {}
        )
    except tomllib.TOMLDecodeError:
        return []  # uv will say so
    if system.get("build-backend") != "mesonpy":
        return []
    return [*system.get("requires", ()), "ninja"]


def _has_compiled(folder: str) -> bool:
    """Whether the environment itself has compiled parts of the project."""
    for path in glob.glob(os.path.join(glob.escape(folder), "lib*/python*/site-packages/*/RECORD")):
        told = built.text_of(os.path.join(os.path.dirname(path), "direct_url.json"))
        names = (line.partition(",")[0] for line in built.text_of(path).splitlines())
        if '"editable"' in told and any(name.endswith(COMPILED) for name in names):
            return True
    return False


def active(folder: str, cycle: Cycle, environ: Mapping[str, str]) -> Cycle:
    """The command as it is run with an environment active."""
    programs = os.path.join(folder, "bin")
    before = users(cycle, environ).get("PATH", "")
    env = {
        **cycle.env,
        "PATH": os.pathsep.join(filter(None, (programs, before))),
        "VIRTUAL_ENV": folder,
        "PYTHONHOME": None,
    }
    first = os.path.join(programs, os.path.basename(cycle.command[0]))
    if os.sep in cycle.command[0] and os.path.exists(first):
        return cycle._replace(env=env, command=(first, *cycle.command[1:]))
    return cycle._replace(env=env)
