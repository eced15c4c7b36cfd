"""Namespaces and mounts, by the C library alone: no command, and no rights of root's."""

from __future__ import annotations

import errno
import os
import sys

from zeroin.libc import LONG, error, function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

NEW_USER, NEW_MOUNTS, NEW_NETWORK = 0x10000000, 0x00020000, 0x40000000
READ_ONLY, NO_SUID, NO_DEVICES = 0x1, 0x2, 0x4
REMOUNT, BIND, RECURSIVE, PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
PARENT_DEATH = 1  # PR_SET_PDEATHSIG
SET_ATTRIBUTES = 442  # mount_setattr, which the C library has no function for
AT_RECURSIVE, AT_FOLDER = 0x8000, -100
BROKEN = 127
SET_FLAGS, IS_UP = 0x8914, 0x1  # SIOCSIFFLAGS, IFF_UP


def isolate(spaces: int) -> bool:
    """Enter namespaces of our own; True if that took a user namespace, which has only us in it."""
    user, group = os.geteuid(), os.getegid()
    apart = bool(spaces & NEW_USER) or user != 0 or bool(function("unshare")(spaces))
    if apart:
        _check(function("unshare")(NEW_USER | spaces), "no user namespaces")
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for name, text in maps.items():
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    if spaces & NEW_MOUNTS:
        mount("none", "/", "", RECURSIVE | PRIVATE)
    return apart


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """The system call."""
    words = [os.fsencode(word) if word else None for word in (source, target, kind, data)]
    done = function("mount")(words[0], words[1], words[2], LONG(flags), words[3])
    _check(done, f"{kind or 'bind'} on {target}")


def bind(fd: int, target: str) -> None:
    """Show what is open there, with all that is mounted below it."""
    mount(f"/proc/self/fd/{fd}", target, "", BIND | RECURSIVE)


def set_read_only(path: str, *, on: bool) -> None:
    """A mount and all below it."""
    given = (READ_ONLY, 0) if on else (0, READ_ONLY)  # what to set and what to clear
    change = b"".join(one.to_bytes(8, sys.byteorder) for one in (*given, 0, 0))
    done = function("syscall")(
        SET_ATTRIBUTES, AT_FOLDER, os.fsencode(path), AT_RECURSIVE, change, len(change)
    )
    if done and error() == errno.ENOSYS:  # before Linux 5.12: without what is below
        flags = os.statvfs(path).f_flag & ~READ_ONLY | (READ_ONLY if on else 0)
        mount("none", path, "", REMOUNT | BIND | flags)
        return
    _check(done, f"read-only on {path}")


def loopback_up() -> None:
    """In a network namespace of our own even that is down."""
    import fcntl
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        flags = IS_UP.to_bytes(2, sys.byteorder)
        fcntl.ioctl(any_socket, SET_FLAGS, b"lo".ljust(16, b"\0") + flags + bytes(14))


def die_with_parent(number: int) -> None:
    """Get that signal when the process that started us ends."""
    function("prctl")(PARENT_DEATH, number)


def _check(result: int, what: str) -> None:
    if result:
        number = error()
        raise OSError(number, f"{what}: {os.strerror(number).lower()}")


def trial(spaces: int, do: Callable[[bool], None]) -> str:
    """Do something in namespaces of a process that ends right after: why it can't, or ""."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        tell_and_end(writer, lambda: do(isolate(spaces)))
    os.close(writer)
    with open(reader, "rb") as file:
        told = file.read().decode(errors="replace")
    os.waitpid(pid, 0)
    return told


def tell_and_end(writer: int, do: Callable[[], None]) -> NoReturn:
    """In a child: what goes wrong is the parent's to say."""
    try:
        do()
        os._exit(0)
    except BaseException as error:
        text = error.strerror if isinstance(error, OSError) else str(error)
        os.write(writer, (text or "?").encode(errors="replace"))
    finally:
        os._exit(BROKEN)
