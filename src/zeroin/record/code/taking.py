"""A snapshot under way: list what changed, let in what may go in, write the tree.

It works on a private copy of our index and renames it into place when it is done.
"""

from __future__ import annotations

import contextlib
import os
import re
import zlib

from zeroin.named import NamedTuple
from zeroin.record.code import files
from zeroin.record.code.admission import Admission
from zeroin.record.code.git import (
    CodeError,
    TookTooLongError,
    as_lines,
    entries_in,
    names_in,
    run_git,
)
from zeroin.record.code.rules import write_rules
from zeroin.record.repository import Repository, find_repository, made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from zeroin.record.code.shadow import Shadow

_STORE_FAILS = "No space left|quota|permission for adding|Read-only file system"
_NOTHING = "1" * 40  # the id of no object: an entry that has it is one git must read again
_EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # a tree of nothing: git knows it by itself
_CHUNK = 2_000  # paths per `update-index`: those done before a time-out stay done


class Snapshot(NamedTuple):
    """A tree of the shadow, and what is not in it: `data/big.bin (210 MB: over 5 MB)`."""

    tree: str
    left_out: list[str]


class Taking:
    """One snapshot under way: its private index, its deadline, what it lets in."""

    def __init__(self, shadow: Shadow, deadline: float) -> None:
        self.shadow = shadow
        self.deadline = deadline
        self.place = Repository(shadow.root)
        self.index = os.path.join(shadow.folder, f"work.{os.getpid()}.{os.urandom(4).hex()}")
        self.admission = Admission(shadow)
        self.tree = ""  # of the index we start from; "" if that is new or was cut short
        self.borrowed = 0  # entries of it that came from the user's index

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        files.unlink(self.index)
        files.unlink(self.index + ".lock")

    def only(self, paths: Sequence[str]) -> Snapshot:
        """Record these files alone; the project's index and ignore rules play no part."""
        inside = []
        for path in paths:
            folder, name = os.path.split(os.path.join(self.shadow.root, path))
            seen = os.path.relpath(os.path.join(os.path.realpath(folder), name), self.shadow.root)
            if seen.startswith("../"):
                self.admission.leave_out(path, f"not below {self.shadow.root}")
            else:
                inside.append(seen)
        admitted = self._admit(inside)
        if not admitted:
            return Snapshot(_EMPTY, self.admission.left_out)
        self._add(admitted)
        return Snapshot(self._git("write-tree").decode().strip(), self.admission.left_out)

    def everything(self) -> Snapshot:
        """Record the project: what changed since the last snapshot goes in, the rest is there."""
        shared = self._begin()
        changed, new = self._list_anew()
        drop = [path for path in changed if self.admission.weigh(path) is None]
        add = sorted(set(changed) - set(drop)) + self._admit(new)
        if self.tree and not add and not drop:
            return Snapshot(self.tree, self.admission.left_out)
        self.tree = ""
        try:
            self._remove(drop)
            for start in range(0, len(add), _CHUNK):
                self._add(add[start : start + _CHUNK])
            self.tree = self._write_tree()
        finally:  # also when time is up: the next snapshot goes on from here
            self._publish(shared)
        return Snapshot(self.tree, self.admission.left_out)

    def ignored(self) -> list[str]:
        """List what the rules keep out, folders as a whole."""
        self._begin()
        return names_in(
            self._git("ls-files", "-z", "-o", "-i", "--directory", "--exclude-standard")
        )

    def _begin(self) -> str:
        """Start from the index of the last snapshot, or seed one; give the path it is shared at."""
        self.place = self._find_repository()
        rules = write_rules(self.shadow, self.place)
        facts = repr((self.place, made(self.place), self.shadow.include, rules))
        # The name says under which facts an index was made, so none is taken for another.
        shared = os.path.join(self.shadow.folder, f"index.{zlib.crc32(facts.encode()):08x}")
        try:
            found = files.copy(shared, self.index)
            self.tree, of_index, borrowed, size = files.text(shared + ".tree").split(" ")
            self.borrowed, self.admission.bytes = int(borrowed), int(size)
        except (OSError, ValueError):
            found, of_index = "", "none"
        if found != of_index:  # two at once: what is said is of the other's index
            self._seed()
        return shared

    def _find_repository(self) -> Repository:
        """Find the user's repository; one that ignores our root as a whole is none of ours."""
        found = find_repository(self.shadow.root)
        if found.prefix:
            self.place = found
            with contextlib.suppress(CodeError):  # it is not ignored
                self._git("check-ignore", "-q", ".")
                return Repository(self.shadow.root)
        return found

    def _seed(self) -> None:
        """Start from the user's index, whose stat cache says which files need not be read."""
        self.tree, self.borrowed, self.admission.bytes = "", 0, 0
        files.unlink(self.index)
        files.drop_stale(self.shadow.folder)
        if not self.place.objects:
            return
        try:
            files.copy(os.path.join(self.place.git, "index"), self.index)
            for name in os.listdir(self.place.git):
                if name.startswith("sharedindex."):  # the other half of a split index
                    half = os.path.join(self.place.git, name)
                    files.copy(half, os.path.join(self.shadow.folder, name))
            listed = self._git("ls-files", "-v", "-s", "-z", cwd=self.place.top)
        except TookTooLongError:
            raise
        except (OSError, CodeError):  # there is none yet, or it is not for us (or SHA-256) to read
            files.unlink(self.index)
            return
        doubts = self._doubts([line for line in listed.split(b"\0") if line])
        self._git("update-index", "-z", "--index-info", stdin=doubts)
        self.borrowed = entries_in(self.index)

    def _doubts(self, lines: list[bytes]) -> bytes:
        """Pick the entries of the user's index we can't believe, as `--index-info` reads them.

        An entry is sound if its blob is there and as long as the file is: LFS, CRLF and encryption
        filters make them differ, a prune or a partial clone makes the blob vanish. Entries marked
        assume-unchanged or skip-worktree, or in conflict, say nothing about the file. What lies
        outside the root goes.
        """
        doubts = []
        blobs = b"\n".join(line.split(b" ", 3)[2] for line in lines)
        args = ("cat-file", "--batch-check=%(objectsize)")
        sizes = self._git(*args, stdin=blobs, borrow=self.place.objects).splitlines()
        for line, size in zip(lines, sizes, strict=True):
            about, path = line.split(b"\t", 1)
            tag, mode, _ = about.split(b" ", 2)
            inside = path.startswith(os.fsencode(self.place.prefix))
            if inside and tag == b"H":
                full = os.path.join(self.place.top, os.fsdecode(path))
                if mode == b"160000" or size == b"%d" % files.length(full):
                    continue
            doubts += [b"0 %s\t%s\0" % (_NOTHING.encode(), path)]
            doubts += [b"%s %s\t%s\0" % (mode, _NOTHING.encode(), path)] if inside else []
        return b"".join(doubts)

    def _list_anew(self) -> tuple[list[str], list[str]]:
        """List after a new start, if our index is broken or holds what may be ignored by now."""
        try:
            changed, new = self._list()
            if not (self.tree and any(path.endswith(".gitignore") for path in changed + new)):
                return changed, new
        except TookTooLongError:
            raise
        except CodeError:
            pass
        self._seed()
        return self._list()

    def _list(self) -> tuple[list[str], list[str]]:
        """List the files of our index that changed or are gone, and the files it doesn't know."""
        args = ("ls-files", "-t", "-z", "-m", "-d", "-o", "--exclude-standard")
        lines = names_in(self._git(*args))
        changed = dict.fromkeys(line[2:] for line in lines if line[0] != "?")
        new = dict.fromkeys(line[2:] for line in lines if line[0] == "?")
        if self.shadow.include:
            wanted = [f":(glob){pattern}" for pattern in self.shadow.include]
            new |= dict.fromkeys(names_in(self._git("ls-files", "-z", "-o", "--", *wanted)))
        return list(changed), list(new)

    def _admit(self, new: list[str]) -> list[str]:
        """Choose among files the user's git doesn't track."""
        return self.admission.admit(new, entries_in(self.index) - self.borrowed)

    def _add(self, paths: list[str]) -> None:
        """Bring the index up to date with these files; the ones git can't take are left out."""
        if not paths:
            return
        try:
            args = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
            self._git(*args, stdin=as_lines(paths))
        except TookTooLongError:
            raise
        except CodeError as error:
            if re.search(_STORE_FAILS, str(error)):
                raise
            if len(paths) == 1:
                self._remove(paths)
                self.admission.leave_out(paths[0], str(error))
                return
            # One bad path fails the call as a whole and leaves the index as it was: halve.
            self._add(paths[: len(paths) // 2])
            self._add(paths[len(paths) // 2 :])

    def _remove(self, paths: list[str]) -> None:
        if paths:
            self._git("update-index", "-z", "--force-remove", "--stdin", stdin=as_lines(paths))

    def _write_tree(self) -> str:
        """Write the trees. Blobs are not looked for: the borrowed ones are elsewhere."""
        # Git can't give the tree of a prefix without files; all there is then is the empty tree.
        prefix = self.place.prefix if entries_in(self.index) else ""
        where = [f"--prefix={prefix}"] if prefix else []
        return self._git("write-tree", "--missing-ok", *where).decode().strip()

    def _publish(self, shared: str) -> None:
        with contextlib.suppress(OSError):  # an index lost costs time, nothing else
            identity = files.identity(os.stat(self.index))
            os.replace(self.index, shared)
            about = f"{self.tree} {identity} {self.borrowed} {self.admission.bytes}"
            files.write(self.shadow.folder, os.path.basename(shared) + ".tree", about)

    def _git(self, *args: str, cwd: str = "", borrow: str = "", stdin: bytes = b"") -> bytes:
        """Run git on the project. Without `borrow`, or it would touch the user's objects' times."""
        return run_git(
            self.shadow.folder,
            *args,
            index=self.index,
            work_tree=self.place.top,
            cwd=cwd or self.shadow.root,
            borrow=borrow,
            stdin=stdin,
            deadline=self.deadline,
        )
