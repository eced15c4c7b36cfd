"""Files that are open at a snapshot: their offsets, and what was in those being written.

The program goes on writing after the snapshot was taken, so a resumed one must first cut its
files back. What is small is kept whole and put back; what is large is cut only where the
program was adding to its end, and its ends are still the same. Otherwise the snapshot can't
be used, and the reason says so: a wrong file is worse than a slow run.
"""

from __future__ import annotations

import os
import stat

from . import descriptors, proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_WHOLE = 1 << 20  # bytes of a file that is kept
KEPT_IN_ALL = 4 << 20
EDGE = 1 << 16  # bytes at both ends of a larger one that must not have changed
# What can be asked for again when opening; the rest of the flags is about creating.
AGAIN = os.O_ACCMODE | os.O_APPEND | os.O_NONBLOCK | os.O_DIRECT | os.O_SYNC | os.O_NOATIME


class Open:
    """An open file: one offset, which one or more descriptors share."""

    def __init__(self, fd: int, found: os.stat_result, place: int, flags: int, text: bytes) -> None:
        self.fds = [(fd, os.get_inheritable(fd))]
        self.inode = (found.st_dev, found.st_ino)
        self.place = place
        self.flags = flags
        self.path = descriptors.path_of(fd)
        self.is_shared_locked = descriptors.only_shared_flock(text)

    @property
    def fd(self) -> int:
        """One of its descriptors."""
        return self.fds[0][0]

    @property
    def writes(self) -> bool:
        """Whether it may write."""
        return self.flags & os.O_ACCMODE != os.O_RDONLY


