"""What the open descriptors are: the run's wires, files, pairs that lead only to ourselves.

A fork shares what is behind a descriptor, not just its number: an offset, what waits in a
pipe, who listens on a socket. So each must be one that `carry` can give the resumed program
for its own, or one that nobody minds sharing; any other forbids the fork.
"""

from __future__ import annotations

import os
import stat

from . import pairs, proc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    # Device, inode, and which device it is itself: what all descriptors of a thing share.
    Identity = tuple[int, int, int]

IN, OUT, ERR = "in", "out", "err"
MEMORY_DEVICES = 1  # null, zero, random: they have no state
TERMINALS = (4, 5, *range(136, 144))
LOCKED = b"lock:"

ours: set[int] = set()  # descriptors of zeroin's own, which the program doesn't know
_wires: dict[Identity, list[str]] = {}  # a terminal may be several at once
_is_begun = False
_inherited: set[Identity] = set()  # open when the program began: they belong to its surroundings


def begin() -> None:
    """Remember what the program was started with."""
    global _is_begun  # noqa: PLW0603 - a process starts once
    _is_begun = True
    _wires.clear()
    _inherited.clear()
    for fd in proc.names("/proc/self/fd"):
        one = identity(fd)
        if one is not None and fd > 2:
            _inherited.add(one)
    lead_to([(0, IN), (1, OUT), (2, ERR)])


def _begun() -> None:
    if not _is_begun:
        begin()


def lead_to(wires: list[tuple[int, str]]) -> None:
    """Say which things are the run's wires from now on, by descriptors that lead to them."""
    for _, kind in wires:
        for one, kinds in list(_wires.items()):
            _wires[one] = [known for known in kinds if known != kind]
            if not _wires[one]:
                del _wires[one]
    for fd, kind in wires:
        try:
            found = os.fstat(fd)
        except OSError:
            continue
        one = (found.st_dev, found.st_ino, found.st_rdev)
        # A file to read from is a file like any other; /dev/null leads nowhere.
        if not (kind == IN and stat.S_ISREG(found.st_mode)) and not _is_plain(one):
            _wires.setdefault(one, []).append(kind)


def identity(fd: int) -> Identity | None:
    """What a descriptor leads to."""
    try:
        found = os.fstat(fd)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_rdev


def _is_plain(one: Identity) -> bool:
    """Whether it is a device like /dev/null: there is but one, and it leads nowhere."""
    return bool(one[2]) and os.major(one[2]) == MEMORY_DEVICES


def listing() -> Iterator[tuple[int, os.stat_result]]:
    """The program's own descriptors, without those it was started with, and without ours."""
    for fd in sorted(proc.names("/proc/self/fd")):
        try:
            found = os.fstat(fd)
        except OSError:  # the one the folder was read with
            continue
        one = (found.st_dev, found.st_ino, found.st_rdev)
        if fd not in ours and one not in _inherited and one not in _wires:
            yield fd, found


def wires() -> list[tuple[int, str]]:
    """The descriptors that lead to the run's wires, and which."""
    _begun()
    found = []
    for fd in sorted(proc.names("/proc/self/fd")):
        one = identity(fd)
        kinds = _wires.get(one) if one is not None and fd not in ours else None
        if kinds:
            found.append((fd, _which(fd, kinds)))
    return found


def _which(fd: int, kinds: list[str]) -> str:
    if len(kinds) == 1:
        return kinds[0]
    if fd < 3 and (IN, OUT, ERR)[fd] in kinds:
        return (IN, OUT, ERR)[fd]
    if flags_of(fd) & os.O_ACCMODE == os.O_RDONLY and IN in kinds:
        return IN
    return OUT if OUT in kinds else ERR


def flags_of(fd: int) -> int:
    """How a descriptor was opened."""
    return info(fd)[1]


def info(fd: int) -> tuple[int, int, bytes]:
    """A descriptor's offset, its flags, and all that the kernel says of it."""
    text = proc.read(f"/proc/self/fdinfo/{fd}")
    place = flags = 0
    for line in text.splitlines()[:2]:
        name, _, value = line.partition(b":")
        if name == b"pos":
            place = int(value)
        elif name == b"flags":
            flags = int(value, 8)
    return place, flags, text


def path_of(fd: int) -> str:
    """What the kernel calls it."""
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return ""


# --- may it be forked? -----------------------------------------------------------------------


def reason() -> str | None:
    """Say which open descriptor forbids a fork; None if none does."""
    _begun()
    ends: list[tuple[int, os.stat_result]] = []
    for fd, found in listing():
        kind = stat.S_IFMT(found.st_mode)
        if kind == stat.S_IFDIR:
            continue
        if kind == stat.S_IFREG:
            why = _file(fd, found)
        elif kind in (stat.S_IFCHR, stat.S_IFBLK):
            why = _device(fd, found)
        else:
            ends.append((fd, found))
            why = None
        if why is not None:
            return why
    return pairs.reason(ends) if ends else None


def ends_of_pairs() -> list[tuple[int, os.stat_result]]:
    """Sockets, pipes and the kernel's own kinds: what `pairs` knows about."""
    others = (stat.S_IFREG, stat.S_IFDIR, stat.S_IFCHR, stat.S_IFBLK)
    return [(fd, found) for fd, found in listing() if stat.S_IFMT(found.st_mode) not in others]


def _file(fd: int, found: os.stat_result) -> str | None:
    _, flags, text = info(fd)
    if LOCKED in text and not only_shared_flock(text):
        return f"a file lock is held on {proc.shown(path_of(fd))}"
    if _is_sqlite(fd, found, flags):
        return f"sqlite has {proc.shown(path_of(fd))} open"
    return None


def only_shared_flock(text: bytes) -> bool:
    """Whether the only lock is one for reading, as HDF5 takes: it can be taken again."""
    locks = [line for line in text.splitlines() if line.startswith(LOCKED)]
    return bool(locks) and all(b"FLOCK" in line and b" READ " in line for line in locks)


def _is_sqlite(fd: int, found: os.stat_result, flags: int) -> bool:
    import sys

    mode = flags & os.O_ACCMODE
    is_loaded = "_sqlite3" in sys.modules  # other copies of it are inside other libraries
    if mode == os.O_WRONLY or not (is_loaded or mode == os.O_RDWR):
        return False
    if not found.st_size:  # a database to be: of Python's own, only tempfile opens like this
        return is_loaded and bool(flags & os.O_NOFOLLOW)
    try:
        return os.pread(fd, 16, 0) == b"SQLite format 3\0"
    except OSError:
        return False


def _device(fd: int, found: os.stat_result) -> str | None:
    major = os.major(found.st_rdev)
    if stat.S_ISCHR(found.st_mode) and (major == MEMORY_DEVICES or major in TERMINALS):
        return None
    path = path_of(fd)
    if path.startswith("/dev/nvidia"):
        return "a CUDA context is open"
    if path.startswith(("/dev/kfd", "/dev/dri", "/dev/accel")):
        return f"a GPU is open ({path})"
    return f"a device is open ({path})"
