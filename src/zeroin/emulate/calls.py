"""System calls by name: their numbers, and where in their arguments a file is named."""

from __future__ import annotations

import platform

from zeroin.named import NamedTuple

# name → number on x86-64, on 64-bit ARM (-1: it has none), where the file is: "p1" is a path in
# argument 1 that counts from the folder in argument 0, "p0" one from the current folder, "f0" a
# descriptor.
_TABLE = {
    "read": (0, 63, "f0"), "write": (1, 64, "f0"), "open": (2, -1, "p0"), "close": (3, 57, "f0"),
    "stat": (4, -1, "p0"), "lstat": (6, -1, "p0"), "mmap": (9, 222, "f4"),
    "pread64": (17, 67, "f0"), "pwrite64": (18, 68, "f0"), "readv": (19, 65, "f0"),
    "writev": (20, 66, "f0"), "access": (21, -1, "p0"), "sendfile": (40, 71, "f0"),
    "socket": (41, 198, ""), "connect": (42, 203, "f0"), "accept": (43, 202, "f0"),
    "sendto": (44, 206, "f0"), "recvfrom": (45, 207, "f0"), "sendmsg": (46, 211, "f0"),
    "recvmsg": (47, 212, "f0"), "bind": (49, 200, "f0"), "listen": (50, 201, "f0"),
    "clone": (56, 220, ""), "fork": (57, -1, ""), "vfork": (58, -1, ""), "execve": (59, 221, "p0"),
    "wait4": (61, 260, ""), "kill": (62, 129, ""), "fcntl": (72, 25, "f0"), "flock": (73, 32, "f0"),
    "fsync": (74, 82, "f0"), "fdatasync": (75, 83, "f0"), "truncate": (76, 45, "p0"),
    "ftruncate": (77, 46, "f0"), "getcwd": (79, 17, ""), "chdir": (80, 49, "p0"),
    "rename": (82, -1, "p0"), "mkdir": (83, -1, "p0"), "rmdir": (84, -1, "p0"),
    "creat": (85, -1, "p0"), "link": (86, -1, "p0"), "unlink": (87, -1, "p0"),
    "symlink": (88, -1, "p1"), "readlink": (89, -1, "p0"), "chmod": (90, -1, "p0"),
    "chown": (92, -1, "p0"), "statfs": (137, 43, "p0"), "mount": (165, 40, "p0"),
    "getdents64": (217, 61, "f0"), "openat": (257, 56, "p1"), "mkdirat": (258, 34, "p1"),
    "fchownat": (260, 54, "p1"), "newfstatat": (262, 79, "p1"), "unlinkat": (263, 35, "p1"),
    "renameat": (264, 38, "p1"), "linkat": (265, 37, "p1"), "symlinkat": (266, 36, "p2"),
    "readlinkat": (267, 78, "p1"), "fchmodat": (268, 53, "p1"), "faccessat": (269, 48, "p1"),
    "utimensat": (280, 88, "p1"), "fallocate": (285, 47, "f0"), "accept4": (288, 242, "f0"),
    "preadv": (295, 69, "f0"), "pwritev": (296, 70, "f0"), "renameat2": (316, 276, "p1"),
    "getrandom": (318, 278, ""), "memfd_create": (319, 279, ""), "execveat": (322, 281, "p1"),
    "copy_file_range": (326, 285, "f2"), "pwritev2": (328, 287, "f0"), "statx": (332, 291, "p1"),
    "clone3": (435, 435, ""), "openat2": (437, 437, "p1"), "faccessat2": (439, 439, "p1"),
}  # fmt: skip
# One word for all calls that do the same: which of them a program makes is the C library's choice.
FAMILIES = {
    "open": ("open", "openat", "openat2", "creat"),
    "stat": ("stat", "lstat", "newfstatat", "statx"),
    "access": ("access", "faccessat", "faccessat2"),
    "read": ("read", "pread64", "readv", "preadv"),
    "write": ("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile", "copy_file_range"),
    "rename": ("rename", "renameat", "renameat2"),
    "unlink": ("unlink", "unlinkat"),
    "mkdir": ("mkdir", "mkdirat"),
    "link": ("link", "linkat"),
    "symlink": ("symlink", "symlinkat"),
    "readlink": ("readlink", "readlinkat"),
    "chmod": ("chmod", "fchmodat"),
    "chown": ("chown", "fchownat"),
    "fsync": ("fsync", "fdatasync"),
    "accept": ("accept", "accept4"),
    "send": ("sendto", "sendmsg"),
    "recv": ("recvfrom", "recvmsg"),
    "fork": ("fork", "vfork", "clone", "clone3"),
    "execve": ("execve", "execveat"),
}
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SECCOMP = {"x86_64": 317, "aarch64": 277}


class Called(NamedTuple):
    """One system call on this machine."""

    name: str
    number: int
    where: str


def machine() -> str:
    """What processor it is, as the kernel says it."""
    return platform.machine()


def known() -> list[str]:
    """All words that can be given."""
    return sorted({*_TABLE, *FAMILIES})


def named(word: str) -> list[Called]:
    """The calls of a word, those that this processor has; none for a word that nobody knows."""
    is_arm = machine() == "aarch64"
    found = []
    for name in FAMILIES.get(word, (word,)):
        if name in _TABLE:
            intel, arm, where = _TABLE[name]
            found.append(Called(name, arm if is_arm else intel, where))
    return [call for call in found if call.number >= 0]
