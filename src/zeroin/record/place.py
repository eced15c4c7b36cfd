"""Where the record lies: `.zeroin/` at the project's root, found the way git finds its own.

A folder outside of projects has a record of its own below the user's state folder. If the
project's folder is not surely ours (`trust`), its record lies there as well.
"""

from __future__ import annotations

import os
import stat

from zeroin.digest import digest
from zeroin.named import NamedTuple
from zeroin.record.ownership import is_owned_by, name_user, owners_around

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = ".zeroin"
STORE = "store.db"
FOLDERS = "folders"  # records of folders outside of projects
PROJECTS = "projects"  # records of projects whose own can't be used
SHARED = "loose"  # the one record that all of those had once
MARKS = (FOLDER, ".git", "pyproject.toml", "setup.py", "setup.cfg")


class Place(NamedTuple):
    """A project and the folder of its record. Outside of projects `root` is None."""

    root: str | None
    folder: str
    note: str = ""  # why the record does not lie in the project, if it does not
    hint: str = ""  # and what to do about that


def find(cwd: str, environ: Mapping[str, str] = os.environ) -> Place:
    """The project that `cwd` belongs to; a record that lies there itself is meant by that."""
    from zeroin.record import trust  # not for a run that keeps nothing

    state = own_state(environ)
    cwd = os.path.abspath(cwd)
    if cwd.startswith(os.path.join(state, "")) and os.path.exists(os.path.join(cwd, STORE)):
        return Place(None, cwd)
    root = find_root(cwd, environ.get("HOME", ""))
    if root is None:
        return Place(None, os.path.join(state, FOLDERS, name_of(cwd)))
    folder = os.path.join(os.path.realpath(root), FOLDER)
    fault = trust.find_fault(folder, state)
    if fault is None:
        return Place(root, folder)
    elsewhere = os.path.join(state, PROJECTS, name_of(root))
    return Place(root, elsewhere, fault.why, fault.hint)


def find_root(cwd: str, home: str) -> str | None:
    """The nearest folder upwards that looks like a project; never the home folder or /.

    What another user has put into a folder above makes no project of it.
    """
    folder = os.path.abspath(cwd)
    owners = owners_around(folder)
    while folder not in ("/", home):
        for mark in MARKS:
            path = os.path.join(folder, mark)
            if os.path.exists(path) and is_owned_by(path, owners):
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


def own_state(environ: Mapping[str, str]) -> str:
    """`state_home`, or that of our own account if the variables lead into another user's folder.

    So it is where `sudo` keeps HOME, or where HOME is a folder for all.
    """
    state = state_home(environ)
    above = os.path.realpath(state)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if is_owned_by(above, (os.geteuid(), 0)):
        return state
    import pwd

    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return state
    return os.path.join(home, ".local", "state", "zeroin")


def name_of(root: str) -> str:
    """A folder's name for a project: its own, and a hash that tells it from its namesakes."""
    return f"{os.path.basename(root) or 'root'}-{digest(root, 6)}"


def make(path: str) -> None:
    """`KIND/NAME` in the folder of a record, and that as well; no link may stand in their place."""
    kind = os.path.dirname(path)
    prepare(os.path.dirname(kind))
    for folder in (kind, path):
        make_folder(folder)


def make_folder(path: str) -> None:
    """Make one folder in a record, if it is not there; what is no folder of ours is an error."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        _check_ours(path)


def open_unlinked(path: str, flags: int) -> int:
    """As `opener` of `open`: a file for us alone, never what a link leads to, nor a FIFO's end."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)


def prepare(folder: str) -> None:
    """Make the folder, private, and such that git never sees it; one in a project gets an id."""
    from zeroin.record import trust

    ignored = os.path.join(folder, trust.IGNORED)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    _check_ours(folder)
    if not os.path.lexists(ignored):
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(ignored, flags, 0o600), "w", encoding="utf-8") as file:
            file.write("# Made by zeroin: attempts are kept here and never committed.\n*\n")
    if os.path.basename(folder) == FOLDER and not os.path.lexists(os.path.join(folder, trust.ID)):
        trust.give_id(folder, own_state(os.environ))


def _check_ours(folder: str) -> None:
    info = os.lstat(folder)
    if not stat.S_ISDIR(info.st_mode):
        raise NotADirectoryError(
            f"{folder} is {'a link' if stat.S_ISLNK(info.st_mode) else 'no folder'}"
        )
    if info.st_uid != os.geteuid():
        raise PermissionError(f"{folder} belongs to {name_user(info.st_uid)}")
