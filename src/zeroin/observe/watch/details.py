"""What is read of a process only when it is shown: each costs several microseconds.

None stands for what we may not read (another user's), or what this kernel does not tell.
"""

from __future__ import annotations

import os

RANKS = (b"RANK", b"SLURM_PROCID", b"OMPI_COMM_WORLD_RANK", b"PMI_RANK")
ENVIRONMENT = 1 << 18  # bytes of it that are looked through


def high_water(path: str) -> int | None:
    """The most memory it ever had resident, by the kernel's own mark: nothing is missed."""
    return _kilobytes(_read(f"{path}/status", 1 << 13), b"VmHWM:")


def proportional(path: str) -> int | None:
    """Memory with shared pages divided among their sharers; milliseconds for a large one."""
    return _kilobytes(_read(f"{path}/smaps_rollup", 1 << 13), b"\nPss:")


def transferred(path: str) -> tuple[int, int] | None:
    """Bytes read and written so far, through every kind of file, cached or not."""
    data = _read(f"{path}/io", 1 << 10)
    if data is None:
        return None
    words = data.split()
    try:
        return int(words[1]), int(words[3])  # rchar, wchar
    except (IndexError, ValueError):
        return None


def open_files(path: str) -> int | None:
    """How many descriptors it has; kernels before 6.2 have to be asked for each."""
    try:
        return os.stat(f"{path}/fd").st_size or len(os.listdir(f"{path}/fd"))
    except OSError:
        return None


def rank(path: str) -> int | None:
    """Its number in a distributed job, as the launcher has told it."""
    data = _read(f"{path}/environ", ENVIRONMENT)
    if not data:
        return None
    for name in RANKS:
        before, found, after = (b"\0" + data).partition(b"\0" + name + b"=")
        value = after.partition(b"\0")[0]
        if found and value.isdigit() and before is not None:
            return int(value)
    return None


def _kilobytes(data: bytes | None, name: bytes) -> int | None:
    if data is None:
        return None
    after = data.partition(name)[2]
    words = after[:64].split(None, 1)
    return int(words[0]) * 1024 if words and words[0].isdigit() else None


def _read(path: str, most: int) -> bytes | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return os.read(fd, most)
    except OSError:  # it has just ended, or the kernel checks at the reading
        return None
    finally:
        os.close(fd)
