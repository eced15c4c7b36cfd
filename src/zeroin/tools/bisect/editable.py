"""An environment for each state of a project's requirements, with the project itself as editable.

It is made once and kept: commits that require the same share it, since what it holds of the
project is only where that is, and each try sees its commit there.
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import os
import re
import shutil
from typing import TYPE_CHECKING

from zeroin.errors import UntestableError
from zeroin.named import NamedTuple
from zeroin.run.apart import spawn_apart
from zeroin.run.environment import users

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.cycle import Cycle
    from zeroin.run.apart import View
    from zeroin.run.uv import Uv

LISTS = ("requirements.txt", "*requirements*.txt", "requirements/*.txt")
STATE = ("pyproject.toml", "setup.py", "setup.cfg", "uv.lock", "poetry.lock", *LISTS[1:])
MADE = ".made"
BUILT_BY = ("pyproject.toml", "setup.py")
_PROJECT = re.compile(r"^\[(project|build-system|tool\.poetry)\]", re.MULTILINE)
_COMPILED = re.compile(
    r"\b(ext_modules|ext-modules|rust_extensions|cffi_modules|mypycify)\b"
    r"|^build-backend *= *[\"'](?P<backend>mesonpy|maturin|scikit_build_core)",
    re.MULTILINE,
)


class Editable(NamedTuple):
    """How environments are made."""

    uv: Uv
    python: str
    cache: str  # where they are kept
    also: tuple[str, ...] = ()  # further requirements

    def folder(self, tree: str, root: str) -> str:
        """The one for a state of the project."""
        state = hashlib.sha256(repr((root, self.python, self.also)).encode())
        for pattern in STATE:
            for path in sorted(glob.glob(os.path.join(glob.escape(tree), pattern))):
                with open(path, "rb") as file:
                    state.update(b"\0%s\0" % path[len(tree) :].encode() + file.read())
        return os.path.join(self.cache, state.hexdigest()[:24])

    def made(self, tree: str, view: View, log: str) -> str:
        """That folder, with an environment in it; one at a time makes it."""
        folder = self.folder(tree, view.root)
        os.makedirs(self.cache, exist_ok=True)
        with open(f"{folder}.lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(os.path.join(folder, MADE)):
                shutil.rmtree(folder, ignore_errors=True)
                self._fill(folder, view, [*_required(tree), *self.also], log)
                with open(os.path.join(folder, MADE), "w", encoding="utf-8"):
                    pass
        return folder

    def _fill(self, folder: str, view: View, wanted: Sequence[str], log: str) -> None:
        if not wanted:
            raise UntestableError(
                "nothing says what it requires: no pyproject.toml, setup.py or requirements.txt",
                hint="leave --editable out",
            )
        python = os.path.join(folder, "bin", "python")
        for words in (
            ("venv", "--quiet", "--python", self.python, folder),
            ("pip", "install", "--quiet", "--python", python, *wanted),
        ):
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
    if is_old or _PROJECT.search(_read(os.path.join(tree, "pyproject.toml"))):
        return ["--editable", "."]
    for pattern in LISTS:
        found = sorted(glob.glob(os.path.join(glob.escape(tree), pattern)))
        if found:
            return [word for path in found for word in ("-r", os.path.relpath(path, tree))]
    return []


def builder(project: str, setup: str) -> list[str]:
    """Options that build the compiled parts of each commit; none if there are no such parts.

    An environment is shared by many commits, so what is compiled can't be in it. The texts are
    those of the two files that say how a project is built.
    """
    found = _COMPILED.search(project) or _COMPILED.search(setup)
    if found is None:
        return []
    if setup and not found["backend"]:
        return ["--with", "setuptools", "--build", "python setup.py build_ext --inplace"]
    return ["--build", "CMD"]


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


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
