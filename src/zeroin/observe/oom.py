"""Did the kernel kill something of ours because memory ran out?"""

from __future__ import annotations


def kills() -> int:
    """How many processes of our cgroup the kernel has killed so far; 0 where it won't say."""
    total = 0
    for path in _files():
        try:
            with open(path, "rb") as file:
                for line in file:
                    name, _, value = line.partition(b" ")
                    if name == b"oom_kill":
                        total += int(value)
        except (OSError, ValueError):
            continue
    return total


def _files() -> list[str]:
    try:
        with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
            rows = [line.rstrip("\n").split(":", 2) for line in file]
    except OSError:
        return []
    found = []
    for _, controllers, path in rows:
        if controllers == "":  # version 2
            found.append(f"/sys/fs/cgroup{path}/memory.events")
        elif "memory" in controllers.split(","):
            found.append(f"/sys/fs/cgroup/memory{path}/memory.oom_control")
    return found