class Written:
    """What a file was that somebody in here writes to."""

    def __init__(self, one: Open, found: os.stat_result) -> None:
        self.fd = one.fd
        self.path = one.path
        self.inode = (found.st_dev, found.st_ino)
        self.has_name = found.st_nlink > 0
        self.size = found.st_size
        self.changed = found.st_mtime_ns
        self.grows = True  # everybody who writes to it adds to its end
        self.whole: bytes | None = None
        self.edges: tuple[bytes, bytes] | None = None

    def keep(self, room: int) -> int:
        """Keep what is needed to put it back; returns the bytes that took."""
        try:
            fd = os.open(f"/proc/self/fd/{self.fd}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return 0
        try:
            if self.size <= min(KEPT_WHOLE, room):
                self.whole = _read(fd, 0, self.size)
                return self.size
            self.edges = self._edges(fd)
        except OSError:
            pass
        finally:
            os.close(fd)
        return 2 * EDGE

    def _edges(self, fd: int) -> tuple[bytes, bytes]:
        return _read(fd, 0, EDGE), _read(fd, max(0, self.size - EDGE), EDGE)

    def look(self) -> str | None:
        """Say why it can't be put back; None if it can."""
        name = proc.shown(self.path)
        now = os.fstat(self.fd)
        if self.has_name:
            try:
                there = os.stat(self.path)
            except OSError:
                return f"{name} was being written, and is gone"
            if (there.st_dev, there.st_ino) != self.inode:
                return f"{name} was being written, and is another file now"
        if now.st_size < self.size:
            return f"{name} was being written, and is shorter now"
        if self._is_untouched(now) or self.whole is not None:
            return None
        if not self.grows:
            return f"{name} was written to, not only at its end"
        try:
            fd = os.open(f"/proc/self/fd/{self.fd}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return f"{name} was being written, and can't be read"
        try:
            same = self._edges(fd) == self.edges
        finally:
            os.close(fd)
        return None if same else f"{name} was written to, not only at its end"

    def put_back(self) -> None:
        """Make its content what it was."""
        if self._is_untouched(os.fstat(self.fd)):
            return
        kind = os.O_WRONLY if self.whole is None else os.O_RDWR
        fd = os.open(f"/proc/self/fd/{self.fd}", kind | os.O_CLOEXEC)
        try:
            if self.whole is not None and _read(fd, 0, self.size) != self.whole:
                _write(fd, self.whole)
            os.ftruncate(fd, self.size)
        finally:
            os.close(fd)

    def _is_untouched(self, now: os.stat_result) -> bool:
        return (now.st_size, now.st_mtime_ns) == (self.size, self.changed)


def capture() -> tuple[list[Open], list[Written]]:
    """Note every open file and folder of the program's."""
    files: list[Open] = []
    written: dict[tuple[int, int], Written] = {}
    for fd, found in descriptors.listing():
        if stat.S_IFMT(found.st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
            continue
        place, flags, text = descriptors.info(fd)
        if flags & os.O_PATH:
            continue
        twin = next((one for one in files if _is_twin(one, fd, place, flags, found)), None)
        if twin is not None:
            twin.fds.append((fd, os.get_inheritable(fd)))
            continue
        one = Open(fd, found, place, flags, text)
        files.append(one)
        if one.writes and stat.S_ISREG(found.st_mode):
            note = written.setdefault(one.inode, Written(one, found))
            note.grows &= bool(flags & os.O_APPEND) or place == found.st_size
    room = KEPT_IN_ALL
    for note in written.values():
        room -= note.keep(room)
    return files, list(written.values())


def _is_twin(one: Open, fd: int, place: int, flags: int, found: os.stat_result) -> bool:
    """Whether two descriptors share one offset, as after `dup`: move the one, see the other."""
    if (one.place, one.flags & AGAIN) != (place, flags & AGAIN):
        return False
    there = os.fstat(one.fd)
    if (there.st_dev, there.st_ino) != (found.st_dev, found.st_ino) or stat.S_ISDIR(found.st_mode):
        return False
    try:
        os.lseek(fd, place + 1, os.SEEK_SET)
        try:
            return os.lseek(one.fd, 0, os.SEEK_CUR) != place
        finally:
            os.lseek(fd, place, os.SEEK_SET)
    except OSError:
        return False


def restore(files: list[Open], written: list[Written]) -> str | None:
    """Give each an offset of our own, where it was, over a content as it was; or say why not."""
    for note in written:
        why = note.look()
        if why is not None:
            return why
    for note in written:
        try:
            note.put_back()
        except OSError as error:
            return f"{proc.shown(note.path)} can't be put back: {error.strerror}"
    for one in files:
        try:
            _reopen(one)
        except OSError as error:
            return f"{proc.shown(one.path)} can't be opened again: {error.strerror}"
    return None


def forget_closed(files: list[Open]) -> None:
    """Leave out what a library's own thread closed between the look and the fork.

    In the child nobody closes anything any more; pyarrow's threads do so when a file was read.
    """
    for one in files:
        one.fds = [pair for pair in one.fds if find_inode(pair[0]) == one.inode]
    files[:] = [one for one in files if one.fds]


def find_inode(fd: int) -> tuple[int, int] | None:
    """Which file a descriptor leads to; None if it is closed."""
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def unlock(files: list[Open]) -> None:
    """Leave the locks to the program that runs on: a frozen one must not hold any."""
    for one in files:
        if one.is_shared_locked:
            _quietly(lambda one=one: _reopen(one, lock=False))  # type: ignore[misc]


def _reopen(one: Open, *, lock: bool = True) -> None:
    kind = one.flags & AGAIN | os.O_CLOEXEC
    try:
        fresh = os.open(f"/proc/self/fd/{one.fd}", kind)
    except PermissionError:
        fresh = os.open(f"/proc/self/fd/{one.fd}", kind & ~os.O_NOATIME)
    try:
        os.lseek(fresh, one.place, os.SEEK_SET)
        if lock and one.is_shared_locked:
            import fcntl

            fcntl.flock(fresh, fcntl.LOCK_SH | fcntl.LOCK_NB)
        for fd, inheritable in one.fds:
            os.dup2(fresh, fd, inheritable)
    finally:
        os.close(fresh)


def _quietly(do: Callable[[], None]) -> None:
    try:
        do()
    except OSError:
        pass


def _read(fd: int, start: int, length: int) -> bytes:
    parts = []
    while length > 0:
        part = os.pread(fd, length, start)
        if not part:
            break
        parts.append(part)
        start += len(part)
        length -= len(part)
    return b"".join(parts)


def _write(fd: int, data: bytes) -> None:
    view, start = memoryview(data), 0
    while view:
        done = os.pwrite(fd, view, start)
        view, start = view[done:], start + done
