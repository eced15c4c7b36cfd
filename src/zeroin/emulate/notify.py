"""System calls that ask us first: a seccomp filter with a listener. No root, no ptrace, no strace.

The filter is installed in the command's own process and holds for all that it starts. The kernel
stops each call that it names, and asks the process that has the listener: go on, or fail with an
error. All other calls run at full speed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from zeroin.emulate import calls

NO_NEW_PRIVILEGES = 38  # PR_SET_NO_NEW_PRIVS
SET_FILTER, NEW_LISTENER = 1, 8
ALLOW, ASK = 0x7FFF0000, 0x7FC00000
RECEIVE, SEND, IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
NOTICE = struct.Struct("<QIIiIQ6Q")  # id, pid, flags, number, architecture, where, arguments
REPLY = struct.Struct("<QqiI")  # id, value, error, flags
GO_ON = 1
GET_FD, OPEN_PID = 438, 434  # pidfd_getfd, pidfd_open: the same everywhere
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06

_libc = ctypes.CDLL(None, use_errno=True)


def install(numbers: list[int]) -> int:
    """Install the filter in this process; the listener's descriptor."""
    machine = calls.machine()
    program = _program(numbers, calls.ARCHITECTURES[machine])
    kept = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(kept))
    number = calls.SECCOMP[machine]
    fd = _libc.syscall(number, SET_FILTER, NEW_LISTENER, header)
    if fd < 0 and ctypes.get_errno() == errno.EACCES:  # not root: then for those who gain nothing
        _libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        fd = _libc.syscall(number, SET_FILTER, NEW_LISTENER, header)
    if fd < 0:
        reason = ctypes.get_errno()
        if reason == errno.EBUSY:
            raise OSError(reason, "somebody watches its system calls already")
        raise OSError(reason, f"seccomp: {os.strerror(reason).lower()}")
    return int(fd)


def _program(numbers: list[int], architecture: int) -> bytes:
    """Classic BPF: calls of another architecture, and those not named, pass."""
    steps = [(LOAD, 0, 0, 4), (JUMP_EQUAL, 1, 0, architecture), (RETURN, 0, 0, ALLOW)]
    steps.append((LOAD, 0, 0, 0))
    for at, number in enumerate(numbers):
        steps.append((JUMP_EQUAL, len(numbers) - at, 0, number))
    steps += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, ASK)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def receive(listener: int) -> tuple[int, int, int, tuple[int, ...]] | None:
    """The next call: its id, thread, number and arguments; None if it is gone already."""
    notice = ctypes.create_string_buffer(NOTICE.size)  # the kernel wants zeros
    if _libc.ioctl(listener, ctypes.c_ulong(RECEIVE), notice) < 0:
        return None
    name, pid, _, number, _, _, *args = NOTICE.unpack(notice.raw)
    return name, pid, number, tuple(args)


def reply(listener: int, name: int, error: int = 0) -> None:
    """Let a call go on, or fail. One whose process was killed meanwhile needs no answer."""
    answer = REPLY.pack(name, 0, -error, 0 if error else GO_ON)
    _libc.ioctl(listener, ctypes.c_ulong(SEND), answer)


def is_valid(listener: int, name: int) -> bool:
    """Whether what was read of the process was really its own: its number may be another's now."""
    return not _libc.ioctl(listener, ctypes.c_ulong(IS_VALID), struct.pack("<Q", name))


def take_over(pid: int, fd: int) -> int:
    """A descriptor of another process of ours, as one of our own."""
    handle = _libc.syscall(OPEN_PID, pid, 0)
    if handle < 0:
        raise OSError(ctypes.get_errno(), "pidfd_open")
    try:
        found = _libc.syscall(GET_FD, handle, fd, 0)
        if found < 0:
            raise OSError(ctypes.get_errno(), "pidfd_getfd")
        return int(found)
    finally:
        os.close(handle)


def path_of(pid: int, where: str, args: tuple[int, ...]) -> str:
    """The file that a call is about, absolute; "" if there is none."""
    if not where:
        return ""
    at = int(where[1])
    try:
        if where[0] == "f":
            return os.readlink(f"/proc/{pid}/fd/{_number(args[at])}")
        name = _text(pid, args[at])
        folder = _number(args[at - 1]) if at else -100
        if not name.startswith("/"):
            base = "cwd" if folder < 0 else f"fd/{folder}"
            name = os.path.join(os.readlink(f"/proc/{pid}/{base}"), name)
        return os.path.normpath(name)
    except OSError:
        return ""


def _number(value: int) -> int:
    """A descriptor is an int; -100 is the current folder."""
    return int(ctypes.c_int(value & 0xFFFFFFFF).value)


def _text(pid: int, address: int) -> str:
    with open(f"/proc/{pid}/mem", "rb", 0) as file:
        found = b""
        while b"\0" not in found and len(found) < 4096:
            # Not across a page: the next one may not be there.
            length = 4096 - (address + len(found)) % 4096
            found += os.pread(file.fileno(), length, address + len(found))
    return os.fsdecode(found.partition(b"\0")[0])


def memory(pid: int, address: int, length: int) -> bytes:
    """Bytes of another process of ours."""
    with open(f"/proc/{pid}/mem", "rb", 0) as file:
        return os.pread(file.fileno(), length, address)
