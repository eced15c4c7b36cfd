"""A folder that holds one mixture of two versions after the other, and nothing of what ran."""

from __future__ import annotations

import os
import shutil
import stat
import zlib

from zeroin.axes.changes.code import EXECUTABLE, LINK
from zeroin.axes.commits.stamps import LONG_AGO
from zeroin.axes.commits.worktree import bring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from zeroin.axes.changes.code import File
    from zeroin.axes.commits.worktree import Mine

KEPT = "__pycache__"
BITS = 0x0FFFFFFF


class Folder:
    """Filled with all files of the first version; `be` then changes only what differs."""

    def __init__(
        self,
        folder: str,
        root: str,
        mine: Sequence[Mine],
        fill: Callable[[str], None],
        *,
        linked: bool = False,  # nobody can show what is too large to be copied: links lead there
    ) -> None:
        self.folder = folder
        self.shown: tuple[str, ...] = ()  # of what is the user's, what is too large to be copied
        self._root = root
        self._mine = mine
        self._fill = fill
        self._linked = linked
        self._held: dict[str, File | None] = {}
        self._marks: dict[str, tuple[int, int, int]] = {}
        self._begin()

    def _begin(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._fill(self.folder)
        self.shown = tuple(one.path for one in self._mine if bring(one, self._root, self.folder))
        if self._linked:
            self._link()
        self._held.clear()
        self._marks.clear()
        for path in self._files():
            self._stamp(path)

    def _link(self) -> None:
        for path in self.shown:
            target = os.path.join(self.folder, path)
            if os.path.isdir(target):
                shutil.rmtree(target)
            else:
                os.unlink(target)
            os.symlink(os.path.join(self._root, path), target)
        self.shown = ()

    def be(self, files: Mapping[str, File | None]) -> None:
        """Put these in their places, and what was run here before is undone."""
        changed = self._tidy()
        if changed - files.keys():
            self._begin()
            changed = set()
        for path, file in files.items():
            if path in changed or path not in self._held or self._held[path] != file:
                self._put(path, file)
                self._held[path] = file

    def _tidy(self) -> set[str]:
        """Remove what is new; the paths of files that are not as they were put."""
        found = dict.fromkeys(self._files())
        for path in found:
            if path not in self._marks:
                os.unlink(os.path.join(self.folder, path))
        for above, folders, _ in os.walk(self.folder, topdown=False):
            for name in folders:
                path = os.path.join(above, name)
                shown = os.path.relpath(path, self.folder) in self.shown
                if not shown and not os.path.islink(path) and not os.listdir(path):
                    os.rmdir(path)
        return {path for path, mark in self._marks.items() if self._mark(path) != mark}

    def _put(self, path: str, file: File | None) -> None:
        full = os.path.join(self.folder, path)
        if os.path.isdir(full) and not os.path.islink(full):
            shutil.rmtree(full)
        elif os.path.lexists(full):
            os.unlink(full)
        self._marks.pop(path, None)
        if file is None:
            return
        os.makedirs(os.path.dirname(full), exist_ok=True)
        if file.mode == LINK:
            os.symlink(os.fsdecode(file.content), full)
        else:
            with open(full, "wb") as opened:
                opened.write(file.content)
                os.fchmod(opened.fileno(), 0o755 if file.mode == EXECUTABLE else 0o644)
        self._stamp(path)

    def _stamp(self, path: str) -> None:
        """Bytecode goes by a file's time, in seconds: the same text gets the same one, always."""
        full = os.path.join(self.folder, path)
        if path.endswith(".py") and not os.path.islink(full):
            with open(full, "rb") as file:
                seconds = LONG_AGO + (zlib.crc32(file.read()) & BITS)
            os.utime(full, (seconds, seconds))
        mark = self._mark(path)
        if mark is not None:
            self._marks[path] = mark

    def _mark(self, path: str) -> tuple[int, int, int] | None:
        try:
            now = os.lstat(os.path.join(self.folder, path))
        except OSError:
            return None
        return now.st_size, now.st_mtime_ns, stat.S_IFMT(now.st_mode) | now.st_mode & 0o100

    def _files(self) -> list[str]:
        """All but bytecode, which is good for the text that it was made of."""
        found = []
        for above, folders, names in os.walk(self.folder):
            below = os.path.relpath(above, self.folder)
            links = [one for one in folders if os.path.islink(os.path.join(above, one))]
            folders[:] = [one for one in folders if one not in (KEPT, *links)]
            found += [os.path.normpath(os.path.join(below, name)) for name in (*names, *links)]
        return found
