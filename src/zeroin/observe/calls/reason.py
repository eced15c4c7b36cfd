"""Why a path fails, as the file system looks now: which folder is missing, whose mode forbids."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def reason(path: str, error: str, operation: str) -> str:
    """One line that adds to the error; "" where there is nothing to add."""
    look = _LOOKS.get(error)
    if look is None or not path:
        return ""
    try:
        return look(path, operation)
    except OSError:  # it changes, or is not ours to see
        return ""


def _missing(path: str, operation: str) -> str:
    if operation == "execute" and os.path.exists(path):
        return _interpreter(path)
    if os.path.islink(path) and not os.path.exists(path):
        return f"it is a link to {os.readlink(path)}, which is not there"
    folder, gone = os.path.dirname(path), ""
    while folder != "/" and folder and not os.path.lexists(folder):
        gone, folder = folder, os.path.dirname(folder)
    if gone:
        return f"the folder {gone} is not there either"
    if os.path.exists(path):
        return "it is there now"
    return _near(folder, os.path.basename(path))


def _interpreter(path: str) -> str:
    with open(path, "rb") as file:
        first = file.readline(300)
    if first.startswith(b"#!"):
        words = first[2:].decode("utf-8", "replace").split()
        name = words[0] if words else ""
        return f"it is there; the interpreter in its first line is not: {name}" + (
            " (the line ends in a carriage return)" if first.rstrip(b"\n").endswith(b"\r") else ""
        )
    return "it is there; the loader it was built for is not"


def _near(folder: str, name: str) -> str:
    """Another spelling that is there."""
    if not name:
        return ""
    from difflib import get_close_matches

    with os.scandir(folder) as entries:
        names = [entry.name for _, entry in zip(range(5000), entries, strict=False)]
    same = [one for one in names if one.lower() == name.lower()]
    near = same or get_close_matches(name, names, 1, 0.8)
    return f"there is {near[0]}" if near else ""


def _denied(path: str, operation: str) -> str:
    folder = "/"
    for part in path.split("/")[1:-1]:
        folder = os.path.join(folder, part)
        if not os.access(folder, os.X_OK):
            return f"the folder {folder} is {_mode(folder)}"
    if os.path.exists(path):
        if operation == "execute" and os.path.isfile(path):
            return f"it is {_mode(path)}: not executable, or its file system is not"
        return f"it is {_mode(path)}"
    return f"its folder {os.path.dirname(path)} is {_mode(os.path.dirname(path))}"


def _mode(path: str) -> str:
    found = os.stat(path)
    mode = stat.filemode(found.st_mode)
    return f"{mode} of {_owner(found.st_uid)}; you are {_owner(os.geteuid())}"


def _owner(uid: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _no_folder(path: str, _: str) -> str:
    folder = os.path.dirname(path)
    while folder != "/" and not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return "" if os.path.isdir(folder) else f"{folder} is a file, not a folder"


def _full(path: str, _: str) -> str:
    folder = path
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    found = os.statvfs(folder)
    text = f"{found.f_bavail * found.f_frsize / 1e6:,.0f} MB free now"
    if found.f_files:
        text += f", {found.f_favail:,} of {found.f_files:,} inodes"
    return f"{text} on {_mount(folder)[0]}"


def _read_only(path: str, _: str) -> str:
    place, kind = _mount(path)
    return f"{place} ({kind}) is mounted read-only"


def _mount(path: str) -> tuple[str, str]:
    """The mount point that a path lies on, and its file system."""
    best, kind = "/", ""
    with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            _, point, found, *_ = line.split(" ")
            point = point.replace("\\040", " ")
            if (path + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(best):
                best, kind = point, found
    return best, kind


def _too_many(*_: str) -> str:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return f"open files are limited to {soft:,} here (ulimit -n; at most {hard:,})"


def _refused(address: str, _: str) -> str:
    return f"nobody listens at {address}"


def _long(path: str, _: str) -> str:
    name = max(path.split("/"), key=lambda part: len(os.fsencode(part)))
    return f"the longest name in it has {len(os.fsencode(name))} bytes; 255 are allowed"


_LOOKS: dict[str, Callable[[str, str], str]] = {
    "ENOENT": _missing,
    "EACCES": _denied,
    "EPERM": _denied,
    "ENOTDIR": _no_folder,
    "ENOSPC": _full,
    "EDQUOT": _full,
    "EROFS": _read_only,
    "EMFILE": _too_many,
    "ECONNREFUSED": _refused,
    "ENAMETOOLONG": _long,
}
