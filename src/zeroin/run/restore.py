"""`--restore PATH`: put a file or folder back to its state at the first attempt of the cycle.

A *baseline* is that state, kept in a folder of the store: a manifest of every entry and a copy of
every file. That PATH was absent is a state too. *Putting back* looks at each entry and touches
only what differs, so an unchanged folder costs a walk. Nothing outside PATH is ever touched:
symbolic links are never followed, folders are held by descriptor while they are worked on, and
files are made anew rather than written through, since a name may have become a link to elsewhere.

The baseline holds copies (reflinks where the file system has them), never hard links to the live
files: a program that writes in place would change the saved state as well.

Kept: content (holes stay holes), mode, modification time, links, extended attributes as far as the
file system allows, owners when we are root, hard links between files inside PATH (one to a file
outside is cut when its content has to be put back). Sockets, FIFOs and devices that were there
are left alone and named; new ones go. Nobody else may write to PATH meanwhile.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import stat
import time
from typing import TYPE_CHECKING, NamedTuple, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERSION = 1  # of the manifest
_FICLONE = 0x40049409
_BLOCK = 1 << 20
_MAX_DEPTH = 100
# A file changed twice within one tick of the clock looks unchanged: the young must be compared.
_YOUNG = 2_000_000_000


class RestoreError(OSError):
    """PATH could not be saved or put back; the message says why and what to do."""


class RestoreRefused(RestoreError):  # noqa: N818 - a refusal is not a failure
    """PATH is not something that may be put back; nothing was touched."""


class Restored(NamedTuple):
    """What putting back took: how many entries differed, were new, and were gone."""

    changed: int
    removed: int
    created: int
    left_alone: tuple[str, ...] = ()


class _Entry(TypedDict, total=False):
    """One entry of the manifest; `inode`, `ctime` and `links` are as they were last seen.

    What is usual is left out, since reading the manifest is a large part of the work.
    """

    kind: str  # folder, file, link, special or absent
    mode: int
    mtime: int
    owner: list[int]
    attributes: dict[str, str]
    entries: dict[str, _Entry]  # of a folder
    target: str  # of a link
    size: int  # of a file, as all below
    inode: int
    ctime: int  # 0 when it was too young to tell later changes by
    links: int  # if there are more than one
    names: int  # how many of these are inside PATH
    copy: int  # the name of the content in the baseline
    same: str  # instead of a copy: where in PATH the file is that this is a hard link to


def check(path: str, *, store: str, home: str, max_bytes: int = 20_000_000_000) -> None:
    """Refuse a PATH that is dangerous or impossible to put back, and say what to do instead.

    For the first attempt, before `save`: what a program did to PATH since, `put_back` undoes.
    """
    full = os.path.abspath(path)
    with _reported(path, "looked at"):
        _check_place(full, os.path.realpath(store), os.path.realpath(home))
        if not os.path.lexists(full):
            return
        kind = _kind(os.lstat(full))
        if kind == "link":
            real = os.path.realpath(full)
            raise RestoreRefused(f"{path} is a symbolic link: give what it leads to, {real}")
        if kind == "special":
            raise RestoreRefused(f"{path} is neither a file nor a folder: use --reset CMD for it")
        _check_mounts(full)
        size = _check_inside(full)
        if size > max_bytes and not _can_clone(full, store):
            raise RestoreRefused(
                f"{path} takes {size / 1e9:.1f} GB, over {max_bytes / 1e9:.1f} GB, and its file"
                " system can't share copies: restore only the part that the program changes"
            )


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
        with _reported(path, "saved"):
            _drop_parts(baseline)
            os.makedirs(saving.files, mode=0o700)
            entry = _Entry(kind="absent")
            if os.path.isdir(os.path.dirname(full)):
                with _parent(full) as folder:
                    entry = saving.entry(folder, os.path.basename(full), "")
            _write_manifest(part, full, entry)
            _rename(part, baseline)
    finally:
        _delete(part)
    return tuple(saving.left_alone)


def put_back(path: str, baseline: str) -> Restored:
    """Make PATH what it was. Interrupted at any moment, the next call completes it."""
    full = os.path.abspath(path)
    putting = _Putting(baseline, full)
    with _reported(path, "put back"):
        entry = _read_manifest(baseline, full)
        _check_mounts(full)
        if not os.path.isdir(os.path.dirname(full)):
            if entry["kind"] == "absent":
                return Restored(0, 0, 0)
            raise RestoreRefused(f"the folder {os.path.dirname(full)} is gone: make it again first")
        with _parent(full) as folder:
            putting.entry(folder, os.path.basename(full), entry, "")
            if putting.again:
                putting.entry(folder, os.path.basename(full), entry, "")
        if putting.learned:
            with contextlib.suppress(OSError):  # a full disk: PATH is right all the same
                _write_manifest(baseline, full, entry)
    counts = (putting.changed, putting.removed, putting.created)
    return Restored(*counts, tuple(putting.left_alone))


class _Folder:
    """An open folder; one that is `ours`, inside PATH, may be made writable while we work on it."""

    __slots__ = ("fd", "ours")

    def __init__(self, fd: int, *, ours: bool) -> None:
        self.fd = fd
        self.ours = ours

    def stat(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @contextlib.contextmanager
    def open(self, name: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> Iterator[int]:
        """Open a file, never a link's target, and never wait for the other end of a FIFO."""
        always = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(name, flags | always, mode, dir_fd=self.fd)
        try:
            yield fd
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def inner(self, name: str, *, force: bool = False) -> Iterator[_Folder]:
        """Open a folder inside; `force`: also one that its own mode closes to us."""
        if force and os.geteuid() != 0:
            with self.open(name, os.O_PATH | os.O_DIRECTORY) as fd:
                if os.fstat(fd).st_mode & 0o500 != 0o500:
                    os.chmod(f"/proc/self/fd/{fd}", 0o700)
        with self.open(name, os.O_DIRECTORY) as fd:
            if self.ours and os.fstat(fd).st_dev != os.fstat(self.fd).st_dev:
                raise RestoreError(f"another file system is mounted at {name}: unmount it first")
            yield _Folder(fd, ours=True)

    def unlock(self) -> None:
        """Let entries come and go, whatever the folder's mode: it is put back afterwards."""
        mode = os.fstat(self.fd).st_mode
        if self.ours and mode & 0o300 != 0o300:
            os.fchmod(self.fd, stat.S_IMODE(mode) | 0o700)


