"""Put back: make PATH what its baseline says, and touch only what differs."""

from __future__ import annotations

import contextlib
import os
import stat

from zeroin.named import NamedTuple
from zeroin.run.restore.attributes import is_settled, owner_of, settle
from zeroin.run.restore.baseline import copy_of, is_as_seen, read_manifest, telling, write_manifest
from zeroin.run.restore.checks import check_mounts
from zeroin.run.restore.contents import copy_content, is_same_content
from zeroin.run.restore.errors import RestoreError, RestoreRefused, reported
from zeroin.run.restore.folders import kind_of, parent_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.run.restore.baseline import Entry
    from zeroin.run.restore.folders import Folder


class Restored(NamedTuple):
    """What putting back took: how many entries differed, were new, and were gone."""

    changed: int
    removed: int
    created: int
    left_alone: tuple[str, ...] = ()


def put_back(path: str, baseline: str) -> Restored:
    """Make PATH what it was. Interrupted at any moment, the next call completes it."""
    full = os.path.abspath(path)
    putting = _Putting(baseline, full)
    with reported(path, "put back"):
        entry = read_manifest(baseline, full)
        check_mounts(full)
        if not os.path.isdir(os.path.dirname(full)):
            if entry["kind"] == "absent":
                return Restored(0, 0, 0)
            raise RestoreRefused(f"the folder {os.path.dirname(full)} is gone: make it again first")
        with parent_of(full) as folder:
            putting.entry(folder, os.path.basename(full), entry, "")
            if putting.again:
                putting.entry(folder, os.path.basename(full), entry, "")
        if putting.learned:
            with contextlib.suppress(OSError):  # a full disk: PATH is right all the same
                write_manifest(baseline, full, entry)
    counts = (putting.changed, putting.removed, putting.created)
    return Restored(*counts, tuple(putting.left_alone))


