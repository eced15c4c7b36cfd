"""The shadow itself: what can be asked of it, and the repository it is."""

from __future__ import annotations

import os
import re
import time

from zeroin.record.code import files
from zeroin.record.code.changes import Change, parse_changes
from zeroin.record.code.git import CodeError, check_object_name, names_in, run_git
from zeroin.record.code.taking import Snapshot, Taking
from zeroin.record.repository import REFTABLE, find_repository, read_head

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

# Bytes go in and come out as they are: no line endings, no LFS, no keywords, no encodings.
_RAW = "* -text -filter -ident -working-tree-encoding\n"
_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
_FOLDERS = ("", "objects", "objects/info", "objects/pack", "refs", "refs/attempts", "info")
# What would lead git to other settings or objects; we make none of them.
_NEVER_OURS = (
    "commondir",
    "config.worktree",
    "info/grafts",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "shallow",
)
_GONE = "bad object|unable to read|[Nn]ot a valid|missing|could not get|bad file"


class Shadow:
    """The snapshots of one project, kept in `<folder>/code.git`; `include` re-admits ignored files.

    `max_file` and `max_total` are bytes, `max_files` bounds the files the user's git doesn't track.
    """

    def __init__(
        self,
        folder: str,
        root: str,
        *,
        max_file: int = 5_000_000,
        max_total: int = 200_000_000,
        max_files: int = 20_000,
        include: Sequence[str] = (),
    ) -> None:
        self.folder = os.path.join(os.path.realpath(folder), "code.git")
        self.root = os.path.realpath(root)
        self.max_file = max_file
        self.max_total = max_total
        self.max_files = max_files
        self.include = tuple(include)
        self._is_sound = False

    def snapshot(self, paths: Sequence[str] | None = None, timeout: float = 5.0) -> Snapshot:
        """Record the project's files, or only `paths` below the root, within `timeout` seconds."""
        self._create()
        with Taking(self, time.monotonic() + timeout) as taking:
            return taking.everything() if paths is None else taking.only(paths)

    def keep(self, name: str, tree: str) -> None:
        """Protect a snapshot from `gc` under this name, until the name is forgotten."""
        check_object_name(tree)
        self._check()
        files.write(self.folder, self._ref(name), tree + "\n")

    def forget(self, names: Iterable[str]) -> None:
        """Let `gc` have what these names protect."""
        self._check()
        for name in names:
            files.unlink(os.path.join(self.folder, self._ref(name)))

    def gc(self, timeout: float = 600.0) -> None:
        """Pack what is kept and give back the space of the rest, but for the last two hours.

        Not `git gc`: that fails for good once a borrowed object is gone. The indexes go first,
        since they may name what goes next; the snapshot that makes one anew also looks again at
        what can still be borrowed.
        """
        if not os.path.isdir(self.folder):
            return
        self._check()
        for name in os.listdir(self.folder):
            if name.startswith("index."):
                files.unlink(os.path.join(self.folder, name))
        files.drop_stale(self.folder)
        deadline = time.monotonic() + timeout
        # Nothing is borrowed here, so what is marked as missing is what isn't ours.
        args = ("rev-list", "--objects", "--all", "--missing=print")
        listed = run_git(self.folder, *args, deadline=deadline).split(b"\n")
        ours = b"\n".join(line for line in listed if not line.startswith(b"?"))
        packs = os.path.join(self.folder, "objects/pack/pack")
        args = ("pack-objects", "--quiet", "--non-empty", packs)
        pack = run_git(self.folder, *args, stdin=ours, deadline=deadline).decode().strip()
        files.sweep(os.path.join(self.folder, "objects"), f"pack-{pack}.")

    def changes(self, old: str, new: str) -> list[Change]:
        """Say which files differ between two trees, in the order of their names."""
        check_object_name(old), check_object_name(new)
        args = ("-r", "-z", "-M", "--raw", "--numstat", old, new)
        return parse_changes(self._read("diff-tree", *args))

    def patch(self, old: str, new: str, *, binary: bool = False, paths: Sequence[str] = ()) -> str:
        """Give the difference as `git apply` takes it; what isn't UTF-8 becomes surrogates."""
        check_object_name(old), check_object_name(new)
        how = ("--binary", "--full-index") if binary else ()
        literal = [f":(literal){path}" for path in paths]
        return os.fsdecode(
            self._read("diff-tree", "-r", "-p", "-M", *how, old, new, "--", *literal)
        )

    def read(self, tree: str, path: str) -> bytes:
        """Give one file's content; of a symbolic link, where it points."""
        return self._read("cat-file", "blob", f"{check_object_name(tree)}:{path}")

    def files(self, tree: str) -> list[str]:
        """List the paths of a snapshot."""
        args = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", check_object_name(tree))
        return names_in(self._read(*args))

    def entries(self, tree: str) -> dict[str, tuple[str, str]]:
        """Give the mode and the blob of each path of a snapshot."""
        args = ("ls-tree", "-r", "-z", "--full-tree", check_object_name(tree))
        listed = names_in(self._read(*args))
        pairs = (line.split("\t", 1) for line in listed)
        return {path: (about.split()[0], about.split()[2]) for about, path in pairs}

    def blobs(self, names: Sequence[str]) -> dict[str, bytes]:
        """Give the contents of blobs, all at once."""
        told = self._read(
            "cat-file", "--batch", stdin="\n".join(map(check_object_name, names)).encode()
        )
        found, at = {}, 0
        for name in names:
            start = told.index(b"\n", at) + 1
            at = start + int(told[at:start].split()[2]) + 1
            found[name] = told[start : at - 1]
        return found

    def checkout(self, tree: str, folder: str) -> None:
        """Export a snapshot into a new or empty folder, with modes and symbolic links."""
        check_object_name(tree)
        os.makedirs(folder, exist_ok=True)
        if os.listdir(folder):
            raise CodeError(f"{folder} is not empty: give a new folder for the checkout")
        with Taking(self, 0.0) as taking:
            self._read("read-tree", tree, index=taking.index)
            self._read("checkout-index", "--all", index=taking.index, work_tree=folder)

    def ignored(self, timeout: float = 5.0) -> list[str]:
        """List the topmost ignored files and folders (`data/`) of the project."""
        self._create()
        with Taking(self, time.monotonic() + timeout) as taking:
            return taking.ignored()

    def base_commit(self) -> str | None:
        """Name the commit the user's work is based on; None without git or before the first."""
        place = find_repository(self.root)
        head = read_head(place)
        if head != REFTABLE:
            return head
        try:
            return run_git(place.git, "rev-parse", "--verify", "HEAD").decode().strip()
        except CodeError:
            return None

    def _create(self) -> None:
        """Make the repository by hand: `git init` would take longer than the snapshot."""
        if files.length(os.path.join(self.folder, "HEAD")) <= 0:
            for name in _FOLDERS:
                os.makedirs(os.path.join(self.folder, name), mode=0o700, exist_ok=True)
            files.write(self.folder, "HEAD", "ref: refs/heads/none\n")
        self._check()

    def _check(self) -> None:
        """See to it that git finds our settings and attributes, and nothing that leads elsewhere.

        All of it is ours; but what git is told there makes it run programs.
        """
        if self._is_sound or not os.path.lexists(self.folder):
            return
        for name in _FOLDERS:
            path = os.path.join(self.folder, name)
            if os.path.islink(path):
                raise CodeError(f"{path} is a link: the record is damaged")
        for name in _NEVER_OURS:
            files.unlink(os.path.join(self.folder, name))
        for name, text in (("config", _CONFIG), ("info/attributes", _RAW)):
            if not files.holds(os.path.join(self.folder, name), text):
                files.write(self.folder, name, text)
        self._is_sound = True

    def _ref(self, name: str) -> str:
        if not re.fullmatch(r"\w+([.-]\w+)*", name, re.ASCII) or name.endswith(".lock"):
            raise CodeError(f"{name!r} can't name a snapshot: use letters, digits, - and _")
        return os.path.join("refs/attempts", name)

    def _read(self, *args: str, **options: Any) -> bytes:
        """Run git on what is recorded: needs no project, hears no `.gitattributes`."""
        self._check()
        try:
            return run_git(self.folder, *args, borrow=find_repository(self.root).objects, **options)
        except CodeError as error:
            if not re.search(_GONE, str(error)):
                raise
            raise CodeError(
                "part of that code is gone: it was borrowed from the project's own git repository,"
                f" which has moved or dropped it ({error})"
            ) from None