class _Saving:
    """A baseline being made: copies files into `folder` and describes what it sees."""

    def __init__(self, folder: str) -> None:
        self.files = os.path.join(folder, "files")
        self.left_alone: list[str] = []
        self.copies = 0
        self.several: dict[tuple[int, int], tuple[str, _Entry]] = {}  # files with several names

    def entry(self, folder: _Folder, name: str, below: str) -> _Entry:
        """Describe and copy one entry of a folder; `below` is its path inside PATH."""
        info = folder.stat(name)
        if info is None:
            return _Entry(kind="absent")
        entry = _Entry(
            kind=_kind(info),
            mode=stat.S_IMODE(info.st_mode),
            mtime=info.st_mtime_ns,
        )
        if os.geteuid() == 0:
            entry["owner"] = _owner(info)
        if entry["kind"] == "special":
            self.left_alone.append(below[1:])
        elif entry["kind"] == "link":
            entry["target"] = os.readlink(name, dir_fd=folder.fd)
        elif entry["kind"] == "file":
            with folder.open(name) as fd:
                self._file(fd, below, entry)
        else:
            with folder.inner(name) as inner:
                _describe(inner.fd, entry)
                names = sorted(os.listdir(inner.fd))
                entry["entries"] = {
                    each: self.entry(inner, each, f"{below}/{each}") for each in names
                }
        return entry

    def _file(self, source: int, below: str, entry: _Entry) -> None:
        info = os.fstat(source)
        _describe(source, entry)
        entry["size"], entry["inode"], entry["ctime"] = info.st_size, info.st_ino, _telling(info)
        if info.st_nlink > 1:
            entry["links"] = info.st_nlink
            first, of_first = self.several.setdefault((info.st_dev, info.st_ino), (below, entry))
            of_first["names"] = of_first.get("names", 0) + 1
            if of_first is not entry:
                entry["same"] = first
                return
        self.copies += 1
        entry["copy"] = self.copies
        target = os.open(_copy_of(self.files, entry), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _copy(source, target, info.st_size)
        finally:
            os.close(target)
        if os.fstat(source).st_ctime_ns != info.st_ctime_ns:
            raise RestoreError(f"{below[1:] or 'it'} changed while it was being saved: try again")


class _Putting:
    """A baseline being put back: counts what it does, learns what the entries look like then."""

    def __init__(self, baseline: str, path: str) -> None:
        self.files = os.path.join(baseline, "files")
        self.path = path
        self.changed = self.removed = self.created = 0
        self.left_alone: list[str] = []
        self.learned = False
        self.again = False
        self.firsts: dict[str, tuple[int, _Entry]] = {}  # inodes that have several names inside

    def entry(self, folder: _Folder, name: str, want: _Entry, below: str) -> None:
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
        elif _kind(have) != want["kind"]:
            self._require_copy(want)
            self._remove(folder, name, have)
            self.removed -= 1
            self.changed += 1
            self._make(folder, name, want, below)
        elif self._mend(folder, name, want, have, below):
            self.changed += 1

    def _make(self, folder: _Folder, name: str, want: _Entry, below: str) -> None:
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
        self, folder: _Folder, name: str, want: _Entry, have: os.stat_result, below: str
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
                right = _is_settled(fd, want)
                if right or have.st_nlink <= want.get("names", 1):  # no name outside would change
                    _settle(fd, want)
                    self._learn(want, os.fstat(fd), below)
                    return not right
        self._require_copy(want)
        folder.unlock()
        os.unlink(name, dir_fd=folder.fd)
        self._make(folder, name, want, below)
        return True

    def _require_copy(self, want: _Entry) -> None:
        """Make sure, before a file goes, that another can take its place."""
        if "copy" in want and os.stat(_copy_of(self.files, want)).st_size != want["size"]:
            raise RestoreError(f"the saved state in {self.files} is damaged: start a new cycle")

    def _fill(self, folder: _Folder, name: str, want: _Entry, below: str) -> None:
        """Make the inside of a folder right, then the folder itself: its time comes last."""
        with folder.inner(name, force=True) as inner:
            wrong = dict(want["entries"])
            for extra, info in self._look(inner, wrong, below):
                self._remove(inner, extra, info)
            for each, entry in wrong.items():
                self.entry(inner, each, entry, f"{below}/{each}")
            _settle(inner.fd, want)

    def _look(
        self, folder: _Folder, entries: dict[str, _Entry], below: str
    ) -> list[tuple[str, os.stat_result]]:
        """Take the files that are as they were off the list; give what was not there at all."""
        extras = []
        with os.scandir(folder.fd) as found:
            for each in found:
                info = each.stat(follow_symlinks=False)
                entry = entries.get(each.name)
                if entry is None:
                    extras.append((each.name, info))
                elif entry["kind"] == "file" and _is_as_seen(info, entry):
                    del entries[each.name]
                    if "names" in entry:
                        self.firsts[f"{below}/{each.name}"] = (info.st_ino, entry)
        return extras

    def _write(self, folder: _Folder, name: str, want: _Entry, below: str) -> None:
        """Write a file anew. In place would be wrong: it may be a hard link to one outside now."""
        source = os.open(_copy_of(self.files, want), os.O_RDONLY)
        try:
            with folder.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL) as target:
                _copy(source, target, want["size"])
                _settle(target, want)
                self._learn(want, os.fstat(target), below)
        finally:
            os.close(source)
        want["links"], self.learned = want.get("names", 1), True

    def _hard_link(self, folder: _Folder, name: str, want: _Entry, below: str) -> None:
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

    def _is_same_file(self, folder: _Folder, name: str, want: _Entry, have: os.stat_result) -> bool:
        """Compare a file that may have changed with what was saved."""
        if "same" in want:
            return have.st_ino == self.firsts[want["same"]][0]
        if (have.st_size, have.st_nlink) != (want["size"], want.get("links", 1)):
            return False
        try:
            with folder.open(name) as fd:
                return _is_same_content(fd, _copy_of(self.files, want))
        except PermissionError:  # its mode was changed: it is made anew
            return False

    def _learn(self, want: _Entry, info: os.stat_result, below: str) -> None:
        """Remember what a right file looks like now, to know it at a glance next time."""
        self.firsts[below] = (info.st_ino, want)
        seen = (info.st_ino, _telling(info))
        self.learned |= seen != (want["inode"], want["ctime"])
        want["inode"], want["ctime"] = seen

    def _settle_link(self, folder: _Folder, name: str, want: _Entry) -> bool:
        info = os.stat(name, dir_fd=folder.fd, follow_symlinks=False)
        owner, changed = want.get("owner", _owner(info)), False
        if owner != _owner(info) and os.geteuid() == 0:
            os.chown(name, owner[0], owner[1], dir_fd=folder.fd, follow_symlinks=False)
            changed = True
        if info.st_mtime_ns != want["mtime"]:
            times = (info.st_atime_ns, want["mtime"])
            os.utime(name, ns=times, dir_fd=folder.fd, follow_symlinks=False)
            changed = True
        return changed

    def _remove(self, folder: _Folder, name: str, have: os.stat_result) -> None:
        """Remove an entry with all that is in it."""
        self.removed += 1
        if _kind(have) == "folder":
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


