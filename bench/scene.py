"""The place measurements happen in: a folder that vanishes, an environment without surprises.

The user's own records, settings and git configuration play no part and are not touched.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Self

# As large as the repository of the first measurements (1,704 files), and of its shape.
FILES = 1704
FOLDERS = 142
AGE = 100_000  # seconds: git reads files again that are as young as its index
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


class Scene:
    """Folders, projects, commands and how often to run them."""

    def __init__(self, *, rounds: int | None, quick: bool, peers: bool) -> None:
        self.quick = quick
        self.peers = peers
        self.asked = rounds  # None if nobody said how many
        self.rounds = rounds or (5 if quick else 25)
        self.python = sys.executable
        self.zeroin = os.path.join(os.path.dirname(sys.executable), "zeroin")

    def __enter__(self) -> Self:
        self._temporary = tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True)
        self.folder = self._temporary.name
        self.env = self._environment()
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.cleanup()

    def _environment(self) -> dict[str, str]:
        """Ours, without what changes how Python, git or zeroin behave."""
        drop = ("ZEROIN_", "PYTHON", "GIT_", "XDG_")
        env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
        return env | {"HOME": self.make("home"), "XDG_STATE_HOME": self.make("state")}

    def make(self, name: str) -> str:
        """Give a folder of that name, made when it is not there."""
        path = os.path.join(self.folder, name)
        os.makedirs(path, exist_ok=True)
        return path

    def program(self, name: str) -> str:
        """Give a program that is measured, in a folder outside of any project."""
        target = os.path.join(self.make("programs"), name)
        if not os.path.exists(target):
            shutil.copy(os.path.join(PROGRAMS, name), target)
        return target

    def project(self, name: str, files: int, *, git: bool = True) -> str:
        """Make a project of so many source files, all committed."""
        root = os.path.join(self.folder, name)
        if os.path.isdir(root):
            return root
        for number in range(files):
            path = os.path.join(root, f"package{number % FOLDERS}", f"module{number}.py")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            line = f"def function_{number}(value):\n    return value + {number}\n\n"
            with open(path, "w", encoding="utf-8") as file:
                file.write(line * (10 + number % 90))
            made = os.stat(path).st_mtime - AGE
            os.utime(path, (made, made))
        if git:
            who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
            for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "all of it")):
                subprocess.run(["git", *words], cwd=root, env=self.env, check=True)
        else:
            os.mkdir(os.path.join(root, ".zeroin"))
        return root

    def big_project(self) -> str:
        """Give the repository of 1,704 files."""
        return self.project("big", FILES)

    def copied(self, name: str, source: str) -> str:
        """Copy a project as `cp -r` does: same contents, but all times are new to git."""
        root = os.path.join(self.folder, name)
        if not os.path.isdir(root):
            left_out = shutil.ignore_patterns(".zeroin")
            shutil.copytree(source, root, copy_function=shutil.copy, ignore=left_out)
        return root

    def edit(self, root: str) -> None:
        """Change one file of a project, as a user does between two runs."""
        path = os.path.join(root, "package1", "module1.py")
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"# {os.urandom(8).hex()}\n")


def interpreters() -> dict[str, str]:
    """Find every CPython from 3.9 on that can be started here: its version, its path."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    paths = [os.path.realpath(sys.executable), *glob.glob(f"{root}/versions/3.*/bin/python3")]
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        names = glob.glob(f"{folder}/python3*")
        paths += [name for name in names if re.search(r"/python3(\.\d+)?$", name)]
    found: dict[tuple[int, ...], str] = {}
    for path in paths:
        version = _version(os.path.realpath(path))
        if version and version >= (3, 9):
            found.setdefault(version, os.path.realpath(path))
    return {".".join(map(str, version)): found[version] for version in sorted(found)}


def _version(path: str) -> tuple[int, ...] | None:
    ask = "import sys; print(*sys.version_info[:3], sys.implementation.name)"
    if not os.access(path, os.X_OK) or "shims" in path:
        return None
    try:
        said = subprocess.run(
            [path, "-I", "-c", ask], capture_output=True, text=True, timeout=20, check=True
        ).stdout.split()
        return tuple(map(int, said[:3])) if said[3:] == ["cpython"] else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
