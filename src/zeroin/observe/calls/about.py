"""What a call was about: paths, addresses, and what it wanted to do there, in words."""

from __future__ import annotations

import os
import re

from zeroin.named import NamedTuple
from zeroin.observe.calls.parse import Call, unquoted

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_DESCRIPTOR = re.compile(r"(?:AT_FDCWD|\d+)<((?:[^>\\]|\\.)*)>")
_PORT = re.compile(r"htons\((\d+)\)")
_ADDRESS = re.compile(r'inet_(?:addr\(|pton\(\w+, )"([^"]+)"')
_UNIX = re.compile(r'sun_path=(@?)"((?:[^"\\]|\\.)*)"')

LOOKS = frozenset(
    (
        *("stat", "lstat", "stat64", "lstat64", "newfstatat", "fstatat64", "statx"),
        *("access", "faccessat", "faccessat2", "readlink", "readlinkat", "statfs", "statfs64"),
        *("getxattr", "lgetxattr", "listxattr", "llistxattr"),
    )
)
EXECUTES = frozenset(("execve", "execveat"))
OPENS = frozenset(("open", "openat", "openat2", "creat"))
_CHANGES = {
    "mkdir": "make the folder",
    "mkdirat": "make the folder",
    "rmdir": "remove the folder",
    "unlink": "remove",
    "unlinkat": "remove",
    "rename": "rename",
    "renameat": "rename",
    "renameat2": "rename",
    "link": "link",
    "linkat": "link",
    "symlink": "make the link",
    "symlinkat": "make the link",
    "truncate": "cut",
    "ftruncate": "cut",
    "fallocate": "reserve room in",
    "mknod": "make",
    "mknodat": "make",
    "chmod": "change the mode of",
    "fchmodat": "change the mode of",
    "chown": "change the owner of",
    "lchown": "change the owner of",
    "fchownat": "change the owner of",
    "utimensat": "change the time of",
    "write": "write to",
    "pwrite64": "write to",
    "writev": "write to",
    "pwritev": "write to",
    "pwritev2": "write to",
    "fsync": "write out",
    "fdatasync": "write out",
}
_OTHERS = {
    "chdir": "enter",
    "connect": "connect to",
    "bind": "listen at",
    "socket": "make a socket",
    "getdents64": "list",
}
MAKES = frozenset(("mkdir", "mkdirat", "symlink", "symlinkat", "link", "linkat", "mknod"))
WRITES = frozenset(("write", "pwrite64", "writev", "pwritev", "pwritev2"))


class About(NamedTuple):
    """The things a call named. `operation` says what was wanted, "open to read"."""

    paths: list[str]
    operation: str
    writes: bool  # would change something on disk
    address: str = ""  # of a socket


def about(call: Call, cwd: str) -> About:
    """Read it off the arguments; relative paths count from the folder the process is in."""
    if call.name in ("connect", "bind"):
        address = _address(call.args[1] if len(call.args) > 1 else "")
        path = [address] if address.startswith("/") else []
        return About(path, _OTHERS[call.name], writes=False, address=address)
    paths = _paths(call, cwd)
    if call.name in OPENS:
        flags = call.args[-1] if call.name == "openat2" else " ".join(call.args[1:])
        writes = call.name == "creat" or any(
            flag in flags for flag in ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC")
        )
        return About(paths, "open to write" if writes else "open to read", writes)
    if call.name in EXECUTES:
        return About(paths, "execute", writes=False)
    if call.name in LOOKS:
        return About(paths, "look at", writes=False)
    if call.name in _CHANGES:
        return About(paths, _CHANGES[call.name], writes=True)
    return About(paths, _OTHERS.get(call.name, call.name), writes=False)


def _paths(call: Call, cwd: str) -> list[str]:
    found: list[str] = []
    base, of_descriptor = cwd, ""
    for number, arg in enumerate(call.args):
        descriptor = _DESCRIPTOR.match(arg)
        if descriptor:
            base = unquoted(descriptor[1])
            of_descriptor = of_descriptor or base
        elif arg.startswith('"'):
            text = _QUOTED.match(arg)
            is_target = call.name.startswith("symlink") and number == 0
            is_data = call.name in WRITES or (call.name.startswith("readlink") and found)
            if text and not is_target and not is_data:
                found.append(os.path.normpath(os.path.join(base, unquoted(text[1]))))
            base = cwd
    return found or ([of_descriptor] if of_descriptor.startswith("/") else [])


def _address(text: str) -> str:
    unix = _UNIX.search(text)
    if unix:
        return unix[1] + unquoted(unix[2])
    host, port = _ADDRESS.search(text), _PORT.search(text)
    if host and port:
        return f"[{host[1]}]:{port[1]}" if ":" in host[1] else f"{host[1]}:{port[1]}"
    return ""


def descriptor(call: Call) -> str:
    """What the first argument stands for, such as `socket:[123]`."""
    match = _DESCRIPTOR.match(call.args[0]) if call.args else None
    return unquoted(match[1]) if match else ""