def _kind(info: os.stat_result) -> str:
    kinds = {stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(info.st_mode), "special")


def _telling(info: os.stat_result) -> int:
    """Give the change time if a later change is sure to give another one, otherwise 0."""
    return info.st_ctime_ns if info.st_ctime_ns < time.time_ns() - _YOUNG else 0


def _is_as_seen(info: os.stat_result, entry: _Entry) -> bool:
    """Ask whether nothing can have happened to a file: nobody can set a change time back."""
    return (
        info.st_ctime_ns == entry["ctime"]
        and info.st_ino == entry["inode"]
        and info.st_size == entry["size"]
        and info.st_mtime_ns == entry["mtime"]
    )


def _is_settled(fd: int, want: _Entry) -> bool:
    info = os.fstat(fd)
    return (
        (stat.S_IMODE(info.st_mode), info.st_mtime_ns) == (want["mode"], want["mtime"])
        and _attributes(fd) == want.get("attributes", {})
        and _owner(info) == want.get("owner", _owner(info))
    )


def _settle(fd: int, want: _Entry) -> None:
    """Put owner, attributes, mode and time back, in the order in which they undo one another."""
    if _is_settled(fd, want):
        return
    info = os.fstat(fd)
    owner, attributes = want.get("owner", _owner(info)), want.get("attributes", {})
    if owner != _owner(info) and os.geteuid() == 0:
        os.fchown(fd, owner[0], owner[1])
    if attributes != _attributes(fd):
        os.fchmod(fd, stat.S_IMODE(info.st_mode) | 0o200)  # or they can't be set
        _set_attributes(fd, attributes)
    if stat.S_IMODE(os.fstat(fd).st_mode) != want["mode"]:
        os.fchmod(fd, want["mode"])
    os.utime(fd, ns=(info.st_atime_ns, want["mtime"]))


