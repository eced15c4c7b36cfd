"""Which of the files that a program used has somebody touched?

Straight from the kernel's inotify: it says when a writer closes a file, which is the moment
when its content is whole. The libraries around it drop that event, wait in steps, and need a
thread, which would take our signals. Only folders are watched, since editors put a new file in
the place of the old one; and only what happens to the given files is told, so that an
editor's swap and backup files wake nobody.

What the kernel can't tell (another machine writes to a network file system, all watches of
the user are taken) has to be looked at from time to time: `pace` says how often.
"""

from __future__ import annotations

import ctypes
import os
import re
import stat
import struct
import time

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x8, 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF, OVERFLOW, IGNORED, ONLY_FOLDERS = 0x400, 0x800, 0x4000, 0x8000, 0x1000000
INSIDE = CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE
ITSELF = DELETE_SELF | MOVE_SELF

PACE = 1.0  # seconds between two looks where the kernel is silent
WHOLE = 4 << 20  # bytes up to which a file is compared by content, not by its time
TICK = 50_000_000  # nanoseconds in which two writes may get the same time
# Written to by other machines, unknown to our kernel. Local ones of this kind cost a look.
REMOTE = ("nfs", "cifs", "smb", "9p", "fuse", "virtiofs", "vboxsf", "afs", "ceph", "lustre", "gpfs")
# What editors leave beside a file for a while; part of no program's folder.
LITTER = re.compile(
    r".*~|\.?#.*|\..*\.sw[a-z]|\.sw[a-z]|4913|.*\.(bak|tmp|orig|___jb_\w+___)|__pycache__"
)


