"""What a file or folder has besides its content: owner, mode, time, extended attributes."""

from __future__ import annotations

import contextlib
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.run.restore.baseline import Entry


def describe(fd: int, entry: Entry) -> None:
    """Note the extended attributes of an open file or folder, if there are any."""
    attributes = _attributes(fd)
    if attributes:
        entry["attributes"] = attributes


def is_settled(fd: int, want: Entry) -> bool:
    """Ask whether owner, attributes, mode and time are right."""
    info = os.fstat(fd)
    return (
        (stat.S_IMODE(info.st_mode), info.st_mtime_ns) == (want["mode"], want["mtime"])
        and _attributes(fd) == want.get("attributes", {})
        and owner_of(info) == want.get("owner", owner_of(info))
    )


def settle(fd: int, want: Entry) -> None:
    """Put owner, attributes, mode and time back, in the order in which they undo one another."""
    if is_settled(fd, want):
        return
    info = os.fstat(fd)
    owner, attributes = want.get("owner", owner_of(info)), want.get("attributes", {})
    if owner != owner_of(info) and os.geteuid() == 0:
        os.fchown(fd, owner[0], owner[1])
    if attributes != _attributes(fd):
        os.fchmod(fd, stat.S_IMODE(info.st_mode) | 0o200)  # or they can't be set
        _set_attributes(fd, attributes)
    if stat.S_IMODE(os.fstat(fd).st_mode) != want["mode"]:
        os.fchmod(fd, want["mode"])
    os.utime(fd, ns=(info.st_atime_ns, want["mtime"]))


def owner_of(info: os.stat_result) -> list[int]:
    """Give user and group."""
    return [info.st_uid, info.st_gid]


def _attributes(fd: int) -> dict[str, str]:
    found = {}
    with contextlib.suppress(OSError):  # a file system without any
        for name in os.listxattr(fd):
            with contextlib.suppress(OSError):  # not ours to read
                found[name] = os.getxattr(fd, name).hex()
    return found


def _set_attributes(fd: int, want: dict[str, str]) -> None:
    have = _attributes(fd)
    for name in have.keys() | want.keys():
        with contextlib.suppress(OSError):  # not ours to set
            if name not in want:
                os.removexattr(fd, name)
            elif have.get(name) != want[name]:
                os.setxattr(fd, name, bytes.fromhex(want[name]))