def _owner(info: os.stat_result) -> list[int]:
    return [info.st_uid, info.st_gid]


def _attributes(fd: int) -> dict[str, str]:
    found = {}
    with contextlib.suppress(OSError):  # a file system without any
        for name in os.listxattr(fd):
            with contextlib.suppress(OSError):  # not ours to read
                found[name] = os.getxattr(fd, name).hex()
    return found


def _describe(fd: int, entry: _Entry) -> None:
    attributes = _attributes(fd)
    if attributes:
        entry["attributes"] = attributes


def _set_attributes(fd: int, want: dict[str, str]) -> None:
    have = _attributes(fd)
    for name in have.keys() | want.keys():
        with contextlib.suppress(OSError):  # not ours to set
            if name not in want:
                os.removexattr(fd, name)
            elif have.get(name) != want[name]:
                os.setxattr(fd, name, bytes.fromhex(want[name]))


def _copy_of(files: str, entry: _Entry) -> str:
    return os.path.join(files, str(entry["copy"]))


def _copy(source: int, target: int, size: int) -> None:
    """Copy a file's content: shared where the file system can, hole by hole otherwise."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(target, _FICLONE, source)
        return
    os.ftruncate(target, size)
    end = 0
    while end < size:
        try:
            start = os.lseek(source, end, os.SEEK_DATA)
            end = os.lseek(source, start, os.SEEK_HOLE)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole up to the end
                return
            start, end = end, size
        _copy_range(source, target, start, end)


def _copy_range(source: int, target: int, start: int, end: int) -> None:
    while start < end:
        done = _copy_some(source, target, start, end - start)
        if not done:
            return
        start += done


def _copy_some(source: int, target: int, start: int, count: int) -> int:
    try:
        return os.copy_file_range(source, target, count, start, start)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
            raise
    return os.pwrite(target, os.pread(source, min(_BLOCK, count), start), start)


def _is_same_content(fd: int, copy: str) -> bool:
    with open(copy, "rb", buffering=0) as saved:
        while True:
            block = os.read(fd, _BLOCK)
            if block != saved.read(_BLOCK):
                return False
            if not block:
                return True


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _check_place(full: str, store: str, home: str) -> None:
    parent = os.path.dirname(full)
    if full == parent:
        raise RestoreRefused("/ can't be put back: name the folder that the program changes")
    if os.path.realpath(parent) != parent:
        real = os.path.join(os.path.realpath(parent), os.path.basename(full))
        raise RestoreRefused(f"{full} lies behind a symbolic link: give its real path, {real}")
    if ".git" in full.split(os.sep):
        raise RestoreRefused(f"{full} holds commits: newer ones would be lost, leave it out")
    if _inside(home, full):
        raise RestoreRefused(f"{full} holds your home: name the folder that the program changes")
    if _inside(store, full) or _inside(os.path.dirname(store), full):
        raise RestoreRefused(f"{full} holds the project: name the folder that the program changes")
    if _inside(full, store):
        raise RestoreRefused(f"{full} is zeroin's own store: name what the program changes")


def _check_inside(full: str) -> int:
    """Refuse what inside PATH can't be put back; give the bytes it takes."""
    size = 0
    for path, info in _walk(full, os.lstat(full), 0):
        size += info.st_blocks * 512
        if os.path.basename(path) == ".git":
            raise RestoreRefused(f"{path} holds commits: newer ones would be lost, leave it out")
        if _kind(info) == "link" and not _inside(os.path.realpath(path), full):
            raise RestoreRefused(
                f"{path} leads out of {full}, to {os.readlink(path)}:"
                " restore a folder without it, or what it leads to"
            )
    return size