class Watch:
    """Tells of touched files. `fileno` can be polled."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self.files: frozenset[str] = frozenset()
        self.pace: float | None = None
        self._folders: dict[str, int] = {}  # folder → the kernel's number for it
        self._numbers: dict[int, str] = {}
        self._names: dict[str, dict[str, set[str]]] = {}  # folder → name in it → files
        self._around: dict[str, set[str]] = {}  # folder → files somewhere below it

    def fileno(self) -> int:
        """What to poll."""
        return self._fd

    def follow(self, files: Iterable[str]) -> None:
        """Watch exactly these from now on; they need not exist."""
        files = frozenset(map(os.path.abspath, files))
        if files != self.files:
            self.files = files
            self._arm()

    def read(self) -> set[str]:
        """The files that something happened to since the last time."""
        touched: set[str] = set()
        moved = False
        while True:
            try:
                data = os.read(self._fd, 1 << 16)
            except BlockingIOError:
                break
            at = 0
            while at < len(data):
                number, mask, _, length = struct.unpack_from("iIII", data, at)
                name = os.fsdecode(data[at + 16 : at + 16 + length].rstrip(b"\0"))
                at += 16 + length
                if mask & OVERFLOW:
                    touched |= self.files
                    moved = True
                    continue
                folder = self._numbers.get(number)
                if folder is None:
                    continue
                if mask & (ITSELF | IGNORED):
                    touched |= self._around.get(folder, set())
                    self._forget(folder, gone=bool(mask & IGNORED))
                    moved = True
                    continue
                found = self._names.get(folder, {})
                hit = found.get(name, set()) | (
                    set() if LITTER.fullmatch(name) else found.get("", set())
                )
                touched |= hit
                if hit and mask & (CREATE | MOVED_TO):
                    moved = moved or _leads_on(os.path.join(folder, name))
        if moved:
            self._arm()
        return touched

    def close(self) -> None:
        """Let go of all watches."""
        os.close(self._fd)

    def _arm(self) -> None:
        """Have exactly the watches that are needed, and know why each is there."""
        self._names, self._around = {}, {}
        ways: dict[str, _Way] = {}
        for file in self.files:
            folder, name = os.path.split(file)
            way = ways.get(folder)
            if way is None:
                way = ways[folder] = _way(folder)
            self._need(way, name if way.whole else way.name, file)
            path = os.path.join(way.real, name)
            if way.whole and os.path.islink(path):
                target, name = os.path.split(os.path.realpath(path))
                self._need(_way(target), name, file)
            if way.whole and os.path.isdir(path):
                real = os.path.realpath(path)
                self._names.setdefault(real, {}).setdefault("", set()).add(file)
        wanted = dict.fromkeys(self._around, ITSELF)
        wanted.update(dict.fromkeys(self._names, INSIDE | ITSELF))
        for folder in [f for f in self._folders if f not in wanted]:
            self._forget(folder, gone=False)
        short = False
        for folder, mask in wanted.items():
            short |= not self._add(folder, mask)
        far = any(map(_is_remote, {_device(folder) for folder in self._names}))
        self.pace = PACE if short or far else None

    def _need(self, way: _Way, name: str, file: str) -> None:
        """Whatever happens to a name in a folder, or to the way there, concerns the file."""
        self._names.setdefault(way.real, {}).setdefault(name, set()).add(file)
        for folder, link in way.links:
            self._names.setdefault(folder, {}).setdefault(link, set()).add(file)
        folder = way.real
        while True:
            self._around.setdefault(folder, set()).add(file)
            if folder == os.path.dirname(folder):
                return
            folder = os.path.dirname(folder)

    def _add(self, folder: str, mask: int) -> bool:
        number = self._libc.inotify_add_watch(self._fd, os.fsencode(folder), mask | ONLY_FOLDERS)
        if number < 0:
            return not os.path.isdir(folder)  # one that has just gone is told of by another
        self._folders[folder] = number
        self._numbers[number] = folder
        return True

    def _forget(self, folder: str, *, gone: bool) -> None:
        number = self._folders.pop(folder, None)
        if number is not None:
            self._numbers.pop(number, None)
            if not gone:
                self._libc.inotify_rm_watch(self._fd, number)


class _Way(NamedTuple):
    """How a folder is reached."""

    real: str  # the folder; where it isn't there, the nearest one above that is
    whole: bool  # whether it is there
    name: str  # what is missing in `real`, if it isn't
    links: list[tuple[str, str]]  # symbolic links on the way, each a folder and a name in it


def _way(folder: str) -> _Way:
    name = ""
    whole = os.path.isdir(folder)
    while not os.path.isdir(folder) and folder != "/":
        folder, name = os.path.split(folder)
    links = []
    head = folder
    while head != "/":
        above, last = os.path.split(head)
        if os.path.islink(head):
            links.append((os.path.realpath(above), last))
        head = above
    return _Way(os.path.realpath(folder), whole, name, links)


def _leads_on(path: str) -> bool:
    """A folder or a link, which may lead to files: then other folders have to be watched."""
    return os.path.islink(path) or os.path.isdir(path)


class Stamp(NamedTuple):
    """What a file is like now: two that are `same` give a program the same to read."""

    kind: str  # "file", "folder" or "" where there is nothing
    size: int = 0
    time: int = 0
    inode: int = 0
    content: bytes | None = None  # a digest; None for what is too large to be read each time
    taken: int = 0

    def same(self, other: Stamp) -> bool:
        """By content where it is known: a touched file is the same file."""
        if self.content is not None and other.content is not None:
            return (self.kind, self.content) == (other.kind, other.content)
        return self[:3] == other[:3]

    def still(self, now: Stamp) -> bool:
        """Whether the content need not be read again: nobody wrote since it was."""
        return self[:4] == now[:4] and self.time < self.taken - TICK


def stamp(path: str, last: Stamp | None = None, *, whole: int = WHOLE) -> Stamp:
    """Look at a file; at its content only if it may not be as it was the last time."""
    try:
        found = os.stat(path)
        if stat.S_ISDIR(found.st_mode):
            names = sorted(name for name in os.listdir(path) if not LITTER.fullmatch(name))
            return Stamp("folder", content=_digest(os.fsencode("\0".join(names))))
        taken = time.time_ns()
        now = Stamp("file", found.st_size, found.st_mtime_ns, found.st_ino, None, taken)
        if last is not None and last.still(now):
            return last
        if stat.S_ISREG(found.st_mode) and found.st_size <= whole:
            with open(path, "rb") as file:
                return now._replace(content=_digest(file.read()))
        return now
    except (FileNotFoundError, NotADirectoryError):
        return Stamp("")
    except OSError:  # not ours to read
        return Stamp("file", -1)


def _digest(data: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(data, digest_size=16).digest()


def _device(folder: str) -> int:
    try:
        return os.stat(folder).st_dev
    except OSError:
        return 0


def _is_remote(device: int) -> bool:
    """Whether a file system may change without our kernel knowing."""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if words[2] == wanted:
                    return words[words.index("-") + 1].startswith(REMOTE)
    except (OSError, ValueError, IndexError):
        pass
    return False
