"""The user's own repository: where it lies, and whether it is the one we know."""

from __future__ import annotations

import os
import re

from zeroin.named import NamedTuple
from zeroin.record.ownership import is_owned_by, owners_around

_OBJECT = r"[0-9a-f]{40}([0-9a-f]{24})?"
REFTABLE = "refs/heads/.invalid"  # what HEAD names where only git can read the refs
_LONGEST_CHAIN = 5  # of refs that name others, as git has it


class Repository(NamedTuple):
    """Where the code lies: git's work tree, the root inside it ("" or "sub/"), the user's git.

    `git` has the user's index, `common` the rest (they differ in a linked worktree); `objects` is
    what we can borrow from.
    """

    top: str
    prefix: str = ""
    git: str = ""
    common: str = ""
    objects: str = ""


def find_repository(root: str) -> Repository:
    """Walk up to the user's repository, as git does; past those that other users have put there."""
    top, owners = root, owners_around(root)
    while True:
        path = os.path.join(top, ".git")
        git = _git_folder(path) if is_owned_by(path, owners) else ""
        if git:
            break
        if top == os.path.dirname(top):
            return Repository(root)
        top = os.path.dirname(top)
    told = _read(os.path.join(git, "commondir")).strip()  # of a linked worktree
    common = os.path.normpath(os.path.join(git, told)) if told else git
    prefix = "" if top == root else os.path.relpath(root, top) + "/"
    objects = os.path.join(common, "objects")
    return Repository(top, prefix, git, common, objects if os.path.isdir(objects) else "")


def made(place: Repository) -> str:
    """Tell a repository from another made at the same path later (its inodes may be the same)."""
    try:
        info = os.stat(os.path.join(place.common, "config"))
    except OSError:
        return ""
    return f"{info.st_ino}:{info.st_mtime_ns}" if place.common else ""


def read_head(place: Repository) -> str | None:
    """The commit that the user's work is based on; None without git or before the first.

    Git's own files say it: a git that runs in that repository would hear its settings. `REFTABLE`
    if they are none that we can read.
    """
    name = "HEAD"
    for _ in range(_LONGEST_CHAIN if place.git else 0):
        found = _read_ref(place, name)
        if re.fullmatch(_OBJECT, found):
            return found
        if not found.startswith("ref: "):
            return None
        name = found.removeprefix("ref: ").strip()
        if name == REFTABLE:
            return name
    return None


def _read_ref(place: Repository, name: str) -> str:
    for folder in dict.fromkeys((place.git, place.common)):
        found = _read(os.path.join(folder, name)).strip()
        if found:
            return found
    for line in _read(os.path.join(place.common, "packed-refs")).splitlines():
        commit, _, packed = line.partition(" ")
        if packed == name:
            return commit
    return ""


def _git_folder(path: str) -> str:
    """Give the folder behind a `.git`, which may be a file that names it; "" if it is none."""
    line = _read(path)
    if line:
        path = os.path.join(os.path.dirname(path), line.removeprefix("gitdir: ").strip())
    path = os.path.normpath(path)
    return path if os.path.exists(os.path.join(path, "HEAD")) else ""


def _read(path: str) -> str:
    """A file of git's whole; "" if there is none, or something else."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""
