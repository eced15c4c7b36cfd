"""What is around a run, to be kept with it: limits, memory and disk. Well under a millisecond."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Those that end or starve programs; as `ulimit` names them.
LIMITS = {
    "cpu time": ("RLIMIT_CPU", "s"),
    "file size": ("RLIMIT_FSIZE", "bytes"),
    "data": ("RLIMIT_DATA", "bytes"),
    "stack": ("RLIMIT_STACK", "bytes"),
    "core size": ("RLIMIT_CORE", "bytes"),
    "open files": ("RLIMIT_NOFILE", ""),
    "address space": ("RLIMIT_AS", "bytes"),
    "processes": ("RLIMIT_NPROC", ""),
    "locked memory": ("RLIMIT_MEMLOCK", "bytes"),
}
NO_LIMIT = 1 << 60  # what cgroups say for "none" is near 2^63


def limits() -> dict[str, list[int]]:
    """Soft and hard ones of this process, which a command inherits; -1 is none."""
    import resource

    return {
        name: list(resource.getrlimit(getattr(resource, constant)))
        for name, (constant, _) in LIMITS.items()
    }


def groups() -> dict[str, int]:
    """What the cgroup of this process may have; only what is limited."""
    try:
        with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            rows = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return {}
    found: dict[str, int] = {}
    for _, controllers, path in rows:
        for what, name in _knobs(controllers):
            base = "/sys/fs/cgroup" + (f"/{what}" if controllers else "")
            values = [value for folder in _upwards(base, path) if (value := _number(folder, name))]
            if values:
                found[what] = min([*values, found.get(what, NO_LIMIT)])
    return found


def _knobs(controllers: str) -> list[tuple[str, str]]:
    """What limits what, in version 2 (one folder for all) and in version 1."""
    if not controllers:
        return [("memory", "memory.max"), ("pids", "pids.max")]
    version_1 = {"memory": "memory.limit_in_bytes", "pids": "pids.max"}
    return [(what, name) for what, name in version_1.items() if what in controllers.split(",")]


def _upwards(base: str, path: str) -> list[str]:
    """The cgroup's folder and those above: the smallest limit counts; the top has none."""
    found, folder = [], path
    while folder not in ("/", ""):
        found.append(base + folder)
        folder = os.path.dirname(folder)
    return found or [base]


def disks(paths: list[str]) -> list[dict[str, Any]]:
    """Free room and inodes, one for each file system."""
    found: dict[int, dict[str, Any]] = {}
    for path in paths:
        try:
            device, at = os.stat(path).st_dev, os.statvfs(path)
        except OSError:
            continue
        found.setdefault(
            device,
            {
                "path": path,
                "free": at.f_bavail * at.f_frsize,
                "size": at.f_blocks * at.f_frsize,
                "inodes_free": at.f_favail,
                "inodes": at.f_files,
            },
        )
    return list(found.values())


def _number(folder: str, name: str) -> int:
    try:
        with open(f"{folder}/{name}", encoding="ascii") as file:
            value = int(file.read())
    except (OSError, ValueError):  # "max", or no such limit
        return 0
    return value if 0 < value < NO_LIMIT else 0
