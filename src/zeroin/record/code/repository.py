"""The user's own repository: where it lies, and whether it is the one we know."""

from __future__ import annotations

import contextlib
import os

from zeroin.named import NamedTuple
from zeroin.record.code import files


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
    """Walk up to the user's repository, as git does."""
    top = root
    while True:
        git = _git_folder(os.path.join(top, ".git"))
        if git:
            break
        if top == os.path.dirname(top):
            return Repository(root)
        top = os.path.dirname(top)
    common = git
    with contextlib.suppress(OSError):  # a linked worktree
        common = os.path.normpath(
            os.path.join(git, files.text(os.path.join(git, "commondir")).strip())
        )
    prefix = "" if top == root else os.path.relpath(root, top) + "/"
    objects = os.path.join(common, "objects")
    return Repository(top, prefix, git, common, objects if os.path.isdir(objects) else "")


def made(place: Repository) -> str:
    """Tell a repository from another made at the same path later (its inodes may be the same)."""
    with contextlib.suppress(OSError):
        return files.identity(os.stat(os.path.join(place.common, "config"))) if place.common else ""
    return ""


def _git_folder(path: str) -> str:
    """Give the folder behind a `.git`, which may be a file that names it; "" if it is none."""
    with contextlib.suppress(OSError):
        line = files.text(path)
        path = os.path.join(os.path.dirname(path), line.removeprefix("gitdir: ").strip())
    path = os.path.normpath(path)
    return path if os.path.exists(os.path.join(path, "HEAD")) else ""
