"""Where the record lies: `.zeroin/` at the project's root, found the way git finds its own."""

from __future__ import annotations

import os

from zeroin.digest import digest
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = ".zeroin"
MARKS = (FOLDER, ".git", "pyproject.toml", "setup.py", "setup.cfg")


class Place(NamedTuple):
    """A project and the folder of its record. Outside of projects `root` is None."""

    root: str | None
    folder: str
    note: str = ""  # why the record does not lie in the project, if it does not


def find(cwd: str, environ: Mapping[str, str] = os.environ) -> Place:
    """The project that `cwd` belongs to."""
    root = find_root(cwd, environ.get("HOME", ""))
    if root is None:
        return Place(None, os.path.join(state_home(environ), "loose"))
    folder = os.path.join(root, FOLDER)
    if os.access(folder if os.path.isdir(folder) else root, os.W_OK):
        return Place(root, folder)
    elsewhere = os.path.join(state_home(environ), "projects", name_of(root))
    return Place(root, elsewhere, f"{root} can't be written to")


def find_root(cwd: str, home: str) -> str | None:
    """The nearest folder upwards that looks like a project; never the home folder or /."""
    folder = os.path.abspath(cwd)
    while folder not in ("/", home):
        if any(os.path.exists(os.path.join(folder, mark)) for mark in MARKS):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return None


def state_home(environ: Mapping[str, str]) -> str:
    """`$XDG_STATE_HOME/zeroin`."""
    home = environ.get("HOME") or os.path.expanduser("~")
    base = environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    return os.path.join(base, "zeroin")


def name_of(root: str) -> str:
    """A folder's name for a project: its own, and a hash that tells it from its namesakes."""
    return f"{os.path.basename(root) or 'root'}-{digest(root, 6)}"


def make(path: str) -> None:
    """`KIND/NAME` in the folder of a record, and that as well."""
    prepare(os.path.dirname(os.path.dirname(path)))
    os.makedirs(path, exist_ok=True)


def prepare(folder: str) -> None:
    """Make the folder, private, and such that git never sees it."""
    if os.path.exists(os.path.join(folder, ".gitignore")):
        return
    os.makedirs(folder, mode=0o700, exist_ok=True)
    with open(os.path.join(folder, ".gitignore"), "w", encoding="utf-8") as file:
        file.write("# Made by zeroin: attempts are kept here and never committed.\n*\n")
