"""Folders held by descriptor, so that no link leads out of PATH while it is worked on."""

from __future__ import annotations

import contextlib
import os
import stat

from zeroin.run.restore.errors import RestoreError, RestoreRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Folder:
    """An open folder; one that is `ours`, inside PATH, may be made writable while we work on it."""

    __slots__ = ("fd", "ours")

    def __init__(self, fd: int, *, ours: bool) -> None:
        self.fd = fd
        self.ours = ours

    def stat(self, name: str) -> os.stat_result | None:
        """Look at an entry, never at a link's target; None if there is none."""
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
    def inner(self, name: str, *, force: bool = False) -> Iterator[Folder]:
        """Open a folder inside; `force`: also one that its own mode closes to us."""
        if force and os.geteuid() != 0:
            with self.open(name, os.O_PATH | os.O_DIRECTORY) as fd:
                if os.fstat(fd).st_mode & 0o500 != 0o500:
                    os.chmod(f"/proc/self/fd/{fd}", 0o700)
        with self.open(name, os.O_DIRECTORY) as fd:
            if self.ours and os.fstat(fd).st_dev != os.fstat(self.fd).st_dev:
                raise RestoreError(f"another file system is mounted at {name}: unmount it first")
            yield Folder(fd, ours=True)

    def unlock(self) -> None:
        """Let entries come and go, whatever the folder's mode: it is put back afterwards."""
        mode = os.fstat(self.fd).st_mode
        if self.ours and mode & 0o300 != 0o300:
            os.fchmod(self.fd, stat.S_IMODE(mode) | 0o700)


@contextlib.contextmanager
def parent_of(full: str) -> Iterator[Folder]:
    """Hold the folder that PATH lies in; it is not ours to change."""
    parent = os.path.dirname(full)
    if os.path.realpath(parent) != parent:
        raise RestoreRefused(f"{parent} is behind a symbolic link now: give the real path")
    fd = os.open(parent, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield Folder(fd, ours=False)
    finally:
        os.close(fd)


def kind_of(info: os.stat_result) -> str:
    """Give the kind of an entry: folder, file, link or special."""
    kinds = {stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(info.st_mode), "special")
