"""Save: keep PATH's present state in a new baseline."""

from __future__ import annotations

import os
import stat

from zeroin.run.restore.attributes import describe, owner_of
from zeroin.run.restore.baseline import (
    Entry,
    copy_of,
    delete,
    drop_parts,
    rename,
    telling,
    write_manifest,
)
from zeroin.run.restore.contents import copy_content
from zeroin.run.restore.errors import RestoreError, reported
from zeroin.run.restore.folders import kind_of, parent_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.run.restore.folders import Folder


def save(path: str, baseline: str) -> tuple[str, ...]:
    """Keep PATH's present state in a new folder: all of it or, when killed, nothing.

    Gives the special files that are not part of it. A baseline that exists stays as it is.
    """
    if os.path.exists(baseline):
        return ()
    full = os.path.abspath(path)
    part = f"{baseline}.{os.getpid()}.part"
    saving = _Saving(part)
    try:
        with reported(path, "saved"):
            drop_parts(baseline)
            os.makedirs(saving.files, mode=0o700)
            entry = Entry(kind="absent")
            if os.path.isdir(os.path.dirname(full)):
                with parent_of(full) as folder:
                    entry = saving.entry(folder, os.path.basename(full), "")
            write_manifest(part, full, entry)
            rename(part, baseline)
    finally:
        delete(part)
    return tuple(saving.left_alone)


class _Saving:
    """A baseline being made: copies files into `folder` and describes what it sees."""

    def __init__(self, folder: str) -> None:
        self.files = os.path.join(folder, "files")
        self.left_alone: list[str] = []
        self.copies = 0
        self.several: dict[tuple[int, int], tuple[str, Entry]] = {}  # files with several names

    def entry(self, folder: Folder, name: str, below: str) -> Entry:
        """Describe and copy one entry of a folder; `below` is its path inside PATH."""
        info = folder.stat(name)
        if info is None:
            return Entry(kind="absent")
        entry = Entry(
            kind=kind_of(info),
            mode=stat.S_IMODE(info.st_mode),
            mtime=info.st_mtime_ns,
        )
        if os.geteuid() == 0:
            entry["owner"] = owner_of(info)
        if entry["kind"] == "special":
            self.left_alone.append(below[1:])
        elif entry["kind"] == "link":
            entry["target"] = os.readlink(name, dir_fd=folder.fd)
        elif entry["kind"] == "file":
            with folder.open(name) as fd:
                self._file(fd, below, entry)
        else:
            with folder.inner(name) as inner:
                describe(inner.fd, entry)
                names = sorted(os.listdir(inner.fd))
                entry["entries"] = {
                    each: self.entry(inner, each, f"{below}/{each}") for each in names
                }
        return entry

    def _file(self, source: int, below: str, entry: Entry) -> None:
        info = os.fstat(source)
        describe(source, entry)
        entry["size"], entry["inode"], entry["ctime"] = info.st_size, info.st_ino, telling(info)
        if info.st_nlink > 1:
            entry["links"] = info.st_nlink
            first, of_first = self.several.setdefault((info.st_dev, info.st_ino), (below, entry))
            of_first["names"] = of_first.get("names", 0) + 1
            if of_first is not entry:
                entry["same"] = first
                return
        self.copies += 1
        entry["copy"] = self.copies
        target = os.open(copy_of(self.files, entry), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            copy_content(source, target, info.st_size)
        finally:
            os.close(target)
        if os.fstat(source).st_ctime_ns != info.st_ctime_ns:
            raise RestoreError(f"{below[1:] or 'it'} changed while it was being saved: try again")