def _check_mounts(full: str) -> None:
    """Refuse mounts inside: what is in them is outside of PATH. Bind mounts only show here."""
    with contextlib.suppress(FileNotFoundError), open("/proc/self/mountinfo", "rb") as mounts:
        for line in mounts:
            point = os.fsdecode(re.sub(rb"\\(\d{3})", _unescaped, line.split(b" ")[4]))
            if point != full and _inside(point, full):
                raise RestoreRefused(f"something is mounted at {point}: unmount it first")


def _unescaped(code: re.Match[bytes]) -> bytes:
    return bytes([int(code[1], 8)])


def _walk(path: str, info: os.stat_result, depth: int) -> Iterator[tuple[str, os.stat_result]]:
    yield path, info
    if _kind(info) != "folder":
        return
    if depth > _MAX_DEPTH:
        raise RestoreRefused(f"{path} is more than {_MAX_DEPTH} folders deep: restore a part of it")
    with os.scandir(path) as entries:
        for entry in entries:
            yield from _walk(entry.path, entry.stat(follow_symlinks=False), depth + 1)


def _can_clone(full: str, store: str) -> bool:
    """Try whether the store can share the content of PATH's files."""
    target = os.path.join(store, f"clone.{os.getpid()}")
    for path, info in _walk(full, os.lstat(full), 0):
        if _kind(info) == "file" and info.st_size:
            try:
                with open(path, "rb") as source, open(target, "wb") as copy:
                    fcntl.ioctl(copy, _FICLONE, source.fileno())
            except OSError:
                return False
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(target)
            return True
    return False


@contextlib.contextmanager
def _parent(full: str) -> Iterator[_Folder]:
    """Hold the folder that PATH lies in; it is not ours to change."""
    parent = os.path.dirname(full)
    if os.path.realpath(parent) != parent:
        raise RestoreRefused(f"{parent} is behind a symbolic link now: give the real path")
    fd = os.open(parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield _Folder(fd, ours=False)
    finally:
        os.close(fd)


@contextlib.contextmanager
def _reported(path: str, what: str) -> Iterator[None]:
    try:
        yield
    except RestoreError:
        raise
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise RestoreError(f"{path} could not be {what}: {error.strerror}{where}") from error
    except RecursionError:
        raise RestoreError(f"{path} could not be {what}: its folders go too deep") from None


def _write_manifest(folder: str, full: str, entry: _Entry) -> None:
    passing = os.path.join(folder, f"manifest.{os.getpid()}")
    with open(passing, "w", encoding="utf-8") as file:
        manifest = {"version": _VERSION, "path": full, "entry": entry}
        file.write(json.dumps(manifest, separators=(",", ":")))
    os.replace(passing, os.path.join(folder, "manifest.json"))


def _read_manifest(folder: str, full: str) -> _Entry:
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            manifest = json.loads(file.read())
        version, saved = manifest["version"], manifest["path"]
        entry: _Entry = manifest["entry"]
    except (FileNotFoundError, ValueError, KeyError):
        raise RestoreRefused(f"the saved state in {folder} is damaged: start a new cycle") from None
    if version != _VERSION:
        raise RestoreRefused(f"{full} was saved by another version of zeroin: start a new cycle")
    if saved != full:
        raise RestoreRefused(f"what was saved is {saved}, not {full}: start a new cycle")
    return entry


def _rename(part: str, baseline: str) -> None:
    try:
        os.rename(part, baseline)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # another first attempt was quicker
            raise


def _drop_parts(baseline: str) -> None:
    """Clear away what a killed `save` left."""
    folder, name = os.path.split(baseline)
    with contextlib.suppress(FileNotFoundError):
        for found in os.listdir(folder):
            match = re.fullmatch(re.escape(name) + r"\.(\d+)\.part", found)
            if match and not os.path.exists(f"/proc/{match[1]}"):
                _delete(os.path.join(folder, found))


def _delete(folder: str) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
