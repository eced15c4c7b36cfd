"""Something ran out, and the program said so itself."""

from __future__ import annotations

import re

from zeroin.observe.death.evidence import (
    FULL,
    Evidence,
    Verdict,
    disk_words,
    line_with,
    of_limit,
)
from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def lack(e: Evidence) -> Verdict | None:
    """Something ran out, and the program said so itself."""
    all_of_it = f"{e.exception}\n{e.output}"
    for pattern, text, facts in _LACKS:
        line = line_with(e.exception, pattern) or line_with(all_of_it, pattern)
        if line:
            sure = "certain" if re.search(pattern, e.exception) else "likely"
            return Verdict(text, sure, [f"it said: {line}", *facts(e)], [])
    return None


def _disk_facts(e: Evidence) -> list[str]:
    found = [disk_words(disk) for disk in e.disks]
    is_full = any(disk["free"] < FULL or disk["inodes_free"] < 2 for disk in e.disks)
    if e.disks and not is_full:
        found.append("none of these is full: it was another one, or it has been tidied up")
    return found


def _memory_facts(e: Evidence) -> list[str]:
    found = [f"its peak was {size(e.peak)}{of_limit(e)}"] if e.peak else []
    for name in ("address space", "data"):
        soft = e.limits.get(name, [-1])[0]
        if soft >= 0:
            found.append(f"its {name} may be {size(soft)} (ulimit)")
    return found


def _file_facts(e: Evidence) -> list[str]:
    soft, hard = e.limits.get("open files", [-1, -1])
    return (
        [f"a process may have {soft:,} files open (ulimit -n; up to {hard:,})"] if soft >= 0 else []
    )


def _process_facts(e: Evidence) -> list[str]:
    found = []
    soft = e.limits.get("processes", [-1])[0]
    if soft >= 0:
        found.append(f"the user may have {soft:,} processes and threads (ulimit -u)")
    if "pids" in e.groups:
        found.append(f"the cgroup may have {e.groups['pids']:,}")
    return found


def _size_facts(e: Evidence) -> list[str]:
    soft = e.limits.get("file size", [-1])[0]
    return [f"a file may have {size(soft)} (ulimit -f)"] if soft >= 0 else []


_NO_PROCESS = (
    r"can't start new thread|fork: (?:retry: )?Resource temporarily unavailable"
    r"|BlockingIOError.*Errno 11"
)
_NO_MEMORY = (
    r"\bMemoryError\b|DefaultCPUAllocator|std::bad_alloc|[Cc]annot allocate memory"
    r"|Unable to allocate"
)
_LACKS: tuple[tuple[str, str, Callable[[Evidence], list[str]]], ...] = (
    (r"No space left on device|database or disk is full|ENOSPC", "the disk was full", _disk_facts),
    (r"Disk quota exceeded", "the quota was used up", _disk_facts),
    (r"Too many open files", "it had too many files open", _file_facts),
    (_NO_PROCESS, "there were too many processes or threads", _process_facts),
    (r"File too large", "a file became larger than it may", _size_facts),
    (_NO_MEMORY, "memory was not to be had", _memory_facts),
    (r"CUDA (?:error: )?out of memory|OutOfMemoryError", "the memory of the GPU was used up",
     lambda _: []),
)  # fmt: skip