class _Putting:
    """A baseline being put back: counts what it does, learns what the entries look like then."""

    def __init__(self, baseline: str, path: str) -> None:
        self.files = os.path.join(baseline, "files")
        self.path = path
        self.changed = self.removed = self.created = 0
        self.left_alone: list[str] = []
        self.learned = False
        self.again = False
        self.firsts: dict[str, tuple[int, Entry]] = {}  # inodes that have several names inside

    def entry(self, folder: Folder, name: str, want: Entry, below: str) -> None:
        """Make one entry of a folder what it was."""
        have = folder.stat(name)
        if want["kind"] == "special":
            self.left_alone.append(below[1:])
        elif have is None:
            if want["kind"] != "absent":
                self.created += 1
                self._make(folder, name, want, below)
        elif want["kind"] == "absent":
            self._remove(folder, name, have)
        elif kind_of(have) != want["kind"]:
            self._require_copy(want)
            self._remove(folder, name, have)
            self.removed -= 1
            self.changed += 1
            self._make(folder, name, want, below)
        elif self._mend(folder, name, want, have, below):
            self.changed += 1

    def _make(self, folder: Folder, name: str, want: Entry, below: str) -> None:
        """Create what is not there."""
        folder.unlock()
        if want["kind"] == "folder":
            os.mkdir(name, 0o700, dir_fd=folder.fd)
            self._fill(folder, name, want, below)
        elif want["kind"] == "link":
            os.symlink(want["target"], name, dir_fd=folder.fd)
            self._settle_link(folder, name, want)
        elif "same" in want:
            self._hard_link(folder, name, want, below)
        else:
            self._write(folder, name, want, below)

    def _mend(
        self, folder: Folder, name: str, want: Entry, have: os.stat_result, below: str
    ) -> bool:
        """Make an entry of the right kind right; say whether it was wrong."""
        if want["kind"] == "folder":
            self._fill(folder, name, want, below)
            return stat.S_IMODE(have.st_mode) != want["mode"]
        if want["kind"] == "link":
            target = os.readlink(name, dir_fd=folder.fd)
            if target == want["target"] and have.st_nlink == 1:
                return self._settle_link(folder, name, want)
        elif self._is_same_file(folder, name, want, have):
            with folder.open(name) as fd:
                right = is_settled(fd, want)
                if right or have.st_nlink <= want.get("names", 1):  # no name outside would change
                    settle(fd, want)
                    self._learn(want, os.fstat(fd), below)
                    return not right
        self._require_copy(want)
        folder.unlock()
        os.unlink(name, dir_fd=folder.fd)
        self._make(folder, name, want, below)
        return True

    def _require_copy(self, want: Entry) -> None:
        """Make sure, before a file goes, that another can take its place."""
        if "copy" in want and os.stat(copy_of(self.files, want)).st_size != want["size"]:
            raise RestoreError(f"the saved state in {self.files} is damaged: start a new cycle")

    def _fill(self, folder: Folder, name: str, want: Entry, below: str) -> None:
        """Make the inside of a folder right, then the folder itself: its time comes last."""
        with folder.inner(name, force=True) as inner:
            wrong = dict(want["entries"])
            for extra, info in self._look(inner, wrong, below):
                self._remove(inner, extra, info)
            for each, entry in wrong.items():
                self.entry(inner, each, entry, f"{below}/{each}")
            settle(inner.fd, want)

    def _look(
        self, folder: Folder, entries: dict[str, Entry], below: str
    ) -> list[tuple[str, os.stat_result]]:
        """Take the files that are as they were off the list; give what was not there at all."""
        extras = []
        with os.scandir(folder.fd) as found:
            for each in found:
                info = each.stat(follow_symlinks=False)
                entry = entries.get(each.name)
                if entry is None:
                    extras.append((each.name, info))
                elif entry["kind"] == "file" and is_as_seen(info, entry):
                    del entries[each.name]
                    if "names" in entry:
                        self.firsts[f"{below}/{each.name}"] = (info.st_ino, entry)
        return extras

    def _write(self, folder: Folder, name: str, want: Entry, below: str) -> None:
        """Write a file anew. In place would be wrong: it may be a hard link to one outside now."""
        source = os.open(copy_of(self.files, want), os.O_RDONLY)
        try:
            with folder.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL) as target:
                copy_content(source, target, want["size"])
                settle(target, want)
                self._learn(want, os.fstat(target), below)
        finally:
            os.close(source)
        want["links"], self.learned = want.get("names", 1), True

    def _hard_link(self, folder: Folder, name: str, want: Entry, below: str) -> None:
        path = self.path + want["same"]
        os.link(path, name, dst_dir_fd=folder.fd, follow_symlinks=False)
        info = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
        inode, first = self.firsts[want["same"]]
        if info.st_ino != inode:
            os.unlink(name, dir_fd=folder.fd)
            raise RestoreError(f"{path} was replaced just now: end the program that writes there")
        # A name too many: the program took one outside in exchange for this one. Once more, then.
        self.again |= info.st_nlink > first["links"]
        self._learn(want, info, below)

    def _is_same_file(self, folder: Folder, name: str, want: Entry, have: os.stat_result) -> bool:
        """Compare a file that may have changed with what was saved."""
        if "same" in want:
            return have.st_ino == self.firsts[want["same"]][0]
        if (have.st_size, have.st_nlink) != (want["size"], want.get("links", 1)):
            return False
        try:
            with folder.open(name) as fd:
                return is_same_content(fd, copy_of(self.files, want))
        except PermissionError:  # its mode was changed: it is made anew
            return False

    def _learn(self, want: Entry, info: os.stat_result, below: str) -> None:
        """Remember what a right file looks like now, to know it at a glance next time."""
        self.firsts[below] = (info.st_ino, want)
        seen = (info.st_ino, telling(info))
        self.learned |= seen != (want["inode"], want["ctime"])
        want["inode"], want["ctime"] = seen

    def _settle_link(self, folder: Folder, name: str, want: Entry) -> bool:
        info = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
        owner, changed = want.get("owner", owner_of(info)), False
        if owner != owner_of(info) and os.geteuid() == 0:
            os.chown(name, owner[0], owner[1], dir_fd=folder.fd, follow_symlinks=False)
            changed = True
        if info.st_mtime_ns != want["mtime"]:
            times = (info.st_atime_ns, want["mtime"])
            os.utime(name, ns=times, dir_fd=folder.fd, follow_symlinks=False)
            changed = True
        return changed

    def _remove(self, folder: Folder, name: str, have: os.stat_result) -> None:
        """Remove an entry with all that is in it."""
        self.removed += 1
        if kind_of(have) == "folder":
            with folder.inner(name, force=True) as inner:
                for each in os.listdir(inner.fd):
                    info = inner.stat(each)
                    if info is not None:
                        self._remove(inner, each, info)
            folder.unlock()
            os.rmdir(name, dir_fd=folder.fd)
        else:
            folder.unlock()
            os.unlink(name, dir_fd=folder.fd)
